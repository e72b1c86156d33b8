//! What a run of the divergence protocol measured, as tables.

use std::io::{self, Write};

use super::{Style, Table, Verbosity};
use crate::bench::divergence::engine::{Engine, Kind};
use crate::bench::divergence::runner::Outcome;
use crate::bench::divergence::timing::Timings;
use crate::divergence::summarize;

/// Writes the tables. The only errors are those of `out`.
pub fn measured(outcome: &Outcome, engines: &[Box<dyn Engine>], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    if style.verbosity == Verbosity::Quiet {
        return Ok(());
    }
    let mut table = Table::new(["engine", "arm", "output", "drift", "divergence", "match %", "error"]);
    for measured in &outcome.measured {
        for one in &measured.measurements {
            let summary = summarize(&one.pairs);
            table.row([
                engines[measured.engine].kind().name().to_owned(),
                one.arm.name().to_owned(),
                one.resolution.to_string(),
                summary.max_drift.to_string(),
                if summary.max_divergence == 0.0 { "0".to_owned() } else { format!("{:.4e}", summary.max_divergence) },
                format!("{:.1}", summary.match_rate()),
                format!("{:.2e}", one.deviation.relative),
            ]);
        }
    }
    write!(out, "{}", table.plain(style.width))?;
    if outcome.timings.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nmicroseconds of one operation, median")?;
    write!(out, "{}", times(&outcome.timings).plain(style.width))
}

fn times(timings: &Timings) -> Table {
    let names = [Kind::Torch, Kind::Cuda, Kind::Deterministic].map(Kind::name);
    let mut table = Table::new(["output"].into_iter().chain(names).chain(["deterministic / torch"]));
    let mut resolutions: Vec<_> = timings.values().flatten().map(|(resolution, _)| *resolution).collect();
    resolutions.sort_unstable();
    resolutions.dedup();
    for resolution in resolutions {
        let median = |name: &str| {
            let (_, spans) = timings.get(name)?.iter().find(|(other, _)| *other == resolution)?;
            spans.median_us()
        };
        let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
        let ratio =
            median(Kind::Deterministic.name()).zip(median(Kind::Torch.name())).map(|(ours, theirs)| ours / theirs);
        let cells = names.map(|name| shown(median(name)));
        table.row([resolution.to_string()].into_iter().chain(cells).chain([shown(ratio)]));
    }
    table
}
