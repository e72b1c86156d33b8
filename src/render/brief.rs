//! Findings as a short list, one line each, for a command whose result is something else.

use std::io::{self, Write};

use super::words;
use crate::audit::Finding;

/// Findings that are listed.
const SHOWN_FINDINGS: usize = 20;

/// Writes the first findings. The only errors are those of `out`.
pub fn brief(findings: &[Finding], out: &mut dyn Write) -> io::Result<()> {
    for finding in findings.iter().take(SHOWN_FINDINGS) {
        let (level, code, place) = (finding.severity.name(), finding.code.name(), words::place(finding));
        let (expected, found) = (words::shown(&finding.expected), words::shown(&finding.found));
        writeln!(out, "{level} {code}: {place}: expected {expected}; found {found}")?;
    }
    match findings.len().saturating_sub(SHOWN_FINDINGS) {
        0 => Ok(()),
        more => writeln!(out, "and {more} more; `recount verify` reports them all"),
    }
}
