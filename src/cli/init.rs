//! `recount init`.

use std::path::PathBuf;

use anyhow::Context;

use super::{Common, Environment, Failure, output::Output};
use crate::audit::{self, Options, Verdict};
use crate::render::{Style, skeleton};
use crate::seal::skeleton::{Kind, State, create, pieces};

/// Arguments of `init`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The package's folder; what is in it already stays as it is
    dir: PathBuf,
    /// The kind of package
    #[arg(long, value_enum, default_value_t = Kind::Partition)]
    kind: Kind,
    /// Write nothing; say what is missing, with status 1 until `verify` passes
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    signature: super::signers::SignerArgs,
}

/// Begins a package, and says what is still missing until it verifies.
///
/// # Errors
/// The folder cannot be read or written.
pub(super) fn run(args: &Args, common: &Common, environment: &Environment) -> Result<u8, Failure> {
    let options = Options { signers: args.signature.signers()?, ..Options::default() };
    let written = if args.check { Vec::new() } else { create(&args.dir, args.kind)? };
    let shown = args.dir.display().to_string();
    let pieces = pieces(&args.dir, args.kind).with_context(|| format!("{shown} cannot be listed"))?;
    let is_complete = pieces.iter().all(|piece| matches!(piece.state, State::There | State::Optional));
    let verdict = is_complete.then(|| audit::verify(&args.dir, &shown, &options, &|_| {}).verdict(false));
    if !common.quiet {
        let style = Style { color: environment.color, verbosity: super::verbosity(common), width: environment.width };
        Output::Stdout.write(|out| skeleton(&shown, &written, &pieces, verdict, &style, out))?;
    }
    Ok(u8::from(args.check && verdict != Some(Verdict::Holds)))
}
