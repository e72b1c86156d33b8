//! Reading a package's folder without ever leaving it: no link is followed, nothing but regular files is opened.

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(not(unix), path = "portable.rs")]
mod system;

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::limits::{MAX_FOLDER_DEPTH, MAX_LISTED_FILES};
use super::name::{NameError, check_name};
use super::partial::is_partial;

/// The folder (or, in a linked checkout, the file) of a checkout's history, which no receipt can cover.
pub const VERSION_CONTROL: &str = ".git";

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
    Io(io::Error),
}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // It was opened within the bound, so it has grown since.
            io::ErrorKind::FileTooLarge => Self::Changed,
            _ => Self::Io(error),
        }
    }
}

/// What tells that a file was changed or replaced: size, time of the last change, identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    bytes: u64,
    modified: Option<std::time::SystemTime>,
    identity: (u64, u64),
}

impl Stamp {
    /// The stamp of a file.
    pub fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let identity = {
            use std::os::unix::fs::MetadataExt;
            (metadata.dev(), metadata.ino())
        };
        #[cfg(not(unix))]
        let identity = (0, 0);
        Self { bytes: metadata.len(), modified: metadata.modified().ok(), identity }
    }
}

/// The root folder of a package.
#[derive(Debug, Clone)]
pub struct Folder {
    root: PathBuf,
}

/// What lies in a package's folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Names of files, links and special files, sorted, with `/`.
    pub names: Vec<String>,
    /// Names that are not UTF-8, which no receipt can hold; their other bytes are written as `\xNN`.
    pub not_utf8: Vec<String>,
    /// What is no part of a package and is neither declared nor missed: version control (not entered) and what an
    /// interrupted write has left.
    pub left_out: Vec<String>,
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
        let file = system::open(&self.root, name)?;
        let bytes = file.metadata()?.len();
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

    /// Everything below the root; links and special files are listed, too, but folders that are links are not entered.
    ///
    /// # Errors
    /// Those of the system, and one when there are more files or folders below each other than the limits allow.
    pub fn list(&self) -> io::Result<Listing> {
        let mut walk = Walk { listing: Listing::default(), seen: 0 };
        walk.enter(&system::Directory::root(&self.root)?, "", true, 0)?;
        let Listing { names, not_utf8, left_out } = &mut walk.listing;
        [names, not_utf8, left_out].into_iter().for_each(|names| names.sort());
        Ok(walk.listing)
    }
}

/// A walk through a package's folders that has no more folders open than lie below each other.
struct Walk {
    listing: Listing,
    /// Files and folders so far.
    seen: usize,
}

impl Walk {
    fn enter(&mut self, folder: &system::Directory, prefix: &str, utf8: bool, depth: usize) -> io::Result<()> {
        for entry in folder.entries(MAX_LISTED_FILES - self.seen)? {
            self.seen += 1;
            if self.seen == MAX_LISTED_FILES {
                return Err(io::Error::other(format!("more than {MAX_LISTED_FILES} files and folders")));
            }
            let (part, part_utf8) = match entry.name.to_str() {
                Some(part) => (part.to_owned(), true),
                None => (escaped(entry.name.as_encoded_bytes()), false),
            };
            let name = format!("{prefix}{part}");
            let utf8 = utf8 && part_utf8;
            if part == VERSION_CONTROL || is_partial(&part) {
                self.listing.left_out.push(name);
            } else if entry.is_folder && depth == MAX_FOLDER_DEPTH {
                return Err(io::Error::other(format!("folders are nested deeper than {MAX_FOLDER_DEPTH}")));
            } else if entry.is_folder {
                // One that went away or was replaced since is no folder of the package.
                if let Some(inner) = folder.folder(&entry.name)? {
                    self.enter(&inner, &format!("{name}/"), utf8, depth + 1)?;
                }
            } else if utf8 {
                self.listing.names.push(name);
            } else {
                self.listing.not_utf8.push(name);
            }
        }
        Ok(())
    }
}

/// Bytes as text, those that are no UTF-8 as `\xNN`.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    text
}

fn absent_or_io(error: io::Error) -> FileError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => FileError::Absent,
        _ => FileError::Io(error),
    }
}

fn regular(metadata: &Metadata) -> Result<(), FileError> {
    if metadata.is_file() { Ok(()) } else { Err(special(metadata.is_dir())) }
}

fn special(is_folder: bool) -> FileError {
    FileError::Special(if is_folder { "it is a folder" } else { "it is a pipe, a socket or a device" })
}
