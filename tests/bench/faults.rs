//! Runs that fail: recorded as failed, with what ended them and without times, while the rest goes on.

use recount::package::json::Json;

use super::place::{COHORTS, IDS, Place, SAMPLES};
use crate::common::json::{copy, pointers};

/// A run that fails: which, how, its return code, and what is said of it.
type Fault = (&'static str, &'static str, i64, &'static str);

/// By a signal, by the time limit, by its result, and after its times were taken.
const CRASH: Fault = ("default/sum", "crash", -6, "signal 6 ended it");
const HANG: Fault = ("rows1/max", "hang", -9, "its time limit");
const WRONG: Fault = ("recheck/tail", "wrong-result", 3, "outputs are wrong");
const LATE: Fault = ("rows2/sum", "late", 3, "a failure that a test asked for");

/// Injects a fault, and looks at what became of it and of the rest.
#[track_caller]
fn fails(&(run, how, code, why): &Fault) {
    let place = Place::new();
    let outcome = place.bench("out", &["--timeout", "2", "--inject", &format!("{run}={how}")]);
    outcome.exits(1);
    let mut lines = outcome.stderr.lines().filter(|line| line.starts_with(&format!("recount: {run}")));
    let is_said = lines.any(|line| line.contains(" failed: ") && line.contains(why));
    outcome.require(is_said, "the run that failed is named, and why");
    outcome.require(outcome.stdout.contains("12 runs, 1 FAILED"), "it is counted");
    is_failed(&place, run, code, why);
    for id in IDS {
        for cohort in COHORTS {
            let other = format!("{cohort}/{id}");
            if other != run {
                assert_eq!(copy(&place.record("out", &other), "/status"), Json::from("validated"), "{other}");
                assert_eq!(place.rows("out", &other), SAMPLES, "{other}");
            }
        }
    }
    assert_eq!(copy(&place.json("out/validation.json"), "/status"), Json::from("completed_with_failures"));
    let readme = place.text("out/README.md");
    let (failed, medians) = (readme.find("## What failed"), readme.find("## Medians"));
    assert!(failed.is_some() && failed < medians && readme.contains(&format!("exit status `{code}`")), "{readme}");
    place.verifies("out");
    // Two cases are whole: enough for a model.
    place.recount(&["refit", "--exact", "--diff", "out"]).exits(0);
}

/// A run is recorded as failed and has no times anywhere.
#[track_caller]
fn is_failed(place: &Place, run: &str, code: i64, why: &str) {
    let record = place.record("out", run);
    assert_eq!(copy(&record, "/status"), Json::from("failed"));
    assert_eq!(copy(&record, "/original_case_status"), Json::from("failed"));
    assert_eq!(copy(&record, "/native_comparison_eligible"), Json::Bool(false));
    let native = copy(&record, "/routes/native");
    assert_eq!(copy(&native, "/status"), Json::from("failed"));
    assert_eq!(copy(&native, "/raw_failure/process/returncode"), Json::Int(code));
    let said = copy(&native, "/raw_failure/error");
    assert!(said.as_str().is_some_and(|said| said.contains(why)), "{said:?}");
    for pointer in pointers(&native) {
        assert!(!["/event_us", "/sampling", "/p50"].iter().any(|member| pointer.ends_with(member)), "{pointer}");
    }
    assert_eq!(place.rows("out", run), 0);
}

#[test]
#[cfg(unix)]
fn a_default_that_crashes_is_recorded_with_its_signal() {
    fails(&CRASH);
}

#[test]
#[cfg(unix)]
fn a_rows1_that_hangs_is_ended_at_its_time_limit() {
    fails(&HANG);
}

#[test]
fn a_recheck_with_a_wrong_result_has_no_times() {
    fails(&WRONG);
}

#[test]
fn times_that_were_taken_before_a_failure_are_not_published() {
    fails(&LATE);
}

#[test]
fn a_retry_is_a_record_of_its_own_and_the_first_stays_failed() {
    let place = Place::new();
    let inject = ["--inject", "default/sum=late", "--inject", "rows1/max=late", "--inject", "retest/max=late"];
    let outcome = place.bench("out", &[&inject[..], &["--retry"]].concat());
    outcome.exits(1);
    outcome.require(outcome.stdout.contains("12 runs, 2 FAILED"), "a retry takes nobody's place");
    is_failed(&place, "default/sum", 3, "a test asked for");
    is_failed(&place, "rows1/max", 3, "a test asked for");
    let validation = place.json("out/validation.json");
    let retest = |case: usize| validation.pointer(&format!("/cases/{case}/independent_torch_retest"));
    let passed = retest(0).expect("the retry of sum");
    assert_eq!(copy(passed, "/repeats_cohort"), Json::from("default"));
    assert_eq!(copy(passed, "/evidence/status"), Json::from("validated"));
    assert_eq!(copy(passed, "/evidence/case_receipt/path"), Json::from("retest/sum/run.json"));
    assert_eq!(place.rows("out", "independent_retest/sum"), SAMPLES);
    // One that fails again is recorded all the same.
    let failed = retest(1).expect("the retry of max");
    assert_eq!(copy(failed, "/repeats_cohort"), Json::from("rows1"));
    assert_eq!(copy(failed, "/evidence/routes/native/raw_failure/process/returncode"), Json::Int(3));
    assert_eq!(place.rows("out", "independent_retest/max"), 0);
    assert_eq!(retest(2), None);
    place.verifies("out");
}

#[test]
fn a_retry_can_be_asked_for_later() {
    let place = Place::new();
    let inject = ["--inject", "recheck/sum=late"];
    place.bench("out", &inject).exits(1);
    let runs = place.finished("out.runs");
    std::fs::remove_dir_all(place.at("out")).unwrap();
    place.bench("out", &[&inject[..], &["--resume", "--retry"]].concat()).exits(1);
    let mut again = place.finished("out.runs");
    assert!(again.remove(&place.at("out.runs/retest/sum/run.json")).is_some());
    assert_eq!(again, runs);
    is_failed(&place, "recheck/sum", 3, "a test asked for");
    assert_eq!(place.rows("out", "independent_retest/sum"), SAMPLES);
    place.verifies("out");
}

#[test]
#[cfg(unix)]
fn no_schedule_of_a_case_needs_another_to_be_verified() {
    let place = Place::new();
    let inject = ["default/sum=crash", "recheck/sum=crash", "rows1/max=crash", "rows2/max=crash", "recheck/max=late"];
    let inject: Vec<&str> = inject.iter().flat_map(|run| ["--inject", run]).collect();
    place.bench("out", &inject).exits(1);
    place.verifies("out");
}

#[test]
fn where_every_run_fails_there_is_nothing_to_publish() {
    let place = Place::new();
    let runs: Vec<String> =
        COHORTS.iter().flat_map(|cohort| IDS.map(|id| format!("{cohort}/{id}=wrong-result"))).collect();
    let inject: Vec<&str> = runs.iter().flat_map(|run| ["--inject", run.as_str()]).collect();
    let outcome = place.bench("out", &inject);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("no run with times"), "it says why there is no package");
    assert_eq!(place.names(), ["cases.json", "out.runs"]);
}
