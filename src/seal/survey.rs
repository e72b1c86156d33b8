//! Every file of a folder that is to be sealed: its digest, or why it cannot be.

use std::collections::HashMap;
use std::io::{Seek, SeekFrom};
use std::path::Path;

use globset::GlobSet;
use rayon::prelude::*;

use super::SealError;
use crate::package::digest::{Digest, digest_file};
use crate::package::endings::{Endings, endings};
use crate::package::folder::{FileError, Folder, Stamp};
use crate::package::ignore::{self, IGNORE, IgnoreError};
use crate::package::limits::{MAX_HASHED_BYTES, MAX_IGNORE_BYTES};
use crate::package::name::{check_name, portable_key};
use crate::package::receipts::is_over_receipts;

/// Why text with CRLF is refused.
pub(super) const CRLF: &str =
    "a text with CRLF line endings; write it with LF, or with --normalize, or its hash will differ elsewhere";

/// What lies in a folder.
pub(super) struct Survey {
    /// What can be sealed, sorted without regard to case.
    pub(super) files: Vec<Surveyed>,
    /// Name and reason of what cannot, beside line endings.
    pub(super) refused: Vec<String>,
    /// What the folder's `.recountignore` names.
    ignored: GlobSet,
}

impl Survey {
    /// Whether a file of this name would not be sealed.
    pub(super) fn is_left_out(&self, name: &str, exclude: &GlobSet) -> bool {
        exclude.is_match(name) || self.ignored.is_match(name)
    }
}

/// One file.
pub(super) struct Surveyed {
    pub(super) name: String,
    pub(super) digest: Digest,
    pub(super) is_text: bool,
    pub(super) crlf: bool,
}

pub(super) fn survey(folder: &Path, exclude: &GlobSet) -> Result<Survey, SealError> {
    let shown = folder.display().to_string();
    let package = Folder::new(folder);
    let listing = package.list().map_err(|source| SealError::List { folder: shown.clone(), source })?;
    let ignored = ignored(&package).map_err(|source| SealError::Ignore { folder: shown.clone(), source })?;
    let (mut names, mut not_utf8) = (listing.names, listing.not_utf8);
    names.retain(|name| !is_over_receipts(name) && !exclude.is_match(name) && !ignored.is_match(name));
    not_utf8.retain(|name| !exclude.is_match(name) && !ignored.is_match(name));
    names.sort_by_cached_key(|name| (name.to_lowercase(), name.clone()));
    if names.is_empty() && not_utf8.is_empty() {
        return Err(SealError::Empty { folder: shown });
    }
    let mut refused: Vec<String> =
        not_utf8.iter().map(|name| format!("{name}: the name is not UTF-8, so no receipt can hold it")).collect();
    let mut keys = HashMap::new();
    for name in &names {
        if let Some(other) = keys.insert(portable_key(name), name) {
            refused.push(format!("{name}: the same file as {other} where case or Unicode form is ignored"));
        }
    }
    let surveyed: Vec<_> = names.par_iter().map(|name| surveyed(&package, name)).collect();
    let mut files = Vec::new();
    for (name, surveyed) in names.iter().zip(surveyed) {
        match surveyed {
            Ok(file) => files.push(file),
            Err(reason) => refused.push(format!("{name}: {reason}")),
        }
    }
    Ok(Survey { files, refused, ignored })
}

/// Whether a file that lies in `folder` would be sealed.
///
/// # Errors
/// The list of what is not published cannot be used.
pub fn is_published(folder: &Path, exclude: &GlobSet, name: &str) -> Result<bool, SealError> {
    let ignored = ignored(&Folder::new(folder));
    let ignored = ignored.map_err(|source| SealError::Ignore { folder: folder.display().to_string(), source })?;
    Ok(!exclude.is_match(name) && !ignored.is_match(name))
}

/// Globs that say nothing of the files there are, each with what is there instead: of `globs` those that match no file, of
/// `.recountignore` those that match only a folder.
///
/// # Errors
/// The folder cannot be listed.
pub fn idle_globs(folder: &Path, globs: &[String]) -> Result<Vec<String>, SealError> {
    let package = Folder::new(folder);
    let own = package.read(IGNORE, MAX_IGNORE_BYTES).unwrap_or_default();
    let own = String::from_utf8_lossy(&own);
    let all = globs.iter().map(|text| (text.as_str(), true));
    let mut all = all.chain(ignore::lines(&own).map(|(_, text)| (text, false))).peekable();
    if all.peek().is_none() {
        // Nothing to hold a listing against, which may be long.
        return Ok(Vec::new());
    }
    let listing = package.list().map_err(|source| SealError::List { folder: folder.display().to_string(), source })?;
    let mut idle = Vec::new();
    for (text, is_option) in all {
        // What cannot be understood is an error of its own.
        let Ok(matcher) = ignore::glob(text).map(|glob| glob.compile_matcher()) else { continue };
        if listing.names.iter().chain(&listing.not_utf8).any(|name| matcher.is_match(name)) {
            continue;
        }
        let is_folder = |name: &String| name.match_indices('/').any(|(at, _)| matcher.is_match(&name[..at]));
        let said = match (listing.names.iter().any(is_folder), is_option) {
            (true, true) => format!("--exclude {text} matches a folder and no file; write {text}/**"),
            (true, false) => format!("{IGNORE}: {text} matches a folder and no file; write {text}/**"),
            (false, true) => format!("--exclude {text} matches no file"),
            (false, false) => continue,
        };
        idle.push(said);
    }
    Ok(idle)
}

/// What the folder's `.recountignore` names. One that is no regular file names nothing, and is refused as any such file.
fn ignored(package: &Folder) -> Result<GlobSet, IgnoreError> {
    match package.read(IGNORE, MAX_IGNORE_BYTES) {
        Ok(bytes) => ignore::parse(&bytes),
        Err(FileError::Absent | FileError::Symlink(_) | FileError::Special(_)) => Ok(GlobSet::empty()),
        Err(error) => Err(IgnoreError { line: 1, reason: error.to_string() }),
    }
}

fn surveyed(package: &Folder, name: &str) -> Result<Surveyed, String> {
    check_name(name).map_err(|error| error.to_string())?;
    let read = || -> Result<Surveyed, FileError> {
        let (mut file, _) = package.open(name, MAX_HASHED_BYTES)?;
        let before = Stamp::of(&file.metadata()?);
        let digest = digest_file(&file, MAX_HASHED_BYTES)?;
        file.seek(SeekFrom::Start(0))?;
        let endings = endings(&mut file)?;
        // By its name: the file may have been replaced while the old one was read.
        let (again, bytes) = package.open(name, MAX_HASHED_BYTES)?;
        if Stamp::of(&again.metadata()?) != before || digest.bytes != bytes {
            return Err(FileError::Changed);
        }
        let (is_text, crlf) = (endings != Endings::Binary, endings == Endings::Crlf);
        Ok(Surveyed { name: name.to_owned(), digest, is_text, crlf })
    };
    read().map_err(|error| match error {
        FileError::Changed => format!("{error}; seal when nothing writes to it any more"),
        error => error.to_string(),
    })
}
