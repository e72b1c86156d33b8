//! From a path given by a person to the packages and receipts it stands for.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::RequestError;
use super::integrity::{CLAIMS, MEDIANS};
use crate::package::divergence::files::results;
use crate::package::divergence::{Engine, is_receipt, looks_like_receipt};
use crate::package::folder::{FileError, Folder};
use crate::package::json::Document;
use crate::package::limits::{MAX_FOLDER_DEPTH, MAX_RECEIPT_BYTES};
use crate::package::partial::is_partial;
use crate::package::partition::files;
use crate::package::receipts::{RECEIPTS, SIGNATURE};

/// Something that can be verified.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A folder with `receipts.json`, or one that has lost it.
    Package(PathBuf),
    /// A divergence receipt in one file.
    Receipt(PathBuf),
}

impl Subject {
    /// Its path.
    pub fn path(&self) -> &Path {
        match self {
            Subject::Package(path) | Subject::Receipt(path) => path,
        }
    }
}

/// What a path stands for.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// What can be verified, sorted by path.
    pub subjects: Vec<Subject>,
    /// What may be or hold something to verify and could not be looked at.
    pub skipped: Vec<RequestError>,
}

/// Everything that `path` stands for: itself, or what lies below it. Below a folder a `.json` file that is no divergence
/// receipt is passed over; named by itself it is an error.
///
/// # Errors
/// A sentence for a person: nothing there, nothing to verify, or a folder that cannot be read.
pub fn subjects(path: &Path) -> Result<Found, String> {
    if metadata(path)?.is_file() {
        return if path.file_name().is_some_and(|name| name == RECEIPTS) {
            let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            Ok(Found::one(Subject::Package(folder.unwrap_or(Path::new(".")).to_owned())))
        } else if may_be_receipt(path).map_err(|error| error.to_string())? {
            Ok(Found::one(Subject::Receipt(path.to_owned())))
        } else {
            Err(format!("it is a file, but no divergence receipt; give one, or the folder that holds {RECEIPTS}"))
        };
    }
    search_all(path, true)
}

impl Found {
    fn one(subject: Subject) -> Self {
        Self { subjects: vec![subject], skipped: Vec::new() }
    }
}

/// The package folders that `path` stands for, sorted: itself, or those below it.
///
/// # Errors
/// A sentence for a person: nothing there, no package, or something below it that could not be looked at.
pub fn packages(path: &Path) -> Result<Vec<PathBuf>, String> {
    let found = if metadata(path)?.is_file() {
        if path.file_name().is_none_or(|name| name != RECEIPTS) {
            return Err(format!("it is a file; give the folder that holds {RECEIPTS}"));
        }
        subjects(path)?
    } else {
        search_all(path, false)?
    };
    if let Some(skipped) = found.skipped.first() {
        return Err(format!("{}: {}", skipped.path, skipped.reason));
    }
    Ok(found.subjects.into_iter().map(|subject| subject.path().to_owned()).collect())
}

fn metadata(path: &Path) -> Result<fs::Metadata, String> {
    let metadata = fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        _ => format!("it cannot be read: {error}"),
    })?;
    if metadata.is_file() || metadata.is_dir() {
        Ok(metadata)
    } else {
        Err("it is neither a folder nor a regular file".to_owned())
    }
}

fn search_all(path: &Path, with_receipts: bool) -> Result<Found, String> {
    let mut search = Search { with_receipts, found: Found::default(), links: Vec::new() };
    search.folder(path, 0);
    search.links();
    let Found { mut subjects, mut skipped } = search.found;
    subjects.sort_by(|left, right| left.path().cmp(right.path()));
    skipped.sort_by(|left, right| left.path.cmp(&right.path));
    let or_receipt = if with_receipts { " and no divergence receipt" } else { "" };
    match (subjects.is_empty(), skipped.first()) {
        (true, Some(first)) => Err(format!("{}: {}", first.path, first.reason)),
        (true, None) => Err(format!("no {RECEIPTS}{or_receipt} in it or in a folder below it; nothing to verify")),
        (false, _) => Ok(Found { subjects, skipped }),
    }
}

struct Search {
    with_receipts: bool,
    found: Found,
    /// Links below the path.
    links: Vec<PathBuf>,
}

impl Search {
    fn skip(&mut self, path: &Path, reason: impl Into<String>) {
        self.found.skipped.push(RequestError { path: path.display().to_string(), reason: reason.into() });
    }

    /// A package's own folders are not searched: what lies in them belongs to it.
    fn folder(&mut self, folder: &Path, depth: usize) {
        if is_package(folder) {
            self.found.subjects.push(Subject::Package(folder.to_owned()));
            return;
        }
        if depth == MAX_FOLDER_DEPTH {
            self.skip(folder, format!("it lies more than {MAX_FOLDER_DEPTH} folders deep and was not searched"));
            return;
        }
        let entries = fs::read_dir(folder).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
        match entries {
            Ok(entries) => entries.iter().for_each(|entry| self.entry(entry, depth)),
            Err(error) => self.skip(folder, format!("it cannot be read: {error}")),
        }
    }

    fn entry(&mut self, entry: &fs::DirEntry, depth: usize) {
        let path = entry.path();
        // The entry's own type: a link to a folder is not entered, so there are no loops.
        match entry.file_type() {
            Err(error) => self.skip(&path, format!("it cannot be read: {error}")),
            // What an interrupted write has left is no package.
            Ok(kind) if kind.is_dir() && entry.file_name().to_str().is_some_and(is_partial) => {}
            Ok(kind) if kind.is_dir() => self.folder(&path, depth + 1),
            Ok(kind) if kind.is_symlink() => self.links.push(path),
            Ok(kind) => {
                let is_json = path.extension().is_some_and(|extension| extension == "json");
                if self.with_receipts && kind.is_file() && is_json {
                    match may_be_receipt(&path) {
                        Ok(true) => self.found.subjects.push(Subject::Receipt(path)),
                        // What is too large to be a receipt is none.
                        Ok(false) | Err(FileError::TooLarge { .. }) => {}
                        Err(error) => self.skip(&path, error.to_string()),
                    }
                }
            }
        }
    }

    /// A link to a package is not followed, and not passed over in silence unless the package is found anyway.
    fn links(&mut self) {
        let real = |path: &Path| fs::canonicalize(path).ok();
        let found: HashSet<_> = self.found.subjects.iter().filter_map(|subject| real(subject.path())).collect();
        for link in std::mem::take(&mut self.links) {
            if link.join(RECEIPTS).is_file() && real(&link).is_some_and(|target| !found.contains(&target)) {
                self.skip(&link, "it is a link to a package, which is not followed; name the package itself");
            }
        }
    }
}

/// Whether a folder is a package. One whose receipts went missing is one, too: it must not drop out of a search in silence.
fn is_package(folder: &Path) -> bool {
    let has = |name: &str| fs::symlink_metadata(folder.join(name)).is_ok();
    // One file alone may be of another tool.
    let evidence = || files::MEASUREMENTS.iter().filter(|name| has(name)).count() > 1 || (has(CLAIMS) && has(MEDIANS));
    has(RECEIPTS) || has(SIGNATURE) || evidence() || Engine::ALL.iter().any(|engine| has(&results(engine.name())))
}

/// Whether a file is a divergence receipt, or is meant as one and damaged: a receipt that was cut off must not be passed over.
///
/// # Errors
/// The file cannot be read.
fn may_be_receipt(path: &Path) -> Result<bool, FileError> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .ok_or_else(|| FileError::Io(std::io::Error::other("the name is not UTF-8 text")))?;
    let bytes = Folder::new(folder).read(name, MAX_RECEIPT_BYTES)?;
    if looks_like_receipt(&bytes) {
        return Ok(true);
    }
    // Nearly every other file is told apart without parsing it.
    let has = |name: &[u8]| bytes.windows(name.len()).any(|window| window == name);
    if !has(b"\"protocol\"") || !has(b"\"devices\"") {
        return Ok(false);
    }
    let document = String::from_utf8(bytes).ok().and_then(|text| Document::parse(name, text).ok());
    Ok(document.is_some_and(|document| is_receipt(document.root())))
}
