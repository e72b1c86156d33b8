//! The preserved native process, with everything that the published one records: forged in both copies, as by one who can
//! refresh every id and hash.

use recount::package::json::Json;

use crate::common::content::{Parts, Recipe};
use crate::common::json::{add, at, copy, set, take};
use crate::common::package::Package;

const FAILURE: &str = "/native_revalidation/original_failure";
const RUN: &str = "/cases/2/cohorts/default";
const MANIFEST: &str = "${REPO}\\runs\\manifest.json";

fn process(command: Vec<&str>) -> Json {
    let mask = |process: &str| obj! { "process_mask": process, "system_mask": "0x3fffff" };
    obj! {
        "command": command,
        "started": "2026-10-03T10:27:13.219221+08:00",
        "status": "exited",
        "pid": 4241_u64,
        "affinity_before": mask("0x3fffff"),
        "affinity_actual": mask("0x15400"),
        "returncode": 0_u64,
        "finished": "2026-10-03T10:27:23.694667+08:00",
        "elapsed_seconds": 10.468,
    }
}

/// Adds what a process records beside what its run was made from.
fn enrich(root: &mut Json) {
    let native = format!("{FAILURE}/runs/native");
    let manifest = copy(root, &format!("{RUN}/manifest"));
    let entry = copy(root, &format!("{RUN}/selection/program_partition/0/expected_selected_entry"));
    let source = copy(root, &format!("{RUN}/source_files/source.txt/sha256"));
    let path = copy(root, &format!("{RUN}/routes/native/result_receipt/path"));
    let path = format!("${{REPO}}\\{}", path.as_str().expect("a path").replace('/', "\\"));
    let streaming = || {
        vec![obj! {
            "stage": 0_u64,
            "chunk_requested": 0_u64,
            "available": false,
            "input_bytes": 0_u64,
            "expected_selected_entry": entry.clone(),
        }]
    };
    let command = vec![
        "bench.exe",
        "reduce_sum",
        "bf16",
        "64,256",
        "8,256,1",
        "--graph-batch",
        "100",
        "--manifest",
        MANIFEST,
        "--samples",
        "7",
    ];
    let hints = copy(root, &format!("{RUN}/selection/compiler_worker_hints"));
    for (name, value) in [
        ("process", process(command)),
        ("result_path", Json::from(path)),
        ("generated_sources", obj! { "source.txt": source }),
        ("native_worker_warps", hints),
        (
            "native_structure",
            Json::from(vec![obj! {
                "stage": 0_u64, "scan_chunk_requested": 0_u64, "scan_chunk": Json::Null, "chunked_scans": 0_u64,
            }]),
        ),
        ("native_streaming", Json::from(streaming())),
        ("native_worker_warps_requested", Json::Int(0)),
        ("native_scan_chunk_requested", Json::Int(0)),
        ("native_streaming_scan_requested", Json::Int(0)),
        ("native_program_rows_requested", Json::Int(0)),
    ] {
        add(root, &native, name, value);
    }
    let result = format!("{native}/result");
    for name in
        ["backend", "operation", "precision", "seed", "pattern", "dimensions", "tile", "fast_math", "graph_batch"]
    {
        add(root, &result, name, manifest.get(name).expect("a setting").clone());
    }
    let over = |ms: [f64; 7]| Json::from(ms.map(|ms| ms * 1000.0 / 8.0).to_vec());
    let spans = [1.5, 1.25, 1.125, 1.75, 1.625, 1.375, 1.0];
    for (name, value) in [
        ("samples", Json::Int(7)),
        ("sample_target_ms", Json::Int(100)),
        ("repetitions", Json::Int(8)),
        ("warmup_actual_ms", Json::Float(500.0392)),
        ("host_wall_us", over(spans.map(|ms| ms + 0.0625))),
        ("host_wall_p50_us", Json::Float((1.375 + 0.0625) * 1000.0 / 8.0)),
        (
            "single_sync_us",
            Json::from([790, 285, 207, 195, 193, 415, 198].map(|ticks| f64::from(ticks) / 1e4 * 1000.0).to_vec()),
        ),
        ("cuda_event_stream_span_us", over(spans)),
        ("event_instrumented_host_wall_us", over(spans.map(|ms| ms + 0.125))),
        ("native_streaming", Json::from(streaming())),
    ] {
        add(root, &result, name, value);
    }
    for torch in [format!("{FAILURE}/runs/torch"), format!("{RUN}/routes/torch/raw_failure")] {
        add(root, &torch, "native_worker_warps_requested", 0_u64);
    }
    add(root, FAILURE, "canonical_manifest", MANIFEST);
}

fn forged(edit: &dyn Fn(&mut Json)) -> Package {
    Package::derived(&Recipe::default(), |parts: &mut Parts| {
        enrich(&mut parts.validation);
        edit(&mut parts.validation);
    })
}

#[test]
fn a_preserved_native_process_with_all_that_it_records_holds() {
    forged(&|_| {}).verify(&["--strict"]).holds();
}

/// Where, below the preserved failure, and what is put there instead; with the code that is found at that very place.
fn forgeries() -> Vec<(&'static str, Json, &'static str)> {
    let times = |count: usize| Json::from(vec![187.5; count]);
    let text = |text: &str| Json::from(text);
    vec![
        ("/started", text("yesterday"), "failure-record"),
        ("/started", text("2026-10-03T10:27:15+08:00"), "failure-record"),
        ("/finished", text("2026-10-03T10:27:20+08:00"), "failure-record"),
        ("/finished", text("2026-10-03T10:27:00+08:00"), "failure-record"),
        ("/runs/native/status", text("failed"), "failure-relabelled"),
        ("/runs/native/status", text("unknown"), "failure-relabelled"),
        ("/runs/native/process/returncode", Json::Int(1), "failure-relabelled"),
        ("/runs/native/process/status", text("timed_out"), "failure-relabelled"),
        ("/runs/native/process/pid", Json::Int(0), "failure-record"),
        ("/runs/native/process", Json::Object(Vec::new()), "failure-record"),
        ("/runs/native/process/started", text("soon"), "failure-record"),
        ("/runs/native/process/finished", text("2020-01-01T00:00:00+00:00"), "failure-record"),
        ("/runs/native/process/elapsed_seconds", Json::Int(-5), "failure-record"),
        ("/runs/native/process/elapsed_seconds", Json::Float(13.0), "failure-record"),
        ("/runs/native/process/affinity_actual/process_mask", text("0xf000000"), "failure-record"),
        ("/runs/native/process/affinity_actual/system_mask", text("0xffff"), "failure-record"),
        ("/runs/native/process/affinity_before/process_mask", Json::Int(1 << 30), "failure-record"),
        ("/runs/native/process/command/1", text("reduce_max"), "failure-record"),
        ("/runs/native/process/command/2", text("fp16"), "failure-record"),
        ("/runs/native/process/command/3", text("64,512"), "failure-record"),
        ("/runs/native/process/command/4", text("4,256,1"), "failure-record"),
        ("/runs/native/process/command/6", text("10"), "failure-record"),
        ("/runs/native/process/command/8", text("${REPO}\\other.json"), "failure-record"),
        ("/runs/native/process/command/10", text("9"), "failure-record"),
        ("/runs/native/result_path", text("${REPO}\\runs\\rows1\\results.json"), "failure-record"),
        ("/runs/native/generated_sources/source.txt", text(&"0".repeat(64)), "failure-record"),
        ("/runs/native/generated_sources", Json::Object(Vec::new()), "failure-record"),
        ("/runs/native/native_program_rows_requested", Json::Int(1), "failure-record"),
        ("/runs/native/native_worker_warps_requested", Json::Int(4), "failure-record"),
        ("/runs/native/native_worker_warps/0/requested", Json::Int(4), "failure-record"),
        ("/runs/native/native_structure", Json::Array(Vec::new()), "failure-record"),
        ("/runs/native/native_structure/0/stage", Json::Int(1), "failure-record"),
        ("/runs/native/native_structure/0/chunked_scans", Json::Int(1), "failure-record"),
        ("/runs/native/native_structure/0/scan_chunk_requested", Json::Int(1), "failure-record"),
        ("/runs/native/result/native_streaming/0/available", Json::Bool(true), "failure-record"),
        ("/runs/native/result/native_streaming/0/input_bytes", Json::Int(8), "failure-record"),
        ("/runs/native/result/native_streaming/0/expected_selected_entry", text("demo_other"), "failure-record"),
        ("/runs/native/result/status", text("failed"), "failure-relabelled"),
        ("/runs/native/result/backend", text("cpu"), "failure-record"),
        ("/runs/native/result/operation", text("reduce_max"), "failure-record"),
        ("/runs/native/result/precision", text("fp32"), "failure-record"),
        ("/runs/native/result/seed", Json::Int(1), "failure-record"),
        ("/runs/native/result/pattern", text("adversarial"), "failure-record"),
        ("/runs/native/result/dimensions/0", Json::Int(1), "failure-record"),
        ("/runs/native/result/tile/0", Json::Int(1), "failure-record"),
        ("/runs/native/result/fast_math", Json::Bool(true), "failure-record"),
        ("/runs/native/result/graph_batch", Json::Int(1), "failure-record"),
        ("/runs/native/result/samples", Json::Int(9), "failure-record"),
        ("/runs/native/result/sample_target_ms", Json::Int(50), "failure-record"),
        ("/runs/native/result/warmup_actual_ms", Json::Float(1.0), "failure-record"),
        ("/runs/native/result/host_wall_us", times(6), "failure-record"),
        ("/runs/native/result/host_wall_p50_us", Json::Float(0.001), "median-mismatch"),
        ("/runs/native/result/host_wall_us/0", Json::Float(201.234_567), "clock-tick"),
        ("/runs/native/result/single_sync_us/2", Json::Float(20.712_3), "clock-tick"),
        ("/runs/native/result/cuda_event_stream_span_us/1", Json::Float(156.1), "span-lattice"),
        ("/runs/native/result/event_instrumented_host_wall_us/1", Json::Float(125.0), "host-span"),
    ]
}

#[test]
fn what_a_preserved_process_repeats_is_bound() {
    for (place, value, code) in forgeries() {
        let pointer = format!("{FAILURE}{place}");
        let package = forged(&|root| set(root, &pointer, value.clone()));
        let found = package.audit();
        let is_at = |finding: &recount::audit::Finding| {
            finding.code.name() == code && finding.place.pointer.as_deref() == Some(pointer.as_str())
        };
        let shown: Vec<_> = found.findings().map(|finding| (finding.code.name(), &finding.place.pointer)).collect();
        assert!(found.findings().any(is_at), "{place}: {code} in {shown:?}");
    }
}

#[test]
fn a_torch_process_that_failed_took_the_time_that_it_says() {
    for (name, value) in [
        ("elapsed_seconds", Json::Int(-5)),
        ("elapsed_seconds", Json::Float(20.0)),
        ("started", Json::from("2026-10-03T10:28:43Z")),
        ("affinity_before", obj! { "system_mask": "0xff" }),
    ] {
        let package = forged(&|root| {
            for raw in [format!("{FAILURE}/runs/torch"), format!("{RUN}/routes/torch/raw_failure")] {
                let process = format!("{raw}/process");
                if let Json::Object(members) = at(root, &process) {
                    members.retain(|(member, _)| member != name);
                }
                add(root, &process, name, value.clone());
            }
        });
        package.verify(&[]).exits(1).all("failure-record");
    }
}

#[test]
fn times_without_an_offset_are_compared_with_each_other_alone() {
    let moments = |root: &mut Json, zone: &str| {
        let native = format!("{FAILURE}/runs/native/process");
        for (record, name, time) in [
            (FAILURE, "started", "2026-10-03 10:27:13.2"),
            (FAILURE, "finished", "2026-10-03 10:27:56"),
            (&native, "started", "2026-10-03 10:27:13.219"),
            (&native, "finished", "2026-10-03 10:27:23.694"),
        ] {
            set(root, &format!("{record}/{name}"), format!("{time}{zone}"));
        }
    };
    forged(&|root| moments(root, "")).verify(&["--strict"]).holds();
    forged(&|root| moments(root, "+08:00")).verify(&["--strict"]).holds();
    // Another zone: the process that failed ran eight hours before the record around it.
    forged(&|root| moments(root, "Z")).verify(&[]).exits(1).all("failure-record");
    forged(&|root| drop(take(root, &format!("{FAILURE}/started")))).verify(&["--strict"]).holds();
}

#[test]
fn a_host_span_of_a_preserved_process_may_be_cut_to_its_tick() {
    let result = format!("{FAILURE}/runs/native/result");
    for (event, status) in [(1.250_05_f32, 0), (1.250_2, 1)] {
        let package = forged(&|root| {
            set(root, &format!("{result}/cuda_event_stream_span_us/1"), f64::from(event) * 1000.0 / 8.0);
            set(root, &format!("{result}/event_instrumented_host_wall_us/1"), 1.25 * 1000.0 / 8.0);
        });
        package.verify(&[]).exits(status);
    }
}
