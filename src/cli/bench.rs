//! `recount bench`, and the child processes that it consists of.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use clap::ValueEnum;
use indicatif::ProgressBar;

use super::long::{bar, stop_on_interrupt};
use super::output::Output;
use super::{Common, Environment, Failure, verbosity};
use crate::audit::{self, Options, Verdict};
use crate::bench::cuda;
use crate::bench::partition::backend::{BackendError, Kind};
use crate::bench::partition::campaign::{self, Plan, Watch};
use crate::bench::partition::cases::{self, CaseSpec};
use crate::bench::partition::job::{Fault, Sampling};
use crate::bench::partition::record::{CaseRun, Cohort, RouteRun};
use crate::bench::partition::sampling::Protocol;
use crate::bench::partition::{affinity, assemble, child};
use crate::fit::Schedule;
use crate::package::partial::{PartialFolder, Vacancy};
use crate::package::partition::files;
use crate::render::{Style, brief, campaign as rendered};

/// Arguments of `bench`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The package to write: a new folder, or an empty one. Runs are kept in DIR.runs beside it
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// What runs the kernels
    #[arg(long, value_enum, default_value_t = Choice::Auto)]
    backend: Choice,
    /// Number of the GPU, from 0
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=255))]
    device: u16,
    /// Run these cases, in the form of cases.json [default: the 16 published ones]
    #[arg(long, value_name = "FILE", conflicts_with = "held_out")]
    cases: Option<PathBuf>,
    /// Run the 12 cases at geometries that no published model was fitted on
    #[arg(long)]
    held_out: bool,
    /// Also time torch.compile on the same inputs, with this Python interpreter
    #[arg(long, value_name = "PYTHON")]
    torch: Option<PathBuf>,
    /// Also time overlapping operations (programmatic dependent launch), as figures of their own; of all schedules, or of
    /// those that are named
    #[arg(long, value_name = "SCHEDULE,…", value_delimiter = ',', num_args = 0.., require_equals = true)]
    #[arg(default_missing_values = ["default", "rows1", "rows2"], value_parser = schedule)]
    overlap: Vec<Schedule>,
    /// Take the threads of a row by rule, instead of trying numbers of them first
    #[arg(long)]
    no_tune: bool,
    /// Keep each child process, and its threads, on these processors, such as 0,2-5
    #[arg(long, value_name = "LIST", value_parser = Processors::parse)]
    cpus: Option<Processors>,
    /// Threads of the backend cpu [default: as many as it may use, four at most]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    threads: Option<u64>,
    /// Time limit of a child process, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
    /// Go on with a campaign that was cut short; what is finished is not run again
    #[arg(long)]
    resume: bool,
    /// Run what failed once more, as a record of its own
    #[arg(long)]
    retry: bool,
    /// Operations of a graph
    #[arg(long, value_name = "N", default_value_t = Protocol::PUBLISHED.operations, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    operations: u64,
    /// Recorded spans of a run
    #[arg(long, value_name = "N", default_value_t = Protocol::PUBLISHED.samples, value_parser = clap::value_parser!(u64).range(1..=1000))]
    samples: u64,
    /// What a span should take, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = Protocol::PUBLISHED.target_ms, value_parser = milliseconds)]
    target_ms: f64,
    /// Warm-up of a run, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = Protocol::PUBLISHED.warm_up_ms, value_parser = milliseconds)]
    warm_up_ms: f64,
    /// Let a run fail: COHORT/CASE=FAULT, for tests
    #[arg(long, value_name = "WHICH", hide = true, value_parser = injection)]
    inject: Vec<(String, String, Fault)>,
}

/// `--backend`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Choice {
    /// The GPU where there is one, otherwise this host
    Auto,
    /// An NVIDIA GPU
    Cuda,
    /// Threads of this host: the same protocol, no GPU figures
    Cpu,
}

/// Arguments of the child process.
#[derive(Debug, clap::Args)]
pub(super) struct ChildArgs {
    /// The job
    job: PathBuf,
}

/// `--cpus`.
#[derive(Debug, Clone)]
struct Processors(Vec<usize>);

impl Processors {
    fn parse(text: &str) -> Result<Self, String> {
        affinity::parse(text).map(Self)
    }
}

fn milliseconds(text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().ok().filter(|value| (0.1..=60_000.0).contains(value));
    value.ok_or_else(|| "a number of milliseconds from 0.1 to 60000".to_owned())
}

fn schedule(name: &str) -> Result<Schedule, String> {
    Schedule::from_name(name).ok_or_else(|| "one of default, rows1, rows2".to_owned())
}

fn injection(text: &str) -> Result<(String, String, Fault), String> {
    let parts = text.split_once('=').and_then(|(at, fault)| Some((at.split_once('/')?, fault)));
    let ((cohort, case), fault) = parts.ok_or("COHORT/CASE=FAULT")?;
    Ok((cohort.to_owned(), case.to_owned(), Fault::from_str(fault, true)?))
}

/// Does a child's job.
///
/// # Errors
/// The job cannot be read, or its result cannot be written.
pub(super) fn run_child(args: &ChildArgs) -> Result<u8, Failure> {
    Ok(if child::run(&args.job)? { 0 } else { 3 })
}

/// Runs the benchmark, writes the package, and verifies it.
///
/// Status 1 where a run failed or the package does not hold.
///
/// # Errors
/// Nothing can be measured here, the package cannot be written, or the campaign was interrupted.
pub(super) fn run(args: &Args, common: &Common, environment: &Environment) -> Result<u8, Failure> {
    // A place that is taken is said before hours of work.
    drop(PartialFolder::beside(&args.out, Vacancy::EmptyFolder)?);
    let out = place(&args.out)?;
    let plan = plan(args, out)?;
    let stop = stop_on_interrupt(common, "ending the run under way; finished ones are kept")?;
    let view = View { bar: bar(plan.steps(), "runs", environment), quiet: common.quiet };
    let campaign = campaign::run(&plan, &stop, &view);
    view.bar.finish_and_clear();
    let campaign = campaign?;
    let runs = plan.runs();
    assemble::write(&campaign, &plan.out)
        .with_context(|| format!("no package was written; its runs are kept in {}, for --resume", runs.display()))?;
    let report = audit::verify(&plan.out, &args.out.display().to_string(), &Options::default(), &|_| {});
    let style = Style { color: environment.color, verbosity: verbosity(common), width: environment.width };
    Output::Stdout.write(|out| rendered(&campaign, &args.out, &runs, &style, out))?;
    let findings: Vec<_> = report.findings().cloned().collect();
    let _ = brief(&findings, &mut std::io::stderr().lock());
    let holds = report.verdict(false) == Verdict::Holds;
    let has_failed = |run: &CaseRun| run.has_failed() || run.overlap.as_ref().is_some_and(RouteRun::is_failed);
    let failed = campaign.cases.iter().flat_map(|case| &case.runs).any(has_failed);
    Ok(if holds && !failed { 0 } else { 1 })
}

/// The package's place with a name of its own, which `.` has not. Children are told where it is in text.
fn place(out: &Path) -> Result<PathBuf, Failure> {
    let place = match out.file_name() {
        Some(_) => std::path::absolute(out),
        None => out.canonicalize(),
    };
    let place = place.with_context(|| format!("--out {}", out.display()))?;
    ensure!(place.to_str().is_some(), "--out {}: the path is not UTF-8; name another folder", out.display());
    ensure!(place.file_name().is_some(), "--out {}: that is no folder of its own; name one", out.display());
    Ok(place)
}

/// An interpreter by its path from anywhere; a bare name is looked for as shells do.
fn interpreter(python: &Path) -> Result<PathBuf, Failure> {
    if python.components().count() < 2 {
        return Ok(python.to_owned());
    }
    // Not the file behind its links: an environment is found by where its interpreter seems to be.
    std::path::absolute(python).with_context(|| format!("--torch {}", python.display()))
}

/// The file that this process runs, whatever becomes of its name meanwhile.
fn own_program() -> Result<PathBuf, Failure> {
    let running = Path::new("/proc/self/exe");
    if cfg!(target_os = "linux") && running.exists() {
        return Ok(running.to_owned());
    }
    std::env::current_exe().context("this program's own file is not known")
}

fn plan(args: &Args, out: PathBuf) -> Result<Plan, Failure> {
    let backend = backend(args)?;
    let (cases, description) = listed(args)?;
    ensure!(args.torch.is_none() || backend == Kind::Cuda, "--torch times a GPU; leave it out with the backend cpu");
    ensure!(
        args.overlap.is_empty() || backend == Kind::Cuda,
        "--overlap needs a GPU; leave it out with the backend cpu"
    );
    if let Some(cpus) = &args.cpus {
        // Said once here, rather than by every child.
        let allowed = affinity::current();
        let missing = cpus.0.iter().find(|cpu| allowed.as_ref().is_some_and(|allowed| !allowed.contains(cpu)));
        if let Some(missing) = missing {
            bail!("--cpus: this process may not use processor {missing}; it may use {:?}", allowed.unwrap_or_default());
        }
    }
    for (cohort, case, _) in &args.inject {
        let is_known = cohort == "retest" || Cohort::all().iter().any(|known| known.name == cohort);
        ensure!(is_known, "--inject {cohort}/{case}: there is no such cohort");
        ensure!(cases.iter().any(|spec| spec.id == *case), "--inject {cohort}/{case}: there is no such case");
    }
    Ok(Plan {
        out,
        backend,
        device: usize::from(args.device),
        threads: args.threads.map(usize::try_from).transpose()?,
        cpus: args.cpus.as_ref().map(|cpus| cpus.0.clone()),
        cases,
        description,
        sampling: Sampling {
            operations: args.operations,
            warm_up_ms: args.warm_up_ms,
            target_ms: args.target_ms,
            samples: args.samples,
        },
        tune: backend == Kind::Cuda && !args.no_tune,
        overlap: Schedule::ALL.into_iter().filter(|schedule| args.overlap.contains(schedule)).collect(),
        torch: args.torch.as_deref().map(interpreter).transpose()?,
        limit: Duration::from_secs(args.timeout),
        retry: args.retry,
        faults: args.inject.clone(),
        resume: args.resume,
        program: own_program()?,
    })
}

fn backend(args: &Args) -> Result<Kind, Failure> {
    match args.backend {
        Choice::Cuda => Ok(Kind::Cuda),
        Choice::Cpu => Ok(Kind::Cpu),
        Choice::Auto => match cuda::backend(usize::from(args.device)) {
            Ok(_) => Ok(Kind::Cuda),
            Err(BackendError::Unavailable(missing)) => {
                let line = format!("recount: using host threads: {missing}");
                let _ = writeln!(std::io::stderr(), "{}", crate::render::escape::lines(&line));
                Ok(Kind::Cpu)
            }
            // What is there and does not work is no reason to measure something else.
            Err(BackendError::Failed(reason)) => bail!("the GPU does not work: {reason}; or ask for --backend cpu"),
        },
    }
}

/// The cases, and a sentence about them.
fn listed(args: &Args) -> Result<(Vec<CaseSpec>, String), Failure> {
    if args.held_out {
        return Ok((cases::held_out(), "Cases at geometries that no published model was fitted on.".to_owned()));
    }
    let Some(path) = &args.cases else {
        return Ok((cases::published(), "The published cases of the program partition.".to_owned()));
    };
    let bytes = read_cases(path).with_context(|| format!("--cases {}", path.display()))?;
    let name = path.file_name().map_or_else(|| files::CASES.to_owned(), |name| name.to_string_lossy().into_owned());
    Ok((cases::read(&name, &bytes)?, "Cases of its author's own.".to_owned()))
}

fn read_cases(path: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    let limit = crate::package::limits::MAX_PARSED_BYTES;
    std::fs::File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

struct View {
    bar: ProgressBar,
    quiet: bool,
}

impl Watch for View {
    fn begin(&self, step: &str) {
        self.bar.set_message(step.to_owned());
    }

    fn end(&self, known: bool) {
        self.bar.inc(1);
        if known {
            // What was done before says nothing about how long the rest takes.
            self.bar.reset_eta();
        }
    }

    fn failed(&self, what: &str, why: &str) {
        if !self.quiet {
            let line = crate::render::escape::lines(&format!("recount: {what} failed: {why}"));
            self.bar.suspend(|| {
                let _ = writeln!(std::io::stderr(), "{line}");
            });
        }
    }
}
