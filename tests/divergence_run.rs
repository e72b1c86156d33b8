//! `recount divergence run`: the CPU engine end to end, the torch engine through a recorded interpreter, refusals,
//! interruption.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of a test fail by panicking, and say what they skip"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use assert_cmd::cargo::cargo_bin;
use recount::bench::divergence::inputs::{Inputs, values_bytes};
use recount::bench::divergence::results::write_tensor;
use recount::package::divergence::tensor_sha256;
use recount::package::json::{Document, Json};
use recount::package::npy::Tensor;

fn recount(arguments: &[&str]) -> Output {
    Command::new(cargo_bin("recount")).args(arguments).output().unwrap()
}

/// Runs the protocol into `out` and gives status, standard output and standard error.
fn run(out: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut all = vec!["divergence", "run", "--out", out.to_str().unwrap()];
    all.extend(arguments);
    let output = recount(&all);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn json(path: &Path) -> Json {
    Document::parse("a file", std::fs::read_to_string(path).unwrap()).unwrap().root().clone()
}

fn results(out: &Path, engine: &str) -> Json {
    json(&out.join(engine).join("experiment_results.json"))
}

fn numbers(value: &Json, pointer: &str) -> Vec<f64> {
    let items = value.pointer(pointer).and_then(Json::as_array).unwrap();
    items.iter().map(|item| item.as_f64().unwrap()).collect()
}

fn sealed(out: &Path) {
    let output = recount(&["seal", "--check", out.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn a_run_verifies_is_summarized_and_its_receipt_verifies() {
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join("package");
    let (status, _, complaints) = run(&package, &["--engine", "cpu", "--trials", "4", "--resolutions", "16,24"]);
    assert_eq!(status, 0, "{complaints}");
    let package = package.to_str().unwrap();
    let receipt = folder.path().join("receipt.json");
    let receipt = receipt.to_str().unwrap();
    for date in ["yesterday", "2026-02-29", "2026-7-18", "2026-13-01"] {
        let output = recount(&["divergence", "summarize", package, "--out", receipt, "--date", date]);
        assert_eq!(output.status.code(), Some(2), "{date}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("a day such as"), "{date}");
    }
    for arguments in [
        vec!["verify", package, "--strict"],
        vec!["divergence", "summarize", package, "--out", receipt, "--date", "2026-11-30"],
        vec!["verify", receipt, "--strict"],
        vec!["divergence", "compare", package, receipt],
    ] {
        let output = recount(&arguments);
        let said = [output.stdout, output.stderr].concat();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&said));
    }
}

#[test]
fn the_cpu_engine_runs_the_protocol_and_never_differs() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("package");
    let (status, said, complaints) =
        run(&out, &["--engine", "cpu", "--trials", "4", "--resolutions", "16,24", "--time"]);
    assert_eq!(status, 0, "{complaints}");
    assert!(said.contains("background-matmul"), "{said}");
    sealed(&out);

    let results = results(&out, "cpu");
    let text = |pointer: &str| results.pointer(pointer).and_then(Json::as_str).map(str::to_owned);
    assert_eq!(text("/schema").as_deref(), Some("recount-divergence-v1"));
    assert_eq!(text("/kind").as_deref(), Some("divergence"));
    assert_eq!(text("/status").as_deref(), Some("complete"));
    assert_eq!(results.pointer("/protocol/pairs_per_resolution"), Some(&Json::Int(6)));
    let inputs = Inputs::generate(recount::bench::divergence::Shape::PROTOCOL, &[16, 24], 42).unwrap();
    for (arm, condition) in [("idle", "/idle_condition"), ("background-matmul", "/background_matmul_condition")] {
        let at = |member: &str| format!("{condition}/{member}");
        assert_eq!(text(&at("condition")).as_deref(), Some(arm));
        assert_eq!(numbers(&results, &at("max_drift_coords")), [0.0, 0.0]);
        assert_eq!(numbers(&results, &at("max_div")), [0.0, 0.0]);
        assert_eq!(numbers(&results, &at("pairwise_match_rate")), [100.0, 100.0]);
        assert_eq!(numbers(&results, &at("tensors_kept")), [16.0, 24.0]);
        for (name, hash) in inputs.hashes() {
            assert_eq!(text(&at(&format!("input_hashes/{name}"))), Some(hash));
        }
        for resolution in [16, 24] {
            assert_eq!(numbers(&results, &at(&format!("all_pairwise_divs/{resolution}"))), [0.0; 6]);
            let bytes = std::fs::read(out.join(format!("cpu/gradients/{arm}-{resolution}.npy"))).unwrap();
            let tensor = Tensor::read(&bytes).unwrap();
            assert_eq!(tensor.shape, [4, 1, 3, 32, 32]);
            for (trial, values) in tensor.values.chunks_exact(3072).enumerate() {
                let recorded = text(&at(&format!("trial_sha256/{resolution}/{trial}")));
                assert_eq!(recorded, Some(tensor_sha256(values)));
            }
        }
    }
    for (name, tensor) in inputs.arrays() {
        let bytes = std::fs::read(out.join(format!("inputs/{name}.npy"))).unwrap();
        assert_eq!(&Tensor::read(&bytes).unwrap(), tensor);
    }
    assert!(out.join("accuracy.json").exists() && !out.join("timing.json").exists());

    // Nothing else is left, and the place is taken from now on.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let (status, _, complaints) = run(&out, &["--engine", "cpu"]);
    assert_eq!(status, 2);
    assert!(complaints.contains("exists; name a new folder"), "{complaints}");
}

#[test]
fn inputs_can_be_read_and_parts_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let first = folder.path().join("first");
    let shape = ["--engine", "cpu", "--trials", "2", "--resolutions", "9,5", "--arms", "idle"];
    let generate = [&shape[..], &["--input-shape", "2,1,7,11", "--seed", "5"]].concat();
    assert_eq!(run(&first, &generate).0, 0);
    let inputs = first.join("inputs");
    let second = folder.path().join("second");
    let read = [&shape[..], &["--inputs", inputs.to_str().unwrap(), "--keep-tensors", "5"]].concat();
    assert_eq!(run(&second, &read).0, 0);
    let (first, second) = (results(&first, "cpu"), results(&second, "cpu"));
    for pointer in ["/idle_condition/input_hashes", "/idle_condition/trial_sha256", "/protocol/input_shape"] {
        assert_eq!(first.pointer(pointer), second.pointer(pointer), "{pointer}");
    }
    assert_eq!(second.pointer("/protocol/seed"), Some(&Json::Null));
    assert_eq!(second.get("background_matmul_condition"), Some(&Json::Null));
    assert_eq!(numbers(&second, "/idle_condition/tensors_kept"), [5.0]);
    assert!(folder.path().join("second/cpu/gradients/idle-5.npy").exists());
    assert!(!folder.path().join("second/cpu/gradients/idle-9.npy").exists());

    let third = folder.path().join("third");
    assert_eq!(run(&third, &[&generate[..], &["--omit-inputs", "--keep-tensors", "none"]].concat()).0, 0);
    assert!(!third.join("inputs").exists() && !third.join("cpu/gradients").exists());
    sealed(&third);
}

#[test]
fn what_cannot_be_run_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = folder.path().join("inputs");
    std::fs::create_dir(&inputs).unwrap();
    let write = |name: &str, shape: &[usize], value: f32| {
        let values = vec![value; shape.iter().product()];
        write_tensor(&inputs.join(format!("{name}.npy")), &Tensor { shape: shape.to_vec(), values }).unwrap();
    };
    write("input", &[1, 3, 4, 4], 1.0);
    write("grid-8", &[1, 8, 8, 2], f32::NAN);
    write("grid-9", &[1, 9, 8, 2], 0.0);
    write("grid-10", &[1, 10, 10, 2], 0.0);
    std::fs::write(inputs.join("grad-output-10.npy"), b"\x80\x04pickled").unwrap();
    let inputs = inputs.to_str().unwrap();
    let cases: &[(&[&str], &str)] = &[
        (&["--trials", "1"], "--trials"),
        (&["--resolutions", "16,16"], "twice"),
        (&["--resolutions", "0"], "resolution 0"),
        (&["--engine", "cpu,cpu"], "twice"),
        (&["--engine", "abacus"], "abacus"),
        (&["--arms", "idle,idle"], "twice"),
        (&["--keep-tensors", "17"], "--keep-tensors 17"),
        (&["--keep-tensors", ""], "name resolutions, all or none"),
        (&["--input-shape", "1000,1000,1,1", "--resolutions", "5792"], "more than 2^30 values"),
        (&["--engine", "cpu", "--trials", "3000"], "more than is verified"),
        (&["--keep-tensors", "some"], "some is no resolution"),
        (&["--input-shape", "1,2,3"], "four positive integers"),
        (&["--input-shape", "1,0,3,4"], "four positive integers"),
        (&["--inputs", inputs, "--seed", "1"], "--seed"),
        (&["--inputs", "nowhere"], "cannot be read"),
        (&["--inputs", inputs, "--resolutions", "8"], "not finite"),
        (&["--inputs", inputs, "--resolutions", "9"], "has shape [1, 9, 8, 2]"),
        (&["--inputs", inputs, "--resolutions", "10"], "not a version 1.0 .npy file"),
        (&["--engine", "torch", "--python", "/nonexistent/python"], "--python"),
        (
            &["--trials", "2000", "--resolutions", "4", "--arms", "idle", "--input-shape", "4,4,300,300"],
            "fewer --trials",
        ),
    ];
    for (arguments, reason) in cases {
        let (status, said, complaints) = run(&folder.path().join("out"), arguments);
        assert_eq!(status, 2, "{arguments:?}: {said}{complaints}");
        assert!(complaints.contains(reason), "{arguments:?}: {complaints}");
        assert!(!complaints.contains("panicked"), "{complaints}");
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["inputs"]);
}

#[test]
fn without_a_gpu_there_is_one_sentence_that_says_what_is_missing_and_what_remains() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    for engine in ["cuda", "deterministic"] {
        let (status, _, complaints) =
            run(&out, &["--engine", engine, "--trials", "2", "--resolutions", "4", "--arms", "idle"]);
        if status == 0 {
            eprintln!("skipped: there is a GPU");
            return;
        }
        assert_eq!(status, 2);
        assert_eq!(complaints.lines().count(), 1, "{complaints}");
        assert!(complaints.contains("engines that work here: ") && complaints.contains("cpu"), "{complaints}");
    }
}

#[test]
fn the_embedded_script_is_python() {
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bench/divergence/torch_engine.py");
    let copy = folder.path().join("torch_engine.py");
    std::fs::copy(script, &copy).unwrap();
    match Command::new("python3").args(["-m", "py_compile"]).arg(&copy).output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => eprintln!("skipped: python3 cannot be started ({error})"),
    }
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    /// What torch 2.11.0+cu130 said on an NVIDIA H200.
    const RECORDED: &str = r#"{"environment": {"device_name": "NVIDIA H200", "pytorch_version": "2.11.0+cu130", "cuda_version": "13.0", "cudnn_version": 91900, "compute_capability": "9.0", "driver": "13.0", "python_version": "3.12.3"}, "probe": {"setting": "torch.use_deterministic_algorithms(True)", "result": "RuntimeError: grid_sampler_2d_backward_cuda does not have a deterministic implementation"}}"#;

    /// A stand-in for the interpreter.
    fn interpreter(folder: &Path, body: &str) -> PathBuf {
        let path = folder.join("python");
        std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn the_torch_engine_speaks_with_its_interpreter() {
        let folder = tempfile::tempdir().unwrap();
        // Two trials of 2x2: they differ in the last coordinate, by 2^-23.
        let gradients = folder.path().join("gradients.f32");
        std::fs::write(&gradients, values_bytes(&[0.5, -1.0, 2.0, 1.0, 0.5, -1.0, 2.0, 1.0 + f32::EPSILON])).unwrap();
        let body = format!(
            r#"echo '{RECORDED}'
while read -r line; do
  case "$line" in
    *measure*) cp {} "$2/out.f32"; echo '{{"trial": 0}}'; echo '{{"trial": 1}}'; echo '{{"done": true}}' ;;
    *) echo '{{"replays": 50, "span_ms": [5.5, 5.25, 6.0]}}' ;;
  esac
done"#,
            gradients.display()
        );
        let python = interpreter(folder.path(), &body);
        let out = folder.path().join("package");
        let shape = ["--input-shape", "1,1,2,2", "--resolutions", "3", "--trials", "2", "--arms", "idle"];
        let engine = ["--engine", "torch", "--python", python.to_str().unwrap(), "--time"];
        let (status, said, complaints) = run(&out, &[&shape[..], &engine[..]].concat());
        assert_eq!(status, 0, "{complaints}");
        assert!(said.contains("1.1921e-7"), "{said}");
        sealed(&out);
        let results = results(&out, "torch");
        assert_eq!(numbers(&results, "/idle_condition/max_drift_coords"), [1.0]);
        assert_eq!(numbers(&results, "/idle_condition/max_div"), [f64::from(f32::EPSILON)]);
        assert_eq!(numbers(&results, "/idle_condition/pairwise_match_rate"), [0.0]);
        assert_eq!(results.pointer("/environment/architecture"), Some(&Json::from("Hopper")));
        assert_eq!(results.pointer("/environment/cudnn_version"), Some(&Json::Int(91900)));
        let timing = json(&out.join("timing.json"));
        assert_eq!(numbers(&timing, "/engines/torch/median_us"), [5.5]);
        assert_eq!(numbers(&timing, "/engines/torch/samples/3/span_ms"), [5.5, 5.25, 6.0]);
    }

    #[test]
    fn an_interpreter_that_fails_is_reported_with_its_own_words() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("package");
        let shape = ["--engine", "torch", "--resolutions", "3", "--trials", "2", "--arms", "idle", "--python"];
        let cases = [
            (r#"echo '{"error": "torch 2.11.0+cpu sees no CUDA device", "missing": true}'"#.to_owned(), "sees no CUDA"),
            ("echo 'Segmentation fault' >&2; exit 139".to_owned(), "Segmentation fault"),
            ("echo 'not json'".to_owned(), "did not answer as a Python interpreter"),
            ("exec yes".to_owned(), "did not answer as a Python interpreter"),
            ("yes | tr -d '\\n'".to_owned(), "did not answer as a Python interpreter"),
            ("exit 0".to_owned(), "without an answer"),
            (format!("echo '{RECORDED}'; read -r line; echo '{{\"done\": true}}'"), "cannot"),
            (format!("echo '{RECORDED}'; read -r line; : > \"$2/out.f32\"; echo '{{\"done\": true}}'"), "bytes"),
            (format!("echo '{RECORDED}'; read -r line; echo '{{\"error\": \"out of memory\"}}'"), "out of memory"),
            (format!("echo '{RECORDED}'; echo killed >&2"), "killed"),
        ];
        for (body, reason) in cases {
            let python = interpreter(folder.path(), &body);
            let (status, _, complaints) = run(&out, &[&shape[..], &[python.to_str().unwrap()]].concat());
            assert_eq!(status, 2, "{body}");
            let missing_file = reason == "cannot" && complaints.contains("No such file");
            assert!(complaints.contains(reason) || missing_file, "{body}: {complaints}");
            assert!(!out.exists());
        }
    }

    #[test]
    fn an_engine_that_fails_on_the_way_leaves_what_was_finished() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("package");
        let python = interpreter(folder.path(), &format!("echo '{RECORDED}'; read -r line; echo oops >&2"));
        let engines = ["--engine", "cpu,torch", "--resolutions", "3", "--trials", "2", "--arms", "idle", "--python"];
        let (status, _, complaints) = run(&out, &[&engines[..], &[python.to_str().unwrap()]].concat());
        assert_eq!(status, 2);
        assert!(complaints.contains("oops") && complaints.contains("1 finished measurements"), "{complaints}");
        sealed(&out);
        assert_eq!(results(&out, "cpu").get("status"), Some(&Json::from("complete")));
        assert!(!out.join("torch").exists());
    }

    #[test]
    fn a_timing_that_fails_is_not_called_an_incomplete_measurement() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("package");
        let body = format!(
            r#"echo '{RECORDED}'; read -r line; head -c 32 /dev/zero > "$2/out.f32"; echo '{{"done": true}}'
read -r line; echo '{{"error": "out of memory"}}'"#
        );
        let python = interpreter(folder.path(), &body);
        let shape = ["--input-shape", "1,1,2,2", "--resolutions", "3", "--trials", "2", "--arms", "idle"];
        let engine = ["--engine", "torch", "--python", python.to_str().unwrap(), "--time"];
        let (status, _, complaints) = run(&out, &[&shape[..], &engine[..]].concat());
        assert_eq!(status, 2, "{complaints}");
        assert!(complaints.contains("all 1 measurements") && !complaints.contains("incomplete"), "{complaints}");
        assert_eq!(results(&out, "torch").get("status"), Some(&Json::from("complete")));
    }

    #[test]
    fn a_gradient_that_overflows_ends_the_run_with_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("package");
        let gradients = folder.path().join("gradients.f32");
        std::fs::write(&gradients, values_bytes(&[0.5, f32::INFINITY])).unwrap();
        let copy = format!("cp {} \"$2/out.f32\"; echo '{{\"done\": true}}'", gradients.display());
        let python = interpreter(folder.path(), &format!("echo '{RECORDED}'; read -r line; {copy}"));
        let shape = ["--input-shape", "1,1,1,1", "--resolutions", "3", "--trials", "2", "--arms", "idle"];
        let engine = ["--engine", "torch", "--python", python.to_str().unwrap()];
        let (status, _, complaints) = run(&out, &[&shape[..], &engine[..]].concat());
        assert_eq!(status, 2, "{complaints}");
        assert!(complaints.contains("not finite") && !out.exists(), "{complaints}");
    }

    #[test]
    fn rocm_devices_get_no_architecture_of_nvidia() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("package");
        let recorded =
            RECORDED.replace("+cu130", "+rocm6.3").replace(r#""cuda_version": "13.0""#, r#""cuda_version": null"#);
        let copy = r#"head -c 8 /dev/zero > "$2/out.f32"; echo '{"done": true}'; read -r line"#;
        let python = interpreter(folder.path(), &format!("echo '{recorded}'; read -r line; {copy}"));
        let shape = ["--input-shape", "1,1,1,1", "--resolutions", "3", "--trials", "2", "--arms", "idle"];
        let engine = ["--engine", "torch", "--python", python.to_str().unwrap()];
        let (status, _, complaints) = run(&out, &[&shape[..], &engine[..]].concat());
        assert_eq!(status, 0, "{complaints}");
        assert_eq!(results(&out, "torch").pointer("/environment/architecture"), None);
    }

    #[test]
    fn an_interrupt_keeps_what_was_finished_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("package");
        let child = Command::new(cargo_bin("recount"))
            .args([
                "divergence",
                "run",
                "--engine",
                "cpu",
                "--trials",
                "600",
                "--resolutions",
                "16,256,255,254,253,252",
            ])
            .arg("--out")
            .arg(&out)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let finished = || {
            let partial = std::fs::read_dir(folder.path()).unwrap().next()?.unwrap().path();
            partial.join("cpu/gradients/idle-16.npy").exists().then_some(())
        };
        for _ in 0..1200 {
            if finished().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        let output = child.wait_with_output().unwrap();
        let complaints = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{complaints}");
        assert!(complaints.contains("interrupted") && complaints.contains("marked incomplete"), "{complaints}");
        sealed(&out);
        let results = results(&out, "cpu");
        assert_eq!(results.get("status"), Some(&Json::from("incomplete")));
        let measured = numbers(&results, "/idle_condition/res");
        assert!(measured.first() == Some(&16.0) && measured.len() < 6, "{measured:?}");
        assert_eq!(results.get("background_matmul_condition"), Some(&Json::Null));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
