//! `recount divergence run`.

use std::io::Write;
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context, bail, ensure};
use indicatif::ProgressBar;

use super::{Common, Environment, Failure};
use crate::bench::divergence::engine::{self, Engine, EngineError, Kind, Options};
use crate::bench::divergence::inputs::Inputs;
use crate::bench::divergence::package::Partial;
use crate::bench::divergence::results::Keep;
use crate::bench::divergence::runner::{self, Cut, Plan, Watch};
use crate::bench::divergence::timing::Protocol;
use crate::bench::divergence::{Arm, Shape};
use crate::cli::long::{bar, stop_on_interrupt};
use crate::cli::output::Output;
use crate::divergence::pair_count;
use crate::package::limits::MAX_PARSED_BYTES;
use crate::render::{Style, measured};

/// Most trials of one measurement.
const MAX_TRIALS: u64 = 10_000;

/// Most values that the gradients of one measurement may have together: 4 GiB.
const MAX_VALUES: usize = 1 << 30;

/// Most bytes that a pair takes in the results: two indented lines, of a divergence and of a drift.
const PAIR_BYTES: u64 = 52;

/// Bytes that a trial takes in the results: an indented line with its hash.
const TRIAL_BYTES: u64 = 77;

/// Arguments of `divergence run`.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// The folder to write; it must not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Engines, in order [default: every one that works here]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "ENGINE,…")]
    engine: Vec<Kind>,
    /// Trials of each measurement, after its warm-up
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(2..=MAX_TRIALS))]
    trials: u64,
    /// Rows and columns of the outputs
    #[arg(long, value_delimiter = ',', value_name = "RES,…", default_values_t = [16, 32, 64, 128, 256, 512])]
    resolutions: Vec<usize>,
    /// Arms, in order
    #[arg(long, value_enum, value_delimiter = ',', value_name = "ARM,…", default_values_t = Arm::ALL)]
    arms: Vec<Arm>,
    /// Seed of the generated inputs
    #[arg(long, value_name = "S", default_value_t = 42)]
    seed: u64,
    /// Shape of the generated input
    #[arg(long, value_name = "N,C,H,W", default_value = "1,3,32,32")]
    input_shape: InputShape,
    /// Read the inputs (input.npy, grid-RES.npy, grad-output-RES.npy) instead
    #[arg(long, value_name = "DIR", conflicts_with_all = ["seed", "input_shape"])]
    inputs: Option<PathBuf>,
    /// Resolutions whose gradients are kept in the package: RES,…, all or none
    #[arg(long, value_name = "RES,…", default_value = "all")]
    keep_tensors: KeepTensors,
    /// Leave generated inputs out of the package: seed, generator and hashes stay
    #[arg(long, conflicts_with = "inputs")]
    omit_inputs: bool,
    /// Python interpreter of the torch engine
    #[arg(long, value_name = "PYTHON", default_value = "python3")]
    python: PathBuf,
    /// Time the operation, too: engines on a GPU, in turns, into timing.json
    #[arg(long)]
    time: bool,
}

/// `--input-shape`.
#[derive(Debug, Clone, Copy)]
struct InputShape(Shape);

impl FromStr for InputShape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let extents: Option<Vec<usize>> = text.split(',').map(|extent| extent.trim().parse().ok()).collect();
        let shape = extents.and_then(|extents| Shape::from_extents(&extents));
        shape.map(Self).ok_or_else(|| "four positive integers, such as 1,3,32,32, of at most 2^25 pixels".to_owned())
    }
}

/// `--keep-tensors`.
#[derive(Debug, Clone)]
struct KeepTensors(Keep);

impl FromStr for KeepTensors {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Self(Keep::All)),
            "" => Err("name resolutions, all or none".to_owned()),
            "none" => Ok(Self(Keep::Some(Vec::new()))),
            list => {
                let resolutions = list.split(',').map(|one| one.trim().parse().map_err(|_| one.to_owned()));
                let resolutions: Result<_, String> = resolutions.collect();
                Ok(Self(Keep::Some(resolutions.map_err(|one| format!("{one} is no resolution, nor all, nor none"))?)))
            }
        }
    }
}

/// Runs the protocol and says what came out.
///
/// # Errors
/// Arguments that contradict each other, an engine that does not work here, a package that cannot be written, and a run
/// that was cut short.
pub(super) fn run(args: &Args, common: &Common, environment: &Environment) -> Result<u8, Failure> {
    check(args)?;
    let trials = usize::try_from(args.trials)?;
    let inputs = match &args.inputs {
        Some(folder) => Inputs::read(folder, &args.resolutions).context("--inputs")?,
        None => Inputs::generate(args.input_shape.0, &args.resolutions, args.seed)?,
    };
    ensure!(
        trials.checked_mul(inputs.shape.coordinates()).is_some_and(|values| values <= MAX_VALUES),
        "{trials} trials of {} coordinates do not fit in memory; ask for fewer --trials",
        inputs.shape.coordinates()
    );
    let partial = Partial::create(&args.out, args.keep_tensors.0.clone(), inputs.shape, !args.omit_inputs)?;
    let mut engines = open(args, &inputs, common)?;
    if args.time && !common.quiet && engines.iter().all(|engine| engine.kind() == Kind::Cpu) {
        let _ = writeln!(std::io::stderr(), "recount: --time times engines on a GPU only; there is none here to time");
    }
    let timing = args.time.then_some(Protocol::STANDARD);
    let plan = Plan { trials, arms: args.arms.clone(), timing };
    let stop = stop_on_interrupt(common, "ending after the measurement under way")?;
    let total = engines.len() * plan.arms.len() * inputs.geometries.len() * trials;
    let view = View { bar: bar(total as u64, "trials", environment), partial: &partial };
    let outcome = runner::run(&mut engines, &inputs, &plan, &stop, &view);
    view.bar.finish_and_clear();
    let finished: usize = outcome.measured.iter().map(|measured| measured.measurements.len()).sum();
    if finished > 0 {
        partial.finish(&engines, &inputs, &plan, &outcome)?;
    }
    if !common.quiet && finished > 0 {
        let style = Style { color: false, verbosity: crate::cli::verbosity(common), width: environment.width };
        Output::Stdout.write(|out| measured(&outcome, &engines, &style, out))?;
    }
    let asked = engines.len() * plan.arms.len() * inputs.geometries.len();
    let left = match finished {
        0 => "nothing was measured".to_owned(),
        // What was cut is the timing; the results say that they are complete.
        _ if finished == asked => {
            format!("all {finished} measurements are in {}, without the rest of the timing", args.out.display())
        }
        _ => format!("{finished} finished measurements are in {}, marked incomplete", args.out.display()),
    };
    match outcome.cut {
        None => Ok(0),
        Some(Cut::Stopped) => bail!("interrupted; {left}"),
        Some(Cut::Failed(error)) => bail!("{error}; {left}"),
        Some(Cut::Keep(error)) => bail!("gradients cannot be written ({error}); {left}"),
    }
}

fn check(args: &Args) -> Result<(), Failure> {
    let twice = |count: usize, distinct: usize, option: &str| {
        ensure!(count == distinct, "{option} names something twice");
        Ok(())
    };
    let distinct = |values: &mut Vec<usize>| {
        values.sort_unstable();
        values.dedup();
        values.len()
    };
    twice(args.resolutions.len(), distinct(&mut args.resolutions.clone()), "--resolutions")?;
    let numbers = |values: &[Kind]| values.iter().map(|&value| value as usize).collect::<Vec<_>>();
    twice(args.engine.len(), distinct(&mut numbers(&args.engine)), "--engine")?;
    let mut arms: Vec<_> = args.arms.iter().map(|&arm| arm as usize).collect();
    twice(args.arms.len(), distinct(&mut arms), "--arms")?;
    // What `verify` would not read must not be written. The limit on values lies further off: a value has two bytes.
    let measurements = (args.resolutions.len() * args.arms.len()) as u64;
    let bytes = pair_count(args.trials) * PAIR_BYTES + args.trials * TRIAL_BYTES;
    ensure!(
        bytes.checked_mul(measurements).is_some_and(|bytes| bytes <= MAX_PARSED_BYTES),
        "the results of {} trials could pass {} MiB, more than is verified; ask for fewer --trials or --resolutions",
        args.trials,
        MAX_PARSED_BYTES >> 20
    );
    if let Keep::Some(kept) = &args.keep_tensors.0
        && let Some(other) = kept.iter().find(|kept| !args.resolutions.contains(kept))
    {
        bail!("--keep-tensors {other}: it is not one of --resolutions");
    }
    Ok(())
}

/// Opens the engines that were asked for, or all that work here.
fn open(args: &Args, inputs: &Inputs, common: &Common) -> Result<Vec<Box<dyn Engine>>, Failure> {
    let options = Options { python: args.python.clone() };
    let try_open = |kind: Kind| engine::open(kind, &options, inputs);
    if !args.engine.is_empty() {
        let opened: Result<_, EngineError> = args.engine.iter().map(|&kind| try_open(kind)).collect();
        return opened.map_err(|error| {
            let works = Kind::ALL.into_iter().filter(|&kind| try_open(kind).is_ok());
            let names: Vec<_> = works.map(Kind::name).collect();
            Failure::msg(format!("{error} (engines that work here: {})", names.join(", ")))
        });
    }
    let mut engines = Vec::new();
    for kind in Kind::ALL {
        match try_open(kind) {
            Ok(engine) => engines.push(engine),
            Err(EngineError::Unavailable { engine, missing }) if !common.quiet => {
                let line = format!("recount: without engine {engine}: {missing}");
                let _ = writeln!(std::io::stderr(), "{}", crate::render::escape::lines(&line));
            }
            Err(EngineError::Unavailable { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(engines)
}

struct View<'p> {
    bar: ProgressBar,
    partial: &'p Partial,
}

impl Watch for View<'_> {
    fn begin(&self, engine: Kind, what: &str, resolution: usize) {
        self.bar.set_message(format!("{} {what} {resolution}", engine.name()));
    }

    fn trial(&self) {
        self.bar.inc(1);
    }

    fn keep(&self, engine: Kind, arm: Arm, resolution: usize, gradients: &[f32]) -> std::io::Result<()> {
        self.partial.keep(engine, arm, resolution, gradients)
    }
}
