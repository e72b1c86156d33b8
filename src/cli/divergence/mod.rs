//! `recount divergence`.

mod run;

use super::{Common, Environment, Failure};

/// What to do about run-to-run divergence.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Run the protocol on this machine and write a package
    Run(run::Args),
}

/// Runs the command.
///
/// # Errors
/// Those of the command.
pub(super) fn run(command: &Command, common: &Common, environment: &Environment) -> Result<u8, Failure> {
    match command {
        Command::Run(args) => run::run(args, common, environment),
    }
}
