//! A new package: the files that its author begins with, and what is still missing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::package::folder::{FileError, Folder};
use crate::package::limits::MAX_PARSED_BYTES;
use crate::package::partial::write_through;
use crate::package::partition::files;
use crate::package::receipts::RECEIPTS;

/// What marks a place of the README that its author has to fill in.
pub const TODO: &str = "TODO";

const ATTRIBUTES: &str = "* text eol=lf\n*.npy binary\n";

const PARTITION_README: &str = include_str!("skeleton/partition.md");
const DIVERGENCE_README: &str = include_str!("skeleton/divergence.md");

/// The kinds of package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Timed runs of cases in cohorts, and a model fitted to them
    Partition,
    /// Run-to-run divergence of an operation, by engine
    Divergence,
}

/// What becomes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It is there.
    There,
    /// It is there, and says itself that it is not finished.
    Unfinished,
    /// The package needs it.
    Missing,
    /// A package may have it.
    Optional,
}

/// A file of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Its name.
    pub name: &'static str,
    /// Whether it is there.
    pub state: State,
    /// What it holds, and where it comes from.
    pub about: &'static str,
}

/// Why there is no new package.
#[derive(Debug, thiserror::Error)]
pub enum SkeletonError {
    /// Something else stands in its place.
    #[error("{path} is no folder; name a new one, or one that is")]
    NoFolder {
        /// The place.
        path: PathBuf,
    },
    /// Something cannot be written.
    #[error("{path} cannot be written")]
    Write {
        /// What.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Kind {
    fn readme(self) -> &'static str {
        match self {
            Kind::Partition => PARTITION_README,
            Kind::Divergence => DIVERGENCE_README,
        }
    }

    /// All files: name, whether the package needs it, what it is.
    fn files(self) -> &'static [(&'static str, bool, &'static str)] {
        match self {
            Kind::Partition => &[
                (files::README, true, "what a person reads; its numbers are checked against the data"),
                (".gitattributes", true, "keeps line ends as they are hashed"),
                (files::CASES, true, "what was run, case by case: `recount bench` writes it"),
                (files::DEVICE, true, "what it was run on: `recount bench` writes it"),
                (files::VALIDATION, true, "all runs with samples, spans, checks: `recount bench` writes it"),
                (files::SAMPLES, true, "one row for each sample: `recount bench` writes it"),
                (files::MODEL, false, "the fit: `recount refit DIR --model-out DIR/model.json`"),
                (files::PROVENANCE, false, "needed beside model.json: ids and hashes of what it was fitted on"),
                (files::PROOF_RECEIPTS, false, "hashes of sources and binaries"),
                (RECEIPTS, true, "hash and size of every other file: `recount seal DIR`, last"),
            ],
            Kind::Divergence => &[
                (files::README, true, "what a person reads"),
                (".gitattributes", true, "keeps line ends as they are hashed"),
                (RESULTS_OF_AN_ENGINE, true, "the pairs of one engine's trials: `recount divergence run` writes it"),
                (RECEIPTS, true, "hash and size of every other file: `recount seal DIR`, last"),
            ],
        }
    }
}

/// What a divergence package needs of at least one engine.
const RESULTS_OF_AN_ENGINE: &str = "ENGINE/experiment_results.json";

/// The kind of package that lies in a folder, as far as its files tell; `None` where they do not, or the folder cannot be listed.
pub fn kind_of(folder: &Path) -> Option<Kind> {
    /// What no package of another kind has.
    const OF_PARTITION: [&str; 4] = [files::CASES, files::VALIDATION, files::SAMPLES, files::MODEL];
    let package = Folder::new(folder);
    let names = package.list().ok()?.names;
    if names.iter().any(|name| OF_PARTITION.contains(&name.as_str())) {
        return Some(Kind::Partition);
    }
    // A package that was begun has nothing else to be known by.
    let begins =
        || package.read(files::README, MAX_PARSED_BYTES).is_ok_and(|text| text == DIVERGENCE_README.as_bytes());
    let has_results = names.iter().any(|name| is_results_of_an_engine(name));
    (has_results || begins()).then_some(Kind::Divergence)
}

fn is_results_of_an_engine(name: &str) -> bool {
    name.ends_with("/experiment_results.json")
}

/// Makes the folder and writes the files that are not there; gives their names. What is there stays as it is.
///
/// # Errors
/// The place is no folder, or a file cannot be written.
pub fn create(folder: &Path, kind: Kind) -> Result<Vec<&'static str>, SkeletonError> {
    if folder.exists() && !folder.is_dir() {
        return Err(SkeletonError::NoFolder { path: folder.to_owned() });
    }
    let failed = |path: &Path, source| SkeletonError::Write { path: path.to_owned(), source };
    fs::create_dir_all(folder).map_err(|source| failed(folder, source))?;
    let mut written = Vec::new();
    for (name, text) in [(files::README, kind.readme()), (".gitattributes", ATTRIBUTES)] {
        let path = folder.join(name);
        match write_through(&path, text.as_bytes()) {
            Ok(()) => written.push(name),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(failed(&path, source)),
        }
    }
    Ok(written)
}

/// The files of a package of that kind, in the order in which they come to be.
///
/// # Errors
/// The folder cannot be listed.
pub fn pieces(folder: &Path, kind: Kind) -> io::Result<Vec<Piece>> {
    let package = Folder::new(folder);
    let names = package.list()?.names;
    let is_there = |name: &str| match name {
        RESULTS_OF_AN_ENGINE => names.iter().any(|name| is_results_of_an_engine(name)),
        name => names.iter().any(|other| other == name),
    };
    let state = |name: &str, is_needed: bool| match (is_there(name), is_needed) {
        (true, _) if name == files::README && is_unfinished(&package) => State::Unfinished,
        (true, _) => State::There,
        (false, true) => State::Missing,
        (false, false) => State::Optional,
    };
    let pieces = kind.files().iter();
    Ok(pieces.map(|&(name, is_needed, about)| Piece { name, state: state(name, is_needed), about }).collect())
}

fn is_unfinished(package: &Folder) -> bool {
    match package.read(files::README, MAX_PARSED_BYTES) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).contains(TODO),
        Err(FileError::Absent) => false,
        Err(_) => true,
    }
}
