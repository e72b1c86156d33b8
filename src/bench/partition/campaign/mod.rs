//! A campaign: every case in every cohort, each in a child process of its own, and the record of it all.

mod environment;
mod evidence;
mod journal;
mod plan;
mod runs;
mod torch_run;

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use super::cases::{self, CaseSpec};
use super::child::RESULT;
use super::clock::today;
use super::job::{Job, OfCase, Tune, Work};
use super::oracle;
use super::process::{End, Ended};
use super::record::{Campaign, CaseRuns, Cohort, Receipt};
use super::{backend::GUARD_ELEMENTS, fixtures, torch};
use crate::package::digest::digest_file;
use crate::package::json::{Json, object};
use crate::package::limits::MAX_HASHED_BYTES;
use environment::redact;
use journal::Journal;
pub use journal::JournalError;
pub use plan::Plan;
use runs::Runner;

/// The file of the runs folder that lists the cases.
const CASES: &str = "cases.json";

/// The folder of the child that looks at the device.
const PROBE: &str = "probe";

/// What a child prints, in its folder.
const LOG: &str = "log.txt";

/// Why there is no campaign to make a package of.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// The runs folder cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// What the backend needs is not here.
    #[error("backend {backend}: {reason}")]
    Backend {
        /// Its name.
        backend: &'static str,
        /// What is missing, and what to do.
        reason: String,
    },
    /// The Torch route cannot be run.
    #[error("--torch")]
    Torch(#[from] torch::ProbeError),
    /// A process cannot be started.
    #[error("{program} cannot be started")]
    Start {
        /// Which.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Somebody asked it to stop before it had begun.
    #[error("interrupted before anything was run; nothing is kept")]
    StoppedEarly,
    /// Somebody asked it to stop.
    #[error("interrupted; {finished} finished runs are in {runs}: go on with --resume")]
    Stopped {
        /// How many runs are over.
        finished: usize,
        /// Where they are.
        runs: PathBuf,
    },
}

/// What a campaign tells while it runs.
pub trait Watch {
    /// A step begins.
    fn begin(&self, step: &str);
    /// It is over; `known` says that an earlier campaign had done it.
    fn end(&self, known: bool);
    /// Something failed, and the rest goes on.
    fn failed(&self, what: &str, why: &str);
}

/// Runs a campaign to its end.
///
/// # Errors
/// Nothing can be measured here, the runs folder cannot be used, or the campaign was interrupted. Runs that fail are no
/// errors: they are recorded.
pub fn run(plan: &Plan, stop: &AtomicBool, watch: &dyn Watch) -> Result<Campaign, CampaignError> {
    let program = fs::File::open(&plan.program)
        .and_then(|file| digest_file(&file, MAX_HASHED_BYTES))
        .map_err(|source| CampaignError::Start { program: plan.program.clone(), source })?;
    let program = Receipt { path: "${RECOUNT}".to_owned(), sha256: program.sha256, bytes: program.bytes };
    let torch = match &plan.torch {
        Some(python) => torch::interpreter_probe(python, &environment::of_torch(plan.device))?,
        None => Json::Null,
    };
    let journal = Journal::open(&plan.runs(), plan.resume)?;
    let mut runner = Runner { plan, journal: &journal, stop, watch, bus_id: None };
    let probed = probe(&runner).inspect_err(|_| journal.abandon(PROBE))?;
    let of = |member: &str| probed.get(member).cloned().unwrap_or(Json::Null);
    runner.check(&probed, &torch).inspect_err(|_| journal.abandon(PROBE))?;
    runner.bus_id = of("bus_id").as_str().map(str::to_owned);
    let settings = plan.settings(&program, &of("device"), &of("fingerprint"), &torch);
    let program = journal.agree(&settings, runner.has_finished())?.unwrap_or(program);
    journal.write(CASES, &cases::document(&plan.description, &plan.cases))?;
    journal.begin_session(object([("date", Json::from(today())), ("machine", of("machine"))]))?;
    let mut records = Vec::new();
    for case in &plan.cases {
        let manifest = write_fixture(&runner, case)?;
        records.push(CaseRuns {
            spec: case.clone(),
            fixture_sha256: fixture_hashes(&runner, case)?,
            manifest,
            tuning: Json::Null,
            runs: Vec::new(),
            retest: None,
        });
    }
    for record in &mut records {
        record.tuning = runner.tune(&record.spec)?;
    }
    let cohorts = Cohort::all();
    for cohort in &cohorts {
        for record in &mut records {
            record.runs.push(runner.cohort_run(cohort, &record.spec, &record.tuning)?);
        }
    }
    for record in &mut records {
        record.retest = runner.retest(&cohorts, record)?;
    }
    evidence::campaign(&runner, program, of("device"), torch, cohorts, records)
}

/// Learns what the backend runs on, in a child: an opened device must not stand beside the measurements.
fn probe(runner: &Runner<'_>) -> Result<Json, CampaignError> {
    runner.watch.begin("looking at the device");
    let (ended, result) = runner.child(PROBE, |folder| runner.job(Work::Probe, folder))?;
    match result.filter(|_| ended.succeeded()) {
        Some(result) => Ok(result),
        None => Err(runner.unavailable(runner.why(PROBE, &ended))),
    }
}

/// Writes a case's fixtures, and gives their manifest.
fn write_fixture(runner: &Runner<'_>, case: &CaseSpec) -> Result<Json, CampaignError> {
    let (journal, plan) = (runner.journal, runner.plan);
    let fixture = fixtures::generate(case);
    let folder = format!("fixtures/{}", case.id);
    journal.fresh_folder(&folder)?;
    for (name, bytes) in oracle::files(case, &fixture) {
        journal.write_bytes(&format!("{folder}/{name}"), &bytes)?;
    }
    let manifest = oracle::manifest(case, plan.backend.name(), plan.sampling.operations, GUARD_ELEMENTS);
    journal.write(&format!("{folder}/manifest.json"), &manifest)?;
    Ok(manifest)
}

fn fixture_hashes(runner: &Runner<'_>, case: &CaseSpec) -> Result<Json, CampaignError> {
    let names = [oracle::tensor_file("input0", case.storage), oracle::EXPECTED.to_owned(), oracle::BOUND.to_owned()];
    let mut hashes = Vec::new();
    for name in names {
        let receipt = runner.journal.receipt(&format!("fixtures/{}/{name}", case.id))?;
        hashes.push((name, Json::from(receipt.sha256)));
    }
    Ok(Json::Object(hashes))
}

impl Runner<'_> {
    /// A case's files, for a child.
    fn of_case(&self, case: &CaseSpec) -> OfCase {
        OfCase {
            cases: self.journal.path(CASES),
            case: case.id.clone(),
            fixture: self.journal.path(&format!("fixtures/{}", case.id)),
        }
    }

    fn unavailable(&self, reason: String) -> CampaignError {
        CampaignError::Backend { backend: self.plan.backend.name(), reason }
    }

    /// Whether what was found can do what is planned.
    fn check(&self, probed: &Json, torch: &Json) -> Result<(), CampaignError> {
        if !self.plan.overlap.is_empty() && probed.get("overlaps") != Some(&Json::Bool(true)) {
            let reason =
                "operations cannot overlap on this device (that needs compute capability 9.0); leave --overlap out";
            return Err(self.unavailable(reason.to_owned()));
        }
        let native = probed.path(&["device", "identity", "gpu"]).and_then(Json::as_str);
        match (native, torch.get("device_name").and_then(Json::as_str)) {
            (Some(native), Some(other)) if native != other => {
                let reason = format!("GPU {} is {native}, but Torch sees {other} there", self.plan.device);
                Err(self.unavailable(reason))
            }
            _ => Ok(()),
        }
    }

    /// Tries numbers of threads for a case, unless that was done before. A failure is kept as what it is.
    fn tune(&self, case: &CaseSpec) -> Result<Json, CampaignError> {
        if !self.plan.tune {
            return Ok(Json::Null);
        }
        let folder = format!("tune/{}", case.id);
        let file = format!("{folder}/tuned.json");
        self.watch.begin(&format!("threads of {}", case.id));
        if self.journal.path(&file).exists() {
            self.watch.end(true);
            return Ok(self.journal.read(&file)?);
        }
        let overlap = self.plan.overlap.iter().map(|schedule| schedule.rows_per_program(&case.geometry)).collect();
        let tune = Tune { of: self.of_case(case), overlap };
        let (ended, result) = self.child(&folder, |at| self.job(Work::Tune(tune), at))?;
        let tried = result.filter(|_| ended.succeeded()).and_then(|result| result.get("tried").cloned());
        let tried = tried.unwrap_or_else(|| {
            let why = format!("{}; the rule stands", self.why(&folder, &ended));
            self.watch.failed(&format!("trying numbers of threads for {}", case.id), &why);
            object([("failed", Json::from(why))])
        });
        self.journal.write(&file, &tried)?;
        self.watch.end(false);
        Ok(tried)
    }

    fn job(&self, work: Work, folder: PathBuf) -> Job {
        let plan = self.plan;
        Job {
            work,
            backend: plan.backend.name().to_owned(),
            device: plan.device,
            bus_id: self.bus_id.clone(),
            threads: plan.threads,
            cpus: plan.cpus.clone(),
            folder,
        }
    }

    /// Why a child did not do what it was asked to, without the machine's own paths: what it says itself, otherwise how it
    /// ended and the end of its log.
    fn why(&self, folder: &str, ended: &Ended) -> String {
        let result = self.journal.read(&format!("{folder}/{RESULT}")).ok();
        let said = result.as_ref().and_then(|result| result.get("error")?.as_str());
        if let Some(said) = said.filter(|_| ended.end == End::Exited) {
            return redact(said);
        }
        let log = fs::read_to_string(self.journal.path(&format!("{folder}/{LOG}"))).unwrap_or_default();
        let last = log.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        match last {
            "" => ended.describe(),
            last => format!("{}; its last words: {}", ended.describe(), redact(last)),
        }
    }

    fn stopped(&self) -> CampaignError {
        if !self.journal.has_begun() {
            return CampaignError::StoppedEarly;
        }
        let finished = self.finished_runs();
        CampaignError::Stopped { finished, runs: self.plan.runs() }
    }

    /// An error if the campaign is to stop.
    fn go_on(&self, end: Option<End>) -> Result<(), CampaignError> {
        if end == Some(End::Stopped) || self.stop.load(Ordering::Relaxed) { Err(self.stopped()) } else { Ok(()) }
    }
}
