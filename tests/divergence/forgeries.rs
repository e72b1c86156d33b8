//! Every kind of forgery of a raw package, sealed again after it: the finding and its place.

use std::fs;

use recount::package::npy::Tensor;
use serde_json::json;

use super::support::{Edit, Package, Recipe, verify};
use Edit::{Add, Remove, Set};

const RESULTS: &str = "torch/experiment_results.json";

pub(crate) fn cases() -> Vec<(Vec<Edit>, &'static str, &'static str)> {
    let zeros = json!("0".repeat(64));
    vec![
        // The summary.
        (
            vec![Set("/idle_condition/max_drift_coords/0", json!(1))],
            "summary-mismatch",
            "/idle_condition/max_drift_coords/0",
        ),
        (
            vec![Set("/idle_condition/max_div/1", json!(1.1920928955078125e-7))],
            "summary-mismatch",
            "/idle_condition/max_div/1",
        ),
        (
            vec![Set("/background_matmul_condition/pairwise_match_rate/0", json!(0.0))],
            "summary-mismatch",
            "/background_matmul_condition/pairwise_match_rate/0",
        ),
        (
            vec![Set("/idle_condition/pairwise_match_rate/0", json!(16.7))],
            "summary-mismatch",
            "/idle_condition/pairwise_match_rate/0",
        ),
        (vec![Remove("/idle_condition/max_div/1")], "figure-length", "/idle_condition/max_div"),
        (
            vec![Set("/idle_condition/max_drift_coords/0", json!(37))],
            "figure-range",
            "/idle_condition/max_drift_coords/0",
        ),
        // Five of six pairs cannot be equal.
        (
            vec![Set("/idle_condition/pairwise_match_rate/0", json!(500.0 / 6.0))],
            "equal-pairs",
            "/idle_condition/pairwise_match_rate/0",
        ),
        (
            vec![Set("/idle_condition/pairwise_match_rate/0", json!(50.1))],
            "match-rate",
            "/idle_condition/pairwise_match_rate/0",
        ),
        (vec![Set("/idle_condition/max_drift_coords/0", json!(0))], "zero-drift", "/idle_condition/max_div/0"),
        // Pairs.
        (
            vec![Set("/idle_condition/all_pairwise_drift/2/3", json!(2))],
            "pair-mismatch",
            "/idle_condition/all_pairwise_drift/2/3",
        ),
        (
            vec![Set("/idle_condition/all_pairwise_divs/5/0", json!(1.1920928955078125e-7))],
            "pair-mismatch",
            "/idle_condition/all_pairwise_divs/5/0",
        ),
        (
            vec![Set("/idle_condition/all_pairwise_divs/5/0", json!(0))],
            "pair-mismatch",
            "/idle_condition/all_pairwise_divs/5/0",
        ),
        (vec![Remove("/idle_condition/all_pairwise_divs/5/0")], "figure-length", "/idle_condition/all_pairwise_divs/5"),
        (vec![Remove("/idle_condition/all_pairwise_drift/5")], "figure-length", "/idle_condition/all_pairwise_drift"),
        (
            vec![Add("/idle_condition/all_pairwise_divs", "7", json!([]))],
            "figure-length",
            "/idle_condition/all_pairwise_divs/7",
        ),
        (
            vec![Set("/idle_condition/all_pairwise_drift/2/3", json!(37))],
            "figure-range",
            "/idle_condition/all_pairwise_drift/2/3",
        ),
        (
            vec![Set("/idle_condition/all_pairwise_divs/2/3", json!(-1.0))],
            "figure-range",
            "/idle_condition/all_pairwise_divs/2/3",
        ),
        (
            vec![Set("/idle_condition/all_pairwise_divs/2/3", json!(1e-7))],
            "figure-range",
            "/idle_condition/all_pairwise_divs/2/3",
        ),
        (
            vec![Set("/idle_condition/all_pairwise_divs/2/3", json!(null))],
            "figure-range",
            "/idle_condition/all_pairwise_divs/2/3",
        ),
        // Hashes.
        (
            vec![Set("/idle_condition/trial_sha256/2/3", zeros.clone())],
            "trial-hash",
            "/idle_condition/trial_sha256/2/3",
        ),
        (vec![Set("/idle_condition/trial_sha256/2/3", json!("abc"))], "trial-hash", "/idle_condition/trial_sha256/2/3"),
        (vec![Remove("/idle_condition/trial_sha256/2/3")], "figure-length", "/idle_condition/trial_sha256/2"),
        (
            vec![Set("/background_matmul_condition/input_hashes/input", zeros)],
            "input-hash",
            "/background_matmul_condition/input_hashes/input",
        ),
        (
            vec![Set("/idle_condition/input_hashes/grid-2", json!(1))],
            "input-hash",
            "/idle_condition/input_hashes/grid-2",
        ),
        (vec![Remove("/idle_condition/input_hashes/grad-output-5")], "input-hash", "/idle_condition/input_hashes"),
        (vec![Set("/idle_condition/input_hashes", json!([]))], "malformed-field", "/idle_condition/input_hashes"),
        // Counts and the protocol.
        (
            vec![Set("/idle_condition/total_pairs_per_res", json!(7))],
            "pair-count",
            "/idle_condition/total_pairs_per_res",
        ),
        (vec![Set("/protocol/pairs_per_resolution", json!(7))], "pair-count", "/protocol/pairs_per_resolution"),
        (vec![Set("/idle_condition/total_coords", json!(35))], "coordinate-count", "/idle_condition/total_coords"),
        (vec![Set("/idle_condition/input_res", json!([3, 4]))], "divergence-protocol", "/idle_condition/input_res"),
        (
            vec![Set("/idle_condition/trials_per_res", json!(3))],
            "divergence-protocol",
            "/idle_condition/trials_per_res",
        ),
        (vec![Set("/idle_condition/res", json!([5, 2]))], "divergence-protocol", "/idle_condition/res"),
        (vec![Set("/idle_condition/res", json!([2]))], "divergence-protocol", "/idle_condition/res"),
        (vec![Set("/idle_condition/res", json!([2, 2]))], "malformed-field", "/idle_condition/res"),
        (vec![Set("/protocol/warmup", json!(1))], "malformed-field", "/protocol/warmup"),
        (vec![Set("/protocol/seed", json!(8))], "divergence-protocol", "/protocol/seed"),
        (vec![Remove("/protocol/generator")], "divergence-protocol", "/protocol"),
        // Arms, engines, status.
        (vec![Set("/idle_condition/condition", json!("busy"))], "divergence-arm", "/idle_condition/condition"),
        (vec![Set("/background_matmul_condition", json!(null))], "divergence-arm", "/background_matmul_condition"),
        (vec![Remove("/protocol/arms/1")], "divergence-arm", "/background_matmul_condition"),
        (vec![Set("/engine", json!("hip"))], "engine-folder", "/engine"),
        (vec![Set("/engine", json!("cuda"))], "engine-folder", "/engine"),
        (vec![Set("/status", json!("done"))], "malformed-field", "/status"),
        (vec![Set("/status", json!("incomplete"))], "experiment-incomplete", "/status"),
        // Device and probe.
        (vec![Set("/environment/compute_capability", json!("8.9"))], "device-capability", "/environment/architecture"),
        (vec![Set("/environment/cuda_version", json!("12.8"))], "device-software", "/environment/cuda_version"),
        (vec![Remove("/environment/cudnn_version")], "malformed-field", "/environment/cudnn_version"),
        (vec![Set("/environment/architecture", json!("Hopper "))], "malformed-field", "/environment/architecture"),
        (vec![Set("/environment/pytorch_version", json!(""))], "malformed-field", "/environment/pytorch_version"),
        (vec![Set("/environment/device_name", json!(" "))], "malformed-field", "/environment/device_name"),
        (
            vec![Set("/deterministic_mode_probe/result", json!(null))],
            "determinism-probe",
            "/deterministic_mode_probe/result",
        ),
        (
            vec![Set("/deterministic_mode_probe/result", json!("backward completed"))],
            "determinism-probe",
            "/deterministic_mode_probe/result",
        ),
        // Tensors listed and not.
        (vec![Set("/idle_condition/tensors_kept", json!([2, 5, 7]))], "tensor-file", "/idle_condition/tensors_kept"),
        (vec![Set("/idle_condition/tensors_kept", json!([2, 2, 5]))], "tensor-file", "/idle_condition/tensors_kept"),
    ]
}

#[test]
fn each_forgery_of_the_results_is_caught_where_it_is() {
    let mut missed = Vec::new();
    for (changes, code, pointer) in cases() {
        let package = Recipe::default().build();
        package.edit(RESULTS, &changes);
        let verified = verify(package.path());
        let found = verified.findings().into_iter().any(|(found, _, at)| found == code && at == pointer);
        if !found || (verified.status != 1 && code != "experiment-incomplete") {
            missed.push(format!("{code} at {pointer}: {} {:?}", verified.status, verified.findings()));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn an_unknown_version_is_not_judged() {
    for (pointer, value) in [("/schema", "recount-divergence-v2"), ("/kind", "other")] {
        let package = Recipe::default().build();
        package.edit(RESULTS, &[Set(pointer, json!(value))]);
        let verified = verify(package.path());
        assert_eq!(verified.status, 2);
        assert!(verified.has("unsupported-schema", pointer), "{:?}", verified.findings());
    }
}

/// The file and code of some finding after a change of files.
#[track_caller]
fn forged(change: impl FnOnce(&Package), code: &str, file: &str) {
    let package = Recipe::default().build();
    change(&package);
    package.seal();
    let verified = verify(package.path());
    let found = verified.findings();
    assert!(verified.status == 1 && found.iter().any(|(it, at, _)| it == code && at == file), "{code}: {found:?}");
}

/// A `.npy` file with this header.
fn with_header(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

#[test]
fn forged_tensors_are_caught() {
    let name = "torch/gradients/idle-2.npy";
    let next = |tensor: &mut Tensor, at: usize| tensor.values[at] = f32::from_bits(tensor.values[at].to_bits() + 1);
    forged(|package| package.edit_tensor(name, |tensor| next(tensor, 0)), "trial-hash", RESULTS);
    forged(|package| package.edit_tensor(name, |tensor| next(tensor, 40)), "pair-mismatch", RESULTS);
    forged(
        |package| package.edit_tensor(name, |tensor| tensor.values[0] = -tensor.values[0]),
        "pair-mismatch",
        RESULTS,
    );
    forged(|package| package.edit_tensor(name, |tensor| tensor.shape.swap(0, 3)), "tensor-file", name);
    forged(
        |package| {
            package.edit_tensor(name, |tensor| {
                tensor.shape[0] -= 1;
                tensor.values.truncate(3 * 36);
            });
        },
        "tensor-file",
        name,
    );
    let headers = [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 2, 2, 3, 3), }\n",
        "{'descr': '>f4', 'fortran_order': False, 'shape': (4, 2, 2, 3, 3), }\n",
        "{'descr': '<f4', 'fortran_order': True, 'shape': (4, 2, 2, 3, 3), }\n",
        "{'descr': '|O', 'fortran_order': False, 'shape': (4, 2, 2, 3, 3), }\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 2, 2, 3, 99999999999999999999), }\n",
        "cos\nsystem\n",
    ];
    for header in headers {
        let bytes = with_header(header, &[0; 4 * 144]);
        forged(|package| package.write_bytes(name, &bytes), "tensor-file", name);
    }
    forged(|package| package.write_bytes(name, b"\x80\x04pickle"), "tensor-file", name);
    forged(
        |package| {
            let bytes = fs::read(package.path().join(name)).unwrap();
            package.write_bytes(name, &bytes[..bytes.len() - 1]);
        },
        "tensor-file",
        name,
    );
    forged(|package| fs::remove_file(package.path().join(name)).unwrap(), "tensor-file", RESULTS);
    let extra = "torch/gradients/idle-7.npy";
    forged(|package| fs::rename(package.path().join(name), package.path().join(extra)).unwrap(), "tensor-file", extra);
}

#[test]
fn forged_inputs_are_caught() {
    let name = "inputs/grid-5.npy";
    forged(|package| package.edit_tensor(name, |tensor| tensor.values[7] = 0.5), "input-hash", name);
    forged(|package| package.edit_tensor(name, |tensor| tensor.shape.swap(0, 1)), "tensor-file", name);
    let extra = "inputs/grid-7.npy";
    forged(|package| fs::rename(package.path().join(name), package.path().join(extra)).unwrap(), "tensor-file", extra);
}

#[test]
fn an_engine_in_another_folder_is_caught() {
    let moved = |package: &Package| fs::rename(package.path().join("torch"), package.path().join("cuda")).unwrap();
    forged(moved, "engine-folder", "cuda/experiment_results.json");
    let unknown = |package: &Package| fs::rename(package.path().join("torch"), package.path().join("hip")).unwrap();
    forged(unknown, "engine-folder", "hip/experiment_results.json");
}

#[test]
fn tensors_that_are_only_dropped_from_the_list_are_caught() {
    let package = Recipe::default().build();
    package.edit(RESULTS, &[Set("/idle_condition/tensors_kept", json!([2]))]);
    let verified = verify(package.path());
    assert!(
        verified.findings().iter().any(|(code, file, _)| code == "tensor-file" && file == "torch/gradients/idle-5.npy")
    );
}

#[test]
fn hashes_bind_pairs_whose_tensors_are_not_there() {
    let cases = [
        ("/idle_condition/all_pairwise_drift/2/0", json!(3), "pair-mismatch"),
        ("/idle_condition/all_pairwise_divs/2/0", json!(1.1920928955078125e-7), "pair-mismatch"),
        ("/idle_condition/all_pairwise_drift/2/3", json!(0), "pair-mismatch"),
        ("/idle_condition/all_pairwise_divs/2/3", json!(0.0), "signed-zero"),
    ];
    for (pointer, value, code) in cases {
        let package = Recipe { kept: Vec::new(), ..Recipe::default() }.build();
        package.edit(RESULTS, &[Set(pointer, value)]);
        let verified = verify(package.path());
        assert!(verified.has(code, pointer), "{pointer}: {:?}", verified.findings());
    }
}

#[test]
fn a_receipt_that_does_not_bind_is_found_too() {
    let package = Recipe::default().build();
    let name = "torch/gradients/idle-2.npy";
    let mut bytes = fs::read(package.path().join(name)).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    package.write_bytes(name, &bytes);
    let verified = verify(package.path());
    let codes: Vec<_> = verified.findings().into_iter().map(|(code, _, _)| code).collect();
    assert!(
        codes.iter().any(|code| code == "hash-mismatch") && codes.iter().any(|code| code == "trial-hash"),
        "{codes:?}"
    );
}

#[test]
fn results_that_nothing_declares_are_read_all_the_same() {
    let package = Recipe::default().build();
    let path = package.path().join("receipts.json");
    let mut receipts: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    receipts["files"].as_object_mut().unwrap().retain(|name, _| !name.ends_with("experiment_results.json"));
    fs::write(&path, receipts.to_string()).unwrap();
    let verified = verify(package.path());
    assert_eq!(verified.report["subjects"][0]["kind"], "divergence");
    assert!(verified.findings().iter().any(|(code, file, _)| code == "unbound-evidence" && file == RESULTS));
}

#[test]
fn every_code_of_the_family_is_raised() {
    use recount::audit::{CATALOGUE, Family};
    let beside = super::beside::cases().into_iter().map(|(_, _, code, _)| code);
    let raised: std::collections::HashSet<_> =
        cases().into_iter().chain(super::rules::cases()).map(|(_, code, _)| code).chain(beside).collect();
    let missed: Vec<_> = CATALOGUE
        .iter()
        .filter(|rule| rule.family == Family::Divergence && !raised.contains(rule.name))
        .map(|rule| rule.name)
        .collect();
    assert!(missed.is_empty(), "{missed:?}");
}

/// Members that say what nothing else in a package of one engine does.
const FREE: [&str; 2] = ["/environment/cudnn_version", "/protocol/seed"];

/// Every number and hash below a value, with its pointer, changed as little as can be.
fn changed_leaves(value: &serde_json::Value, pointer: String, found: &mut Vec<(String, serde_json::Value)>) {
    use serde_json::Value;
    match value {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                changed_leaves(item, format!("{pointer}/{at}"), found);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                changed_leaves(member, format!("{pointer}/{name}"), found);
            }
        }
        Value::Number(number) => {
            let other = match number.as_u64() {
                Some(whole) => json!(whole + 1),
                None => json!(f64::from_bits(number.as_f64().unwrap().to_bits() + 1)),
            };
            found.push((pointer, other));
        }
        Value::String(hash) if hash.len() == 64 => {
            let digit = if hash.starts_with('0') { "1" } else { "0" };
            found.push((pointer, json!(format!("{digit}{}", &hash[1..]))));
        }
        _ => {}
    }
}

#[test]
fn every_number_and_hash_of_the_results_is_bound() {
    use recount::audit::{Options, verify};
    use recount::package::divergence::Engine;
    let recipe = Recipe { engines: vec![Engine::Torch], ..Recipe::default() };
    for recipe in [recipe.clone(), Recipe { kept: Vec::new(), ..recipe }] {
        let package = recipe.build();
        let text = fs::read_to_string(package.path().join(RESULTS)).unwrap();
        let root: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mut leaves = Vec::new();
        changed_leaves(&root, String::new(), &mut leaves);
        assert!(leaves.len() > 100, "{}", leaves.len());
        let mut missed = Vec::new();
        for (pointer, value) in leaves {
            let mut forged = root.clone();
            *forged.pointer_mut(&pointer).unwrap() = value;
            package.write(RESULTS, &forged.to_string());
            package.seal();
            let report = verify(package.path(), "forged", &Options::default(), &|_| {});
            // Without tensors a hash is bound by what it says of equality alone, and a pair by the summary alone.
            let alone = ["trial_sha256", "all_pairwise"].iter().any(|name| pointer.contains(name));
            let bound = !(recipe.kept.is_empty() && alone);
            if report.findings().next().is_none() && bound && !FREE.contains(&pointer.as_str()) {
                missed.push(pointer);
            }
        }
        assert!(missed.is_empty(), "{missed:?}");
    }
}
