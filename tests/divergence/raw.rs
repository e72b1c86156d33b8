//! Raw packages that verify.

use recount::package::divergence::{Arm, Engine};
use serde_json::{Value, json};

use super::support::{Edit, Gradients, Recipe, obeys, recount, verify};

fn results(package: &super::support::Package, engine: &str) -> Value {
    let path = package.path().join(engine).join("experiment_results.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn a_package_verifies_and_obeys_its_schema() {
    let package = Recipe::default().build();
    let verified = verify(package.path());
    verified.is_clean();
    let subject = &verified.report["subjects"][0];
    assert_eq!(subject["kind"], "divergence");
    let families: Vec<_> = subject["checks"].as_array().unwrap().iter().map(|check| &check["family"]).collect();
    assert_eq!(families, ["integrity", "divergence"]);
    assert!(subject["checks"][1]["tally"]["exact"].as_u64().unwrap() > 200, "{}", subject["checks"][1]["tally"]);
    assert_eq!(recount(&["verify", package.path().to_str().unwrap(), "--strict"]).status, 0);
    for engine in ["torch", "deterministic"] {
        obeys(&results(&package, engine), "recount-divergence-v1.json");
    }
}

#[test]
fn its_figures_are_those_of_the_tensors() {
    let package = Recipe::default().build();
    let idle = &results(&package, "torch")["idle_condition"];
    // The first two of four trials are equal, the others differ from all: one equal pair of six.
    assert_eq!(idle["pairwise_match_rate"], json!([100.0 / 6.0, 100.0 / 6.0]));
    assert_eq!(idle["max_div"], json!([2.0_f64.powi(-22), 2.0_f64.powi(-22)]));
    assert_eq!(idle["all_pairwise_drift"]["2"][0], 0);
    assert_eq!(results(&package, "deterministic")["idle_condition"]["max_drift_coords"], json!([0, 0]));
}

#[test]
fn other_engines_arms_and_sizes_verify() {
    let recipes = [
        Recipe::host(),
        Recipe { engines: vec![Engine::Torch, Engine::Cpu], ..Recipe::host() },
        Recipe { engines: Engine::ALL[..3].to_vec(), arms: vec![Arm::Idle], ..Recipe::default() },
        Recipe { arms: vec![Arm::BackgroundMatmul], kept: vec![5], ..Recipe::default() },
        Recipe { kept: Vec::new(), inputs: false, ..Recipe::default() },
        Recipe { trials: 2, resolutions: vec![1], shape: [1, 1, 1, 1], kept: vec![1], ..Recipe::default() },
        Recipe { trials: 30, shape: [1, 3, 8, 8], gradients: Gradients::Sums, ..Recipe::default() },
    ];
    for recipe in recipes {
        let package = recipe.build();
        verify(package.path()).is_clean();
        obeys(&results(&package, recipe.engines[0].name()), "recount-divergence-v1.json");
    }
}

#[test]
fn absent_inputs_are_noted() {
    let package = Recipe { inputs: false, ..Recipe::default() }.build();
    assert!(verify(package.path()).notes().contains("5 of 5 inputs are not in the package"));
}

#[test]
fn signed_zeros_drift_without_diverging() {
    let signed = Recipe {
        touch: |tensor| {
            let size = tensor.values.len() / tensor.shape[0];
            for (trial, values) in tensor.values.chunks_exact_mut(size).enumerate() {
                values.fill(if trial % 2 == 0 { 0.0 } else { -0.0 });
            }
        },
        engines: vec![Engine::Torch],
        ..Recipe::default()
    };
    let package = signed.build();
    let verified = verify(package.path());
    verified.is_clean();
    assert!(verified.notes().contains("in 4 pairs only 0.0 and -0.0 differ"), "{}", verified.notes());
    // Without the tensors it can only be a warning.
    let package = Recipe { kept: Vec::new(), ..signed }.build();
    let verified = verify(package.path());
    assert_eq!(verified.status, 0);
    assert!(verified.findings().iter().all(|(code, _, _)| code == "signed-zero"), "{:?}", verified.findings());
    assert_eq!(verified.findings().len(), 4 * 2 * 2);
}

#[test]
fn nan_is_equal_to_the_same_nan_only() {
    let nan = Recipe { touch: |tensor| tensor.values.fill(f32::NAN), ..Recipe::default() };
    verify(nan.build().path()).is_clean();
    let some =
        Recipe { touch: |tensor| tensor.values[0] = f32::NAN, engines: vec![Engine::Torch], ..Recipe::default() };
    let package = some.build();
    obeys(&results(&package, "torch"), "recount-divergence-v1.json");
    let verified = verify(package.path());
    assert_eq!(verified.status, 1);
    assert!(verified.has("figure-range", "/idle_condition/all_pairwise_divs/2/0"), "{:?}", verified.findings());
    assert!(verified.has("figure-range", "/idle_condition/max_div/0"));
}

#[test]
fn an_incomplete_run_is_legal_and_says_so() {
    for measured in [vec![2], vec![5], vec![]] {
        let package = Recipe { stopped_after: Some(measured), ..Recipe::default() }.build();
        let verified = verify(package.path());
        assert_eq!(verified.status, 0);
        let codes: Vec<_> = verified.findings().into_iter().map(|(code, _, pointer)| code + &pointer).collect();
        assert_eq!(codes, ["experiment-incomplete/status"; 2]);
        obeys(&results(&package, "torch"), "recount-divergence-v1.json");
        assert_eq!(recount(&["verify", package.path().to_str().unwrap(), "--strict"]).status, 1);
    }
    // Fewer trials than the protocol asks for, and an arm that was not reached.
    let package = Recipe { engines: vec![Engine::Torch], ..Recipe::default() }.build();
    let fewer = [
        Edit::Set("/status", json!("incomplete")),
        Edit::Set("/protocol/trials_per_resolution", json!(6)),
        Edit::Set("/protocol/pairs_per_resolution", json!(15)),
    ];
    package.edit("torch/experiment_results.json", &fewer);
    let verified = verify(package.path());
    assert_eq!((verified.status, verified.findings().len()), (0, 1), "{:?}", verified.findings());
    package.edit("torch/experiment_results.json", &[Edit::Set("/status", json!("complete"))]);
    assert!(verify(package.path()).has("divergence-protocol", "/idle_condition/trials_per_res"));
}

#[test]
fn an_interrupted_run_may_lack_an_arm() {
    let package = Recipe { engines: vec![Engine::Torch], kept: Vec::new(), ..Recipe::default() }.build();
    let stopped = [Edit::Set("/status", json!("incomplete")), Edit::Set("/background_matmul_condition", json!(null))];
    package.edit("torch/experiment_results.json", &stopped);
    let verified = verify(package.path());
    assert_eq!((verified.status, verified.findings().len()), (0, 1), "{:?}", verified.findings());
}

#[test]
fn a_deterministic_engine_that_drifts_is_noted() {
    let package = Recipe { engines: vec![Engine::Deterministic], ..Recipe::default() }.build();
    let torch = Recipe { engines: vec![Engine::Torch], ..Recipe::default() }.build();
    // The other engine's results under this one's name.
    let mut results = results(&torch, "torch");
    results["engine"] = json!("deterministic");
    results["environment"]["pytorch_version"] = json!(null);
    package.write("deterministic/experiment_results.json", &results.to_string());
    for name in ["idle-2", "idle-5", "background-matmul-2", "background-matmul-5"] {
        let bytes = std::fs::read(torch.path().join(format!("torch/gradients/{name}.npy"))).unwrap();
        package.write_bytes(&format!("deterministic/gradients/{name}.npy"), &bytes);
    }
    package.seal();
    let verified = verify(package.path());
    verified.is_clean();
    assert!(verified.notes().contains("meant to be deterministic"), "{}", verified.notes());
}

#[test]
fn tensors_may_be_allowed_to_be_absent() {
    let package = Recipe::default().build();
    std::fs::remove_file(package.path().join("torch/gradients/idle-2.npy")).unwrap();
    std::fs::remove_file(package.path().join("inputs/grid-2.npy")).unwrap();
    let verified = verify(package.path());
    assert_eq!(verified.status, 1);
    assert!(verified.findings().iter().all(|(code, _, _)| code == "absent-file"), "{:?}", verified.findings());
    let args = ["--allow-absent", "**/*.npy", "--strict", "--format", "json"];
    let run = recount(&[&["verify", package.path().to_str().unwrap()][..], &args].concat());
    assert!(run.status == 0 && run.stdout.contains("its pairs are checked by their hashes"), "{}", run.stdout);
}
