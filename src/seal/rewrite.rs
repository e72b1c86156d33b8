//! Files that are rewritten together: all new bytes are on the disk under other names before the first file is replaced.

use std::io::{self, Read, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use super::SealError;
use crate::package::folder::{FileError, Folder, Stamp};
use crate::package::limits::MAX_HASHED_BYTES;
use crate::package::partial::partial_in;

/// New files that wait to get their names.
pub(super) struct Rewrites<'f> {
    folder: &'f Path,
    ready: Vec<Ready>,
}

struct Ready {
    name: String,
    file: NamedTempFile,
    /// The file that it replaces, as it was; `None` where there is none.
    replaces: Option<Stamp>,
}

type Copy<'c> = &'c mut dyn FnMut(&mut dyn Read, &mut dyn Write) -> io::Result<()>;

impl<'f> Rewrites<'f> {
    pub(super) fn in_folder(folder: &'f Path) -> Self {
        Self { folder, ready: Vec::new() }
    }

    /// Writes what `copy` makes of a file beside it; its permissions stay.
    pub(super) fn replace(&mut self, name: &str, copy: Copy<'_>) -> Result<(), SealError> {
        let mut write = || -> io::Result<Ready> {
            let (mut old, _) = Folder::new(self.folder).open(name, MAX_HASHED_BYTES).map_err(system)?;
            let metadata = old.metadata()?;
            let mut file = self.partial(name)?;
            copy(&mut old, &mut file)?;
            file.as_file().set_permissions(metadata.permissions())?;
            file.as_file().sync_all()?;
            Ok(Ready { name: name.to_owned(), file, replaces: Some(Stamp::of(&metadata)) })
        };
        self.ready.push(write().map_err(|source| failed(name, Vec::new(), source))?);
        Ok(())
    }

    /// Writes the bytes of a file that does not exist yet.
    pub(super) fn create(&mut self, name: &str, bytes: &[u8]) -> Result<(), SealError> {
        let write = || -> io::Result<Ready> {
            let mut file = self.partial(name)?;
            file.write_all(bytes)?;
            file.as_file().sync_all()?;
            Ok(Ready { name: name.to_owned(), file, replaces: None })
        };
        self.ready.push(write().map_err(|source| failed(name, Vec::new(), source))?);
        Ok(())
    }

    fn partial(&self, name: &str) -> io::Result<NamedTempFile> {
        partial_in(self.folder.join(name).parent().unwrap_or(self.folder))
    }

    /// Gives all files their names, in the order in which they were written.
    ///
    /// # Errors
    /// One of them changed meanwhile, in which case nothing is replaced, or cannot be replaced; the error says which were.
    pub(super) fn commit(self) -> Result<(), SealError> {
        let package = Folder::new(self.folder);
        for Ready { name, replaces, .. } in self.ready.iter() {
            let Some(before) = replaces else { continue };
            let stamp = package.open(name, MAX_HASHED_BYTES).and_then(|(file, _)| Ok(Stamp::of(&file.metadata()?)));
            let unchanged = stamp.and_then(|now| if now == *before { Ok(()) } else { Err(FileError::Changed) });
            unchanged.map_err(|error| failed(name, Vec::new(), system(error)))?;
        }
        let mut rewritten = Vec::new();
        for Ready { name, file, replaces } in self.ready {
            let path = self.folder.join(&name);
            let named = if replaces.is_some() { file.persist(&path) } else { file.persist_noclobber(&path) };
            if let Err(error) = named {
                return Err(failed(&name, rewritten, error.error));
            }
            rewritten.push(name);
        }
        Ok(())
    }
}

fn system(error: FileError) -> io::Error {
    match error {
        FileError::Io(error) => error,
        error => io::Error::other(error.to_string()),
    }
}

fn failed(name: &str, rewritten: Vec<String>, source: io::Error) -> SealError {
    SealError::Rewrite { name: name.to_owned(), rewritten, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_while_files_get_their_names_says_which_have_theirs() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        for name in ["a", "b"] {
            std::fs::write(folder.path().join(name), "old")?;
        }
        let mut rewrites = Rewrites::in_folder(folder.path());
        rewrites.replace("a", &mut |_, new| new.write_all(b"new"))?;
        rewrites.create("c", b"new")?;
        rewrites.replace("b", &mut |_, new| new.write_all(b"new"))?;
        std::fs::write(folder.path().join("c"), "somebody else's")?;
        let error = rewrites.commit().err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(error, "c cannot be rewritten; already rewritten: a");
        let read = |name| std::fs::read_to_string(folder.path().join(name));
        assert_eq!((read("a")?, read("b")?, read("c")?), ("new".into(), "old".into(), "somebody else's".into()));
        assert_eq!(std::fs::read_dir(folder.path())?.count(), 3, "nothing is left beside them");
        Ok(())
    }

    #[test]
    fn a_change_meanwhile_leaves_everything_as_it_was() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        for name in ["a", "b"] {
            std::fs::write(folder.path().join(name), "old")?;
        }
        let mut rewrites = Rewrites::in_folder(folder.path());
        rewrites.replace("a", &mut |_, new| new.write_all(b"new"))?;
        rewrites.replace("b", &mut |_, new| new.write_all(b"new"))?;
        std::fs::write(folder.path().join("b"), "edited")?;
        let error = rewrites.commit().err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(error, "b cannot be rewritten; nothing was changed");
        assert_eq!(std::fs::read_to_string(folder.path().join("a"))?, "old");
        Ok(())
    }
}
