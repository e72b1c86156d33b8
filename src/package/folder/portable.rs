//! Folders by path, where the system cannot open one relative to another.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::{FileError, absent_or_io, regular};

/// A thing in a folder.
pub(super) struct Entry {
    pub(super) name: OsString,
    pub(super) is_folder: bool,
}

/// A folder.
pub(super) struct Directory(PathBuf);

impl Directory {
    pub(super) fn root(path: &Path) -> io::Result<Self> {
        Ok(Self(path.to_owned()))
    }

    /// What lies in it, up to and including `limit` things.
    pub(super) fn entries(&self, limit: usize) -> io::Result<Vec<Entry>> {
        fs::read_dir(&self.0)?
            .take(limit)
            .map(|entry| {
                let entry = entry?;
                Ok(Entry { name: entry.file_name(), is_folder: entry.file_type()?.is_dir() })
            })
            .collect()
    }

    /// A folder in it; `None` if there is none of that name, or a link.
    pub(super) fn folder(&self, name: &OsStr) -> io::Result<Option<Self>> {
        let path = self.0.join(name);
        let is_folder = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir());
        Ok(is_folder.then_some(Self(path)))
    }
}

/// Opens a regular file below `root`; each part of its name is looked at first.
pub(super) fn open(root: &Path, name: &str) -> Result<File, FileError> {
    let mut path = root.to_owned();
    let mut walked = String::new();
    let mut found: Option<Metadata> = None;
    for part in name.split('/') {
        if found.is_some_and(|metadata| !metadata.is_dir()) {
            return Err(FileError::Absent);
        }
        path.push(part);
        if !walked.is_empty() {
            walked.push('/');
        }
        walked.push_str(part);
        let metadata = fs::symlink_metadata(&path).map_err(absent_or_io)?;
        if metadata.is_symlink() {
            return Err(FileError::Symlink(walked));
        }
        found = Some(metadata);
    }
    let Some(before) = found else { return Err(FileError::Absent) };
    regular(&before)?;
    let file = File::open(&path).map_err(absent_or_io)?;
    let opened = file.metadata()?;
    regular(&opened)?;
    if before.len() == opened.len() { Ok(file) } else { Err(FileError::Changed) }
}
