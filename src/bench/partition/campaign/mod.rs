//! A campaign: every case in every cohort, each in a child process of its own, and the record of it all.

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
use super::job::{Job, OfCase, Work};
use super::oracle;
use super::process::End;
use super::record::{Campaign, CaseRuns, Cohort, Receipt};
use super::{backend::GUARD_ELEMENTS, fixtures, machine, source, torch};
use crate::package::digest::{digest, digest_file};
use crate::package::json::{Json, object};
use crate::package::limits::MAX_HASHED_BYTES;
use journal::Journal;
pub use journal::JournalError;
pub use plan::Plan;
use runs::Runner;

/// The file of the runs folder that lists the cases.
const CASES: &str = "cases.json";

/// The file of the runs folder that lists what measured.
const BUILD: &str = "build.json";

/// The folder of the child that looks at the device.
const PROBE: &str = "probe";

/// When the campaign began, and how busy the machine was.
const BEGUN: &str = "begun.json";

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
        Some(python) => torch::interpreter_probe(python)?,
        None => Json::Null,
    };
    let journal = Journal::open(&plan.runs(), plan.resume)?;
    let runner = Runner { plan, journal: &journal, stop, watch };
    let probed = probe(&runner).inspect_err(|_| journal.abandon(PROBE))?;
    let device = probed.get("device").cloned().unwrap_or(Json::Null);
    journal.agree(&plan.settings(&program.sha256, &device, &torch))?;
    journal.write(CASES, &cases::document(&plan.description, &plan.cases))?;
    if !journal.path(BEGUN).exists() {
        journal.write(
            BEGUN,
            &object([("date", Json::from(today())), ("machine", probed.get("machine").cloned().unwrap_or(Json::Null))]),
        )?;
    }
    let mut records = Vec::new();
    for case in &plan.cases {
        let manifest = write_fixture(&runner, case)?;
        records.push(CaseRuns {
            spec: case.clone(),
            fixture_sha256: fixture_hashes(&runner, case)?,
            manifest,
            runs: Vec::new(),
            retest: None,
        });
    }
    let tuned = runner.tune()?;
    let cohorts = Cohort::all();
    for cohort in &cohorts {
        for (record, tuned) in records.iter_mut().zip(&tuned) {
            record.runs.push(runner.cohort_run(cohort, &record.spec, tuned)?);
        }
    }
    if plan.retry {
        for (record, tuned) in records.iter_mut().zip(&tuned) {
            record.retest = runner.retest(&cohorts, record, tuned)?;
        }
    }
    campaign(&runner, program, device, torch, cohorts, records)
}

/// Learns what the backend runs on, in a child: an opened device must not stand beside the measurements.
fn probe(runner: &Runner<'_>) -> Result<Json, CampaignError> {
    runner.watch.begin("looking at the device");
    let unavailable = |reason: String| CampaignError::Backend { backend: runner.plan.backend.name(), reason };
    let (ended, result) = runner.child(PROBE, |folder| runner.job(Work::Probe, folder))?;
    let result = result.filter(|_| ended.succeeded()).ok_or_else(|| unavailable(ended.describe()));
    let result = match result {
        Ok(result) => result,
        Err(error) => {
            let said = runner.error_of(PROBE);
            return Err(said.map_or(error, unavailable));
        }
    };
    Ok(result)
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

    /// Tries numbers of threads for every case, unless that was done before.
    fn tune(&self) -> Result<Vec<Json>, CampaignError> {
        let mut all = Vec::new();
        for case in &self.plan.cases {
            if !self.plan.tune {
                all.push(Json::Null);
                continue;
            }
            let folder = format!("tune/{}", case.id);
            let file = format!("{folder}/tuned.json");
            self.watch.begin(&format!("threads of {}", case.id));
            if self.journal.path(&file).exists() {
                all.push(self.journal.read(&file)?);
                self.watch.end(true);
                continue;
            }
            let (ended, result) = self.child(&folder, |at| self.job(Work::Tune(self.of_case(case)), at))?;
            let tried = result.filter(|_| ended.succeeded()).and_then(|result| result.get("tried").cloned());
            if tried.is_none() {
                let why = self.error_of(&folder).unwrap_or_else(|| ended.describe());
                self.watch
                    .failed(&format!("trying numbers of threads for {}", case.id), &format!("{why}; the rule stands"));
            }
            let tried = tried.unwrap_or(Json::Null);
            self.journal.write(&file, &tried)?;
            self.watch.end(false);
            all.push(tried);
        }
        Ok(all)
    }

    fn job(&self, work: Work, folder: PathBuf) -> Job {
        let plan = self.plan;
        Job {
            work,
            backend: plan.backend.name().to_owned(),
            device: plan.device,
            threads: plan.threads,
            cpus: plan.cpus.clone(),
            folder,
        }
    }

    /// What a child said when it failed, without the machine's own paths.
    fn error_of(&self, folder: &str) -> Option<String> {
        let result = self.journal.read(&format!("{folder}/{RESULT}")).ok()?;
        Some(self.redact(result.get("error")?.as_str()?))
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

/// Everything that was recorded.
fn campaign(
    runner: &Runner<'_>,
    program: Receipt,
    device: Json,
    torch: Json,
    cohorts: Vec<Cohort>,
    cases: Vec<CaseRuns>,
) -> Result<Campaign, CampaignError> {
    let (plan, journal) = (runner.plan, runner.journal);
    let text = |path: &str, text: &str| {
        let digest = digest(text.as_bytes());
        Receipt { path: format!("${{RECOUNT_SOURCE}}/{path}"), sha256: digest.sha256, bytes: digest.bytes }
    };
    let mut implementation = vec![program, text("src/kernels/row_reduce.cu", source::KERNEL)];
    if plan.torch.is_some() {
        implementation.push(text("src/bench/partition/torch_route.py", torch::SCRIPT));
    }
    let commit = option_env!("RECOUNT_COMMIT").map(str::to_owned);
    let build = object([
        ("files", Json::Array(implementation.iter().map(Receipt::json).collect())),
        ("version", Json::from(env!("CARGO_PKG_VERSION"))),
        ("commit", commit.clone().map_or(Json::Null, Json::from)),
    ]);
    journal.write(BUILD, &build)?;
    let begun = journal.read(BEGUN)?;
    let date = begun.get("date").and_then(Json::as_str).unwrap_or_default().to_owned();
    let mut environment = vec![
        ("host".to_owned(), machine::host()),
        ("machine_at_begin".to_owned(), begun.get("machine").cloned().unwrap_or(Json::Null)),
    ];
    if torch != Json::Null {
        environment.push(("torch".to_owned(), torch));
    }
    Ok(Campaign {
        backend: plan.backend.name().to_owned(),
        device,
        description: plan.description.clone(),
        cohorts,
        cases,
        torch: plan.torch.is_some(),
        protocol: plan.protocol(),
        environment: Json::Object(environment),
        implementation,
        build_snapshot: journal.receipt(BUILD)?,
        commit,
        dates: (date, today()),
    })
}
