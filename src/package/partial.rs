//! Files and folders that appear whole or not at all: written under another name beside their place, then renamed.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const PREFIX: &str = ".recount-";
const SUFFIX: &str = ".partial";

/// A new file in `folder`, with the permissions that any new file gets; it goes away unless it is persisted.
///
/// # Errors
/// The folder cannot be written to.
pub fn partial_in(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What the process's mask leaves of it.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// A new folder in `parent`, with the permissions that any new folder gets; it goes away with all that is in it.
///
/// # Errors
/// The folder around it cannot be written to.
pub fn partial_folder_in(parent: &Path) -> io::Result<tempfile::TempDir> {
    folder_in(parent, 0o777)
}

/// A new folder in `parent` that nobody else may look into; it goes away with all that is in it.
///
/// # Errors
/// The folder around it cannot be written to.
pub fn private_folder_in(parent: &Path) -> io::Result<tempfile::TempDir> {
    folder_in(parent, 0o700)
}

/// `mode` is for systems that have one; the process's mask is taken off.
#[cfg_attr(not(unix), expect(unused_variables, reason = "no mode there"))]
fn folder_in(parent: &Path, mode: u32) -> io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    builder.tempdir_in(parent)
}

/// What may stand where a folder is to appear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vacancy {
    /// Nothing.
    Nothing,
    /// Nothing, or a folder without entries, which is replaced.
    EmptyFolder,
}

/// Why a folder cannot be begun.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// Something stands in its place.
    #[error("{path} exists; name a new folder")]
    Exists {
        /// The place.
        path: PathBuf,
    },
    /// There is no folder around it.
    #[error("there is no folder {parent}; make it first, or name another place than {path}")]
    NoParent {
        /// What should be a folder.
        parent: PathBuf,
        /// The place.
        path: PathBuf,
    },
    /// The folder around it cannot be written to.
    #[error("{path} cannot be written")]
    Write {
        /// The place.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// A folder that is being written beside its place; it goes away unless it is finished or kept.
#[derive(Debug)]
pub struct PartialFolder {
    folder: tempfile::TempDir,
    place: PathBuf,
}

impl PartialFolder {
    /// A new folder beside `place`, with the permissions that any new folder gets.
    ///
    /// # Errors
    /// The place is taken, or the folder around it cannot be written to.
    pub fn beside(place: &Path, vacancy: Vacancy) -> Result<Self, PlaceError> {
        let failed = |source| PlaceError::Write { path: place.to_owned(), source };
        let place = match place.symlink_metadata() {
            Err(_) => place.to_owned(),
            Ok(there) if vacancy == Vacancy::EmptyFolder && there.is_dir() && is_empty(place).map_err(failed)? => {
                // `.` has a place of its own, too, which a rename needs.
                place.canonicalize().map_err(failed)?
            }
            Ok(_) => return Err(PlaceError::Exists { path: place.to_owned() }),
        };
        let parent = match place.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        if !parent.is_dir() {
            return Err(PlaceError::NoParent { parent: parent.to_owned(), path: place });
        }
        let folder = partial_folder_in(parent).map_err(failed)?;
        Ok(Self { folder, place })
    }

    /// Where the folder is while it is being written.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Puts the folder in its place.
    ///
    /// # Errors
    /// It cannot be renamed, or something stands in its place by now; then it is as before.
    pub fn finish(&mut self) -> io::Result<()> {
        let renamed = fs::rename(self.folder.path(), &self.place);
        if renamed.is_err() && is_empty(&self.place).unwrap_or(false) {
            // Not every system replaces an empty folder. One that is not empty is not removed.
            fs::remove_dir(&self.place)?;
            fs::rename(self.folder.path(), &self.place)?;
        } else {
            renamed?;
        }
        self.folder.disable_cleanup(true);
        sync_folder(&self.place);
        Ok(())
    }

    /// Leaves the folder where it is being written, and says where that is.
    pub fn keep(self) -> PathBuf {
        self.folder.keep()
    }
}

fn is_empty(folder: &Path) -> io::Result<bool> {
    Ok(fs::read_dir(folder)?.next().is_none())
}

/// Writes the new name through to the disk, where the system can; the files are there already.
fn sync_folder(place: &Path) {
    #[cfg(unix)]
    if let Some(Ok(parent)) = place.parent().filter(|parent| *parent != Path::new("")).map(File::open) {
        let _ = parent.sync_all();
    }
    #[cfg(not(unix))]
    let _ = place;
}

/// Writes a new file through to the disk; it has its name only when all of it is there.
///
/// # Errors
/// It exists, or cannot be written whole; then nothing is left of it.
pub fn write_through(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let mut file = partial_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map(drop).map_err(|error| error.error)
}

/// Whether this is the name (without the folders around it) of a file or folder that an interrupted write has left.
pub fn is_partial(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|rest| rest.ends_with(SUFFIX))
}
