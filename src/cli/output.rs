//! Where results go: standard output, or a file that appears whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::Failure;
use super::inputs::Inputs;
use crate::package::partial::partial_in;
use crate::package::partition::files;

/// A place for a command's result.
#[derive(Debug)]
pub(super) enum Output {
    /// Standard output.
    Stdout,
    /// A file, written beside its place and renamed into it.
    File {
        /// Its path.
        path: PathBuf,
    },
    /// A pipe or a device, which is written to and never replaced.
    Special {
        /// Its path.
        path: PathBuf,
        /// The same, opened.
        file: File,
    },
}

impl Output {
    /// Tries the place before any long work, so that a bad path is known at once. An older file stays until
    /// [`Output::write`] succeeds, and until then nothing lies beside it: the folder may be the package that is looked at.
    /// `-` is standard output. `inputs` are all that the command reads.
    ///
    /// # Errors
    /// The folder cannot be written to, or the place is that of an input or of a package's evidence.
    pub(super) fn open(path: Option<&Path>, inputs: &Inputs) -> Result<Self, Failure> {
        if let Some(path) = path.filter(|path| *path != Path::new("-")) {
            refuse_input(path, inputs)?;
            refuse_evidence(path, inputs)?;
        }
        Self::open_any(path)
    }

    /// As [`Output::open`], for a model, which may replace a package's older `model.json`.
    ///
    /// # Errors
    /// Those of [`Output::open`], for any other file of a package.
    pub(super) fn open_model(path: &Path, inputs: &Inputs) -> Result<Self, Failure> {
        refuse_input(path, inputs)?;
        // Both where a link would be replaced and where it leads to.
        if [place(path), real(path)].iter().any(|place| place.file_name().is_none_or(|name| name != files::MODEL)) {
            refuse_evidence(path, inputs)?;
        }
        Self::open_any(Some(path))
    }

    fn open_any(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else { return Ok(Output::Stdout) };
        let cannot = || format!("cannot write {}", path.display());
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => Err(anyhow::anyhow!("it is a folder")).with_context(cannot),
            Ok(metadata) if !metadata.is_file() => {
                let file = File::options().write(true).open(path).with_context(cannot)?;
                Ok(Output::Special { path: path.to_owned(), file })
            }
            _ => {
                drop(partial_beside(path)?);
                Ok(Output::File { path: path.to_owned() })
            }
        }
    }

    /// Opens the place of a result that must be of this run: an older file is removed at once, so that whatever ends the run
    /// early, nobody takes the old result for the new one.
    ///
    /// # Errors
    /// The folder cannot be written to, or the older file cannot be removed.
    pub(super) fn open_cleared(path: &Path, inputs: &Inputs) -> Result<Self, Failure> {
        let output = Self::open(Some(path), inputs)?;
        if let Output::File { path } = &output {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(error).with_context(|| format!("cannot remove the older {}", path.display()));
                }
                _ => {}
            }
        }
        Ok(output)
    }

    /// Whether this is standard output.
    pub(super) fn is_stdout(&self) -> bool {
        matches!(self, Output::Stdout)
    }

    /// Whether what is written to one place would be lost, or mixed, with what is written to the other.
    pub(super) fn is_same(&self, other: &Output) -> bool {
        match (self, other) {
            (Output::Stdout, Output::Stdout) => true,
            (Output::File { path: left }, Output::File { path: right }) => real(left) == real(right),
            _ => false,
        }
    }

    /// Writes the result with `write`. A reader that closes the pipe early is no error.
    ///
    /// # Errors
    /// The file or stream cannot be written.
    pub(super) fn write(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        match self {
            Output::Stdout => stream(io::stdout().lock(), write).context("cannot write to standard output"),
            Output::Special { path, file } => {
                stream(file, write).with_context(|| format!("cannot write {}", path.display()))
            }
            Output::File { path } => {
                let cannot = || format!("cannot write {}", path.display());
                let mut partial = partial_beside(&path)?;
                let mut file = BufWriter::new(partial.as_file_mut());
                write(&mut file).and_then(|()| file.flush()).with_context(cannot)?;
                drop(file);
                partial.persist(&path).with_context(cannot)?;
                Ok(())
            }
        }
    }
}

/// # Errors
/// The result would replace something that the command reads.
fn refuse_input(path: &Path, inputs: &Inputs) -> Result<(), Failure> {
    match inputs.replaced_by(path) {
        Some(input) => {
            anyhow::bail!("cannot write {}: it would replace {input}; name another place", path.display())
        }
        None => Ok(()),
    }
}

/// # Errors
/// The result would replace a file that a package declares.
fn refuse_evidence(path: &Path, inputs: &Inputs) -> Result<(), Failure> {
    match inputs.evidence_of(path) {
        Some(folder) => anyhow::bail!(
            "cannot write {}: it is a file of the package {}, which would not be what it was; name another place",
            path.display(),
            folder.display()
        ),
        None => Ok(()),
    }
}

/// The path without links on the way; the file itself may not be there yet.
pub(super) fn real(path: &Path) -> PathBuf {
    let whole = || {
        let name = path.file_name()?;
        fs::canonicalize(folder_of(path)).ok().map(|folder| folder.join(name))
    };
    fs::canonicalize(path).ok().or_else(whole).unwrap_or_else(|| path.to_owned())
}

/// Where a file written to `path` lies afterwards: a link there is replaced, not followed.
pub(super) fn place(path: &Path) -> PathBuf {
    let folder = folder_of(path);
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    path.file_name().map(|name| folder.join(name)).unwrap_or(folder)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes to something that a reader may close at any time.
fn stream(stream: impl Write, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut buffered = BufWriter::new(stream);
    match write(&mut buffered).and_then(|()| buffered.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// A new file in the folder of `path` with the permissions that any new file gets.
fn partial_beside(path: &Path) -> Result<tempfile::NamedTempFile, Failure> {
    partial_in(folder_of(path)).with_context(|| format!("cannot write {}: no new file in its folder", path.display()))
}
