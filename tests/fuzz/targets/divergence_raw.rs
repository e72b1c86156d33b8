//! Raw results of a divergence run with changes, or any bytes at all as one of its tensors.

use recount::divergence::pair_count;
use recount::package::divergence::{
    Arm, ConditionRecord, Engine, ExperimentResults, RawResults, ResolutionRecord, Source, files, input_sha256,
    side_of_package, summarize,
};
use recount::package::json::{Document, Json, compact};
use recount::package::npy::Tensor;
use serde_json::{Value, json};

use super::scratch::Scratch;
use super::{edits, judged};

const SHAPE: [u64; 4] = [1, 1, 2, 2];
const TRIALS: u64 = 3;
const RESOLUTION: u64 = 2;

thread_local! {
    static SOUND: (Scratch, Value) = {
        let scratch = Scratch::of(sound());
        let value = scratch.json(&results());
        (scratch, value)
    };
}

/// Results are read with the places of their problems, compared, summarized and verified.
pub(super) fn run(data: &[u8]) {
    SOUND.with(|(scratch, value)| {
        if data.starts_with(b"\x93NUMPY") {
            scratch.verify_with(&files::gradients(Engine::Cpu.name(), Arm::Idle, RESOLUTION), data);
            return;
        }
        let name = results();
        let Some(text) = edits::text(value, data) else { return };
        let Ok(document) = Document::parse(&name, text.clone()) else { return };
        let results = RawResults::read(&document);
        judged::problems(&document, &results.problems);
        let has_problems = !results.problems.is_empty();
        let sources = [Source { label: "one".to_owned(), results: &results }];
        if let Ok(receipt) = summarize(&sources, None, "a test") {
            Document::parse("receipt.json", compact(&receipt)).expect("our own receipt");
        }
        side_of_package("one", &[results]);
        let report = scratch.verify_with(&name, text.as_bytes());
        assert!(
            !has_problems || report.findings().any(|finding| finding.file == name),
            "{text}: problems are no findings"
        );
    });
}

fn results() -> String {
    files::results(Engine::Cpu.name())
}

/// A small run on a host.
fn sound() -> Vec<(String, Vec<u8>)> {
    let tensor = |shape: &[u64], step: f32| {
        let shape: Vec<usize> = shape.iter().map(|&extent| usize::try_from(extent).expect("small")).collect();
        let values = (0..shape.iter().product::<usize>()).map(|at| 1.0 + at as f32 * step).collect();
        Tensor { shape, values }
    };
    let [batch, channels, ..] = SHAPE;
    let inputs = [
        ("input".to_owned(), tensor(&SHAPE, 0.25)),
        (format!("grid-{RESOLUTION}"), tensor(&[batch, RESOLUTION, RESOLUTION, 2], 0.125)),
        (format!("grad-output-{RESOLUTION}"), tensor(&[batch, channels, RESOLUTION, RESOLUTION], 0.5)),
    ];
    let hashes: Vec<_> = inputs.iter().map(|(name, tensor)| (name.clone(), input_sha256(tensor))).collect();
    // All trials alike: a host has no atomics to race.
    let mut gradients = tensor(&SHAPE, 0.0625);
    gradients.shape.insert(0, 3);
    gradients.values = gradients.values.repeat(3);
    let condition = |arm: Arm| ConditionRecord {
        arm,
        trials: TRIALS,
        input_shape: SHAPE.to_vec(),
        input_hashes: hashes.clone(),
        resolutions: vec![ResolutionRecord::measure(RESOLUTION, &gradients, true)],
    };
    let results_of = ExperimentResults {
        engine: Engine::Cpu,
        complete: true,
        protocol: tree(&json!({
            "operation": "bilinear grid_sample backward (input gradient)",
            "input_shape": SHAPE,
            "output_resolutions": [RESOLUTION],
            "trials_per_resolution": TRIALS,
            "pairs_per_resolution": pair_count(TRIALS),
            "total_coordinates": SHAPE.iter().product::<u64>(),
            "comparison": "all pairs, bits as int32",
            "inputs": "made for a test",
            "warmup": "none",
            "synchronization": "none",
            "arms": Arm::ALL.map(Arm::name),
            "seed": 7,
            "generator": "none",
        })),
        environment: tree(&json!({
            "device_name": "Some host",
            "architecture": null,
            "pytorch_version": null,
            "cuda_version": null,
            "cudnn_version": null,
            "compute_capability": null,
            "driver": null,
        })),
        probe: (None, None),
        conditions: Arm::ALL.map(condition).into(),
    };
    let bytes = |tensor: &Tensor| {
        let mut bytes = Vec::new();
        tensor.write(&mut bytes).expect("a buffer takes everything");
        bytes
    };
    let mut made = vec![(results(), compact(&results_of.to_json()).into_bytes())];
    made.extend(inputs.iter().map(|(name, tensor)| (files::input(name), bytes(tensor))));
    let kept = Arm::ALL.map(|arm| files::gradients(Engine::Cpu.name(), arm, RESOLUTION));
    made.extend(kept.into_iter().map(|name| (name, bytes(&gradients))));
    made
}

fn tree(value: &Value) -> Json {
    Document::parse("made.json", value.to_string()).expect("our own JSON").root().clone()
}

/// The run as it was made, and some changes.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    sound().into_iter().map(|(_, bytes)| bytes).chain(edits::seeds()).collect()
}
