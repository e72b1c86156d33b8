//! Where results go: standard output, or a file that appears whole or not at all.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::Failure;
use crate::package::partial::partial_in;

/// A place for a command's result.
#[derive(Debug)]
pub(super) enum Output {
    /// Standard output.
    Stdout,
    /// A file, written beside its place and renamed into it.
    File {
        /// Its path.
        path: PathBuf,
        /// The file being written.
        partial: tempfile::NamedTempFile,
    },
}

impl Output {
    /// Opens the place before any long work, so that a bad path is known at once. An older file stays until
    /// [`Output::write`] succeeds. `-` is standard output.
    ///
    /// # Errors
    /// The folder cannot be written to.
    pub(super) fn open(path: Option<&Path>) -> Result<Self, Failure> {
        match path {
            None => Ok(Output::Stdout),
            Some(path) if path == Path::new("-") => Ok(Output::Stdout),
            Some(path) => {
                let partial = partial_beside(path)?;
                Ok(Output::File { path: path.to_owned(), partial })
            }
        }
    }

    /// Whether this is standard output.
    pub(super) fn is_stdout(&self) -> bool {
        matches!(self, Output::Stdout)
    }

    /// Writes the result with `write`. A reader that closes the pipe early is no error.
    ///
    /// # Errors
    /// The file or stream cannot be written.
    pub(super) fn write(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        match self {
            Output::Stdout => {
                let mut stdout = BufWriter::new(io::stdout().lock());
                match write(&mut stdout).and_then(|()| stdout.flush()) {
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                    result => result.context("cannot write to standard output"),
                }
            }
            Output::File { path, mut partial } => {
                let mut file = BufWriter::new(partial.as_file_mut());
                write(&mut file)
                    .and_then(|()| file.flush())
                    .with_context(|| format!("cannot write {}", path.display()))?;
                drop(file);
                partial.persist(&path).with_context(|| format!("cannot write {}", path.display()))?;
                Ok(())
            }
        }
    }
}

/// A new file in the folder of `path`.
fn partial_beside(path: &Path) -> Result<tempfile::NamedTempFile, Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if path.is_dir() {
        anyhow::bail!("cannot write {}: it is a folder", path.display());
    }
    partial_in(folder).with_context(|| format!("cannot write {}: no new file in its folder", path.display()))
}
