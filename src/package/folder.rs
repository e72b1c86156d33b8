//! Reading a package's folder without ever leaving it: no link is followed, nothing but regular files is opened.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::limits::{MAX_FOLDER_DEPTH, MAX_LISTED_FILES};
use super::name::{NameError, check_name};

/// Why a file of a package was not opened or read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The name itself is not acceptable.
    #[error(transparent)]
    Name(#[from] NameError),
    /// There is no such file.
    #[error("the file is not there")]
    Absent,
    /// The file, or a folder on the way to it, is a symbolic link.
    #[error("{0} is a symbolic link")]
    Symlink(String),
    /// Not a regular file.
    #[error("{0}")]
    Special(&'static str),
    /// Larger than the bound for its use.
    #[error("the file has {bytes} bytes; at most {limit} are read")]
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The bound.
        limit: u64,
    },
    /// Replaced, truncated or extended while it was read.
    #[error("the file changed while it was read")]
    Changed,
    /// The system refused.
    #[error("the system refused: {0}")]
    Io(#[from] io::Error),
}

/// The root folder of a package.
#[derive(Debug, Clone)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    /// Takes `root` as the package's folder. The root itself may be reached through links; nothing below it may.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The root's path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Opens the regular file `name` and gives its size.
    ///
    /// # Errors
    /// Every reason in [`FileError`]; nothing is opened when the name or the kind of file is refused.
    pub fn open(&self, name: &str, limit: u64) -> Result<(File, u64), FileError> {
        check_name(name)?;
        let mut path = self.root.clone();
        let mut walked = String::new();
        let mut found = None;
        for part in name.split('/') {
            if found.is_some_and(|metadata: Metadata| !metadata.is_dir()) {
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
        let file = open_regular(&path).map_err(absent_or_io)?;
        let opened = file.metadata()?;
        regular(&opened)?;
        if !same_file(&before, &opened) {
            return Err(FileError::Changed);
        }
        let bytes = opened.len();
        if bytes > limit {
            return Err(FileError::TooLarge { bytes, limit });
        }
        Ok((file, bytes))
    }

    /// Reads the regular file `name` whole.
    ///
    /// # Errors
    /// As [`Folder::open`], and [`FileError::Changed`] when the file does not have the size it had when it was opened.
    pub fn read(&self, name: &str, limit: u64) -> Result<Vec<u8>, FileError> {
        let (file, bytes) = self.open(name, limit)?;
        let mut content = Vec::with_capacity(usize::try_from(bytes).unwrap_or(0).min(1 << 24));
        file.take(bytes.saturating_add(1)).read_to_end(&mut content)?;
        if content.len() as u64 == bytes { Ok(content) } else { Err(FileError::Changed) }
    }

    /// The names of all files below the root, sorted, with `/`; links and special files are listed, too, but folders that
    /// are links are not entered.
    ///
    /// # Errors
    /// Those of the system, and one when there are more files or folders below each other than the limits allow.
    pub fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        let mut folders = vec![(self.root.clone(), String::new(), 0)];
        while let Some((folder, prefix, depth)) = folders.pop() {
            for entry in fs::read_dir(&folder)? {
                let entry = entry?;
                let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
                let is_folder = entry.file_type()?.is_dir();
                if is_folder && depth < MAX_FOLDER_DEPTH {
                    folders.push((entry.path(), name + "/", depth + 1));
                } else if is_folder || names.len() == MAX_LISTED_FILES {
                    return Err(io::Error::other(format!(
                        "more than {MAX_LISTED_FILES} files, or folders nested deeper than {MAX_FOLDER_DEPTH}"
                    )));
                } else {
                    names.push(name);
                }
            }
        }
        names.sort();
        Ok(names)
    }
}

fn absent_or_io(error: io::Error) -> FileError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => FileError::Absent,
        _ => FileError::Io(error),
    }
}

fn regular(metadata: &Metadata) -> Result<(), FileError> {
    if metadata.is_file() {
        return Ok(());
    }
    let is_folder = metadata.is_dir();
    Err(FileError::Special(if is_folder { "it is a folder" } else { "it is a pipe, a socket or a device" }))
}

#[cfg(unix)]
fn open_regular(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;

    // Should the file have been swapped since it was looked at, neither a link is followed nor a pipe waited for.
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    fs::OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

#[cfg(not(unix))]
fn open_regular(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(unix)]
fn same_file(left: &Metadata, right: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    (left.dev(), left.ino()) == (right.dev(), right.ino())
}

#[cfg(not(unix))]
fn same_file(left: &Metadata, right: &Metadata) -> bool {
    left.len() == right.len()
}
