//! `overlap.json`: throughput of overlapping operations. It is another launch contract than that of the plain routes, so
//! it has a file of its own.
//!
//! `{schema, route, scope, cases: [{case, cohorts: {NAME: ROUTE}, best, plain_native_us, torch_us, over_plain,
//! over_torch}], geometric_means: {over_plain, over_torch}}`: a `ROUTE` has the form of a native route in
//! `validation.json`. `best` is `{cohort, us}` of the lowest median among default, rows1 and rows2, `plain_native_us` the
//! plain median of that cohort, `torch_us` the initial Torch median, and the ratios are `us` over those; `null` stands
//! for what there is not. The means are over all cases that have the ratio.

use crate::fit::Schedule;
use crate::fit::metrics::geometric_mean;

/// The schema's name.
pub const SCHEMA: &str = "recount-overlap-v1";

/// The route's name.
pub const ROUTE: &str = "native-overlap";

/// The figures of one case; times in microseconds per operation.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct OverlapFigures {
    /// The lowest median of the route, and its cohort.
    pub best: Option<(Schedule, f64)>,
    /// The plain native median of that cohort.
    pub plain_us: Option<f64>,
    /// The initial Torch median.
    pub torch_us: Option<f64>,
}

impl OverlapFigures {
    /// From the medians of the route by schedule, the plain ones, and Torch's; the earlier schedule of equals is best.
    pub fn of(
        overlap_us: impl Fn(Schedule) -> Option<f64>,
        plain_us: impl Fn(Schedule) -> Option<f64>,
        torch_us: Option<f64>,
    ) -> Self {
        let best = fastest(overlap_us);
        Self { best, plain_us: best.and_then(|(schedule, _)| plain_us(schedule)), torch_us }
    }

    /// The best median over the plain one of the same schedule.
    pub fn over_plain(&self) -> Option<f64> {
        Some(self.best?.1 / self.plain_us?)
    }

    /// The best median over Torch's.
    pub fn over_torch(&self) -> Option<f64> {
        Some(self.best?.1 / self.torch_us?)
    }
}

/// Geometric means over the cases that have the ratio: over plain, over Torch.
pub fn geometric_means(cases: &[OverlapFigures]) -> [Option<f64>; 2] {
    let mean =
        |ratio: fn(&OverlapFigures) -> Option<f64>| geometric_mean(&cases.iter().filter_map(ratio).collect::<Vec<_>>());
    [mean(OverlapFigures::over_plain), mean(OverlapFigures::over_torch)]
}

/// The schedule with the lowest median, the earlier of equals, and that median in microseconds per operation.
pub fn fastest(median_us: impl Fn(Schedule) -> Option<f64>) -> Option<(Schedule, f64)> {
    let medians = Schedule::ALL.into_iter().filter_map(|schedule| Some((schedule, median_us(schedule)?)));
    medians.reduce(|best, other| if other.1 < best.1 { other } else { best })
}
