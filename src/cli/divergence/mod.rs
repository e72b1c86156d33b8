//! `recount divergence`.

mod compare;
mod run;
mod summarize;

use super::{Common, Environment, Failure};

/// What to do about run-to-run divergence.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Run the protocol on this machine and write a package
    Run(run::Args),
    /// Merge raw packages of several devices into one receipt
    Summarize(summarize::Args),
    /// Show two receipts or packages side by side, and which differences matter
    Compare(compare::Args),
}

/// Runs the command.
///
/// # Errors
/// Those of the command.
pub(super) fn run(command: &Command, common: &Common, environment: &Environment) -> Result<u8, Failure> {
    match command {
        Command::Summarize(args) => summarize::run(args, common),
        Command::Compare(args) => compare::run(args, common, environment),
        Command::Run(args) => run::run(args, common, environment),
    }
}
