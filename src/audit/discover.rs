//! From a path given by a person to the packages and receipts it stands for.

use std::fs;
use std::path::{Path, PathBuf};

use crate::package::divergence::{is_receipt, looks_like_receipt};
use crate::package::folder::Folder;
use crate::package::json::Document;
use crate::package::limits::{MAX_FOLDER_DEPTH, MAX_RECEIPT_BYTES};
use crate::package::receipts::RECEIPTS;

/// Something that can be verified.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A folder with `receipts.json`.
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

/// Everything that `path` stands for, sorted by path: itself, or what lies below it. Below a folder a `.json` file that is no
/// divergence receipt is passed over; named by itself it is an error.
///
/// # Errors
/// A sentence for a person: nothing there, nothing to verify, or a folder that cannot be read.
pub fn subjects(path: &Path) -> Result<Vec<Subject>, String> {
    if metadata(path)?.is_file() {
        return if path.file_name().is_some_and(|name| name == RECEIPTS) {
            let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            Ok(vec![Subject::Package(folder.unwrap_or(Path::new(".")).to_owned())])
        } else if may_be_receipt(path)? {
            Ok(vec![Subject::Receipt(path.to_owned())])
        } else {
            Err(format!("it is a file, but no divergence receipt; give one, or the folder that holds {RECEIPTS}"))
        };
    }
    search_all(path, true)
}

/// The package folders that `path` stands for, sorted: itself, or those below it.
///
/// # Errors
/// A sentence for a person: nothing there, no package, or a folder that cannot be read.
pub fn packages(path: &Path) -> Result<Vec<PathBuf>, String> {
    let found = if metadata(path)?.is_file() {
        if path.file_name().is_none_or(|name| name != RECEIPTS) {
            return Err(format!("it is a file; give the folder that holds {RECEIPTS}"));
        }
        subjects(path)?
    } else {
        search_all(path, false)?
    };
    Ok(found.into_iter().map(|subject| subject.path().to_owned()).collect())
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

fn search_all(path: &Path, with_receipts: bool) -> Result<Vec<Subject>, String> {
    let mut search = Search { with_receipts, found: Vec::new(), unreadable: None };
    search.folder(path, 0);
    search.found.sort_by(|left, right| left.path().cmp(right.path()));
    let or_receipt = if with_receipts { " and no divergence receipt" } else { "" };
    match (search.found.is_empty(), search.unreadable) {
        (true, Some(reason)) => Err(reason),
        (true, None) => Err(format!("no {RECEIPTS}{or_receipt} in it or in a folder below it; nothing to verify")),
        (false, _) => Ok(search.found),
    }
}

struct Search {
    with_receipts: bool,
    found: Vec<Subject>,
    unreadable: Option<String>,
}

impl Search {
    /// A package's own folders are not searched: what lies in them belongs to it.
    fn folder(&mut self, folder: &Path, depth: usize) {
        if fs::symlink_metadata(folder.join(RECEIPTS)).is_ok() {
            self.found.push(Subject::Package(folder.to_owned()));
            return;
        }
        if depth == MAX_FOLDER_DEPTH {
            return;
        }
        match fs::read_dir(folder) {
            Ok(entries) => {
                for entry in entries.flatten() {
                    // The entry's own type: a link to a folder is not entered, so there are no loops.
                    let Ok(kind) = entry.file_type() else { continue };
                    let path = entry.path();
                    if kind.is_dir() {
                        self.folder(&path, depth + 1);
                    } else if self.with_receipts
                        && kind.is_file()
                        && path.extension().is_some_and(|extension| extension == "json")
                        && may_be_receipt(&path) == Ok(true)
                    {
                        self.found.push(Subject::Receipt(path));
                    }
                }
            }
            Err(error) => {
                self.unreadable.get_or_insert(format!("{} cannot be read: {error}", folder.display()));
            }
        }
    }
}

/// Whether a file is a divergence receipt, or is meant as one and damaged: a receipt that was cut off must not be passed over.
///
/// # Errors
/// The file cannot be read.
fn may_be_receipt(path: &Path) -> Result<bool, String> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().and_then(|name| name.to_str()).ok_or("its name is not UTF-8 text")?;
    let bytes = Folder::new(folder).read(name, MAX_RECEIPT_BYTES).map_err(|error| error.to_string())?;
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
