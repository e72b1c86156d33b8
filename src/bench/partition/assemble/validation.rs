//! `validation.json`: all runs of all cases, what failed, and the comparisons of their medians.

use super::package::AssembleError;
use crate::bench::partition::record::{Campaign, CaseRun, CaseRuns, Cohort, RouteRun};
use crate::package::json::{Json, object};
use crate::package::partition::{DEFAULT, FAILED, RECHECK};

const PASSED: &str = "passed";

/// Medians closer than this fraction are not called a gain or a loss.
const ROBUST_FRACTION: f64 = 0.05;

const METHODOLOGY: &str = "Every case ran in each cohort in a process of its own. Native runs of one case read the same \
    inputs and were held against the same float64 oracle; outputs were saved, hashed and compared again from the disk after \
    the timing. A process that failed is recorded as failed and has no times; a later retry is a record of its own and \
    takes no other's place. Medians are those of the recorded samples, in microseconds per operation of a graph of equal \
    operations in stream order.";

const RETEST_SCOPE: &str = "A separate later run of what failed. It is part of no cohort, and no figure of the cohort that \
    failed was replaced by one of it.";

/// The whole document.
///
/// # Errors
/// Records that contradict each other.
pub(super) fn document(campaign: &Campaign) -> Result<Json, AssembleError> {
    for case in &campaign.cases {
        check(campaign, case)?;
    }
    let all_native = campaign
        .cases
        .iter()
        .flat_map(|case| case.runs.iter().chain(case.retest.iter().map(|(_, run)| run)))
        .all(|run| run.native_us().is_some());
    let status = if all_native { "completed_validated_native" } else { "completed_with_failures" };
    let cohorts = campaign.cohorts.iter().enumerate().map(|(at, cohort)| cohort_record(campaign, at, cohort));
    Ok(object([
        ("schema", Json::Int(1)),
        ("kind", Json::from("partition")),
        ("status", Json::from(status)),
        ("backend", Json::from(campaign.backend.as_str())),
        ("dates", Json::from(vec![campaign.dates.0.as_str(), campaign.dates.1.as_str()])),
        ("methodology", Json::from(METHODOLOGY)),
        ("cohorts", Json::Array(cohorts.collect())),
        ("protocol", campaign.protocol.clone()),
        ("environment", campaign.environment.clone()),
        ("build_snapshot", campaign.build_snapshot.json()),
        ("implementation_files_rechecked", Json::from(campaign.implementation.len())),
        ("cases", Json::Array(campaign.cases.iter().map(|case| case_record(campaign, case)).collect())),
    ]))
}

/// What the records of a case must have for a document to be made of them.
fn check(campaign: &Campaign, case: &CaseRuns) -> Result<(), AssembleError> {
    let problem = |problem: String| AssembleError::Record { case: case.spec.id.clone(), problem };
    if case.runs.len() != campaign.cohorts.len() {
        return Err(problem(format!("{} runs in {} cohorts", case.runs.len(), campaign.cohorts.len())));
    }
    if let Some((cohort, _)) = &case.retest {
        let repeated = run_of(campaign, case, cohort);
        if !repeated.is_some_and(CaseRun::has_failed) {
            return Err(problem(format!("a retry of the cohort {cohort}, which did not fail here")));
        }
    }
    let names = campaign.cohorts.iter().map(|cohort| cohort.name).chain(["the retry"]);
    for (name, run) in names.zip(case.runs.iter().chain(case.retest.iter().map(|(_, run)| run))) {
        if campaign.torch && name == DEFAULT && run.torch.is_none() {
            return Err(problem("Torch was asked for, and its route has no record".to_owned()));
        }
        let routes =
            [("native", Some(&run.native)), ("torch", run.torch.as_ref()), ("native-overlap", run.overlap.as_ref())];
        for (route, recorded) in routes {
            match recorded {
                Some(timed @ RouteRun::Timed(_)) if timed.median_us().is_none() => {
                    return Err(problem(format!("the route {route} of {name} was timed, and has no median")));
                }
                Some(RouteRun::Failed(raw)) if !is_failure(raw) => {
                    let what = "has no status failed or no exit status other than 0";
                    return Err(problem(format!("the route {route} of {name} failed, and its record {what}")));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn is_failure(raw: &Json) -> bool {
    let code = raw.path(&["process", "returncode"]).and_then(Json::as_f64);
    raw.get("status").and_then(Json::as_str) == Some(FAILED) && code.is_some_and(|code| code != 0.0)
}

fn status(failed: bool) -> Json {
    Json::from(if failed { FAILED } else { PASSED })
}

fn cohort_failed(campaign: &Campaign, at: usize) -> bool {
    campaign.cases.iter().filter_map(|case| case.runs.get(at)).any(CaseRun::has_failed)
}

fn cohort_record(campaign: &Campaign, at: usize, cohort: &Cohort) -> Json {
    let eligible = campaign.cases.iter().all(|case| case.runs.get(at).is_some_and(|run| run.native_us().is_some()));
    let mut members = vec![
        ("name".to_owned(), Json::from(cohort.name)),
        ("original_status".to_owned(), status(cohort_failed(campaign, at))),
        ("native_comparison_eligible".to_owned(), Json::Bool(eligible)),
        ("requested_program_rows".to_owned(), Json::from(cohort.requested_rows)),
    ];
    members.extend(cohort.aggregate_receipt.iter().map(|receipt| ("aggregate_receipt".to_owned(), receipt.json())));
    Json::Object(members)
}

fn case_record(campaign: &Campaign, case: &CaseRuns) -> Json {
    let cohorts = campaign.cohorts.iter().zip(&case.runs).enumerate().map(|(at, (cohort, run))| {
        let mut record = run_record(case, run);
        push(&mut record, "original_cohort_status", status(cohort_failed(campaign, at)));
        push(&mut record, "native_comparison_eligible", Json::Bool(run.native_us().is_some()));
        push(&mut record, "process", run.process.clone());
        (cohort.name.to_owned(), record)
    });
    let mut record = object([
        ("case", case.spec.definition()),
        ("cohorts", Json::Object(cohorts.collect())),
        ("comparisons", comparisons(campaign, case)),
    ]);
    if case.tuning != Json::Null {
        push(&mut record, "tuning", case.tuning.clone());
    }
    if let Some((cohort, run)) = &case.retest {
        push(&mut record, "independent_torch_retest", retest(campaign, case, cohort, run));
    }
    record
}

/// What every run records, the retry's too.
fn run_record(case: &CaseRuns, run: &CaseRun) -> Json {
    let validated = run.native_us().is_some();
    let scope = match (validated, run.torch.as_ref().map(RouteRun::is_failed)) {
        (false, _) => "nothing: the native process failed",
        (true, Some(true)) => "the native route alone: the Torch process failed",
        (true, _) => "all routes that were asked for",
    };
    object([
        ("status", Json::from(if validated { "validated" } else { FAILED })),
        ("case_receipt", run.case_receipt.json()),
        ("fixture_sha256", case.fixture_sha256.clone()),
        ("manifest", case.manifest.clone()),
        ("source_files", run.source_files.clone()),
        ("selection", run.selection.clone()),
        ("routes", object([("native", native(&run.native)), ("torch", torch(run.torch.as_ref()))])),
        ("original_case_status", status(run.has_failed())),
        ("validation_scope", Json::from(scope)),
    ])
}

/// A native route, or one of its form, as it stands in a package.
pub(super) fn native(route: &RouteRun) -> Json {
    match route {
        RouteRun::Timed(record) => record.clone(),
        RouteRun::Failed(raw) => object([("status", Json::from(FAILED)), ("raw_failure", raw.clone())]),
    }
}

fn torch(route: Option<&RouteRun>) -> Json {
    match route {
        None => object([
            ("status", Json::from("not_requested")),
            ("comparison", Json::from("absent_native_only_calibration")),
        ]),
        Some(RouteRun::Timed(record)) => record.clone(),
        Some(RouteRun::Failed(raw)) => object([
            ("status", Json::from(FAILED)),
            ("comparison", Json::from("missing_initial_torch_baseline")),
            ("raw_failure", raw.clone()),
        ]),
    }
}

/// The run of a cohort.
fn run_of<'c>(campaign: &Campaign, case: &'c CaseRuns, cohort: &str) -> Option<&'c CaseRun> {
    case.runs.get(campaign.cohorts.iter().position(|known| known.name == cohort)?)
}

fn comparisons(campaign: &Campaign, case: &CaseRuns) -> Json {
    let median = |name: &str| run_of(campaign, case, name)?.native_us();
    let torch = run_of(campaign, case, DEFAULT).and_then(CaseRun::torch_us);
    let mut pairs = Vec::new();
    for (base, suffix) in [(DEFAULT, ""), (RECHECK, "_vs_recheck")] {
        let candidates = campaign.cohorts.iter().zip(&case.runs);
        let candidates = candidates.filter(|(cohort, _)| ![DEFAULT, base].contains(&cohort.name));
        for (cohort, run) in candidates {
            let (Some(base_us), Some(candidate_us)) = (median(base), run.native_us()) else { continue };
            let mut record = comparison(base_us, candidate_us, cohort.requested_rows, run);
            if let Some(torch) = torch.filter(|_| base == DEFAULT) {
                push(&mut record, "candidate_over_baseline_torch", Json::Float(candidate_us / torch));
            }
            pairs.push((format!("{}{suffix}", cohort.name), record));
        }
    }
    Json::Object(pairs)
}

/// A median against another of the same case.
fn comparison(base_us: f64, candidate_us: f64, requested_rows: u64, candidate: &CaseRun) -> Json {
    let ratio = candidate_us / base_us;
    let words = match ratio {
        _ if requested_rows == 0 => "default_recheck",
        low if low < 1.0 - ROBUST_FRACTION => "observed_lower_median",
        high if high > 1.0 + ROBUST_FRACTION => "selected_candidate_regression",
        _ => "within_5_percent_no_robust_gain_claim",
    };
    object([
        ("status", Json::from("valid_matched_pair")),
        ("default_p50_us", Json::Float(base_us)),
        ("candidate_p50_us", Json::Float(candidate_us)),
        ("candidate_over_default", Json::Float(ratio)),
        ("delta_percent", Json::Float(100.0 * (ratio - 1.0))),
        ("specialization_selected", Json::Bool(requested_rows > 0 && takes_partition(candidate))),
        ("interpretation", Json::from(words)),
    ])
}

/// Whether the host took the partition entry: it was there, and its spans were apart.
fn takes_partition(run: &CaseRun) -> bool {
    let stages = run.selection.get("program_partition").and_then(Json::as_array).unwrap_or_default();
    let is_set = |stage: &Json, name: &str| stage.get(name).and_then(Json::as_bool) == Some(true);
    stages.iter().any(|stage| is_set(stage, "available") && is_set(stage, "static_ranges_disjoint"))
}

fn retest(campaign: &Campaign, case: &CaseRuns, cohort: &str, run: &CaseRun) -> Json {
    let rows = campaign.cohorts.iter().find(|known| known.name == cohort).map_or(0, |known| known.requested_rows);
    // The first run of the same schedule: a retry of the recheck repeats the default's.
    let initial = campaign.cohorts.iter().zip(&case.runs).find(|(known, _)| known.requested_rows == rows);
    let mut record = object([("repeats_cohort", Json::from(cohort)), ("evidence", run_record(case, run))]);
    if let Json::Object(members) = &mut record
        && let Some((_, evidence)) = members.last_mut()
    {
        push(evidence, "process", run.process.clone());
    }
    if let (Some(base), Some(again)) = (initial.and_then(|(_, run)| run.native_us()), run.native_us()) {
        push(&mut record, "native_retest_vs_initial", comparison(base, again, rows, run));
    }
    push(&mut record, "scope", Json::from(RETEST_SCOPE));
    record
}

/// Adds a member to an object.
fn push(record: &mut Json, name: &str, value: Json) {
    if let Json::Object(members) = record {
        members.push((name.to_owned(), value));
    }
}
