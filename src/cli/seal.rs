//! `recount seal`.

use std::path::PathBuf;

use anyhow::Context;

use super::{Common, Environment, Failure, glob_set, output::Output};
use crate::package::folder::{FileError, Folder};
use crate::package::limits::MAX_PARSED_BYTES;
use crate::package::receipts::RECEIPTS;
use crate::seal::{receipts_text, write_receipts};

/// Arguments of `seal`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The package's folder
    dir: PathBuf,
    /// Change nothing; say what would change, with status 1 if anything would
    #[arg(long)]
    check: bool,
    /// Leave out files that match (repeatable)
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
}

/// Writes the receipts, or compares them with those that are there.
///
/// # Errors
/// A folder that cannot be sealed, with every reason.
pub(super) fn run(args: &Args, common: &Common, _environment: &Environment) -> Result<u8, Failure> {
    let text = receipts_text(&args.dir, &glob_set("--exclude", &args.exclude)?)?;
    let path = args.dir.join(RECEIPTS);
    // Read as anything of a package is: no link is followed, no pipe waited for.
    let before = match Folder::new(&args.dir).read(RECEIPTS, MAX_PARSED_BYTES) {
        Ok(bytes) => bytes,
        Err(FileError::Absent) => Vec::new(),
        Err(error) => return Err(error).with_context(|| format!("{} cannot be compared or replaced", path.display())),
    };
    let mut said = String::new();
    if before == text.as_bytes() {
        said.push_str(&format!("{} is up to date\n", path.display()));
    } else if args.check {
        said.push_str(&format!("{} would change:\n", path.display()));
        let recorded = String::from_utf8_lossy(&before);
        let diff = similar::TextDiff::from_lines(recorded.as_ref(), text.as_str());
        said.push_str(&diff.unified_diff().context_radius(1).to_string());
    } else {
        write_receipts(&args.dir, &text)?;
        said.push_str(&format!("{} written\n", path.display()));
    }
    if !common.quiet {
        Output::Stdout.write(|out| out.write_all(crate::render::escape::lines(&said).as_bytes()))?;
    }
    Ok(u8::from(args.check && before != text.as_bytes()))
}
