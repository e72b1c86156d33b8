//! The command line: arguments become calls, results go to a renderer, and a status comes back.

mod bench;
mod completions;
mod diff;
mod divergence;
mod environment;
mod explain;
mod init;
mod inputs;
mod long;
mod man;
mod output;
mod packages;
mod predict;
mod refit;
mod report;
mod seal;
mod selftest;
mod signers;
mod verify;

use std::io::Write;
use std::sync::LazyLock;

use anyhow::Context;
use clap::{Args, CommandFactory, Parser, Subcommand};

pub use environment::{ColorChoice, Environment};

/// Exit status of a request that could not be carried out.
const FAILED: u8 = 2;

/// Exit status table, shown by `--help`.
const EXIT_STATUS: &str = "\
Exit status:
  0  everything that was checked holds
  1  something does not hold
  2  the request could not be carried out (arguments, unreadable or unknown package)";

/// The commit of a release build, where it has one.
const COMMIT: &str = match option_env!("RECOUNT_COMMIT") {
    Some(commit) => commit,
    None => "unknown (a development build, or a tree with changes)",
};

/// The features that can be left out of a build.
const FEATURES: &str = if cfg!(feature = "cuda") { "cuda" } else { "none (built without cuda)" };

/// What runs the divergence protocol, and what the row reductions.
const ENGINES: (&str, &str) =
    if cfg!(feature = "cuda") { ("torch, cpu, cuda, deterministic", "cuda, cpu") } else { ("torch, cpu", "cpu") };

/// What `--version` says; `-V` says the number alone.
static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{}\ncommit: {COMMIT}\nfeatures: {FEATURES}\nreads: independent-partition-nnls-v1, recount-overlap-v1, \
         recount-claims-v1, recount-divergence-v1, divergence receipts\nengines of divergence run: {}\nbackends of bench: {}",
        env!("CARGO_PKG_VERSION"),
        ENGINES.0,
        ENGINES.1
    )
});

/// Counts published performance evidence again: verifies packages, refits their models.
#[derive(Debug, Parser)]
#[command(name = "recount", version, long_version = LONG_VERSION.as_str(), after_help = EXIT_STATUS, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    common: Common,
}

/// Options of every command.
#[derive(Debug, Args)]
pub struct Common {
    /// Say only the verdict
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Say everything, not only the first places of each finding
    #[arg(short, long, global = true)]
    verbose: bool,
    /// When to use colour; NO_COLOR is respected
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    color: ColorChoice,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Verify packages and receipts: hashes, samples, proofs, model, prose, divergence
    Verify(verify::Args),
    /// Fit a package's model again and compare it with the recorded one
    Refit(refit::Args),
    /// Run the row reductions again, on a GPU or on this host, and write a package of what came out
    Bench(bench::Args),
    /// A run of `bench`, in a process of its own
    #[command(hide = true)]
    BenchChild(bench::ChildArgs),
    /// Apply a model as it is to another package: what it selects, and what came of that
    Predict(predict::Args),
    /// Compare two partition packages: devices, environments, medians, decisions, models
    Diff(diff::Args),
    /// Run-to-run divergence of grid_sample: run the protocol, merge results into a receipt, compare two
    #[command(subcommand)]
    Divergence(divergence::Command),
    /// Verify packages and receipts, and write what came of it with charts: one HTML file, or Markdown
    Report(report::Args),
    /// Forge copies of a package and report which forgeries `verify` catches
    Selftest(selftest::Args),
    /// Begin a package, or say what one still lacks
    Init(init::Args),
    /// Seal a folder: receipts.json, line endings, redaction, signature
    Seal(seal::Args),
    /// Explain a finding code, or list them all
    Explain(explain::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
    /// Print the manual page
    Man(man::Args),
}

/// An error that ends a command with status 2; its sources say the rest.
type Failure = anyhow::Error;

/// Parses the process's arguments, runs the command, and gives the exit status.
pub fn main() -> u8 {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // clap knows which stream and status its help, version and complaints go to.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(FAILED);
        }
    };
    let environment = Environment::read(cli.common.color);
    match run(cli, &environment) {
        Ok(status) => status,
        Err(error) => {
            let mut message = format!("recount: {error}");
            for cause in error.chain().skip(1) {
                message.push_str(&format!(": {cause}"));
            }
            let _ = writeln!(std::io::stderr(), "{}", crate::render::escape::lines(&message));
            FAILED
        }
    }
}

fn run(cli: Cli, environment: &Environment) -> Result<u8, Failure> {
    let common = &cli.common;
    match cli.command {
        Command::Verify(args) => verify::run(&args, common, environment),
        Command::Refit(args) => refit::run(&args, common, environment),
        Command::Bench(args) => bench::run(&args, common, environment),
        Command::BenchChild(args) => bench::run_child(&args),
        Command::Predict(args) => predict::run(&args, common, environment),
        Command::Diff(args) => diff::run(&args, common, environment),
        Command::Divergence(command) => divergence::run(&command, common, environment),
        Command::Report(args) => report::run(&args, environment),
        Command::Selftest(args) => selftest::run(&args, common, environment),
        Command::Init(args) => init::run(&args, common, environment),
        Command::Seal(args) => seal::run(&args, common, environment),
        Command::Explain(args) => explain::run(&args, common, environment),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}

/// The definition of the command line, for manual pages and completions.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Globs of an option as one set; `*` stays within a folder, `**` does not.
///
/// # Errors
/// A glob that cannot be understood, with the option's name.
fn glob_set(option: &str, globs: &[String]) -> Result<globset::GlobSet, Failure> {
    let mut set = globset::GlobSetBuilder::new();
    for glob in globs {
        let parsed = crate::package::ignore::glob(glob);
        set.add(parsed.with_context(|| format!("{option} {glob}"))?);
    }
    set.build().with_context(|| option.to_owned())
}

/// `--quiet` and `--verbose` as one value.
fn verbosity(common: &Common) -> crate::render::Verbosity {
    use crate::render::Verbosity;
    match (common.quiet, common.verbose) {
        (true, _) => Verbosity::Quiet,
        (_, true) => Verbosity::Verbose,
        _ => Verbosity::Normal,
    }
}
