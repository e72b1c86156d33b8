//! The package's files, each from the one before: cases and device, runs, samples, model, provenance, README.

use std::collections::BTreeMap;
use std::fmt::Write;

use fastrand::Rng;
use recount::package::digest::digest;
use recount::package::json::{Document, Json, compact, python_float};
use recount::package::partition::{CaseLabel, Validation};
use recount::refit::{self, Refit, document};

use super::runs::RunSpec;
use super::{COHORTS, CaseSpec, Parts, Recipe, SM_COUNT, cases, failure, hash, receipt};

/// A stand-in for the fitting script, which the package carries and names by its hash.
const SCRIPT: &str = "\
\"\"\"Stands for the script that fitted the model; the tests never run it.\"\"\"
SCHEMA = \"independent-partition-nnls-v1\"
";

pub(super) fn all(recipe: &Recipe, edit: &dyn Fn(&mut Parts)) -> BTreeMap<&'static str, Vec<u8>> {
    let definitions: Vec<Json> = cases(recipe).iter().map(|case| case.definition(recipe.seed)).collect();
    let cases = obj! { "schema": 1_u64, "description": "Four demonstration cases.", "cases": definitions };
    let mut parts = Parts { cases, device: device(), validation: validation(recipe) };
    edit(&mut parts);
    let Parts { cases, device, validation } = parts;
    let sm_count = device.get("sm_count").and_then(Json::as_u64).expect("a count");
    let validation = text(&validation);
    let parsed = Document::parse("validation.json", validation.clone()).expect("own JSON");
    let runs = Validation::read(&parsed);
    let observations = refit::observations(&runs, sm_count).expect("observations");
    let refitted = Refit::new(observations).expect("a fit");
    let script = obj! {
        "path": "${REPO}\\model\\calibrate.py",
        "sha256": digest(SCRIPT.as_bytes()).sha256,
        "bytes": SCRIPT.len(),
    };
    let stated = obj! {
        "limitations": vec!["Logical batches are not occupancy."],
        "input_receipts": obj! {
            "summary": receipt("${REPO}\\summary\\checkpoint.json"),
            "device": receipt("${REPO}\\device\\facts.json"),
            "script": script.clone(),
        },
        "original_profile_id": hash("original profile"),
    };
    let model = document::complete(document::derived(&refitted, &runs, &device, sm_count), Some(&stated));
    let provenance = obj! {
        "original_summary": receipt_of("summary/checkpoint.json", "${REPO}\\summary\\checkpoint.json"),
        "original_model_report": receipt("model/report.json"),
        "original_calibration_script": script,
        "original_profile_id": hash("original profile"),
        "public_profile_id": model.get("profile_id").cloned().unwrap_or(Json::Null),
    };
    let proofs = obj! {
        "original_snapshot": receipt_of("build/build.json", "${REPO}\\build\\build.json"),
        "captured_head": "0123456789abcdef0123456789abcdef01234567",
        "original_frozen_file_count": 12_u64,
        "compact_receipts": obj! { "${REPO}\\bin\\demo.exe": obj! { "sha256": hash("demo.exe"), "bytes": 4096_u64 } },
    };
    BTreeMap::from([
        (".gitattributes", b"* text eol=lf\n".to_vec()),
        ("README.md", readme(&runs, &refitted).into_bytes()),
        ("cases.json", text(&cases).into_bytes()),
        ("code/calibrate.py", SCRIPT.as_bytes().to_vec()),
        ("device.json", text(&device).into_bytes()),
        ("model.json", text(&model).into_bytes()),
        ("proof-receipts.json", text(&proofs).into_bytes()),
        ("provenance.json", text(&provenance).into_bytes()),
        ("samples.csv", samples(&runs).into_bytes()),
        ("validation.json", validation.into_bytes()),
    ])
}

fn text(value: &Json) -> String {
    compact(value) + "\n"
}

/// The receipt of `path`, with the content that [`receipt`] gives to `other`: one file under two names.
fn receipt_of(path: &str, other: &str) -> Json {
    let mut record = receipt(other);
    crate::common::json::set(&mut record, "/path", path);
    record
}

fn device() -> Json {
    obj! {
        "schema": 1_u64,
        "compute_capability": 89_u64,
        "sm_count": SM_COUNT,
        "warp_size": 32_u64,
        "max_resident_warps_per_sm": 48_u64,
        "identity": obj! {
            "gpu": "Demonstration GPU",
            "driver": "Demonstration GPU, ${GPU_UUID_REDACTED}, 617.14, 8.9",
            "cuda_driver_api_version": 13_040_u64,
            "toolkit": "${CUDA_TOOLKIT}",
            "tool_receipts": vec![receipt("${CUDA_TOOLKIT}\\bin\\tool.exe")],
        },
        "evidence": vec![receipt("${REPO}\\device\\query.json")],
    }
}

fn validation(recipe: &Recipe) -> Json {
    let mut random = Rng::with_seed(recipe.seed.wrapping_add(recipe.noise));
    let mut failure = Json::Null;
    let specs = cases(recipe);
    let cases: Vec<Json> = specs.iter().map(|case| case_record(case, recipe, &mut random, &mut failure)).collect();
    let cohorts: Vec<Json> = COHORTS
        .iter()
        .map(|&(name, requested)| {
            obj! {
                "name": name,
                "original_status": cohort_status(name),
                "aggregate_receipt": receipt(&format!("runs/{name}/results.json")),
                "native_comparison_eligible": true,
                "requested_program_rows": requested,
            }
        })
        .collect();
    obj! {
        "schema": 1_u64,
        "kind": "partition",
        "status": "completed_validated_native",
        "cohorts": cohorts,
        "rescue_queue_receipt": receipt("runs/rescue-queue.json"),
        "native_revalidation": obj! {
            "status": "passed",
            "cases": specs.len(),
            "native_executions": specs.len() * COHORTS.len(),
            "original_cohort_status": "failed",
            "original_failure": failure,
        },
        "build_snapshot": receipt("${REPO}\\build\\build.json"),
        "implementation_files_rechecked": 12_u64,
        "original_failed_queue": receipt("runs/queue.json"),
        "cases": cases,
    }
}

fn cohort_status(name: &str) -> &'static str {
    if name == "default" { "failed" } else { "passed" }
}

fn case_record(case: &CaseSpec, recipe: &Recipe, random: &mut Rng, failure: &mut Json) -> Json {
    let mut cohorts = Vec::new();
    for (cohort, requested) in COHORTS {
        let run = RunSpec { case, cohort, requested, recipe };
        let is_default = cohort == "default";
        let failed = is_default && case.torch_failed;
        let torch = match (is_default, failed) {
            (false, _) => obj! { "status": "not_requested", "comparison": "absent_native_only_calibration" },
            (true, true) => failure::failed_torch(&run),
            (true, false) => run.torch(random),
        };
        let mut record = run.record(if failed { "failed" } else { "passed" }, torch, random);
        if failed {
            *failure = failure::preserved(&run, case.definition(recipe.seed), &record);
        } else if is_default {
            crate::common::json::add(&mut record, "", "torch_compiler_artifacts_rechecked", run.torch_artifacts());
        }
        crate::common::json::add(&mut record, "", "original_cohort_status", cohort_status(cohort));
        crate::common::json::add(&mut record, "", "native_comparison_eligible", true);
        cohorts.push((cohort.to_owned(), record));
    }
    let cohorts = Json::Object(cohorts);
    let mut record = obj! {
        "case": case.definition(recipe.seed),
        "comparisons": comparisons(&cohorts),
        "cohorts": cohorts.clone(),
    };
    if case.torch_failed {
        let run = RunSpec { case, cohort: "torch-retest", requested: 0, recipe };
        let torch = run.torch(random);
        let evidence = run.record("passed", torch, random);
        let (initial, again) = (p50(&cohorts, "default", "native"), p50_of(&evidence, "native"));
        let retest = obj! {
            "evidence": evidence,
            "native_retest_vs_initial": compared(initial, again, false, None),
            "scope": "Separate later execution. Initial Torch remains missing.",
        };
        crate::common::json::add(&mut record, "", "independent_torch_retest", retest);
    }
    record
}

fn p50_of(run: &Json, route: &str) -> Option<f64> {
    run.path(&["routes", route, "event_us", "p50"])?.as_f64()
}

fn p50(cohorts: &Json, cohort: &str, route: &str) -> Option<f64> {
    p50_of(cohorts.get(cohort)?, route)
}

fn comparisons(cohorts: &Json) -> Json {
    let torch = p50(cohorts, "default", "torch");
    let mut comparisons = Vec::new();
    for (candidate, partitioned) in [("rows1", true), ("rows2", true), ("recheck", false)] {
        let median = p50(cohorts, candidate, "native");
        let record = compared(p50(cohorts, "default", "native"), median, partitioned, torch);
        comparisons.push((candidate.to_owned(), record));
    }
    for candidate in ["rows1", "rows2"] {
        let (base, median) = (p50(cohorts, "recheck", "native"), p50(cohorts, candidate, "native"));
        comparisons.push((format!("{candidate}_vs_recheck"), compared(base, median, true, None)));
    }
    Json::Object(comparisons)
}

fn compared(base: Option<f64>, candidate: Option<f64>, partitioned: bool, torch: Option<f64>) -> Json {
    let (base, candidate) = (base.expect("a median"), candidate.expect("a median"));
    let ratio = candidate / base;
    let words = match ratio {
        _ if !partitioned => "default_recheck",
        low if low < 0.95 => "observed_lower_median",
        high if high > 1.05 => "selected_candidate_regression",
        _ => "within_5_percent_no_robust_gain_claim",
    };
    let mut record = obj! {
        "status": "valid_matched_pair",
        "default_p50_us": base,
        "candidate_p50_us": candidate,
        "candidate_over_default": ratio,
        "delta_percent": 100.0 * (ratio - 1.0),
        "specialization_selected": partitioned,
        "interpretation": words,
    };
    if let Some(torch) = torch {
        crate::common::json::add(&mut record, "", "candidate_over_baseline_torch", candidate / torch);
    }
    record
}

fn samples(validation: &Validation<'_>) -> String {
    let mut text =
        "case,cohort,route,original_case_status,original_cohort_status,sample_index,event_us_per_op,p50_us\n"
            .to_owned();
    for (record, run, route, timing) in validation.timed() {
        let (case_status, cohort_status) = (run.case_status, run.cohort_status);
        for (index, sample) in timing.samples.numbers().enumerate() {
            let (sample, p50) = (python_float(sample), python_float(timing.p50));
            writeln!(
                text,
                "{},{},{},{case_status},{cohort_status},{index},{sample},{p50}",
                record.case.id,
                run.cohort,
                route.name()
            )
            .expect("a String takes everything");
        }
    }
    text
}

fn readme(validation: &Validation<'_>, refit: &Refit<'_, '_>) -> String {
    let mut text =
        "# Program partition, demonstration\n\n## Observed medians\n\nTimes are microseconds per operation.\n\n\
        | Operation / shape / storage / B | Default | Rows1 | Rows2 | Recheck | Initial Torch | LOGO selection |\n\
        |---|---:|---:|---:|---:|---:|---|\n"
            .to_owned();
    let decisions = || refit.folds.iter().flat_map(|fold| &fold.evaluated.decisions);
    for record in &validation.cases {
        write!(text, "| {} ", CaseLabel::of(&record.case)).expect("a String takes everything");
        for (cohort, _) in COHORTS {
            let median = record.native_median(cohort);
            let median = median.map_or("missing".to_owned(), |median| format!("{median:.4}"));
            write!(text, "| {median} ").expect("a String takes everything");
        }
        let torch = record.run("default").and_then(|run| Some(run.torch.timing.as_ref()?.p50));
        let torch = torch.map_or("missing".to_owned(), |median| format!("{median:.4}"));
        let selected = decisions().find(|decision| decision.case_id == record.case.id);
        let selected = selected.map_or("none".to_owned(), |decision| decision.decision.selected.to_string());
        writeln!(text, "| {torch} | {selected} |").expect("a String takes everything");
    }
    text
}
