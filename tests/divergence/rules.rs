//! Every rule of a summary receipt, broken once: the finding and its place.

use serde_json::{Value, json};

use super::support::{Edit, changed_receipt, receipt_file, verify};
use Edit::{Add, Remove, Set};

/// What is changed, and the code and pointer of a finding that it leads to.
type Case = (Vec<Edit>, &'static str, &'static str);

pub(crate) fn cases() -> Vec<Case> {
    let zeros = json!([0, 0, 0, 0, 0, 0]);
    vec![
        // The protocol.
        (vec![Set("/protocol/pairs_per_resolution", json!(434))], "pair-count", "/protocol/pairs_per_resolution"),
        (
            vec![Set("/protocol/trials_per_resolution", json!(1))],
            "divergence-protocol",
            "/protocol/trials_per_resolution",
        ),
        (vec![Set("/protocol/total_coordinates", json!(3073))], "coordinate-count", "/protocol/total_coordinates"),
        (vec![Set("/protocol/input_shape/0", json!(2))], "coordinate-count", "/protocol/total_coordinates"),
        (vec![Set("/protocol/input_shape/0", json!(0))], "malformed-field", "/protocol/input_shape"),
        (vec![Set("/protocol/output_resolutions/1", json!(16))], "divergence-protocol", "/protocol/output_resolutions"),
        (vec![Set("/protocol/arms/1", json!("busy"))], "divergence-arm", "/protocol/arms/1"),
        (vec![Set("/protocol/arms/1", json!("idle"))], "divergence-arm", "/protocol/arms/1"),
        (vec![Set("/protocol/arms", json!([]))], "divergence-arm", "/protocol/arms"),
        (vec![Set("/protocol/date", json!(20260718))], "malformed-field", "/protocol/date"),
        (vec![Remove("/protocol/comparison")], "malformed-field", "/protocol/comparison"),
        // Arms of devices.
        (vec![Remove("/devices/t4/idle")], "malformed-field", "/devices/t4/idle"),
        (vec![Remove("/protocol/arms/1")], "divergence-arm", "/devices/t4/background_matmul"),
        (vec![Add("/devices/t4", "background", json!({"max_div": [0.0]}))], "divergence-arm", "/devices/t4/background"),
        // Lengths.
        (vec![Remove("/devices/t4/idle/max_div/5")], "figure-length", "/devices/t4/idle/max_div"),
        (
            vec![Set("/devices/t4/idle/max_drift_coords", json!([23, 516, 1776, 2492, 2783, 2888, 1]))],
            "figure-length",
            "/devices/t4/idle/max_drift_coords",
        ),
        (
            vec![Remove("/devices/l4/background_matmul/pairwise_match_rate/0")],
            "figure-length",
            "/devices/l4/background_matmul/pairwise_match_rate",
        ),
        (vec![Set("/devices", json!({}))], "figure-length", "/devices"),
        // Ranges.
        (
            vec![Set("/devices/t4/idle/max_drift_coords/5", json!(3073))],
            "figure-range",
            "/devices/t4/idle/max_drift_coords/5",
        ),
        (
            vec![Set("/devices/t4/idle/max_drift_coords/5", json!(-1))],
            "figure-range",
            "/devices/t4/idle/max_drift_coords/5",
        ),
        (
            vec![Set("/devices/t4/idle/max_drift_coords/5", json!(1.5))],
            "figure-range",
            "/devices/t4/idle/max_drift_coords/5",
        ),
        (vec![Set("/devices/t4/idle/max_div/0", json!(-1.1921e-7))], "figure-range", "/devices/t4/idle/max_div/0"),
        (vec![Set("/devices/cpu/idle/max_div/0", json!(-0.0))], "figure-range", "/devices/cpu/idle/max_div/0"),
        (vec![Set("/devices/t4/idle/max_div/0", json!(null))], "figure-range", "/devices/t4/idle/max_div/0"),
        (vec![Set("/devices/t4/idle/max_div/0", json!("NaN"))], "figure-range", "/devices/t4/idle/max_div/0"),
        (
            vec![Set("/devices/cpu/idle/pairwise_match_rate/0", json!(100.1))],
            "figure-range",
            "/devices/cpu/idle/pairwise_match_rate/0",
        ),
        (
            vec![Set("/devices/t4/idle/pairwise_match_rate/1", json!(-0.2))],
            "figure-range",
            "/devices/t4/idle/pairwise_match_rate/1",
        ),
        // Zero drift, zero divergence and a full match.
        (vec![Set("/devices/cpu/idle/max_div/2", json!(1.1921e-7))], "zero-drift", "/devices/cpu/idle/max_div/2"),
        (
            vec![Set("/devices/cpu/idle/pairwise_match_rate/2", json!(0.0))],
            "zero-drift",
            "/devices/cpu/idle/pairwise_match_rate/2",
        ),
        (
            vec![Set("/devices/t4/idle/pairwise_match_rate/2", json!(100.0))],
            "zero-drift",
            "/devices/t4/idle/pairwise_match_rate/2",
        ),
        (vec![Set("/devices/t4/idle/max_div/2", json!(0.0))], "signed-zero", "/devices/t4/idle/max_div/2"),
        (vec![Set("/devices/cpu/idle/max_drift_coords/2", json!(1))], "signed-zero", "/devices/cpu/idle/max_div/2"),
        (vec![Set("/devices/t4/idle/max_drift_coords", zeros)], "zero-drift", "/devices/t4/idle/max_div/0"),
        // Rates.
        (
            vec![Set("/devices/t4/idle/pairwise_match_rate/0", json!(0.3))],
            "match-rate",
            "/devices/t4/idle/pairwise_match_rate/0",
        ),
        (
            vec![Set("/devices/t4/idle/pairwise_match_rate/0", json!(0.22))],
            "match-rate",
            "/devices/t4/idle/pairwise_match_rate/0",
        ),
        (
            vec![Set("/devices/t4/idle/pairwise_match_rate/0", json!(99.8))],
            "equal-pairs",
            "/devices/t4/idle/pairwise_match_rate/0",
        ),
        (
            vec![Set("/devices/t4/idle/pairwise_match_rate/0", json!(93.6))],
            "equal-pairs",
            "/devices/t4/idle/pairwise_match_rate/0",
        ),
        // Divergences.
        (vec![Set("/devices/t4/idle/max_div/0", json!(1.2e-7))], "divergence-lattice", "/devices/t4/idle/max_div/0"),
        (
            vec![Set("/devices/a100/background_matmul/max_div/5", json!(5.7222e-5))],
            "divergence-lattice",
            "/devices/a100/background_matmul/max_div/5",
        ),
        (vec![Set("/devices/t4/idle/max_div/5", json!(1e39))], "divergence-lattice", "/devices/t4/idle/max_div/5"),
        // Devices.
        (vec![Set("/devices/t4/compute_capability", json!("8.0"))], "device-capability", "/devices/t4/architecture"),
        (vec![Set("/devices/t4/architecture", json!("Volta"))], "device-capability", "/devices/t4/architecture"),
        (
            vec![Set("/devices/a100/compute_capability", json!("8.6"))],
            "device-capability",
            "/devices/a100/compute_capability",
        ),
        (
            vec![
                Set("/devices/rtx_pro_6000_blackwell/compute_capability", json!("9.0")),
                Set("/devices/rtx_pro_6000_blackwell/architecture", json!("Hopper")),
            ],
            "device-capability",
            "/devices/rtx_pro_6000_blackwell/device_name",
        ),
        (
            vec![Set("/devices/t4/compute_capability", json!("seven"))],
            "device-capability",
            "/devices/t4/compute_capability",
        ),
        (vec![Add("/devices/cpu", "architecture", json!("Turing"))], "device-capability", "/devices/cpu/architecture"),
        (vec![Set("/devices/t4/cuda_version", json!("12.6"))], "device-software", "/devices/t4/cuda_version"),
        (vec![Set("/devices/t4/cuda_version", json!(null))], "device-software", "/devices/t4/cuda_version"),
        (
            vec![Set("/devices/t4/pytorch_version", json!("2.11.0+cpu"))],
            "device-software",
            "/devices/t4/pytorch_version",
        ),
        (vec![Set("/devices/cpu/cuda_version", json!("12.8"))], "device-software", "/devices/cpu/cuda_version"),
        (vec![Set("/devices/cpu/cudnn_version", json!(91900))], "device-software", "/devices/cpu/cudnn_version"),
        (vec![Set("/devices/t4/device_name", json!("Tesla P100"))], "device-key", "/devices/t4"),
        // Names say something, with nothing around them.
        (vec![Set("/devices/t4/architecture", json!("Turing "))], "malformed-field", "/devices/t4/architecture"),
        (vec![Set("/devices/t4/architecture", json!("sm_75 "))], "malformed-field", "/devices/t4/architecture"),
        (vec![Set("/devices/t4/pytorch_version", json!(""))], "malformed-field", "/devices/t4/pytorch_version"),
        (vec![Set("/devices/t4/pytorch_version", json!("\t"))], "malformed-field", "/devices/t4/pytorch_version"),
        (vec![Set("/devices/t4/cuda_version", json!("12.8\n"))], "malformed-field", "/devices/t4/cuda_version"),
        (vec![Set("/devices/t4/device_name", json!("Tesla\u{1}T4"))], "malformed-field", "/devices/t4/device_name"),
        (vec![Set("/devices/cpu/device_name", json!(""))], "malformed-field", "/devices/cpu/device_name"),
        (vec![Add("/protocol", "seed", json!("42"))], "malformed-field", "/protocol/seed"),
        // The probe.
        (
            vec![Set("/deterministic_mode_probe/cuda_result", json!("RuntimeError: something else"))],
            "determinism-probe",
            "/deterministic_mode_probe/cuda_result",
        ),
        (
            vec![Set(
                "/deterministic_mode_probe/cuda_result",
                json!("RuntimeError: grid_sampler_2d_backward_cpu does not have a deterministic implementation"),
            )],
            "determinism-probe",
            "/deterministic_mode_probe/cuda_result",
        ),
        (
            vec![Set("/deterministic_mode_probe/cuda_result", json!("backward completed"))],
            "determinism-probe",
            "/deterministic_mode_probe/cuda_result",
        ),
        (
            vec![Set("/deterministic_mode_probe/cuda_result", json!(null))],
            "determinism-probe",
            "/deterministic_mode_probe/cuda_result",
        ),
        (
            vec![Set("/deterministic_mode_probe/cpu_result", json!("grid_sampler_2d_backward_cuda raised"))],
            "determinism-probe",
            "/deterministic_mode_probe/cpu_result",
        ),
        (vec![Remove("/deterministic_mode_probe/cpu_result")], "determinism-probe", "/deterministic_mode_probe"),
    ]
}

#[test]
fn each_rule_is_found_where_it_is_broken() {
    let mut missed = Vec::new();
    for (changes, code, pointer) in cases() {
        let (_folder, path) = changed_receipt(&changes);
        let verified = verify(&path);
        let is_warning = matches!(code, "signed-zero" | "device-key");
        let fails = verified.status == i32::from(!is_warning) || verified.findings().len() > 1;
        if !verified.has(code, pointer) || !fails {
            missed.push(format!("{code} at {pointer}: {} {:?}", verified.status, verified.findings()));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn findings_name_device_arm_and_resolution() {
    let (_folder, path) = changed_receipt(&[Set("/devices/l4/background_matmul/pairwise_match_rate/3", json!(99.8))]);
    let verified = verify(&path);
    let finding = &verified.report["subjects"][0]["checks"][1]["findings"][0];
    assert_eq!(finding["found"], "99.8, which is 434 of 435 pairs (l4, background-matmul, output 128)");
    assert_eq!(finding["expected"], "a sum of C(n,2) over classes of 30 trials; the nearest are 406 and 435 pairs");
    assert!(finding["line"].as_u64().unwrap() > 1);
}

#[test]
fn what_is_possible_is_not_accused() {
    for rate in [0.0, 0.2, 0.5, 0.7, 0.9, 93.3] {
        let (_folder, path) = changed_receipt(&[Set("/devices/t4/idle/pairwise_match_rate/0", json!(rate))]);
        verify(&path).is_clean();
    }
    // More digits than the format promises, down to the binary32 value itself.
    for divergence in [1.1920929e-7, 1.192_092_895_507_812_5e-7, 2.0 * 1.192_092_895_507_812_5e-7] {
        let (_folder, path) = changed_receipt(&[Set("/devices/t4/idle/max_div/0", json!(divergence))]);
        verify(&path).is_clean();
    }
    // Integers where floats are usual.
    let (_folder, path) = changed_receipt(&[Set("/devices/cpu/idle/pairwise_match_rate/0", json!(100))]);
    verify(&path).is_clean();
    // An arm that is neither declared nor there.
    let without: Vec<_> = ["cpu", "t4", "a100", "l4", "rtx_pro_6000_blackwell"]
        .map(|device| Remove(Box::leak(format!("/devices/{device}/background_matmul").into_boxed_str())))
        .into_iter()
        .chain([Remove("/protocol/arms/1")])
        .collect();
    let (_folder, path) = changed_receipt(&without);
    verify(&path).is_clean();
}

#[test]
fn another_release_of_pytorch_may_have_another_outcome() {
    let mut changes = vec![Set("/deterministic_mode_probe/cuda_result", json!("backward completed"))];
    for device in ["t4", "a100", "l4", "rtx_pro_6000_blackwell"] {
        let pointer = Box::leak(format!("/devices/{device}/pytorch_version").into_boxed_str());
        changes.push(Set(pointer, json!("2.13.0+cu128")));
    }
    let (_folder, path) = changed_receipt(&changes);
    let verified = verify(&path);
    verified.is_clean();
    assert!(verified.notes().contains("changed: PyTorch 2.13.0"), "{}", verified.notes());
}

#[test]
fn an_unknown_capability_is_a_note() {
    let (_folder, path) = changed_receipt(&[
        Set("/devices/rtx_pro_6000_blackwell/compute_capability", json!("15.0")),
        Set("/devices/rtx_pro_6000_blackwell/device_name", json!("NVIDIA RTX PRO 6000 Blackwell")),
    ]);
    let verified = verify(&path);
    verified.is_clean();
    assert!(verified.notes().contains("15.0 is not known"), "{}", verified.notes());
}

#[test]
fn many_trials_are_said_to_be_undecided() {
    let mut changes = vec![
        Set("/protocol/trials_per_resolution", json!(3000)),
        Set("/protocol/pairs_per_resolution", json!(3000 * 2999 / 2)),
    ];
    changes.extend([Set("/devices/t4/idle/pairwise_match_rate/1", json!(99.9))]);
    let (_folder, path) = changed_receipt(&changes);
    let verified = verify(&path);
    verified.is_clean();
    assert!(verified.notes().contains("is decided up to 2048 only"), "{}", verified.notes());
}

#[test]
fn keys_are_unique_whatever_their_case() {
    let (_folder, path) = changed_receipt(&[]);
    let root: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let (_folder, path) = changed_receipt(&[Add("/devices", "T4", root["devices"]["t4"].clone())]);
    assert!(verify(&path).has("device-key", "/devices/t4"));
    let text = serde_json::to_string(&root).unwrap();
    let twice = text.replacen("\"t4\":", "\"a100\":", 1);
    let (_folder, path) = receipt_file(&twice);
    let verified = verify(&path);
    assert!(verified.status == 1 && verified.has("duplicate-key", "/devices/a100"), "{:?}", verified.findings());
}

#[test]
fn a_receipt_that_says_nan_is_no_json() {
    let text = std::fs::read_to_string(super::support::RECEIPT).unwrap().replacen("1.1921e-07", "NaN", 1);
    let (_folder, path) = receipt_file(&text);
    let verified = verify(&path);
    assert_eq!(verified.status, 1);
    assert_eq!(verified.findings()[0].0, "json-syntax");
    assert_eq!(verified.report["subjects"][0]["checks"][1]["outcome"]["result"], "not-run");
}
