//! What interpreters are found to have.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use recount::bench::partition::torch::{ProbeError, interpreter_probe, interpreter_probe_within};

use crate::{fake, text};

/// A program that is called like an interpreter.
fn program(folder: &Path, body: &str) -> PathBuf {
    let path = folder.join("python");
    std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn with_fake_torch(folder: &Path, fault: &str) -> PathBuf {
    let path = fake();
    let body =
        format!("PYTHONDONTWRITEBYTECODE=1 PYTHONPATH='{}' FAKE_TORCH={fault} exec python3 \"$@\"", path.display());
    program(folder, &body)
}

#[test]
fn an_interpreter_says_what_it_has() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: there is no python3");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let found = interpreter_probe(&with_fake_torch(folder.path(), "none"), &[]).unwrap();
    assert_eq!(text(&found, "/torch_version"), "2.11.0+fake");
    assert_eq!(text(&found, "/triton_version"), "3.6.0");
    assert_eq!(text(&found, "/device_name"), "Fake H200");
    assert_eq!(text(&found, "/compute_capability"), "9.0");
    assert!(text(&found, "/python_version").starts_with("3."));
    let error = interpreter_probe(&with_fake_torch(folder.path(), "no-torch"), &[]).unwrap_err();
    assert!(matches!(&error, ProbeError::NoTorch { reason, .. } if reason == "No module named 'torch'"), "{error}");
    let error = interpreter_probe(&with_fake_torch(folder.path(), "no-cuda"), &[]).unwrap_err().to_string();
    assert!(error.contains("torch 2.11.0+fake sees no CUDA device; install torch for CUDA"), "{error}");
}

#[test]
fn what_is_no_interpreter_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = interpreter_probe(Path::new("/nonexistent/python"), &[]).unwrap_err().to_string();
    assert!(error.contains("/nonexistent/python cannot be started") && error.contains("--torch PYTHON"), "{error}");
    for (body, words) in [
        ("echo 'Segmentation fault' >&2; exit 139", "(exit status: 139): Segmentation fault"),
        ("exit 0", "did not answer as a Python interpreter does (exit status: 0)"),
        ("echo 'not json'", "did not answer as a Python interpreter does"),
        ("exec yes", "did not answer as a Python interpreter does (signal: 9"),
    ] {
        let error = interpreter_probe(&program(folder.path(), body), &[]).unwrap_err().to_string();
        assert!(error.contains(words), "{body}: {error}");
    }
    let begin = Instant::now();
    let sleeper = program(folder.path(), "exec sleep 60");
    let error = interpreter_probe_within(&sleeper, &[], Duration::from_millis(200)).unwrap_err();
    assert!(matches!(error, ProbeError::TimedOut { .. }) && begin.elapsed() < Duration::from_secs(30), "{error}");
}
