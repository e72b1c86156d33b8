//! Devices and probes as other machines have them, and packages that ask for too much.

use recount::package::divergence::Engine;
use recount::package::npy::Tensor;
use serde_json::json;

use super::support::Edit::{Add, Set};
use super::support::{Edit, Gradients, Recipe, changed_receipt, verify};

const PROBE: &str = "/deterministic_mode_probe/cuda_result";

/// A package of one engine on a GPU, its results changed.
fn changed(changes: &[Edit]) -> super::support::Verified {
    let package = Recipe { engines: vec![Engine::Torch], ..Recipe::default() }.build();
    package.edit("torch/experiment_results.json", changes);
    verify(package.path())
}

#[test]
fn a_tensor_of_many_trials_is_not_compared_without_recorded_pairs() {
    let package = Recipe {
        engines: vec![Engine::Torch],
        shape: [1, 1, 1, 1],
        resolutions: vec![1],
        kept: vec![1],
        gradients: Gradients::Steps,
        ..Recipe::default()
    }
    .build();
    // 1.8 thousand million pairs: 28 GB.
    let trials = 60_000;
    package.edit(
        "torch/experiment_results.json",
        &[Set("/protocol/trials_per_resolution", json!(trials)), Set("/idle_condition/trials_per_res", json!(trials))],
    );
    let tensor = Tensor { shape: vec![trials, 1, 1, 1, 1], values: vec![1.0; trials] };
    package.write_tensor("torch/gradients/idle-1.npy", &tensor);
    package.seal();
    let verified = verify(package.path());
    assert_eq!(verified.status, 1);
    assert!(verified.has("figure-length", "/idle_condition/all_pairwise_divs/1"), "{:?}", verified.findings());
}

#[test]
fn another_refusal_of_another_release_is_a_note() {
    let other = json!("RuntimeError: grid_sampler_2d_backward does not support deterministic algorithms");
    let probe = Set("/deterministic_mode_probe/result", other.clone());
    let verified = changed(&[probe.clone(), Set("/environment/pytorch_version", json!("2.13.0+cu130"))]);
    verified.is_clean();
    assert!(verified.notes().contains("changed: PyTorch 2.13.0"), "{}", verified.notes());
    assert!(changed(&[probe]).has("determinism-probe", "/deterministic_mode_probe/result"));
}

#[test]
fn the_refusal_of_a_known_release_names_its_kernel() {
    let other = json!("RuntimeError: other_backward_cuda does not have a deterministic implementation");
    let (_folder, path) = changed_receipt(&[Set(PROBE, other)]);
    assert!(verify(&path).has("determinism-probe", PROBE));
    let (_folder, path) = changed_receipt(&[Set("/devices/t4/pytorch_version", json!(null))]);
    assert!(verify(&path).has("device-software", "/devices/t4/pytorch_version"));
    assert!(
        changed(&[Set("/environment/pytorch_version", json!(null))])
            .has("device-software", "/environment/pytorch_version")
    );
}

#[test]
fn devices_of_amd_are_not_judged_by_the_table_of_nvidia() {
    let verified = changed(&[
        Set("/environment/pytorch_version", json!("2.11.0+rocm6.3")),
        Set("/environment/device_name", json!("AMD Instinct MI210")),
        Set("/environment/architecture", json!("CDNA2")),
        Set("/environment/cuda_version", json!(null)),
        Set("/environment/cudnn_version", json!(null)),
    ]);
    verified.is_clean();
    assert!(verified.notes().contains("a device of AMD's"), "{}", verified.notes());
}

#[test]
fn a_host_may_run_a_pytorch_that_was_built_with_cuda() {
    let host = |cuda: &str| {
        let (folder, path) = changed_receipt(&[
            Set("/devices/cpu/pytorch_version", json!("2.11.0+cu128")),
            Add("/devices/cpu", "cuda_version", json!(cuda)),
            Add("/devices/cpu", "cudnn_version", json!(91900)),
            Add("/devices/cpu", "architecture", json!("x86_64")),
        ]);
        let verified = verify(&path);
        drop(folder);
        verified
    };
    host("12.8").is_clean();
    assert!(host("12.6").has("device-software", "/devices/cpu/cuda_version"));
    changed(&[Set("/environment/architecture", json!("NVIDIA Hopper"))]).is_clean();
}

#[test]
fn lattice_findings_say_how_many_digits_were_read() {
    let (_folder, path) = changed_receipt(&[Set("/devices/t4/idle/max_div/0", json!(1.2e-7))]);
    let verified = verify(&path);
    let finding = &verified.report["subjects"][0]["checks"][1]["findings"][0];
    assert!(finding["expected"].as_str().unwrap().contains("at five significant digits"), "{finding}");
}

#[test]
fn engines_of_receipts_are_known_and_those_of_their_keys() {
    let (_folder, path) = changed_receipt(&[Add("/devices/t4", "engine", json!("magic"))]);
    assert!(verify(&path).has("engine-folder", "/devices/t4/engine"));
    let (_folder, path) = changed_receipt(&[
        Add("/devices/t4", "engine", json!("deterministic")),
        Set("/devices/t4/pytorch_version", json!(null)),
    ]);
    assert!(verify(&path).notes().contains("t4 is meant to be deterministic"));
}

#[test]
fn the_engines_of_a_package_name_one_device() {
    for (engine, change) in [
        ("deterministic", Set("/environment/device_name", json!("NVIDIA RTX 4090"))),
        ("deterministic", Set("/environment/compute_capability", json!(null))),
        ("deterministic", Set("/environment/pytorch_version", json!("2.11.0+cu130"))),
    ] {
        let package = Recipe::default().build();
        package.edit(&format!("{engine}/experiment_results.json"), &[change]);
        let verified = verify(package.path());
        assert_eq!(verified.status, 1);
        let found = verified.findings();
        assert!(found.iter().any(|(code, ..)| code == "device-capability"), "{found:?}");
    }
    let package = Recipe::host().build();
    package.edit("cpu/experiment_results.json", &[Set("/environment/compute_capability", json!("9.0"))]);
    assert!(verify(package.path()).findings().iter().any(|(code, ..)| code == "device-capability"));
}
