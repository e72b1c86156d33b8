//! One package as it was read: the contents that checks need, and why others are missing.

use std::collections::BTreeMap;

use globset::GlobSet;

use crate::package::folder::Folder;
use crate::package::json::{Document, Json};
use crate::package::limits::STREAMED_BYTES;
use crate::package::partition::sample_runs::SampleRuns;
use crate::package::partition::{SampleTable, Validation, files};
use crate::package::signature::allowed::{Signer, Signers};
use crate::refit::{self, Refit};

/// What a run of the checks may be told.
#[derive(Debug, Clone)]
pub struct Options {
    /// Largest relative difference of floats whose last bits depend on the machine; the published rule is 1e-12.
    pub tolerance: f64,
    /// Files that may be absent, declared or needed by others.
    pub allow_absent: GlobSet,
    /// The SHA-256 that `receipts.json` must have, where the reader knows it.
    pub expect_receipts: Option<String>,
    /// Who may have signed `receipts.json`, where the reader asks for a signature.
    pub signers: Option<Signers>,
    /// Files of measurements that have at least so many bytes are read in a stream.
    pub streamed_from: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tolerance: DEFAULT_TOLERANCE,
            allow_absent: GlobSet::empty(),
            expect_receipts: None,
            signers: None,
            streamed_from: STREAMED_BYTES,
        }
    }
}

/// The tolerance that the published package's own verifier grants other builds of its linear algebra.
pub const DEFAULT_TOLERANCE: f64 = 1e-12;

/// A file's content, or why there is none.
pub type Content<T> = Result<T, String>;

/// The contents of one package.
#[derive(Debug, Default)]
pub struct Evidence {
    /// JSON files by name.
    pub documents: BTreeMap<String, Content<Document>>,
    /// Other texts by name.
    pub texts: BTreeMap<String, Content<Vec<u8>>>,
    /// The samples, where they were read in a stream.
    pub streamed_samples: Option<Content<StreamedSamples>>,
    /// SHA-256 of every file that was hashed, as it lies there, whatever was declared of it.
    pub digests: BTreeMap<String, String>,
    /// Whose key signed `receipts.json`, where that was asked and answered.
    pub signer: Option<Signer>,
}

/// A large `samples.csv`.
#[derive(Debug)]
pub struct StreamedSamples {
    /// What its rows say.
    pub runs: SampleRuns,
    /// Where it lies, to find the row that a difference is in.
    pub folder: Folder,
}

/// The rows of `samples.csv`.
#[derive(Debug)]
pub enum Samples<'e> {
    /// All of them.
    Table(SampleTable),
    /// What those of a large file say.
    Streamed(&'e StreamedSamples),
}

impl Evidence {
    /// A JSON file.
    ///
    /// # Errors
    /// The reason why it cannot be used, for a "not run".
    pub fn document(&self, name: &str) -> Result<&Document, String> {
        match self.documents.get(name) {
            Some(Ok(document)) => Ok(document),
            Some(Err(reason)) => Err(format!("{name}: {reason}")),
            None => Err(format!("{name} is not in the package")),
        }
    }

    /// Another text.
    ///
    /// # Errors
    /// The reason why it cannot be used, for a "not run".
    pub fn text(&self, name: &str) -> Result<&[u8], String> {
        match self.texts.get(name) {
            Some(Ok(text)) => Ok(text),
            Some(Err(reason)) => Err(format!("{name}: {reason}")),
            None => Err(format!("{name} is not in the package")),
        }
    }
}

/// The typed content of a partition package; each part may be missing with a reason.
#[derive(Debug)]
pub struct PartitionEvidence<'e> {
    /// All files.
    pub evidence: &'e Evidence,
    /// The runs.
    pub validation: Content<Validation<'e>>,
    /// The sample rows.
    pub samples: Content<Samples<'e>>,
}

impl<'e> PartitionEvidence<'e> {
    /// Reads what is there.
    pub fn read(evidence: &'e Evidence) -> Self {
        let (validation, samples) = rayon::join(
            || evidence.document(files::VALIDATION).map(Validation::read),
            || match &evidence.streamed_samples {
                Some(samples) => {
                    samples.as_ref().map(Samples::Streamed).map_err(|reason| format!("{}: {reason}", files::SAMPLES))
                }
                None => evidence.text(files::SAMPLES).map(|text| Samples::Table(SampleTable::read(text))),
            },
        );
        Self { evidence, validation, samples }
    }

    /// The runs.
    ///
    /// # Errors
    /// The reason why there are none, for a "not run".
    pub fn validation(&self) -> Result<&Validation<'e>, String> {
        self.validation.as_ref().map_err(Clone::clone)
    }
}

/// The refit that several families compare with, and its document; or why there is none.
pub type RefitEvidence<'v, 'd> = Content<Refitted<'v, 'd>>;

/// A package's model, fitted again.
#[derive(Debug)]
pub struct Refitted<'v, 'd> {
    /// The fit, its folds and decisions.
    pub refit: Refit<'v, 'd>,
    /// The same in the published schema.
    pub document: Json,
    /// Streaming multiprocessors of the declared device.
    pub sm_count: u64,
}

impl<'e> PartitionEvidence<'e> {
    /// Fits the package's model again.
    ///
    /// # Errors
    /// The reason why it cannot be, for a "not run".
    pub fn refit(&self) -> RefitEvidence<'_, 'e> {
        let validation = self.validation()?;
        let device = self.evidence.document(files::DEVICE)?.root();
        let sm_count = device.get("sm_count").and_then(Json::as_u64).filter(|&count| count > 0);
        let sm_count = sm_count.ok_or_else(|| format!("{}: sm_count is not a positive integer", files::DEVICE))?;
        let observations = refit::observations(validation, sm_count).map_err(|error| error.to_string())?;
        let refit = Refit::new(observations).map_err(|error| error.to_string())?;
        let document = refit::document::derived(&refit, validation, device, sm_count);
        Ok(Refitted { refit, document, sm_count })
    }
}
