//! Partition packages that a command uses for something else than a verdict on them, and what is said against them.

use std::io::Write;
use std::path::Path;

use super::Failure;
use crate::audit::{self, Finding, OpenedPartition, Options};
use crate::render::{brief, escape};

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
