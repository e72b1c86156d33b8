//! Partition packages that a command uses for something else than a verdict on them, and what is said against them.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::inputs::Inputs;
use super::output::Output;
use super::{Failure, glob_set};
use crate::audit::{self, Finding, OpenedPartition, Options};
use crate::render::{TableFormat, brief, escape};

/// What `refit`, `predict` and `diff` are asked in the same words.
#[derive(Debug, clap::Args)]
pub(super) struct PackageArgs {
    /// Form of the result
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub(super) format: TableFormat,
    /// Write the result to a file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Do not name declared files that are absent and match (repeatable), such as 'code/*'
    #[arg(long, value_name = "GLOB")]
    allow_absent: Vec<String>,
}

impl PackageArgs {
    /// The place of the result, tried before any long work; `inputs` are what the command reads.
    ///
    /// # Errors
    /// It cannot be written to, or is that of an input.
    pub(super) fn output(&self, inputs: &Inputs) -> Result<Output, Failure> {
        Output::open(self.output.as_deref(), inputs)
    }

    /// The options for the checks, with the tolerance of floats that the command grants.
    ///
    /// # Errors
    /// A glob that cannot be understood.
    pub(super) fn options(&self, tolerance: f64) -> Result<Options, Failure> {
        let allow_absent = glob_set("--allow-absent", &self.allow_absent)?;
        Ok(Options { tolerance, allow_absent, ..Options::default() })
    }
}

/// Opens the partition package that `path` stands for; `name` is how a person called it.
///
/// # Errors
/// There is not exactly one package, or it is of another kind.
pub(super) fn open(path: &Path, name: &str, options: &Options) -> Result<OpenedPartition, Failure> {
    audit::open_partition(path, options).map_err(|reason| anyhow::anyhow!("{name}: {reason}"))
}

/// Writes what was found in the package `name` to standard error, and gives back whether the package holds all the same.
///
/// Where standard error is closed, the exit status still tells.
pub(super) fn report(name: &str, findings: &[Finding]) -> bool {
    let sound = !findings.iter().any(audit::spoils_refit);
    let mut out = std::io::stderr().lock();
    if !findings.is_empty() {
        let _ = writeln!(out, "{}:", escape::visible(name));
        let _ = brief(findings, &mut out);
    }
    if !sound {
        let _ = writeln!(out, "the package itself does not hold, whatever is made of it");
    }
    sound
}
