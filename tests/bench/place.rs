//! A folder in which campaigns run, and what they leave in it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use recount::package::json::Json;
use tempfile::TempDir;

use crate::common::json::parse;
use crate::common::outcome::{Outcome, program};

/// Three small cases: two operations, three storage types, three geometries.
pub(super) const CASES: &str = r#"{"schema": 1, "cases": [
    {"id": "sum", "operation": "reduce_sum", "dimensions": [9, 40], "rows_per_program": 4, "precision": "fp32"},
    {"id": "max", "operation": "reduce_max", "dimensions": [6, 33], "rows_per_program": 8, "precision": "fp16"},
    {"id": "tail", "operation": "reduce_sum", "dimensions": [17, 65], "rows_per_program": 4, "precision": "bf16"}
]}"#;

/// Their ids.
pub(super) const IDS: [&str; 3] = ["sum", "max", "tail"];

/// The cohorts.
pub(super) const COHORTS: [&str; 4] = ["default", "rows1", "rows2", "recheck"];

/// Samples of a run.
pub(super) const SAMPLES: usize = 3;

/// What makes a run short.
const SMALL: [&str; 10] =
    ["--operations", "5", "--samples", "3", "--warm-up-ms", "1", "--target-ms", "1", "--threads", "1"];

/// The folder; it goes away with the value.
pub(super) struct Place {
    folder: TempDir,
}

impl Place {
    /// A folder with the cases.
    pub(super) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("recount-bench-").tempdir().expect("a temporary folder");
        fs::write(folder.path().join("cases.json"), CASES).expect("cases");
        Self { folder }
    }

    /// The folder.
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Something in it.
    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The arguments of a small campaign on host threads that writes the package `out`.
    pub(super) fn arguments(&self, out: &str, more: &[&str]) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = vec!["bench".into(), "--backend".into(), "cpu".into()];
        arguments.extend(["--cases".into(), self.at("cases.json").into(), "--out".into(), self.at(out).into()]);
        arguments.extend(SMALL.map(OsString::from));
        arguments.extend(more.iter().map(OsString::from));
        arguments
    }

    /// Runs such a campaign.
    #[track_caller]
    pub(super) fn bench(&self, out: &str, more: &[&str]) -> Outcome {
        Outcome::of(&self.arguments(out, more), Some(self.path()))
    }

    /// Such a campaign, to be started without waiting for its end.
    pub(super) fn command(&self, out: &str, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_recount"));
        command.args(self.arguments(out, more));
        command
    }

    /// Runs the program in the folder.
    #[track_caller]
    pub(super) fn recount(&self, arguments: &[&str]) -> Outcome {
        Outcome::with(program().current_dir(self.path()), arguments, Some(self.path()))
    }

    /// A package verifies: no error is found. A busy machine may be worth a warning.
    #[track_caller]
    pub(super) fn verifies(&self, out: &str) {
        self.recount(&["verify", out, "--format", "json"]).exits(0);
    }

    /// A text of the package.
    #[track_caller]
    pub(super) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// A document of the package.
    #[track_caller]
    pub(super) fn json(&self, name: &str) -> Json {
        parse(&self.text(name))
    }

    /// The record of a run, from its package.
    #[track_caller]
    pub(super) fn record(&self, out: &str, run: &str) -> Json {
        let (cohort, case) = run.split_once('/').expect("COHORT/CASE");
        let validation = self.json(&format!("{out}/validation.json"));
        let cases = validation.get("cases").and_then(Json::as_array).expect("cases");
        let of = cases.iter().find(|record| record.path(&["case", "id"]) == Some(&Json::from(case)));
        of.and_then(|of| of.path(&["cohorts", cohort])).unwrap_or_else(|| panic!("no {run}")).clone()
    }

    /// The sample rows of a run.
    #[track_caller]
    pub(super) fn rows(&self, out: &str, run: &str) -> usize {
        let (cohort, case) = run.split_once('/').expect("COHORT/CASE");
        let begin = format!("{case},{cohort},");
        self.text(&format!("{out}/samples.csv")).lines().filter(|row| row.starts_with(&begin)).count()
    }

    /// Names in the folder.
    pub(super) fn names(&self) -> Vec<String> {
        names(self.path())
    }

    /// Finished runs and their records, byte for byte.
    pub(super) fn finished(&self, runs: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        for path in files(&self.at(runs)).into_iter().filter(|path| path.ends_with("run.json")) {
            let bytes = fs::read(&path).expect("a record");
            found.insert(path, bytes);
        }
        found
    }
}

/// Names in a folder, sorted.
pub(super) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// All files below a folder; none where it is not there.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(files(&entry.path())),
            _ => found.push(entry.path()),
        }
    }
    found
}
