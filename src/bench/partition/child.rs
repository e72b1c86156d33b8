//! What a child process does: one case in one cohort, from the fixtures to outputs on disk that are checked again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::backend::BackendError;
use super::cases::CaseSpec;
use super::clock::milliseconds;
use super::job::{Fault, Job, JobError, OfCase, Work};
use super::measure::measure;
use super::oracle::{self, BOUND, EXPECTED, Verdict, tensor_file};
use super::{affinity, machine, process, tune};
use crate::bench::cuda;
use crate::package::json::{Json, compact, object};
use crate::package::partition::Storage;

/// Name of a result in a child's folder.
pub const RESULT: &str = "result.json";

/// Name of a source in a child's folder.
pub const SOURCE: &str = "source.txt";

/// Name of the part of a source that the original entry is.
pub const ORIGINAL_SOURCE: &str = "original-source.txt";

/// Name of an output in a child's folder.
pub fn output_file(storage: Storage) -> String {
    tensor_file("output", storage)
}

/// Why a child has failed.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    /// The job is none.
    #[error(transparent)]
    Job(#[from] JobError),
    /// The backend has failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// A file cannot be read or written.
    #[error("{path} cannot be read or written")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Something came out that is wrong.
    #[error("{0}")]
    Wrong(String),
}

/// Does a job; writes [`RESULT`] whatever comes of it, and gives whether it succeeded.
///
/// # Errors
/// The job cannot be read, or the result cannot be written.
pub fn run(path: &Path) -> Result<bool, ChildError> {
    process::end_with_parent();
    let job = Job::read(path)?;
    let result = work(&job);
    let succeeded = result.is_ok();
    let document = result.unwrap_or_else(|error| {
        let unavailable = matches!(error, ChildError::Backend(BackendError::Unavailable(_)));
        object([
            ("status", Json::from("failed")),
            ("error", Json::from(chain(&error))),
            ("unavailable", Json::Bool(unavailable)),
        ])
    });
    write(&job.folder.join(RESULT), (compact(&document) + "\n").as_bytes())?;
    Ok(succeeded)
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}

fn work(job: &Job) -> Result<Json, ChildError> {
    let before = affinity::current();
    if let Some(cpus) = &job.cpus {
        affinity::pin(cpus).map_err(ChildError::Wrong)?;
    }
    let after = affinity::current();
    match &job.work {
        Work::Probe => {
            let backend = job.open()?;
            let bus_id = backend.bus_id();
            Ok(object([
                ("status", Json::from("passed")),
                ("device", backend.device()),
                ("overlaps", Json::Bool(backend.overlaps())),
                ("fingerprint", backend.fingerprint().map_or(Json::Null, Json::from)),
                ("machine", state(bus_id.as_deref())),
                ("bus_id", bus_id.map_or(Json::Null, Json::from)),
            ]))
        }
        Work::Tune(planned) => {
            let fixture = Fixture::read(&planned.of)?;
            let backend = job.open()?;
            let tried = tune::tune(backend.as_ref(), &fixture.spec, &fixture.input, &planned.overlap)?;
            Ok(object([("status", Json::from("passed")), ("tried", tried)]))
        }
        Work::Measure(planned) => {
            let begin = Instant::now();
            let fixture = Fixture::read(&planned.of)?;
            let fixture_ms = milliseconds(begin);
            let begin = Instant::now();
            let backend = job.open()?;
            let opened = (fixture_ms, milliseconds(begin));
            let mut members = vec![("status".to_owned(), Json::from("passed"))];
            members.extend(measure(job, planned, &fixture, backend.as_ref(), opened)?);
            members.push(("affinity_before".to_owned(), affinity::mask(before.as_deref())));
            members.push(("affinity_actual".to_owned(), affinity::mask(after.as_deref())));
            if planned.fault == Some(Fault::Late) {
                return Err(ChildError::Wrong("a failure that a test asked for".to_owned()));
            }
            Ok(Json::Object(members))
        }
    }
}

/// How busy the machine is, and the state of its GPU.
pub(super) fn state(bus_id: Option<&str>) -> Json {
    let gpu = if bus_id.is_some() { cuda::state(bus_id) } else { Json::Null };
    object([("load_average", machine::load_average().map_or(Json::Null, Json::from)), ("gpu", gpu)])
}

/// A case's files.
pub(super) struct Fixture {
    pub(super) spec: CaseSpec,
    pub(super) input: Vec<u8>,
    pub(super) expected: Vec<f64>,
    pub(super) bound: Vec<f64>,
}

impl Fixture {
    pub(super) fn read(of: &OfCase) -> Result<Self, ChildError> {
        let spec = of.spec()?;
        let file = |name: &str| {
            let path = of.fixture.join(name);
            fs::read(&path).map_err(|source| ChildError::File { path, source })
        };
        let floats =
            |bytes: Vec<u8>| bytes.as_chunks().0.iter().map(|&value| f64::from_le_bytes(value)).collect::<Vec<_>>();
        let input = file(&tensor_file("input0", spec.storage))?;
        Ok(Self { input, expected: floats(file(EXPECTED)?), bound: floats(file(BOUND)?), spec })
    }

    /// Checks an output against the oracle.
    pub(super) fn check(&self, output: &[u8]) -> Verdict {
        oracle::check(self.spec.storage, output, &self.expected, &self.bound)
    }
}

/// Writes a file beside its place and renames it, so that it is there whole or not at all.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), ChildError> {
    let failed = |source| ChildError::File { path: path.to_owned(), source };
    let partial = path.with_extension("partial");
    fs::write(&partial, bytes).and_then(|()| fs::rename(&partial, path)).map_err(failed)
}
