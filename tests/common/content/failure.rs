//! The Torch process that failed: its own record, and the original failure kept whole beside the runs.

use recount::package::json::Json;

use super::runs::RunSpec;

/// The failed process as its run records it.
pub(super) fn failed_torch(run: &RunSpec<'_>) -> Json {
    obj! {
        "status": "failed",
        "comparison": "missing_initial_torch_baseline",
        "raw_failure": raw(run),
    }
}

fn raw(run: &RunSpec<'_>) -> Json {
    obj! {
        "status": "failed",
        "process": obj! {
            "command": vec!["${REPO}\\venv\\python.exe", "${REPO}\\bench\\baseline.py", "--case", &run.case.id()],
            "started": "2026-10-03T10:27:23.747378+08:00",
            "status": "exited",
            "pid": 4242_u64,
            "returncode": 3_221_227_274_u64,
            "finished": "2026-10-03T10:27:55.705894+08:00",
            "elapsed_seconds": 31.953125,
        },
        "error": "Torch compilation or correctness failed",
        "traceback": "Traceback (most recent call last):\nValueError: Torch compilation or correctness failed\n",
        "environment_overrides": Json::Object(Vec::new()),
    }
}

/// The failed case as its cohort first recorded it; `record` is the run that was made from it.
pub(super) fn preserved(run: &RunSpec<'_>, definition: Json, record: &Json) -> Json {
    let native = record.path(&["routes", "native"]).cloned().unwrap_or(Json::Null);
    let taken = |path: &[&str]| native.path(path).cloned().unwrap_or(Json::Null);
    let operations = taken(&["sampling", "operations_per_sample"]).as_f64().unwrap_or(1.0);
    let host = taken(&["sampling", "host_span_ms", "samples"]);
    let host = host.as_array().unwrap_or_default().iter().filter_map(Json::as_f64);
    let host_us: Vec<f64> = host.map(|span| span * 1000.0 / operations).collect();
    let result = obj! {
        "schema": 1_u64,
        "status": "passed",
        "realization": taken(&["realization"]),
        "native_program_partition": vec![run.launch()],
        "fixture_ms": taken(&["cold_ms", "fixture_ms"]),
        "runtime_ms": taken(&["cold_ms", "runtime_ms"]),
        "compile_ms": taken(&["cold_ms", "compile_ms"]),
        "allocation_upload_ms": taken(&["cold_ms", "allocation_upload_ms"]),
        "cold_ms": taken(&["cold_ms", "cold_ms"]),
        "graph_build_ms": taken(&["cold_ms", "graph_build_ms"]),
        "graph_protocol": taken(&["sampling", "protocol"]),
        "graph_replays_per_sample": taken(&["sampling", "replays_per_sample"]),
        "graph_operations_per_sample": taken(&["sampling", "operations_per_sample"]),
        "graph_sample_target_ms": taken(&["sampling", "sample_target_ms"]),
        "graph_replay_cap": taken(&["sampling", "replay_cap"]),
        "graph_operation_cap": taken(&["sampling", "operation_cap"]),
        "graph_calibration_target_reached": taken(&["sampling", "calibration_target_reached"]),
        "graph_prime_event_ms": taken(&["sampling", "prime_event_ms"]),
        "graph_prime_host_ms": taken(&["sampling", "prime_host_ms"]),
        "graph_warmup_replays": taken(&["warmup", "replays"]),
        "graph_warmup_actual_ms": taken(&["warmup", "actual_ms"]),
        "graph_calibration": taken(&["sampling", "calibration"]),
        "graph_event_span_ms": taken(&["sampling", "event_span_ms", "samples"]),
        "graph_host_span_ms": taken(&["sampling", "host_span_ms", "samples"]),
        "graph_stage_dispatches_per_sample": taken(&["sampling", "kernel_stage_dispatches_per_sample"]),
        "graph_host_wall_us_per_op": host_us,
        "graph_event_stream_span_us_per_op": taken(&["event_us", "samples"]),
        "correctness": taken(&["recorded_correctness"]),
    };
    obj! {
        "case": definition,
        "status": "failed",
        "started": "2026-10-03T10:27:13.203221+08:00",
        "runs": obj! {
            "native": obj! {
                "status": "passed",
                "result": result,
                "native_program_partition": vec![run.launch()],
                "fixture_sha256": run.fixtures(),
            },
            "torch": raw(run),
        },
        "tensor_sha256": run.fixtures(),
        "finished": "2026-10-03T10:27:55.741365+08:00",
    }
}
