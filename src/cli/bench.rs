//! `recount bench`, and the child processes that it consists of.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};

use super::output::Output;
use super::{Common, Environment, Failure, verbosity};
use crate::audit::{self, Options, Verdict};
use crate::bench::cuda;
use crate::bench::partition::backend::{BackendError, Kind};
use crate::bench::partition::campaign::{self, Plan, Watch};
use crate::bench::partition::cases::{self, CaseSpec};
use crate::bench::partition::job::{Fault, Sampling};
use crate::bench::partition::record::{CaseRun, Cohort};
use crate::bench::partition::sampling::Protocol;
use crate::bench::partition::{affinity, assemble, child};
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
    #[arg(long, value_name = "N", default_value_t = 0)]
    device: usize,
    /// Run these cases, in the form of cases.json [default: the 16 published ones]
    #[arg(long, value_name = "FILE", conflicts_with = "held_out")]
    cases: Option<PathBuf>,
    /// Run the 12 cases at geometries that no published model was fitted on
    #[arg(long)]
    held_out: bool,
    /// Also time torch.compile on the same inputs, with this Python interpreter
    #[arg(long, value_name = "PYTHON")]
    torch: Option<PathBuf>,
    /// Also time overlapping operations (programmatic dependent launch), as a figure of its own
    #[arg(long)]
    overlap: bool,
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
    let plan = plan(args, common)?;
    let stop = stop_on_interrupt(common)?;
    let view = View { bar: bar(plan.steps(), environment), quiet: common.quiet };
    let campaign = campaign::run(&plan, &stop, &view);
    view.bar.finish_and_clear();
    let campaign = campaign?;
    let runs = plan.runs();
    assemble::write(&campaign, &args.out)
        .with_context(|| format!("no package was written; its runs are kept in {}, for --resume", runs.display()))?;
    let report = audit::verify(&args.out, &args.out.display().to_string(), &Options::default(), &|_| {});
    let style = Style { color: environment.color, verbosity: verbosity(common), width: environment.width };
    Output::Stdout.write(|out| rendered(&campaign, &args.out, &runs, &style, out))?;
    let findings: Vec<_> = report.findings().cloned().collect();
    let _ = brief(&findings, &mut std::io::stderr().lock());
    let holds = report.verdict(false) == Verdict::Holds;
    let failed = campaign.cases.iter().flat_map(|case| &case.runs).any(CaseRun::has_failed);
    Ok(if holds && !failed { 0 } else { 1 })
}

fn plan(args: &Args, common: &Common) -> Result<Plan, Failure> {
    let backend = backend(args, common)?;
    let (cases, description) = listed(args)?;
    ensure!(args.torch.is_none() || backend == Kind::Cuda, "--torch times a GPU; leave it out with the backend cpu");
    ensure!(!args.overlap || backend == Kind::Cuda, "--overlap needs a GPU; leave it out with the backend cpu");
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
        out: args.out.clone(),
        backend,
        device: args.device,
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
        overlap: args.overlap,
        torch: args.torch.clone(),
        limit: Duration::from_secs(args.timeout),
        retry: args.retry,
        faults: args.inject.clone(),
        resume: args.resume,
        program: std::env::current_exe().context("this program's own file is not known")?,
    })
}

fn backend(args: &Args, common: &Common) -> Result<Kind, Failure> {
    match args.backend {
        Choice::Cuda => Ok(Kind::Cuda),
        Choice::Cpu => Ok(Kind::Cpu),
        Choice::Auto => match cuda::backend(args.device) {
            Ok(_) => Ok(Kind::Cuda),
            Err(BackendError::Unavailable(missing) | BackendError::Failed(missing)) => {
                if !common.quiet {
                    let line = format!("recount: using host threads: {missing}");
                    let _ = writeln!(std::io::stderr(), "{}", crate::render::escape::lines(&line));
                }
                Ok(Kind::Cpu)
            }
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

/// A flag that the first interrupt sets.
fn stop_on_interrupt(common: &Common) -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let quiet = common.quiet;
    ctrlc::set_handler(move || {
        if !flag.swap(true, Ordering::Relaxed) && !quiet {
            let _ = writeln!(std::io::stderr(), "recount: ending the run under way; finished ones are kept");
        }
    })
    .context("interrupts cannot be caught")?;
    Ok(stop)
}

fn bar(total: u64, environment: &Environment) -> ProgressBar {
    if !environment.progress {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} runs, {eta} left: {msg}");
    ProgressBar::new(total).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
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
