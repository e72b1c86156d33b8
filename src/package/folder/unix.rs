//! Folders by descriptor: each part of a name is opened in the folder before it and never through a link, so that nothing
//! that is swapped meanwhile can lead out of the package.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, openat, statat};
use rustix::io::Errno;

use super::{FileError, absent_or_io, regular, special};

/// A folder that is opened to be read.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// A folder on the way to a file: where the system has it, opened without the right to list it.
#[cfg(target_os = "linux")]
const PASSAGE: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const PASSAGE: OFlags = FOLDER;

/// A thing in a folder.
pub(super) struct Entry {
    pub(super) name: OsString,
    pub(super) is_folder: bool,
}

/// An open folder.
pub(super) struct Directory(OwnedFd);

impl Directory {
    pub(super) fn root(path: &Path) -> io::Result<Self> {
        Ok(Self(openat(CWD, path, FOLDER, Mode::empty())?))
    }

    /// What lies in it, up to and including `limit` things.
    pub(super) fn entries(&self, limit: usize) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems do not say; one that is gone by now is listed and found absent later.
                FileType::Unknown => stat(&self.0, name).map_or(FileType::Unknown, |stat| kind(&stat)),
                kind => kind,
            };
            entries.push(Entry { name: name.to_owned(), is_folder: kind == FileType::Directory });
            if entries.len() == limit {
                break;
            }
        }
        Ok(entries)
    }

    /// A folder in it; `None` if there is none of that name, or a link.
    pub(super) fn folder(&self, name: &OsStr) -> io::Result<Option<Self>> {
        match openat(&self.0, name, FOLDER.union(OFlags::NOFOLLOW), Mode::empty()) {
            Ok(folder) => Ok(Some(Self(folder))),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Opens a regular file below `root`.
pub(super) fn open(root: &Path, name: &str) -> Result<File, FileError> {
    let mut folder = openat(CWD, root, PASSAGE, Mode::empty()).map_err(system)?;
    let (parents, last) = name.rsplit_once('/').map_or(("", name), |(parents, last)| (parents, last));
    let mut walked = 0;
    for part in parents.split('/').filter(|part| !part.is_empty()) {
        walked += part.len();
        folder = match openat(&folder, part, PASSAGE.union(OFlags::NOFOLLOW), Mode::empty()) {
            Ok(inner) => inner,
            // Systems disagree on what a link in place of a folder is called.
            Err(_) if stat(&folder, part).is_ok_and(|stat| kind(&stat) == FileType::Symlink) => {
                return Err(FileError::Symlink(name[..walked].to_owned()));
            }
            Err(error) => return Err(system(error)),
        };
        walked += 1;
    }
    // Looked at before it is opened: to open a device may already do something.
    let before = stat(&folder, last).map_err(system)?;
    match kind(&before) {
        FileType::RegularFile => {}
        FileType::Symlink => return Err(FileError::Symlink(name.to_owned())),
        other => return Err(special(other == FileType::Directory)),
    }
    // Should the file have been swapped since, neither a link is followed nor a pipe waited for.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(openat(&folder, last, flags, Mode::empty()).map_err(system)?);
    regular(&file.metadata()?)?;
    let opened = rustix::fs::fstat(&file).map_err(system)?;
    if (before.st_dev, before.st_ino) == (opened.st_dev, opened.st_ino) { Ok(file) } else { Err(FileError::Changed) }
}

fn stat(folder: &OwnedFd, name: impl rustix::path::Arg) -> Result<Stat, Errno> {
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
}

fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

fn system(error: Errno) -> FileError {
    absent_or_io(error.into())
}
