//! What a campaign measured, as a table, and what to do with it.

use std::io::{self, Write};
use std::path::Path;

use super::{Style, Table, Verbosity, escape};
use crate::bench::partition::record::{Campaign, CaseRun, RouteRun};

/// Writes the table. The only errors are those of `out`.
pub fn campaign(
    campaign: &Campaign,
    package: &Path,
    runs: &Path,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let all = || campaign.cases.iter().flat_map(|case| &case.runs);
    let failed = all().filter(|run| run.has_failed()).count();
    let shown = |path: &Path| escape::lines(&path.display().to_string()).to_string();
    if style.verbosity != Verbosity::Quiet {
        let cohorts = campaign.cohorts.iter().map(|cohort| cohort.name);
        let has_overlap = all().any(|run| run.overlap.is_some());
        let mut heads = vec!["case"];
        heads.extend(cohorts);
        if campaign.torch {
            heads.push("torch");
        }
        if has_overlap {
            heads.push("overlapping");
        }
        let mut table = Table::new(heads);
        for case in &campaign.cases {
            let mut row = vec![case.spec.label().to_string()];
            row.extend(case.runs.iter().map(|run| microseconds(run.native_us())));
            if campaign.torch {
                row.push(microseconds(case.runs.first().and_then(CaseRun::torch_us)));
            }
            if has_overlap {
                let best = case.runs.iter().filter_map(|run| run.overlap.as_ref()?.median_us());
                row.push(microseconds(best.min_by(f64::total_cmp)));
            }
            table.row(row);
        }
        writeln!(out, "microseconds of one operation, medians ({})", campaign.backend)?;
        write!(out, "{}", table.plain(style.width))?;
        if has_overlap {
            writeln!(out, "overlapping: throughput of the best schedule under another launch contract, not a latency")?;
        }
        writeln!(out)?;
    }
    let count = all().count();
    match failed {
        0 => writeln!(out, "{count} runs, none failed")?,
        failed => writeln!(out, "{count} runs, {failed} FAILED; they stay failed in the package")?,
    }
    match all().filter(|run| run.overlap.as_ref().is_some_and(RouteRun::is_failed)).count() {
        0 => {}
        failed => writeln!(out, "of overlapping operations {failed} more FAILED")?,
    }
    writeln!(out, "package: {}", shown(package))?;
    if style.verbosity != Verbosity::Quiet {
        writeln!(out, "runs:    {} (what the package has the hashes of; keep it, or remove it)", shown(runs))?;
        writeln!(out, "next:    recount verify {}", shown(package))?;
    }
    Ok(())
}

fn microseconds(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.4}"))
}
