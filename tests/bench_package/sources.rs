//! Runs that failed before they had compiled anything.

use recount::bench::partition::record::{Campaign, RouteRun};
use recount::package::json::Json;

use super::campaign::{assembled, campaign, holds};
use crate::common::content::{Recipe, variants};
use crate::common::json::{rehash, set};

/// Takes a run's source away and lets its native route fail: it ended before it had compiled anything.
fn compiled_nothing(failed: &mut Campaign, case: usize, run: usize) {
    let raw = obj! { "status": "failed", "process": obj! { "returncode": Json::Int(-6) } };
    let run = &mut failed.cases[case].runs[run];
    run.native = RouteRun::Failed(raw);
    run.source_files = Json::Object(Vec::new());
}

#[test]
fn a_run_that_failed_before_it_compiled_has_no_source_and_needs_none() {
    // Default; rows1; both runs of the original schedule; all but rows2.
    for runs in [&[0][..], &[1], &[0, 3], &[0, 1, 3]] {
        let mut failed = campaign(&Recipe::default(), variants::without_torch);
        runs.iter().for_each(|&run| compiled_nothing(&mut failed, 1, run));
        holds(&failed);
    }
}

#[test]
fn sources_are_compared_where_the_default_has_none() {
    let forged = |runs: &[usize], edit: &dyn Fn(&mut Json)| {
        let mut failed = campaign(&Recipe::default(), variants::without_torch);
        runs.iter().for_each(|&run| compiled_nothing(&mut failed, 1, run));
        assembled(&failed).forged("validation.json", edit).exits(1).all("source-prefix");
    };
    let prefix = "/cases/1/cohorts/rows2/source_files/source.txt/original_source_sha256";
    for runs in [&[0][..], &[0, 3]] {
        forged(runs, &|root| rehash(root, prefix));
    }
    // One that was timed was compiled.
    for cohort in ["rows1", "recheck"] {
        forged(&[0], &|root| set(root, &format!("/cases/1/cohorts/{cohort}/source_files"), Json::Object(Vec::new())));
    }
}
