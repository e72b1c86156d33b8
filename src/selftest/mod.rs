//! The measure of the checks: forged copies of a package, and which forgeries `verify` catches.
//!
//! Each forgery changes one leaf (a number by one part in a million, an integer by one, a hash by one digit, a flag
//! flipped, the last digit of a decimal in prose), seals the copy again so that all hashes hold, and verifies it. Caught
//! means that a finding appears which the unforged copy does not have. What cannot be verified cannot be measured either; of a
//! package that does not hold it is said what does not, since a forgery at the same place is not told from it.

mod forge;
mod reasons;
mod workbench;

pub use forge::{Forgery, LeafKind, leaves};
pub use reasons::{Unbound, unbound};

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use rayon::prelude::*;

use crate::audit::{self, CLAIMS, Finding, MEDIANS, Options, Severity, Verdict};
use crate::package::divergence::files as divergence;
use crate::package::folder::{FileError, Folder};
use crate::package::limits::MAX_PARSED_BYTES;
use crate::package::partition::files;
use crate::seal::{KeyError, SealError};
use workbench::Workbench;

/// Files whose leaves are forged, beside the results of divergence engines.
pub const FORGED_FILES: [&str; 13] = [
    files::VALIDATION,
    files::MODEL,
    files::SAMPLES,
    files::OVERLAP,
    files::PROVENANCE,
    files::DEVICE,
    files::CASES,
    files::README,
    files::PROOF_RECEIPTS,
    divergence::ACCURACY,
    divergence::TIMING,
    CLAIMS,
    MEDIANS,
];

/// What happened to the forgeries.
#[derive(Debug, Clone, PartialEq)]
pub struct SelftestReport {
    /// The package as the person called it.
    pub package: String,
    /// Seed of the selection.
    pub seed: u64,
    /// Whether the unforged package holds; warnings leave that as it is.
    pub holds: bool,
    /// The errors in the unforged package.
    pub errors: Vec<Finding>,
    /// One entry for each forged file that the package has.
    pub files: Vec<FileResult>,
}

/// What happened to the forgeries of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileResult {
    /// The file.
    pub name: String,
    /// Leaves that can be forged.
    pub leaves: usize,
    /// Leaves that were.
    pub forged: usize,
    /// Those with a new finding that is an error (or "unsupported"): `verify` fails.
    pub fails_by_default: usize,
    /// Those with new warnings only: `verify` fails under `--strict` and says so otherwise.
    pub only_under_strict: usize,
    /// Those that a signature over the unforged receipts would catch, whatever the checks say.
    pub caught_by_signature: usize,
    /// Places without any new finding, by pattern: array positions and cases left out.
    pub missed: BTreeMap<String, usize>,
}

impl FileResult {
    /// Forged leaves that are caught.
    pub fn caught(&self, strict: bool) -> usize {
        self.fails_by_default + if strict { self.only_under_strict } else { 0 }
    }

    /// Share of the forged leaves that are caught.
    pub fn share(&self, strict: bool) -> f64 {
        self.caught(strict) as f64 / self.forged.max(1) as f64
    }
}

impl SelftestReport {
    /// Share caught over all leaves of all files but `proof-receipts.json`, whose entries nothing repeats: each file's
    /// share, weighted by its leaves.
    pub fn share(&self, strict: bool) -> f64 {
        let counted = || self.files.iter().filter(|file| file.name != files::PROOF_RECEIPTS && file.forged > 0);
        let leaves: usize = counted().map(|file| file.leaves).sum();
        counted().map(|file| file.share(strict) * file.leaves as f64).sum::<f64>() / leaves.max(1) as f64
    }
}

/// Why the selftest could not be run.
#[derive(Debug, thiserror::Error)]
pub enum SelftestError {
    /// A copy cannot be written.
    #[error("the package cannot be copied")]
    Copy(#[from] io::Error),
    /// A file of the package cannot be read, so that a copy would be another package.
    #[error("the package cannot be copied: {name}")]
    Read {
        /// The file.
        name: String,
        /// Why.
        source: FileError,
    },
    /// A file has a name that no receipt can hold.
    #[error("the package cannot be sealed again: the name {0} is not UTF-8")]
    Name(String),
    /// The copy cannot be sealed.
    #[error("the copy cannot be sealed")]
    Seal(#[from] SealError),
    /// The copy cannot be signed.
    #[error("the copy cannot be signed")]
    Sign(#[from] KeyError),
    /// Nothing can be said about the package itself.
    #[error("the package cannot be verified, so nothing can be said of forged copies: {}", said(.0))]
    Unverified(Box<Finding>),
    /// There is nothing to forge.
    #[error("none of {} and no {} is in the package", FORGED_FILES.join(", "), divergence::RESULTS)]
    NothingToForge,
}

/// Forges up to `per_file` leaves of each file (all, if `None`), chosen by `seed`, and verifies each forged copy.
/// `progress` is told of each verified forgery; it is called with the total first.
///
/// # Errors
/// The package cannot be verified, copied or sealed.
pub fn run(
    folder: &Path,
    name: &str,
    per_file: Option<usize>,
    seed: u64,
    options: &Options,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<SelftestReport, SelftestError> {
    let verified = audit::verify(folder, name, options, &|_| {});
    let holds = verified.verdict(false) == Verdict::Holds;
    let mut errors: Vec<_> =
        verified.findings().filter(|finding| finding.severity != Severity::Warning).cloned().collect();
    if let Some(at) = errors.iter().position(|finding| finding.severity == Severity::Unsupported) {
        return Err(SelftestError::Unverified(Box::new(errors.swap_remove(at))));
    }
    // What is forged is the package as its receipts record it; where its line endings differ, that is put right first.
    let pristine = tempfile::tempdir()?;
    workbench::copy(&Folder::new(folder), pristine.path())?;
    let source = Folder::new(pristine.path());
    let mut chosen = Vec::new();
    let mut results = Vec::new();
    let mut random = fastrand::Rng::with_seed(seed);
    let names = source.list()?.names;
    let of_engines = names.iter().map(String::as_str).filter(|name| divergence::engine_of(name).is_some());
    for file in FORGED_FILES.into_iter().chain(of_engines) {
        let Ok(content) = source.read(file, MAX_PARSED_BYTES) else { continue };
        let Ok(text) = String::from_utf8(content) else { continue };
        let mut found = leaves(file, &text);
        let leaf_count = found.len();
        random.shuffle(&mut found);
        found.truncate(per_file.unwrap_or(usize::MAX));
        results.push(FileResult {
            name: file.to_owned(),
            leaves: leaf_count,
            forged: found.len(),
            fails_by_default: 0,
            only_under_strict: 0,
            caught_by_signature: 0,
            missed: BTreeMap::new(),
        });
        let forgeries = found.into_iter().map(|leaf| leaf.forge(&text, &mut random));
        chosen.extend(forgeries.map(|forgery| (results.len() - 1, forgery)));
    }
    if chosen.is_empty() {
        return Err(SelftestError::NothingToForge);
    }
    // One is tried before many, so that its error is said as it is.
    drop(Workbench::new(&source, options)?);
    progress(Progress::Total(chosen.len()));
    let outcomes: Vec<_> = chosen
        .par_iter()
        .map_init(
            || Workbench::new(&source, options),
            |bench, (file, forgery)| {
                let bench = bench.as_mut().map_err(|error| SelftestError::Copy(io::Error::other(error.to_string())))?;
                let outcome = bench.try_forgery(&results[*file].name, forgery)?;
                progress(Progress::One);
                Ok((*file, outcome))
            },
        )
        .collect::<Result<_, SelftestError>>()?;
    for ((file, outcome), (_, forgery)) in outcomes.into_iter().zip(&chosen) {
        let result = &mut results[file];
        result.caught_by_signature += usize::from(outcome.by_signature);
        match outcome.by_checks {
            Some(Severity::Warning) => result.only_under_strict += 1,
            Some(_) => result.fails_by_default += 1,
            None => *result.missed.entry(forgery.pattern.clone()).or_default() += 1,
        }
    }
    Ok(SelftestReport { package: name.to_owned(), seed, holds, errors, files: results })
}

/// A finding in one line.
fn said(finding: &Finding) -> String {
    let place = finding.place.pointer.as_deref().unwrap_or_default();
    let (code, file) = (finding.code.name(), &finding.file);
    format!("{code}: {file}{place}: expected {}; found {}", finding.expected, finding.found)
}

/// How far the selftest is.
#[derive(Debug, Clone, Copy)]
pub enum Progress {
    /// So many forgeries will be tried.
    Total(usize),
    /// One was.
    One,
}
