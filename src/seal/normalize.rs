//! Text with CRLF line endings, rewritten with LF.

use std::io;
use std::path::Path;

use globset::GlobSet;

use super::SealError;
use super::survey::survey;
use crate::package::endings::copy_with_lf;
use crate::package::folder::{FileError, Folder, Stamp};
use crate::package::limits::MAX_HASHED_BYTES;
use crate::package::partial::partial_in;

/// The texts with CRLF among the files that would be sealed.
///
/// # Errors
/// Whatever else keeps the folder from being sealed, so that nothing is rewritten in vain.
pub fn to_normalize(folder: &Path, exclude: &GlobSet) -> Result<Vec<String>, SealError> {
    let survey = survey(folder, exclude)?;
    if !survey.refused.is_empty() {
        return Err(SealError::Refused { refused: survey.refused });
    }
    Ok(survey.files.into_iter().filter(|file| file.crlf).map(|file| file.name).collect())
}

/// Rewrites one text with LF, whole or not at all; its permissions stay.
///
/// # Errors
/// The file or its folder cannot be written to, or the file changes meanwhile.
pub fn normalize(folder: &Path, name: &str) -> Result<(), SealError> {
    replace(folder, name, &mut |reader, writer| copy_with_lf(reader, writer))
        .map_err(|source| SealError::Rewrite { name: name.to_owned(), source })
}

type Copy<'c> = &'c mut dyn FnMut(&mut dyn io::Read, &mut dyn io::Write) -> io::Result<()>;

/// Writes what `copy` makes of a file beside it, and renames it into its place.
pub(super) fn replace(folder: &Path, name: &str, copy: Copy<'_>) -> io::Result<()> {
    let package = Folder::new(folder);
    let system = |error: FileError| match error {
        FileError::Io(error) => error,
        error => io::Error::other(error.to_string()),
    };
    let (mut file, _) = package.open(name, MAX_HASHED_BYTES).map_err(system)?;
    let metadata = file.metadata()?;
    let path = folder.join(name);
    let mut new = partial_in(path.parent().unwrap_or(folder))?;
    copy(&mut file, &mut new)?;
    new.as_file().set_permissions(metadata.permissions())?;
    new.as_file().sync_all()?;
    let (again, _) = package.open(name, MAX_HASHED_BYTES).map_err(system)?;
    if Stamp::of(&again.metadata()?) != Stamp::of(&metadata) {
        return Err(io::Error::other(FileError::Changed.to_string()));
    }
    new.persist(&path).map_err(|error| error.error)?;
    Ok(())
}
