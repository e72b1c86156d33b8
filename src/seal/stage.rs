//! Whether a package would still hold with other contents: both are verified on a copy beside it, before anything is written.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use globset::GlobSet;
use tempfile::TempDir;

use super::survey::Survey;
use super::{SealError, receipts_text, write_receipts};
use crate::audit::{Code, Finding, Options, Outcome, Severity, SubjectReport, verify};
use crate::package::endings::copy_with_lf;
use crate::package::partial::private_folder_in;

/// Verifies the files as they are, with LF, and with the new contents.
///
/// # Errors
/// The first thing that would no longer hold; or the copy cannot be made.
pub(super) fn check(folder: &Path, survey: &Survey, contents: &BTreeMap<String, String>) -> Result<(), SealError> {
    let failed = |source| SealError::Stage { folder: folder.to_owned(), source };
    let stage = Copy::beside(folder).map_err(failed)?;
    stage.fill(folder, survey).map_err(failed)?;
    let before = stage.sealed()?;
    for (name, text) in contents {
        stage.write(|stage| put(&stage.join(name), text)).map_err(failed)?;
    }
    let after = stage.sealed()?;
    match broken(&before, &after) {
        Some((file, reason)) => Err(SealError::Redact { file, reason }),
        None => Ok(()),
    }
}

/// Copies that there are now. Whoever writes into one has the lock.
static COPIES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the copies of packages that this process has made, as they hold what is to be redacted. For the end of the process:
/// whoever makes or writes into a copy afterwards waits for it.
pub fn abandon_copies() {
    let copies = copies();
    copies.iter().for_each(|copy| drop(fs::remove_dir_all(copy)));
    std::mem::forget(copies);
}

fn copies() -> MutexGuard<'static, Vec<PathBuf>> {
    COPIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A folder of its own for the files that would be sealed.
struct Copy {
    folder: TempDir,
}

impl Copy {
    fn beside(folder: &Path) -> io::Result<Self> {
        let real = folder.canonicalize()?;
        let mut copies = copies();
        let beside = real.parent().map_or_else(|| Err(io::Error::other("no folder around it")), private_folder_in);
        let folder = beside.or_else(|_| tempfile::tempdir())?;
        copies.push(folder.path().to_owned());
        Ok(Self { folder })
    }

    /// Writes into it, unless it is being abandoned.
    fn write<T>(&self, write: impl FnOnce(&Path) -> T) -> T {
        let _copies = copies();
        write(self.folder.path())
    }

    /// Takes the files that would be sealed; those that stay as they are, as links where the system has them.
    fn fill(&self, folder: &Path, survey: &Survey) -> io::Result<()> {
        let real = folder.canonicalize()?;
        for file in &survey.files {
            self.write(|stage| -> io::Result<()> {
                let (from, to) = (real.join(&file.name), stage.join(&file.name));
                fs::create_dir_all(to.parent().unwrap_or(stage))?;
                if file.crlf {
                    let mut new = fs::File::create_new(&to)?;
                    copy_with_lf(&mut fs::File::open(&from)?, &mut new)?;
                } else if fs::hard_link(&from, &to).is_err() {
                    fs::copy(&from, &to)?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Seals and verifies what is there.
    fn sealed(&self) -> Result<SubjectReport, SealError> {
        let text = receipts_text(self.folder.path(), &GlobSet::empty())?;
        self.write(|stage| write_receipts(stage, &text))?;
        Ok(verify(self.folder.path(), ".", &Options::default(), &|_| {}))
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let mut copies = copies();
        copies.retain(|copy| copy != self.folder.path());
        // While nobody else ends the process; what it could not remove, the folder's own end tries again.
        let _ = fs::remove_dir_all(self.folder.path());
    }
}

/// Puts a new file in the place of one that may be a link to the package's.
fn put(path: &Path, text: &str) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::File::create_new(path)?.write_all(text.as_bytes())
}

/// The file and the reason of what held before and does not hold after.
fn broken(before: &SubjectReport, after: &SubjectReport) -> Option<(String, String)> {
    let key = |finding: &Finding| {
        let place = &finding.place;
        (finding.code.name(), finding.file.clone(), place.pointer.clone(), place.field.clone())
    };
    let findings = |report: &'_ SubjectReport| -> Vec<Finding> {
        let all = report.checks.iter().flat_map(|check| &check.findings);
        all.filter(|finding| finding.code != Code::Unredacted).cloned().collect()
    };
    let known = findings(before);
    let mut counts = HashMap::new();
    known.iter().for_each(|finding| *counts.entry(key(finding)).or_insert(0_usize) += 1);
    let mut new = findings(after);
    new.retain(|finding| match counts.get_mut(&key(finding)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    new.sort_by_key(|finding| finding.severity != Severity::Error);
    if let Some(Finding { code, file, place, expected, found, .. }) = new.first() {
        let at = place.pointer.as_deref().map_or(String::new(), |pointer| format!(" at {pointer}"));
        let at = if at.is_empty() { place.line.map_or(at, |line| format!(" in line {line}")) } else { at };
        let reason = format!(
            "`{}` would not hold any more{at}: expected {expected}, found {found}; nothing was changed. Remove what is private \
             there by hand, or change the rules",
            code.name()
        );
        return Some((file.clone(), reason));
    }
    after.checks.iter().find_map(|check| {
        let other = before.checks.iter().find(|other| other.family == check.family)?;
        match (&other.outcome, &check.outcome) {
            (Outcome::Passed, Outcome::NotRun(reason)) => {
                let family = check.family.name();
                Some((
                    ".".to_owned(),
                    format!("the check `{family}` could not be made any more: {reason}; nothing was changed"),
                ))
            }
            _ => None,
        }
    })
}
