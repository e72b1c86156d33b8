//! `recount selftest`.

use std::io::Write;
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};

use super::{Common, Environment, Failure, inputs::Inputs, output::Output, verbosity};
use crate::audit;
use crate::render::{Style, TableFormat, brief, selftest as render};
use crate::selftest::{self, Progress};

/// Arguments of `selftest`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The package's folder; it is copied, never changed
    package: PathBuf,
    /// Forge this many leaves of each file, chosen at random
    #[arg(long, value_name = "N", default_value_t = 100, conflicts_with = "all")]
    mutations: usize,
    /// Forge every leaf
    #[arg(long)]
    all: bool,
    /// Seed of the choice
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Fail (status 1) if a smaller share of all leaves is caught by default or, with --strict, by errors and warnings
    #[arg(long, value_name = "PERCENT")]
    at_least: Option<f64>,
    /// Let warnings count for --at-least
    #[arg(long)]
    strict: bool,
    /// Form of the result; only `verify` has junit and sarif, too
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    format: TableFormat,
    /// Write the result to a file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    checks: super::verify::Checks,
}

/// Forges copies and shows which forgeries were caught. Errors in the package itself go to standard error, and no share that is
/// caught makes up for them.
///
/// # Errors
/// A package that cannot be read, verified, copied or sealed.
pub(super) fn run(args: &Args, common: &Common, environment: &Environment) -> Result<u8, Failure> {
    let output = Output::open(args.output.as_deref(), &Inputs::none().and("PACKAGE", [&args.package]))?;
    let name = args.package.display().to_string();
    let folders = audit::packages(&args.package).map_err(|reason| anyhow::anyhow!("{name}: {reason}"))?;
    let [folder] = folders.as_slice() else {
        anyhow::bail!("{name}: {} packages lie below it; name one", folders.len());
    };
    let bar = if environment.progress {
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} forgeries, {eta} left");
        ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
    } else {
        ProgressBar::hidden()
    };
    let progress = |progress| match progress {
        Progress::Total(total) => bar.set_length(total as u64),
        Progress::One => bar.inc(1),
    };
    let per_file = if args.all { None } else { Some(args.mutations) };
    let report = selftest::run(folder, &name, per_file, args.seed, &args.checks.options()?, &progress)?;
    bar.finish_and_clear();
    let style = Style { color: false, verbosity: verbosity(common), width: environment.width };
    output.write(|out| render(&report, args.format, &style, out))?;
    if !report.holds {
        // Diagnostics: where standard error is closed, the exit status still tells.
        let mut out = std::io::stderr().lock();
        let _ = brief(&report.errors, &mut out);
        let _ = writeln!(
            out,
            "the package itself does not hold: a forgery where it is wrong already is not told from that"
        );
    }
    let too_few = args.at_least.is_some_and(|percent| 100.0 * report.share(args.strict) < percent);
    Ok(u8::from(too_few || !report.holds))
}
