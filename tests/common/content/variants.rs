//! Changes that make another producer's data of the published one's; everything else is derived after them.

use recount::package::json::Json;

use super::{COHORTS, Parts, hash, receipt};
use crate::common::json::{add, at, copy, set, take};

/// The number of cases.
const CASES: usize = 4;

/// A route that failed, by its own record.
fn failed(comparison: Option<&str>) -> Json {
    let mut route = obj! {
        "status": "failed",
        "raw_failure": obj! { "status": "failed", "process": obj! { "returncode": 1_u64 } },
    };
    if let Some(comparison) = comparison {
        add(&mut route, "", "comparison", comparison);
    }
    route
}

/// Removes a member that may not be there.
fn drop_member(root: &mut Json, pointer: &str, name: &str) {
    if let Json::Object(members) = at(root, pointer) {
        members.retain(|(member, _)| member != name);
    }
}

/// Every run of a cohort, by pointer.
fn runs() -> impl Iterator<Item = String> {
    let cohorts = |case: usize| COHORTS.iter().map(move |(name, _)| format!("/cases/{case}/cohorts/{name}"));
    (0..CASES).flat_map(cohorts)
}

/// No Torch route was asked for, so nothing failed and nothing was rescued.
pub(crate) fn without_torch(parts: &mut Parts) {
    let root = &mut parts.validation;
    for name in ["native_revalidation", "rescue_queue_receipt", "original_failed_queue"] {
        drop_member(root, "", name);
    }
    set(root, "/cohorts/0/original_status", "passed");
    for case in 0..CASES {
        drop_member(root, &format!("/cases/{case}"), "independent_torch_retest");
        for name in ["rows1", "rows2", "recheck"] {
            drop_member(root, &format!("/cases/{case}/comparisons/{name}"), "candidate_over_baseline_torch");
        }
    }
    for run in runs() {
        let absent = obj! { "status": "not_requested", "comparison": "absent_native_only_calibration" };
        set(root, &format!("{run}/routes/torch"), absent);
        set(root, &format!("{run}/original_case_status"), "passed");
        set(root, &format!("{run}/original_cohort_status"), "passed");
        drop_member(root, &run, "torch_compiler_artifacts_rechecked");
    }
}

/// No Torch route at all, not even one that says so.
pub(crate) fn without_torch_routes(parts: &mut Parts) {
    without_torch(parts);
    for run in runs() {
        take(&mut parts.validation, &format!("{run}/routes/torch"));
    }
}

/// Torch is not on the machine.
pub(crate) fn torch_unavailable(parts: &mut Parts) {
    without_torch(parts);
    for run in runs() {
        let absent = obj! { "status": "unavailable", "comparison": "no_torch", "reason": "no module named torch" };
        set(&mut parts.validation, &format!("{run}/routes/torch"), absent);
    }
}

/// Torch was timed as it is, without its compiler, and its dispatches were counted.
pub(crate) fn eager_torch(parts: &mut Parts) {
    for run in (0..CASES).filter(|case| *case != 2).map(|case| format!("/cases/{case}/cohorts/default")) {
        let torch = format!("{run}/routes/torch");
        let root = &mut parts.validation;
        let Json::Object(checks) = at(root, &format!("{torch}/recorded_correctness")) else { panic!("an object") };
        checks.iter_mut().for_each(|(name, _)| *name = name.replace("compiled", "eager"));
        drop_member(root, &torch, "compiler_evidence");
        drop_member(root, &run, "torch_compiler_artifacts_rechecked");
        let operations = copy(root, &format!("{torch}/sampling/operations_per_sample")).as_u64().expect("a count");
        set(root, &format!("{torch}/sampling/kernel_stage_dispatches_per_sample"), 2 * operations);
    }
}

/// The fixtures of the operations are exchanged, and the manifests name the oracle's files.
pub(crate) fn other_fixtures(parts: &mut Parts) {
    without_torch(parts);
    let swapped = |pattern: &Json| match pattern.as_str() {
        Some("cancellation") => "adversarial",
        _ => "cancellation",
    };
    for case in 0..CASES {
        for (root, pointer) in [
            (&mut parts.cases, format!("/cases/{case}/pattern")),
            (&mut parts.validation, format!("/cases/{case}/case/pattern")),
        ] {
            let other = swapped(&copy(root, &pointer));
            set(root, &pointer, other);
        }
    }
    for run in runs() {
        let root = &mut parts.validation;
        let other = swapped(&copy(root, &format!("{run}/manifest/pattern")));
        set(root, &format!("{run}/manifest/pattern"), other);
        let expected = obj! { "path": "oracle.f64", "bound_path": "bound.f64" };
        add(root, &format!("{run}/manifest"), "expected", expected);
        let Json::Array(inputs) = at(root, &format!("{run}/manifest/inputs")) else { panic!("inputs") };
        inputs.truncate(1);
        set(root, &format!("{run}/manifest/inputs/0/path"), "rows.bin");
        set(root, &format!("{run}/manifest/inputs/0/name"), "rows");
        set(root, &format!("{run}/manifest/output/path"), "reduced.bin");
        let case = run.split('/').nth(2).expect("a case").to_owned();
        let names = ["rows.bin", "oracle.f64", "bound.f64"];
        let hashes = names.map(|name| (name.to_owned(), Json::from(hash(&format!("{case} {name}")))));
        set(root, &format!("{run}/fixture_sha256"), Json::Object(hashes.into()));
        let slot = format!("{run}/selection/program_partition/0/output_slot");
        if copy(root, &slot) != Json::Int(0) {
            set(root, &slot, 1_u64);
        }
    }
}

/// What a program of another device and another compiler writes: other entries, another realization text, more
/// multiprocessors; `is_cpu` for one without CUDA.
pub(crate) fn another_machine(parts: &mut Parts, is_cpu: bool) {
    without_torch(parts);
    set(&mut parts.device, "/sm_count", 132_u64);
    if is_cpu {
        for name in ["warp_size", "max_resident_warps_per_sm"] {
            set(&mut parts.device, &format!("/{name}"), 1_u64);
        }
        set(&mut parts.device, "/compute_capability", Json::Null);
        set(&mut parts.device, "/identity", obj! { "gpu": Json::Null, "backend": "host threads" });
    } else {
        set(&mut parts.device, "/compute_capability", 90_u64);
        set(&mut parts.device, "/identity/driver", "Demonstration GPU, ${GPU_UUID_REDACTED}, 617.14, 9.0");
    }
    for run in runs() {
        let root = &mut parts.validation;
        set(root, &format!("{run}/manifest/backend"), if is_cpu { "cpu" } else { "cuda" });
        let launch = format!("{run}/selection/program_partition/0");
        let grid = copy(root, &format!("{launch}/original_grid/0")).as_u64().expect("a grid");
        let is_partition = copy(root, &format!("{launch}/available")) == Json::Bool(true);
        set(root, &format!("{launch}/expected_selected_entry"), if is_partition { "rows_by_row" } else { "rows" });
        let compiler = if is_cpu { "Rust loops" } else { "CUDA C++ -> NVRTC -> cubin" };
        let text = format!("{compiler}; programs={grid}, threads=256");
        set(root, &format!("{run}/routes/native/realization"), text);
        take(root, &format!("{run}/selection/compiler_worker_hints"));
    }
}

/// Receipts name files relative to their own run.
pub(crate) fn relative_paths(parts: &mut Parts) {
    without_torch(parts);
    bare(&mut parts.validation);
}

fn bare(value: &mut Json) {
    match value {
        Json::Array(items) => items.iter_mut().for_each(bare),
        Json::Object(members) => {
            let is_receipt = members.iter().any(|(name, _)| name == "sha256");
            for (name, member) in members {
                match member {
                    Json::Str(path) if is_receipt && name == "path" && !path.contains("build") => {
                        *path = path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
                    }
                    other => bare(other),
                }
            }
        }
        _ => {}
    }
}

/// Routes with times say that they passed.
pub(crate) fn routes_passed(parts: &mut Parts) {
    without_torch(parts);
    for run in runs() {
        add(&mut parts.validation, &format!("{run}/routes/native"), "status", "passed");
    }
}

/// The native process of the last case failed in one cohort.
fn fail_native(root: &mut Json, cohort: usize) {
    let name = COHORTS[cohort].0;
    let run = format!("/cases/3/cohorts/{name}");
    set(root, &format!("{run}/routes/native"), failed(None));
    set(root, &format!("{run}/original_case_status"), "failed");
    set(root, &format!("{run}/status"), "failed");
    set(root, &format!("{run}/native_comparison_eligible"), false);
    set(root, &format!("/cohorts/{cohort}/original_status"), "failed");
    set(root, &format!("/cohorts/{cohort}/native_comparison_eligible"), false);
    for case in 0..CASES {
        set(root, &format!("/cases/{case}/cohorts/{name}/original_cohort_status"), "failed");
    }
    set(root, "/status", "completed_with_failures");
}

/// The native process of the last case failed in the default cohort; nothing can be compared with it.
pub(crate) fn failed_native_default(parts: &mut Parts) {
    without_torch(parts);
    let root = &mut parts.validation;
    fail_native(root, 0);
    for name in ["rows1", "rows2", "recheck"] {
        drop_member(root, "/cases/3/comparisons", name);
    }
}

/// The native process of the last case failed at one row per program, and was run again later.
pub(crate) fn retried_rows1(parts: &mut Parts) {
    without_torch(parts);
    let root = &mut parts.validation;
    let mut again = copy(root, "/cases/3/cohorts/rows1");
    fail_native(root, 1);
    for name in ["rows1", "rows1_vs_recheck"] {
        drop_member(root, "/cases/3/comparisons", name);
    }
    set(&mut again, "/case_receipt", receipt("runs/rows1-again/case.json"));
    let retest = obj! { "evidence": again, "scope": "Separate later execution." };
    add(root, "/cases/3", "independent_torch_retest", retest);
}

/// The spans of one partitioned run overlap, so that it took the original entry.
pub(crate) fn overlap(parts: &mut Parts) {
    without_torch(parts);
    let root = &mut parts.validation;
    let selection = "/cases/3/cohorts/rows2/selection";
    let launch = format!("{selection}/program_partition/0");
    let grid = copy(root, &format!("{launch}/original_grid"));
    set(root, &format!("{launch}/static_ranges_disjoint"), false);
    set(root, &format!("{launch}/expected_selected_grid"), grid);
    set(root, &format!("{launch}/expected_selected_entry"), "demo_main");
    set(root, &format!("{selection}/partition_host_selection_expected"), false);
    for name in ["rows2", "rows2_vs_recheck"] {
        set(root, &format!("/cases/3/comparisons/{name}/specialization_selected"), false);
    }
}
