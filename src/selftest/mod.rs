//! The measure of the checks: forged copies of a package, and which forgeries `verify` catches.
//!
//! Each forgery changes one leaf (a number by one part in a million, an integer by one, a hash by one digit, a flag
//! flipped, the last digit of a decimal in prose), seals the copy again so that all hashes hold, and verifies it. Caught
//! means that a finding appears which the unforged copy does not have.

mod forge;

pub use forge::{Forgery, LeafKind, leaves};

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io;
use std::path::Path;

use globset::GlobSet;
use rayon::prelude::*;

use crate::audit::{self, Finding, Options, Severity};
use crate::package::folder::Folder;
use crate::package::limits::MAX_PARSED_BYTES;
use crate::package::partition::files;
use crate::package::receipts::RECEIPTS;
use crate::seal::{SealError, receipts_text, write_receipts};

/// Files whose leaves are forged.
pub const FORGED_FILES: [&str; 8] = [
    files::VALIDATION,
    files::MODEL,
    files::SAMPLES,
    files::PROVENANCE,
    files::DEVICE,
    files::CASES,
    files::README,
    files::PROOF_RECEIPTS,
];

/// What happened to the forgeries.
#[derive(Debug, Clone, PartialEq)]
pub struct SelftestReport {
    /// The package as the person called it.
    pub package: String,
    /// Seed of the selection.
    pub seed: u64,
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
    /// Those with a new finding that is an error (or "unsupported").
    pub caught: usize,
    /// Those with new warnings only; they fail under `--strict`.
    pub warned: usize,
    /// Places without any new finding, by pattern: array positions and cases left out.
    pub missed: BTreeMap<String, usize>,
}

impl FileResult {
    /// Share of the forged leaves that were caught or warned about.
    pub fn rate(&self) -> f64 {
        (self.caught + self.warned) as f64 / self.forged.max(1) as f64
    }
}

impl SelftestReport {
    /// Share caught over all leaves of all files but `proof-receipts.json`, whose entries nothing repeats: each file's
    /// rate, weighted by its leaves.
    pub fn rate(&self) -> f64 {
        let counted = || self.files.iter().filter(|file| file.name != files::PROOF_RECEIPTS && file.forged > 0);
        let leaves: usize = counted().map(|file| file.leaves).sum();
        counted().map(|file| file.rate() * file.leaves as f64).sum::<f64>() / leaves.max(1) as f64
    }
}

/// Why the selftest could not be run.
#[derive(Debug, thiserror::Error)]
pub enum SelftestError {
    /// The package, or its copy, cannot be read or written.
    #[error("the package cannot be copied")]
    Copy(#[from] io::Error),
    /// The copy cannot be sealed.
    #[error("the copy cannot be sealed")]
    Seal(#[from] SealError),
    /// There is nothing to forge.
    #[error("none of {} is in the package", FORGED_FILES.join(", "))]
    NothingToForge,
}

/// Forges up to `per_file` leaves of each file (all, if `None`), chosen by `seed`, and verifies each forged copy.
/// `progress` is told of each verified forgery; it is called with the total first.
///
/// # Errors
/// The package cannot be copied or sealed.
pub fn run(
    folder: &Path,
    name: &str,
    per_file: Option<usize>,
    seed: u64,
    options: &Options,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<SelftestReport, SelftestError> {
    let source = Folder::new(folder);
    let mut chosen = Vec::new();
    let mut results = Vec::new();
    let mut random = fastrand::Rng::with_seed(seed);
    for file in FORGED_FILES {
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
            caught: 0,
            warned: 0,
            missed: BTreeMap::new(),
        });
        let forgeries = found.into_iter().map(|leaf| leaf.forge(&text, &mut random));
        chosen.extend(forgeries.map(|forgery| (results.len() - 1, forgery)));
    }
    if chosen.is_empty() {
        return Err(SelftestError::NothingToForge);
    }
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
        match outcome {
            Some(Severity::Warning) => result.warned += 1,
            Some(_) => result.caught += 1,
            None => *result.missed.entry(forgery.pattern.clone()).or_default() += 1,
        }
    }
    Ok(SelftestReport { package: name.to_owned(), seed, files: results })
}

/// How far the selftest is.
#[derive(Debug, Clone, Copy)]
pub enum Progress {
    /// So many forgeries will be tried.
    Total(usize),
    /// One was.
    One,
}

/// A sealed copy of the package in which one leaf at a time is forged.
struct Workbench {
    folder: tempfile::TempDir,
    options: Options,
    baseline: HashSet<String>,
}

impl Workbench {
    fn new(source: &Folder, options: &Options) -> Result<Self, SelftestError> {
        let folder = tempfile::tempdir()?;
        for name in source.list()? {
            let Ok(content) = source.read(&name, MAX_PARSED_BYTES) else { continue };
            let target = folder.path().join(&name);
            fs::create_dir_all(target.parent().unwrap_or(folder.path()))?;
            fs::write(target, content)?;
        }
        // What the source declares and lacks would be lost by sealing; the receipts keep naming it.
        let options = Options { expect_receipts: None, ..options.clone() };
        let mut bench = Self { folder, options, baseline: HashSet::new() };
        bench.seal()?;
        bench.baseline = bench.findings().into_iter().map(|(key, _)| key).collect();
        Ok(bench)
    }

    /// Changes one leaf, verifies, restores; gives the worst severity among new findings.
    fn try_forgery(&mut self, file: &str, forgery: &Forgery) -> Result<Option<Severity>, SelftestError> {
        let path = self.folder.path().join(file);
        let original = fs::read(&path)?;
        let mut forged = original.clone();
        forged.splice(forgery.range.clone(), forgery.replacement.bytes());
        fs::write(&path, forged)?;
        self.seal()?;
        let new = self.findings().into_iter().filter(|(key, _)| !self.baseline.contains(key));
        let worst = new.map(|(_, severity)| severity).max();
        fs::write(&path, original)?;
        Ok(worst)
    }

    /// Updates the hashes of the files that are there; entries of absent files stay as they are.
    fn seal(&self) -> Result<(), SelftestError> {
        let sealed = receipts_text(self.folder.path(), &GlobSet::empty())?;
        let recorded = fs::read_to_string(self.folder.path().join(RECEIPTS)).unwrap_or_default();
        write_receipts(self.folder.path(), &forge::with_absent_entries(&sealed, &recorded))?;
        Ok(())
    }

    fn findings(&self) -> Vec<(String, Severity)> {
        let report = audit::verify(self.folder.path(), "copy", &self.options, &|_| {});
        report.findings().map(|finding| (key(finding), finding.severity)).collect()
    }
}

fn key(finding: &Finding) -> String {
    format!("{} {} {:?}", finding.code.name(), finding.file, finding.place)
}
