//! `overlap.json`: the route of overlapping operations, in a file of its own.

use super::validation::native;
use crate::bench::partition::record::{Campaign, CaseRun, CaseRuns, RouteRun};
use crate::fit::Schedule;
use crate::package::json::{Json, object};
use crate::package::partition::DEFAULT;
use crate::package::partition::overlap::{OverlapFigures, ROUTE, SCHEMA, geometric_means};

const SCOPE: &str = "Throughput of operations that overlap: each is launched under programmatic dependent launch and may \
    begin before the one before it has ended; hazards on the output are ordered. Plain figures are of stream order, where it \
    may not. The two are different launch contracts: these figures are no latency, are not to be set against plain ones as \
    the speed of one kernel, and have no part in samples.csv, in validation.json or in the fit.";

/// The document, and the figures of the cases in it; `None` where no run has the route.
pub(super) fn document(campaign: &Campaign) -> Option<Json> {
    let with_route = |case: &&CaseRuns| case.runs.iter().any(|run| run.overlap.is_some());
    let cases: Vec<_> = campaign.cases.iter().filter(with_route).map(|case| (case, figures(campaign, case))).collect();
    if cases.is_empty() {
        return None;
    }
    let figures: Vec<OverlapFigures> = cases.iter().map(|(_, figures)| *figures).collect();
    let [over_plain, over_torch] = geometric_means(&figures);
    Some(object([
        ("schema", Json::from(SCHEMA)),
        ("route", Json::from(ROUTE)),
        ("scope", Json::from(SCOPE)),
        ("cases", Json::Array(cases.iter().map(|(case, figures)| case_record(campaign, case, figures)).collect())),
        ("geometric_means", object([("over_plain", number(over_plain)), ("over_torch", number(over_torch))])),
    ]))
}

fn case_record(campaign: &Campaign, case: &CaseRuns, figures: &OverlapFigures) -> Json {
    let cohorts = campaign.cohorts.iter().zip(&case.runs);
    let cohorts = cohorts.filter_map(|(cohort, run)| Some((cohort.name.to_owned(), native(run.overlap.as_ref()?))));
    let best = figures.best.map_or(Json::Null, |(schedule, us)| {
        object([("cohort", Json::from(schedule.name())), ("us", Json::Float(us))])
    });
    object([
        ("case", Json::from(case.spec.id.as_str())),
        ("cohorts", Json::Object(cohorts.collect())),
        ("best", best),
        ("plain_native_us", number(figures.plain_us)),
        ("torch_us", number(figures.torch_us)),
        ("over_plain", number(figures.over_plain())),
        ("over_torch", number(figures.over_torch())),
    ])
}

fn figures(campaign: &Campaign, case: &CaseRuns) -> OverlapFigures {
    let run = |name: &str| case.runs.get(campaign.cohorts.iter().position(|cohort| cohort.name == name)?);
    OverlapFigures::of(
        |schedule: Schedule| run(schedule.name())?.overlap.as_ref().and_then(RouteRun::median_us),
        |schedule: Schedule| run(schedule.name())?.native_us(),
        run(DEFAULT).and_then(CaseRun::torch_us),
    )
}

fn number(value: Option<f64>) -> Json {
    value.map_or(Json::Null, Json::Float)
}
