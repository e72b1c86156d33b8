//! A package in a temporary folder in which one file at a time is another one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use recount::audit::{Options, Severity, SubjectReport, verify};
use recount::package::partition::files;
use tempfile::TempDir;

use super::judged;
use crate::common::content::{self, Recipe};

/// The package, and what its files hold when nothing is changed.
pub(super) struct Scratch {
    folder: TempDir,
    files: BTreeMap<String, Vec<u8>>,
}

impl Scratch {
    /// A package of these files. It has no receipts: what they cost in each run is better spent on what they are about, and
    /// every check of the content runs without them.
    pub(super) fn of(files: impl IntoIterator<Item = (impl Into<String>, Vec<u8>)>) -> Self {
        let folder = tempfile::Builder::new().prefix("recount-fuzz-").tempdir().expect("a temporary folder");
        let files: BTreeMap<String, Vec<u8>> = files.into_iter().map(|(name, bytes)| (name.into(), bytes)).collect();
        for (name, bytes) in &files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a file has a folder")).expect("folders");
            fs::write(path, bytes).expect("a file");
        }
        Self { folder, files }
    }

    /// The small partition package of the tests, in which everything holds.
    pub(super) fn partition() -> Self {
        Self::of(content::files(&Recipe { samples: 3, ..Recipe::default() }))
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// What a file holds when nothing is changed.
    pub(super) fn file(&self, name: &str) -> &[u8] {
        &self.files[name]
    }

    /// What a JSON file holds when nothing is changed.
    pub(super) fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_slice(self.file(name)).expect("our own JSON")
    }

    /// The report on the package with another content of `name`. Files of measurements are read whole and in a stream; what is
    /// wrong is found both ways.
    pub(super) fn verify_with(&self, name: &str, bytes: &[u8]) -> SubjectReport {
        fs::write(self.path().join(name), bytes).expect("a file");
        let report = verify(self.path(), "package", &Options::default(), &|_| {});
        judged::report(&report, self.path());
        if [files::VALIDATION, files::MODEL, files::OVERLAP, files::SAMPLES].contains(&name) {
            let streamed = verify(self.path(), "package", &Options { streamed_from: 0, ..Options::default() }, &|_| {});
            judged::report(&streamed, self.path());
            let is_wrong =
                |report: &SubjectReport| report.findings().any(|finding| finding.severity != Severity::Warning);
            assert!(is_wrong(&streamed) || !is_wrong(&report), "a stream hides {:?}", report.findings().next());
        }
        fs::write(self.path().join(name), self.file(name)).expect("a file");
        report
    }
}
