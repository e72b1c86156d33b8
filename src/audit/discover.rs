//! From a path given by a person to the packages it stands for.

use std::fs;
use std::path::{Path, PathBuf};

use crate::package::limits::MAX_FOLDER_DEPTH;
use crate::package::receipts::RECEIPTS;

/// The package folders that `path` stands for, sorted: itself, or those below it.
///
/// # Errors
/// A sentence for a person: nothing there, no package, or a folder that cannot be read.
pub fn packages(path: &Path) -> Result<Vec<PathBuf>, String> {
    let metadata = fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        _ => format!("it cannot be read: {error}"),
    })?;
    if metadata.is_file() {
        return if path.file_name().is_some_and(|name| name == RECEIPTS) {
            let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            Ok(vec![folder.unwrap_or(Path::new(".")).to_owned()])
        } else {
            Err(format!("it is a file; give the folder that holds {RECEIPTS}"))
        };
    }
    if !metadata.is_dir() {
        return Err("it is neither a folder nor a regular file".to_owned());
    }
    let mut found = Vec::new();
    let mut unreadable = None;
    search(path, 0, &mut found, &mut unreadable);
    found.sort();
    match (found.is_empty(), unreadable) {
        (true, Some(reason)) => Err(reason),
        (true, None) => Err(format!("no {RECEIPTS} in it or in a folder below it; nothing to verify")),
        (false, _) => Ok(found),
    }
}

/// A package's own folders are not searched: what lies in them belongs to it.
fn search(folder: &Path, depth: usize, found: &mut Vec<PathBuf>, unreadable: &mut Option<String>) {
    if fs::symlink_metadata(folder.join(RECEIPTS)).is_ok() {
        found.push(folder.to_owned());
        return;
    }
    if depth == MAX_FOLDER_DEPTH {
        return;
    }
    match fs::read_dir(folder) {
        Ok(entries) => {
            for entry in entries.flatten() {
                // The entry's own type: a link to a folder is not entered, so there are no loops.
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    search(&entry.path(), depth + 1, found, unreadable);
                }
            }
        }
        Err(error) => {
            unreadable.get_or_insert(format!("{} cannot be read: {error}", folder.display()));
        }
    }
}
