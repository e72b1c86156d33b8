//! Packages of several devices become one receipt, or are refused.

use std::path::Path;

use recount::package::divergence::{Arm, Engine, device_key};
use serde_json::{Value, json};

use super::support::{Edit, Gradients, Package, Recipe, Run, recount, verify};

#[track_caller]
fn summarize(packages: &[&Package], out: &Path, more: &[&str]) -> Run {
    let mut args = vec!["divergence", "summarize"];
    args.extend(packages.iter().map(|package| package.path().to_str().unwrap()));
    args.extend(["--out", out.to_str().unwrap()]);
    args.extend(more);
    recount(&args)
}

#[track_caller]
fn refused(packages: &[&Package], words: &str) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("receipt.json");
    let run = summarize(packages, &out, &[]);
    assert!(run.status == 2 && run.stderr.contains(words), "{}\n{}", run.status, run.stderr);
    assert!(!out.exists());
}

#[test]
fn packages_of_several_devices_become_one_receipt_that_verifies() {
    let gpu = Recipe { engines: Engine::ALL[..3].to_vec(), gradients: Gradients::Sums, ..Recipe::default() }.build();
    let host = Recipe { engines: vec![Engine::Torch, Engine::Cpu], ..Recipe::host() }.build();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("receipt.json");
    let run = summarize(&[&gpu, &host], &out, &["--date", "2026-11-30"]);
    assert_eq!((run.status, run.stdout.contains("5 devices or engines")), (0, true), "{}", run.stderr);
    verify(&out).is_clean();
    let text = std::fs::read_to_string(&out).unwrap();
    assert!(text.contains("\"output_resolutions\": [2, 5],\n"), "{text}");
    let receipt: Value = serde_json::from_str(&text).unwrap();
    let mut keys: Vec<_> = receipt["devices"].as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(keys, ["cpu", "cpu_cpu", "h200", "h200_cuda", "h200_deterministic"]);
    assert_eq!(receipt["protocol"]["date"], "2026-11-30");
    assert!(receipt["protocol"]["source"].as_str().unwrap().contains("SHA-256 of receipts.json"));
    let probe = &receipt["deterministic_mode_probe"];
    assert!(probe["cuda_result"].as_str().unwrap().contains("grid_sampler_2d_backward_cuda"));
    assert_eq!(probe["cpu_result"], "backward completed");
    assert_eq!(receipt["devices"]["h200_cuda"]["engine"], "cuda");
    for divergence in receipt["devices"]["h200"]["idle"]["max_div"].as_array().unwrap() {
        let value = divergence.as_f64().unwrap();
        assert_eq!(format!("{value:.4e}").parse::<f64>().unwrap(), value);
    }
    for rate in receipt["devices"]["h200"]["idle"]["pairwise_match_rate"].as_array().unwrap() {
        assert_eq!(rate, &json!(16.7));
    }
}

#[test]
fn a_lone_host_engine_is_the_cpu() {
    let host = Recipe::host().build();
    let run = summarize(&[&host], Path::new("-"), &["--source", "a test"]);
    let receipt: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(receipt["devices"].as_object().unwrap().keys().collect::<Vec<_>>(), ["cpu"]);
    assert_eq!(receipt["protocol"]["source"], "a test");
    assert_eq!(receipt["deterministic_mode_probe"]["cuda_result"], Value::Null);
}

#[test]
fn packages_that_do_not_belong_together_are_refused() {
    let first = Recipe::default().build();
    let host = |change: fn(&mut Recipe)| {
        let mut recipe = Recipe::host();
        change(&mut recipe);
        recipe.build()
    };
    refused(&[&first, &host(|recipe| recipe.trials = 5)], "trials_per_resolution is 4 in the one and 5 in the other");
    refused(&[&first, &host(|recipe| recipe.resolutions = vec![2, 6])], "output_resolutions");
    refused(&[&first, &host(|recipe| recipe.arms = vec![Arm::Idle])], "arms is");
    refused(&[&first, &host(|recipe| recipe.seed = 8)], "seed is 7 in the one and 8 in the other");
    refused(&[&first, &first_again()], "are both results of h200");
    let other_inputs = host(|recipe| recipe.seed = 8);
    other_inputs.edit("cpu/experiment_results.json", &[Edit::Set("/protocol/seed", json!(7))]);
    refused(&[&first, &other_inputs], "had different inputs");
}

fn first_again() -> Package {
    Recipe::default().build()
}

#[test]
fn packages_that_do_not_verify_are_refused() {
    let forged = Recipe::default().build();
    forged.edit("torch/experiment_results.json", &[Edit::Set("/idle_condition/max_drift_coords/0", json!(1))]);
    refused(&[&forged], "it does not verify (summary-mismatch in torch/experiment_results.json)");
    refused(&[&Recipe { stopped_after: Some(vec![2]), ..Recipe::default() }.build()], "is incomplete");
    let files = Recipe::host().build();
    std::fs::rename(files.path().join("cpu"), files.path().join("none")).unwrap();
    std::fs::remove_file(files.path().join("none/experiment_results.json")).unwrap();
    files.seal();
    refused(&[&files], "not a divergence package but files with receipts");
    let run = recount(&["divergence", "summarize", "/nowhere/at/all", "--out", "-"]);
    assert!(run.status == 2 && run.stderr.contains("no such file"), "{}", run.stderr);
}

#[test]
fn keys_are_what_tells_devices_apart() {
    let names = [
        ("Tesla T4", "t4"),
        ("NVIDIA A100-SXM4-40GB", "a100"),
        ("NVIDIA L4", "l4"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx_pro_6000_blackwell"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("NVIDIA GeForce RTX 4060", "rtx_4060"),
        ("NVIDIA H200", "h200"),
        ("NVIDIA", "gpu"),
    ];
    for (name, key) in names {
        assert_eq!(device_key(name, true), key);
    }
    assert_eq!(device_key("AMD EPYC 9654", false), "cpu");
}
