//! Runs: what one cohort records of one case, with times on the lattices of their clocks.

use fastrand::Rng;
use recount::fit::median::median;
use recount::package::json::Json;

use super::{BATCH, CaseSpec, Recipe, SM_COUNT, hash, receipt};

/// Target of one timed span.
const TARGET_MS: f64 = 100.0;

/// One run's circumstances.
pub(super) struct RunSpec<'s> {
    pub(super) case: &'s CaseSpec,
    /// Folder name in receipts; also what makes two runs of one schedule differ.
    pub(super) cohort: &'s str,
    /// Rows per program asked for; 0 is the original schedule.
    pub(super) requested: u64,
    pub(super) recipe: &'s Recipe,
}

impl RunSpec<'_> {
    /// What every run of the cohort records, but for the cohort's own status.
    pub(super) fn record(&self, case_status: &str, torch: Json, random: &mut Rng) -> Json {
        let torch_failed = torch.get("status").and_then(Json::as_str) == Some("failed");
        let scope = if torch_failed { "native only; original Torch process failed" } else { "all requested routes" };
        obj! {
            "status": "validated",
            "case_receipt": receipt(&self.path("case.json")),
            "fixture_sha256": self.fixtures(),
            "manifest": self.manifest(),
            "source_files": obj! { "source.txt": self.source() },
            "selection": self.selection(),
            "routes": obj! { "native": self.native(random), "torch": torch },
            "original_case_status": case_status,
            "validation_scope": scope,
        }
    }

    fn path(&self, file: &str) -> String {
        format!("runs/{}/{}/{file}", self.cohort, self.case.id())
    }

    pub(super) fn fixtures(&self) -> Json {
        let (id, extension) = (self.case.id(), self.case.extension());
        let names = (0..3).map(|at| format!("input{at}.{extension}"));
        let names = names.chain(["expected.f64".to_owned(), "per_element_bound.f64".to_owned()]);
        Json::Object(names.map(|name| (name.clone(), Json::from(hash(&format!("{id} {name}"))))).collect())
    }

    fn manifest(&self) -> Json {
        let case = self.case;
        let input = |at: u64| {
            obj! {
                "name": format!("input{at}"),
                "path": format!("input{at}.{}", case.extension()),
                "storage_dtype": case.dtype(),
                "shape": vec![case.rows, case.columns],
            }
        };
        obj! {
            "schema": 1_u64,
            "backend": "cuda",
            "lowering": "native",
            "operation": format!("reduce_{}", case.operation),
            "precision": case.precision,
            "seed": self.recipe.seed,
            "pattern": case.pattern(),
            "dimensions": vec![case.rows, case.columns],
            "tile": vec![case.block, case.width(), 1],
            "fast_math": false,
            "graph_batch": BATCH,
            "inputs": (0..3).map(input).collect::<Vec<_>>(),
            "output": obj! {
                "path": format!("output.{}", case.extension()),
                "storage_dtype": case.dtype(),
                "shape": vec![case.rows, 1],
            },
            "semantics": obj! {
                "accumulation": "float32",
                "logical_view_offset_elements": 64_u64,
                "logical_view_offset_bytes": 64 * case.bytes(),
            },
        }
    }

    fn source(&self) -> Json {
        let original = hash(&format!("{} source", self.case.id()));
        if self.requested == 0 {
            return obj! {
                "path": self.path("source.txt"),
                "sha256": original.clone(),
                "bytes": 3000_u64,
                "normalized_source_sha256": original.clone(),
                "original_source_sha256": original,
                "partition_entry_present": false,
            };
        }
        obj! {
            "path": self.path("source.txt"),
            "sha256": hash(&self.path("source.txt")),
            "bytes": 3500 + self.requested,
            "original_source_sha256": original,
            "partition_entry_present": true,
            "partition_suffix_sha256": hash(&self.path("suffix")),
        }
    }

    pub(super) fn launch(&self) -> Json {
        let case = self.case;
        let asked = self.requested > 0;
        let if_asked = |value: u64| if asked { value } else { 0 };
        let original_grid = case.rows.div_ceil(case.block);
        let grid = case.rows.div_ceil(self.requested.max(1));
        obj! {
            "stage": 0_u64,
            "rows_requested": self.requested,
            "available": asked,
            "input_slot": 0_u64,
            "output_slot": if_asked(3),
            "input_bytes": if_asked(case.rows * case.columns * case.bytes()),
            "output_bytes": if_asked(case.rows * case.bytes()),
            "original_rows": if_asked(case.block),
            "grid_x": if_asked(grid),
            "original_grid_x": if_asked(original_grid),
            "static_ranges_disjoint": asked,
            "original_grid": vec![original_grid, 1, 1],
            "expected_selected_grid": vec![if asked { grid } else { original_grid }, 1, 1],
            "expected_selected_entry": if asked { "demo_partition" } else { "demo_main" },
        }
    }

    fn selection(&self) -> Json {
        obj! {
            "program_partition": vec![self.launch()],
            "compiler_worker_hints": vec![obj! { "stage": 0_u64, "requested": 0_u64, "reported_hint": Json::Null }],
            "partition_host_selection_expected": self.requested > 0,
        }
    }

    fn realization(&self) -> String {
        let case = self.case;
        let (block, width, bytes) = (case.block, case.width(), case.bytes());
        let original_grid = case.rows.div_ceil(block);
        let kind = if case.operation == "sum" { 0 } else { 2 };
        let work = format!(
            "collective-work-v1: programs={original_grid}, elementwork={}, read-bytes={}, write-bytes={}, \
             tile-live-bytes={}, largest-tile={}; collective=kind{kind}:width{width}:independent{block}",
            block * width + 5,
            block * width * bytes,
            block * bytes,
            block * width * 4 + 64,
            block * width,
        );
        if self.requested == 0 {
            return format!("demo compiler; {work}");
        }
        format!(
            "demo compiler; program-partition-rows={}; {work}; program-partition-available; \
             program-partition-input-bytes={}; program-partition-output-bytes={}; program-partition-original-rows={block}; \
             program-partition-grid-x={}; program-partition-original-grid-x={original_grid}",
            self.requested,
            case.rows * case.columns * bytes,
            case.rows * bytes,
            case.rows.div_ceil(self.requested),
        )
    }

    /// Microseconds per operation that the run takes, roughly: a law of the form that the model fits.
    fn law_us(&self) -> f64 {
        let case = self.case;
        let rows = if self.requested == 0 { case.block } else { self.requested };
        let programs = case.rows.div_ceil(rows);
        let demand = programs.div_ceil(SM_COUNT) * rows * case.width();
        let operation = if case.operation == "sum" { 1.02 } else { 0.99 };
        operation * (0.9 + 0.002 * programs as f64 + 0.0003 * demand as f64)
    }

    fn native(&self, random: &mut Rng) -> Json {
        let case = self.case;
        let law_us = self.law_us() * self.recipe.native_percent as f64 / 100.0;
        let times = Times::measured(law_us, false, self.recipe, random);
        let zero = case.error == 0.0;
        let tick = |random: &mut Rng, most: f64| ticks(random.f64() * most, self.recipe);
        // Exact results are the same bytes; others only where the same code made them.
        let bytes_of = if zero || self.requested == 0 { "original".to_owned() } else { self.cohort.to_owned() };
        obj! {
            "result_receipt": receipt(&self.path("native/results.json")),
            "saved_output_recheck": self.saved("native", &bytes_of),
            "event_us": times.event_us.clone(),
            "sampling": times.sampling(Json::Int(100), true),
            "warmup": times.warm_up(Json::Int(500)),
            "recorded_correctness": obj! {
                "checks": 4_u64,
                "elements_per_check": case.rows,
                "errors": 0_u64,
                "max_abs_error": if zero { Json::Int(0) } else { Json::Float(case.error) },
                "max_error_over_bound": if zero { Json::Int(0) } else { Json::Float(0.03125) },
                "inputs_unchanged": true,
                "guards_unchanged": true,
                "all_outputs_finite": true,
            },
            "cold_ms": obj! {
                "fixture_ms": tick(random, 10.0),
                "runtime_ms": tick(random, 3000.0),
                "compile_ms": tick(random, 900.0),
                "allocation_upload_ms": tick(random, 9.0),
                "cold_ms": tick(random, 0.2),
                "graph_build_ms": tick(random, 12.0),
            },
            "realization": self.realization(),
            "compiler_evidence": Json::Null,
        }
    }

    fn saved(&self, route: &str, bytes_of: &str) -> Json {
        let case = self.case;
        let mut receipt = receipt(&self.path(&format!("{route}/output.{}", case.extension())));
        crate::common::json::set(&mut receipt, "/sha256", hash(&format!("{} output {bytes_of}", case.id())));
        crate::common::json::set(&mut receipt, "/bytes", case.rows * case.bytes());
        obj! {
            "elements": case.rows,
            "failed_elements": 0_u64,
            "max_abs_error": case.error,
            "receipt": receipt,
        }
    }

    /// The Torch baseline, timed.
    pub(super) fn torch(&self, random: &mut Rng) -> Json {
        let case = self.case;
        let times = Times::measured(0.7 + 0.4 * self.law_us(), true, self.recipe, random);
        let check = obj! {
            "elements": case.rows,
            "failed_elements": 0_u64,
            "max_abs_error": case.error,
            "max_allowed_bound": 0.0625,
            "oracle": "complete reference and per-element bound",
        };
        let wrapper = format!("${{REPO}}\\{}", self.path("torch/wrapper.py").replace('/', "\\"));
        let mut artifact = receipt(&self.path("torch/wrapper.py"));
        crate::common::json::set(&mut artifact, "/path", wrapper);
        obj! {
            "result_receipt": receipt(&self.path("torch/result.json")),
            "saved_output_recheck": self.saved("torch", if case.error == 0.0 { "original" } else { "torch" }),
            "event_us": times.event_us.clone(),
            "sampling": times.sampling(Json::Float(100.0), false),
            "warmup": times.warm_up(Json::Float(500.0)),
            "recorded_correctness": obj! {
                "compiled_correctness_before": check.clone(),
                "compiled_correctness_after": check,
            },
            "cold_ms": obj! { "cold_compile_first_call_ms": ticks(20_000.0 + random.f64(), self.recipe) },
            "realization": Json::Null,
            "compiler_evidence": obj! { "backend": "inductor", "artifacts": vec![artifact] },
        }
    }

    /// The same file as named by [`RunSpec::torch`], under its other name.
    pub(super) fn torch_artifacts(&self) -> Json {
        Json::from(vec![receipt(&self.path("torch/wrapper.py"))])
    }
}

/// The timed part of a run.
struct Times {
    event_us: Json,
    event_spans: Vec<f64>,
    host_spans: Vec<f64>,
    p50_span: f64,
    replays: u64,
    calibration: Vec<Json>,
    replay_ms: f64,
    prime: (f64, f64),
    warm_up_ms: f64,
    replay_cap: u64,
}

impl Times {
    /// Calibrates to the target, then takes the samples. `slow_start` makes the first replay misleading, so that a third
    /// step of calibration is needed.
    fn measured(per_operation_us: f64, slow_start: bool, recipe: &Recipe, random: &mut Rng) -> Self {
        let widened = |ms: f64| if recipe.nanoseconds { ticks(ms, recipe) } else { f64::from(ms as f32) };
        let replay_ms = per_operation_us * BATCH as f64 / 1000.0;
        let mut vary = |most: f64| 1.0 + most * random.f64();
        let mut replays = 1_u64;
        let mut calibration = Vec::new();
        let first = if slow_start { 1.5 } else { 1.05 };
        let factors = if slow_start { vec![first, 1.0, 1.0] } else { vec![first, 1.0] };
        for (step, factor) in factors.iter().enumerate() {
            if step > 0 {
                let last = calibration.last().map_or(1.0, |&(_, span)| span);
                replays = ((TARGET_MS / last * replays as f64).ceil() as u64).min(recipe.replay_cap);
            }
            calibration.push((replays, widened(replays as f64 * replay_ms * factor * vary(0.01))));
        }
        let operations = (replays * BATCH) as f64;
        // With an even count the two roundings of a median, of spans and of times, agree for some spans and not for others.
        let (event_spans, p50_span, samples) = loop {
            let spans: Vec<f64> =
                (0..recipe.samples).map(|_| widened(replays as f64 * replay_ms * vary(0.004))).collect();
            let samples: Vec<f64> = spans.iter().map(|span| span * 1000.0 / operations).collect();
            let p50_span = median(&spans).unwrap_or(replay_ms);
            if median(&samples).is_none_or(|median| median == p50_span * 1000.0 / operations) {
                break (spans, p50_span, samples);
            }
        };
        let host = |span: f64, extra: f64| ticks(span + 0.01 + extra, recipe);
        let host_spans = event_spans.iter().map(|&span| host(span, vary(0.02) - 1.0)).collect();
        let calibration = calibration
            .into_iter()
            .map(|(replays, span)| {
                let host = host(span, vary(0.02) - 1.0);
                obj! { "replays": replays, "event_span_ms": span, "host_wall_ms": host }
            })
            .collect();
        let prime = widened(replay_ms * 1.4 * vary(0.1));
        Self {
            event_us: obj! { "samples": samples, "p50": p50_span * 1000.0 / operations },
            event_spans,
            host_spans,
            p50_span,
            replays,
            calibration,
            replay_ms,
            prime: (prime, host(prime, 0.02)),
            warm_up_ms: ticks(500.0 + vary(0.4) - 1.0, recipe),
            replay_cap: recipe.replay_cap,
        }
    }

    fn sampling(&self, target: Json, is_native: bool) -> Json {
        let operations = self.replays * BATCH;
        let p50_host = median(&self.host_spans).unwrap_or_default();
        obj! {
            "protocol": "adaptive_replay_span_v2",
            "replays_per_sample": self.replays,
            "operations_per_sample": operations,
            "sample_target_ms": target,
            "replay_cap": self.replay_cap,
            "operation_cap": 10_000_000_u64,
            "calibration": self.calibration.clone(),
            "calibration_target_reached": self.replays < self.replay_cap,
            "event_span_ms": obj! { "samples": self.event_spans.clone(), "p50": self.p50_span },
            "host_span_ms": obj! { "samples": self.host_spans.clone(), "p50": p50_host },
            "prime_event_ms": self.prime.0,
            "prime_host_ms": self.prime.1,
            "kernel_stage_dispatches_per_sample": if is_native { Json::from(operations) } else { Json::Null },
        }
    }

    fn warm_up(&self, target: Json) -> Json {
        let replays = (self.warm_up_ms / self.replay_ms * 0.97) as u64;
        obj! { "target_ms": target, "actual_ms": self.warm_up_ms, "replays": replays }
    }
}

/// A time as the host's clock reports it, of 100 ns or of 1 ns, not before `ms`.
fn ticks(ms: f64, recipe: &Recipe) -> f64 {
    let per_ms = if recipe.nanoseconds { 1e6 } else { 1e4 };
    (ms * per_ms).ceil() / per_ms
}
