//! `recount init`.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::{Common, Environment, Failure, glob_set, output::Output};
use crate::audit::{self, Options, Verdict};
use crate::package::receipts::RECEIPTS;
use crate::render::{SkeletonView, Style, skeleton};
use crate::seal::enclosing_package;
use crate::seal::skeleton::{Kind, State, create, kind_of, pieces};

/// Arguments of `init`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The package's folder; what is in it already stays as it is
    dir: PathBuf,
    /// The kind of package [default: that of the files that are there, or partition]
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// Write nothing; say what is missing, with status 1 until `verify` passes
    #[arg(long)]
    check: bool,
    /// Accept the absence of files that match (repeatable), such as 'code/*'
    #[arg(long, value_name = "GLOB")]
    allow_absent: Vec<String>,
    /// Begin a package in a folder that lies in another one
    #[arg(long, conflicts_with = "check")]
    nested: bool,
    #[command(flatten)]
    signature: super::signers::SignerArgs,
}

/// Begins a package, and says what is still missing until it verifies.
///
/// # Errors
/// The folder cannot be read or written, or lies in another package.
pub(super) fn run(args: &Args, common: &Common, environment: &Environment) -> Result<u8, Failure> {
    let allow_absent = glob_set("--allow-absent", &args.allow_absent)?;
    let options = Options { signers: args.signature.signers()?, allow_absent, ..Options::default() };
    if let Some(around) = package_around(&args.dir).filter(|_| !args.nested && !args.check) {
        bail!(
            "{} lies in the package {}, whose receipts would have to list its files; name a folder outside, or give --nested",
            args.dir.display(),
            around.display()
        );
    }
    let kind = args.kind.or_else(|| kind_of(&args.dir)).unwrap_or(Kind::Partition);
    let written = if args.check { Vec::new() } else { create(&args.dir, kind)? };
    let shown = args.dir.display().to_string();
    let mut pieces = pieces(&args.dir, kind).with_context(|| format!("{shown} cannot be listed"))?;
    for piece in pieces.iter_mut().filter(|piece| options.allow_absent.is_match(piece.name)) {
        if piece.state == State::Missing {
            piece.state = State::Optional;
        }
    }
    let is_complete = pieces.iter().all(|piece| matches!(piece.state, State::There | State::Optional));
    let verdict = is_complete.then(|| audit::verify(&args.dir, &shown, &options, &|_| {}).verdict(false));
    if !common.quiet {
        let style = Style { color: environment.color, verbosity: super::verbosity(common), width: environment.width };
        let view = SkeletonView {
            package: &shown,
            kind,
            written: &written,
            pieces: &pieces,
            verdict,
            allow_absent: &args.allow_absent,
            is_check: args.check,
        };
        Output::Stdout.write(|out| skeleton(&view, &style, out))?;
    }
    Ok(u8::from(args.check && verdict != Some(Verdict::Holds)))
}

/// The nearest package around a folder, which need not be there yet.
fn package_around(folder: &Path) -> Option<PathBuf> {
    let folder = std::path::absolute(folder).ok()?;
    let is_there = |folder: &&Path| folder.exists();
    let existing = folder.ancestors().find(is_there)?;
    if existing != folder && existing.join(RECEIPTS).is_file() {
        return Some(existing.to_owned());
    }
    enclosing_package(existing)
}
