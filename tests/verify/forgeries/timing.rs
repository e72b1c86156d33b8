//! Spans, clocks, calibration, warm-up and settings.

use recount::package::json::Json;

use crate::common::json::{at, bump, copy, scale, set};
use crate::common::package::Package;

forgeries! {
    a_span_that_is_no_binary32_number_was_not_reported_by_the_device:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/sampling/event_span_ms/samples/3",
        |root, at| set(root, at, copy(root, at).as_f64().unwrap().next_up()) => "span-lattice";
    a_prime_span_is_on_the_lattice_too:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/sampling/prime_event_ms",
        |root, at| set(root, at, 0.1) => "span-lattice";
    a_calibration_span_is_on_the_lattice_too:
        "validation.json", "/cases/0/cohorts/default/routes/torch/sampling/calibration/1/event_span_ms",
        |root, at| set(root, at, copy(root, at).as_f64().unwrap().next_down()) => "span-lattice";
    a_negative_span_is_no_span:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/sampling/prime_event_ms",
        |root, at| set(root, at, -0.5) => "span-lattice";
    a_time_follows_from_its_span:
        "validation.json", "/cases/3/cohorts/recheck/routes/native/event_us/samples/0",
        |root, at| scale(root, at, 1.0 + 1e-9) => "event-time";
    another_span_gives_another_time:
        "validation.json", "/cases/3/cohorts/recheck/routes/native/event_us/samples/6",
        |root, at| {
            let spans = "/cases/3/cohorts/recheck/routes/native/sampling/event_span_ms/samples";
            set(root, &format!("{spans}/6"), f64::from(97.25_f32));
            let _ = at;
        } => "event-time";
    a_p50_follows_from_the_median_span:
        "validation.json", "/cases/0/cohorts/rows2/routes/native/event_us/p50",
        |root, _| scale(root, "/cases/0/cohorts/rows2/routes/native/sampling/event_span_ms/p50", 1.5) => "event-time";
    a_host_span_contains_its_event_span:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/sampling/host_span_ms/samples/0",
        |root, at| set(root, at, 50.0) => "host-span";
    the_prime_host_span_contains_its_event_span:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/sampling/prime_host_ms",
        |root, at| set(root, at, 0.0) => "host-span";
    a_calibration_host_span_contains_its_event_span:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/sampling/calibration/0/host_wall_ms",
        |root, at| set(root, at, 0.0) => "host-span";
    operations_are_replays_of_the_batch:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/sampling/operations_per_sample",
        |root, at| bump(root, at, 100) => "operation-count";
    dispatches_are_the_operations:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/sampling/kernel_stage_dispatches_per_sample",
        |root, at| bump(root, at, -1) => "operation-count";
    counted_dispatches_of_torch_are_no_fewer_than_its_operations:
        "validation.json", "/cases/0/cohorts/default/routes/torch/sampling/kernel_stage_dispatches_per_sample",
        |root, at| set(root, at, 100_u64) => "operation-count";
    a_span_too_few_is_counted:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/sampling",
        |root, at| {
            crate::common::json::take(root, &format!("{at}/event_span_ms/samples/6"));
        } => "operation-count";
    calibration_starts_with_one_replay:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/sampling/calibration/0/replays",
        |root, at| bump(root, at, 1) => "calibration";
    each_calibrated_count_follows_from_the_span_before:
        "validation.json", "/cases/0/cohorts/default/routes/torch/sampling/calibration/1/replays",
        |root, at| bump(root, at, -1) => "calibration";
    calibration_has_a_step:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/sampling",
        |root, at| set(root, &format!("{at}/calibration"), Json::Array(Vec::new())) => "calibration";
    a_target_that_was_reached_is_not_called_missed:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/sampling/calibration_target_reached",
        |root, at| {
            set(root, "/cases/0/cohorts/rows1/routes/native/sampling/calibration/1/event_span_ms", 100.5);
            set(root, "/cases/0/cohorts/rows1/routes/native/sampling/calibration/1/host_wall_ms", 100.6);
            set(root, at, false);
        } => "calibration";
    replays_stay_under_their_cap:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/sampling/replay_cap",
        |root, at| set(root, at, 10_u64) => "calibration";
    operations_stay_under_their_cap:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/sampling/operation_cap",
        |root, at| set(root, at, 10_u64) => "calibration";
    a_warm_up_reaches_its_target:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/warmup/actual_ms",
        |root, at| set(root, at, 499.9999) => "warm-up";
    a_warm_up_has_replays:
        "validation.json", "/cases/0/cohorts/rows1/routes/native/warmup/replays",
        |root, at| set(root, at, 0_u64) => "warm-up";
    a_lower_warm_up_target_in_one_run_is_another_setting:
        "validation.json", "/cases/1/cohorts/rows1/routes/native/warmup/target_ms",
        |root, at| set(root, at, 50_u64) => "protocol-setting";
    another_replay_cap_in_one_run_is_another_setting:
        "validation.json", "/cases/1/cohorts/rows1/routes/native/sampling/replay_cap",
        |root, at| set(root, at, 65_535_u64) => "protocol-setting";
    another_operation_cap_in_one_run_is_another_setting:
        "validation.json", "/cases/1/cohorts/rows1/routes/native/sampling/operation_cap",
        |root, at| set(root, at, 20_000_000_u64) => "protocol-setting";
    another_protocol_in_one_run_is_another_setting:
        "validation.json", "/cases/2/independent_torch_retest/evidence/routes/native/sampling/protocol",
        |root, at| set(root, at, "adaptive_replay_span_v1") => "protocol-setting";
    another_target_in_one_torch_run_is_another_setting:
        "validation.json", "/cases/1/cohorts/default/routes/torch/sampling/sample_target_ms",
        |root, at| set(root, at, 101.0) => "protocol-setting";
    a_cold_time_is_a_number:
        "validation.json", "/cases/1/cohorts/default/routes/native/cold_ms/compile_ms",
        |root, at| set(root, at, "fast") => "malformed-field";
    a_missing_member_of_the_sampling_is_named:
        "validation.json", "/cases/1/cohorts/default/routes/native/sampling/replay_cap",
        |root, at| {
            crate::common::json::take(root, at);
        } => "malformed-field";
}

#[test]
fn a_host_time_between_two_ticks_is_a_warning_only() {
    let package = Package::valid();
    let pointer = "/cases/0/cohorts/rows1/routes/native/sampling/prime_host_ms";
    let outcome = package.forged("validation.json", |root| {
        let Json::Float(time) = at(root, pointer) else { panic!("a float") };
        *time += 0.000_03;
    });
    outcome.exits(0).only(&["clock-tick"]);
    outcome.at("clock-tick", "validation.json", pointer);
    package.verify(&["--strict"]).exits(1);
}

#[test]
fn a_calibration_that_went_on_without_the_samples_is_a_warning_only() {
    let package = Package::valid();
    let sampling = "/cases/0/cohorts/rows1/routes/native/sampling";
    let outcome = package.forged("validation.json", |root| {
        let last = copy(root, &format!("{sampling}/calibration/1"));
        let (replays, span) = (last.get("replays").unwrap(), last.get("event_span_ms").unwrap());
        let next = (100.0 / span.as_f64().unwrap() * replays.as_f64().unwrap()).ceil() as u64;
        let step = obj! { "replays": next, "event_span_ms": f64::from(99.5_f32), "host_wall_ms": 99.6 };
        let Json::Array(steps) = at(root, &format!("{sampling}/calibration")) else { panic!("steps") };
        steps.push(step);
    });
    outcome.exits(0).only(&["calibration-end"]);
    outcome.at("calibration-end", "validation.json", &format!("{sampling}/replays_per_sample"));
}

#[test]
fn spans_of_zero_and_infinite_demands_are_findings_and_no_panic() {
    for value in ["0.0", "5e-324", "1e300", "-1e300", "0"] {
        let outcome = Package::valid().forged("validation.json", |root| {
            for list in
                ["event_span_ms/p50", "event_span_ms/samples/0", "prime_event_ms", "calibration/0/event_span_ms"]
            {
                let pointer = format!("/cases/0/cohorts/rows1/routes/native/sampling/{list}");
                set(root, &pointer, crate::common::json::parse(value));
            }
        });
        outcome.exits(1);
    }
}

#[test]
fn runs_with_equal_and_tiny_times_are_compared_without_a_panic() {
    for tiny in [false, true] {
        let outcome = Package::valid().forged("validation.json", |root| {
            for case in 0..4 {
                for cohort in ["default", "rows1", "rows2", "recheck"] {
                    let event = format!("/cases/{case}/cohorts/{cohort}/routes/native/event_us");
                    let value = if tiny { 5e-324 } else { 1.5 };
                    set(root, &format!("{event}/samples"), vec![value; 7]);
                    set(root, &format!("{event}/p50"), value);
                }
            }
        });
        outcome.exits(1).all("event-time");
    }
}

#[test]
fn habits_of_the_published_producer_are_warnings_only() {
    let native = "/cases/0/cohorts/rows1/routes/native";
    let sampling = format!("{native}/sampling");
    let habits: [(&str, String, Json, &str); 4] = [
        ("reached", format!("{sampling}/calibration_target_reached"), Json::Bool(false), "calibration-end"),
        ("target", format!("{sampling}/calibration/1/event_span_ms"), Json::Float(12.5), "calibration-end"),
        ("replays", format!("{native}/warmup/replays"), Json::Int(1_000_000), "warm-up-replays"),
        (
            "hints",
            "/cases/3/cohorts/rows1/selection/compiler_worker_hints/0/requested".to_owned(),
            Json::Int(4),
            "compiler-hints",
        ),
    ];
    for (what, pointer, value, code) in habits {
        let package = Package::valid();
        let outcome = package.forged("validation.json", |root| set(root, &pointer, value));
        outcome.exits(0).only(&[code]);
        assert_eq!(package.verify(&["--strict"]).status, 1, "{what}");
    }
}
