//! Samples, medians and counts of validation.json.

use recount::package::json::Json;

use crate::common::json::{copy, scale, set};
use crate::common::package::Package;

forgeries! {
    a_p50_of_another_run_is_not_the_median_here:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/event_us/p50",
        |root, at| set(root, at, copy(root, "/cases/0/cohorts/rows2/routes/native/event_us/p50")) => "median-mismatch";
    a_p50_one_step_off_is_not_the_median:
        "validation.json", "/cases/1/cohorts/recheck/routes/native/event_us/p50",
        |root, at| set(root, at, copy(root, at).as_f64().unwrap().next_up()) => "median-mismatch";
    a_mean_is_not_the_median:
        "validation.json", "/cases/2/cohorts/rows2/routes/native/event_us/p50",
        |root, at| {
            let samples = copy(root, "/cases/2/cohorts/rows2/routes/native/event_us/samples");
            let samples: Vec<f64> = samples.as_array().unwrap().iter().filter_map(Json::as_f64).collect();
            set(root, at, samples.iter().sum::<f64>() / samples.len() as f64);
        } => "median-mismatch";
    the_median_of_event_spans_is_theirs:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/sampling/event_span_ms/p50",
        |root, at| scale(root, at, 1.01) => "median-mismatch";
    the_median_of_host_spans_is_theirs:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/sampling/host_span_ms/p50",
        |root, at| set(root, at, 150.5) => "median-mismatch";
    the_retests_median_is_its_own:
        "validation.json", "/cases/2/independent_torch_retest/evidence/routes/torch/event_us/p50",
        |root, at| scale(root, at, 0.99) => "median-mismatch";
    an_integer_is_no_sample:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/event_us/samples/2",
        |root, at| set(root, at, Json::Int(1)) => "sample-value";
    zero_is_no_sample:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/event_us/samples/2",
        |root, at| set(root, at, 0.0) => "sample-value";
    a_negative_time_is_no_sample:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/event_us/samples/2",
        |root, at| scale(root, at, -1.0) => "sample-value";
    the_stated_number_of_cases_is_counted:
        "validation.json", "/native_revalidation/cases", |root, at| set(root, at, 16_u64) => "count-mismatch";
    the_stated_number_of_executions_is_counted_without_the_retest:
        "validation.json", "/native_revalidation/native_executions", |root, at| set(root, at, 17_u64) => "count-mismatch";
    a_stated_count_is_an_integer:
        "validation.json", "/native_revalidation/cases", |root, at| set(root, at, 4.0) => "count-mismatch";
    two_cases_cannot_have_one_id:
        "validation.json", "/cases/1/case/id", |root, at| set(root, at, copy(root, "/cases/0/case/id")) => "count-mismatch";
    text_is_no_sample:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/event_us/samples",
        |root, at| set(root, &format!("{at}/2"), "1.25") => "malformed-field";
}

#[test]
fn a_sample_one_step_off_in_validation_contradicts_the_table_and_its_span() {
    let pointer = "/cases/0/cohorts/rows1/routes/native/event_us/samples/2";
    let outcome = Package::valid().forged("validation.json", |root| {
        set(root, pointer, copy(root, pointer).as_f64().unwrap().next_up());
    });
    outcome.exits(1).at("event-time", "validation.json", pointer);
    let finding = outcome.one("sample-mismatch");
    assert_eq!((finding.file.as_str(), finding.field.as_str()), ("samples.csv", "event_us_per_op"));
}

#[test]
fn a_consistent_change_of_a_sample_in_both_files_still_contradicts_its_span() {
    let package = Package::valid();
    let pointer = "/cases/0/cohorts/rows1/routes/native/event_us/samples/2";
    let old = copy(&package.json("validation.json"), pointer).as_f64().unwrap();
    let print = recount::package::json::python_float;
    let new: f64 = old * 1.000_1;
    package.edit_text("samples.csv", |text| text.replace(&print(old), &print(new)));
    let outcome = package.forged("validation.json", |root| set(root, pointer, new));
    outcome.exits(1).at("event-time", "validation.json", pointer);
}

#[test]
fn a_run_without_samples_is_no_run() {
    let route = "/cases/0/cohorts/rows1/routes/native";
    let outcome = Package::valid().forged("validation.json", |root| {
        for list in ["event_us", "sampling/event_span_ms", "sampling/host_span_ms"] {
            set(root, &format!("{route}/{list}/samples"), Json::Array(Vec::new()));
        }
    });
    outcome.exits(1).at("sample-rows", "validation.json", &format!("{route}/event_us/p50"));
    let recipe = crate::common::content::Recipe { samples: 1, ..Default::default() };
    Package::of(&recipe).verify(&[]).holds();
}

#[test]
fn a_whole_cohort_that_is_left_out_is_missed() {
    let outcome = Package::valid().forged("validation.json", |root| {
        crate::common::json::take(root, "/cases/0/cohorts/rows2");
    });
    outcome.exits(1).at("malformed-field", "validation.json", "/cases/0/cohorts/rows2");
    outcome.all("sample-rows");
}

#[test]
fn a_case_that_is_left_out_everywhere_but_in_the_model_is_missed() {
    let package = Package::valid();
    package.edit_json("cases.json", |root| {
        crate::common::json::take(root, "/cases/3");
    });
    package.edit_text("samples.csv", |text| {
        text.lines().filter(|line| !line.starts_with("demo-max-200x128")).map(|line| format!("{line}\n")).collect()
    });
    let outcome = package.forged("validation.json", |root| {
        crate::common::json::take(root, "/cases/3");
        set(root, "/native_revalidation/cases", 3_u64);
        set(root, "/native_revalidation/native_executions", 12_u64);
    });
    outcome.exits(1).at("observation", "model.json", "/training_observations");
}

/// Removes the two outermost of a run's samples, which leaves its median as it is.
fn drop_outliers(samples: &mut Json, order: &[usize]) {
    let Json::Array(items) = samples else { panic!("samples") };
    let mut at = 0;
    items.retain(|_| {
        at += 1;
        at - 1 != order[0] && at - 1 != order[6]
    });
}

#[test]
fn outliers_dropped_from_one_run_in_every_file_are_missed() {
    let package = Package::valid();
    let route = "/cases/3/cohorts/recheck/routes/native";
    let samples = copy(&package.json("validation.json"), &format!("{route}/event_us/samples"));
    let samples: Vec<f64> = samples.as_array().unwrap().iter().filter_map(Json::as_f64).collect();
    let mut order: Vec<usize> = (0..7).collect();
    order.sort_by(|&left, &right| samples[left].total_cmp(&samples[right]));
    let host = copy(&package.json("validation.json"), &format!("{route}/sampling/host_span_ms/p50"));
    package.edit_json("validation.json", |root| {
        for list in ["event_us", "sampling/event_span_ms", "sampling/host_span_ms"] {
            drop_outliers(crate::common::json::at(root, &format!("{route}/{list}/samples")), &order);
        }
        assert_eq!(copy(root, &format!("{route}/sampling/host_span_ms/p50")), host);
        let spans = copy(root, &format!("{route}/sampling/host_span_ms/samples"));
        let spans: Vec<f64> = spans.as_array().unwrap().iter().filter_map(Json::as_f64).collect();
        let median = recount::fit::median::median(&spans).unwrap();
        set(root, &format!("{route}/sampling/host_span_ms/p50"), median);
    });
    package.edit_json("model.json", |root| {
        let timings = "/baseline_recheck_and_all_candidates/3/timings/recheck/samples";
        drop_outliers(crate::common::json::at(root, timings), &order);
    });
    package.edit_text("samples.csv", |text| {
        let run = "demo-max-200x128-fp32-br4,recheck,native,passed,passed,";
        let mut next = 0;
        let lines = text.lines().filter_map(|line| {
            let Some(rest) = line.strip_prefix(run) else { return Some(format!("{line}\n")) };
            let (index, times) = rest.split_once(',')?;
            let index: usize = index.parse().ok()?;
            if index == order[0] || index == order[6] {
                return None;
            }
            next += 1;
            Some(format!("{run}{},{times}\n", next - 1))
        });
        lines.collect()
    });
    let outcome = package.seal().verify(&[]);
    outcome.exits(1).only(&["protocol-setting"]);
    outcome.at("protocol-setting", "validation.json", &format!("{route}/event_us/samples"));
}
