//! A package of claims that tests change: the published one, or one made up.

use std::path::Path;

use recount::audit::{CheckReport, Code, Family, Finding, Options, verify};
use recount::seal::{receipts_text, write_receipts};
use serde_json::Value;
use tempfile::TempDir;

/// The two files, before they are written and sealed.
pub(crate) struct Package {
    pub(crate) root: Value,
    pub(crate) table: String,
    pub(crate) has_table: bool,
}

impl Package {
    /// The package in `artifacts/`.
    pub(crate) fn published() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts/partition-rtx4060-published");
        let text = |name: &str| std::fs::read_to_string(folder.join(name)).expect("the published file");
        let root = serde_json::from_str(&text("claims.json")).expect("JSON");
        Self { root, table: text("medians.csv"), has_table: true }
    }

    pub(crate) fn claims(&self) -> &[Value] {
        self.root["claims"].as_array().expect("an array")
    }

    pub(crate) fn claim(&mut self, id: &str) -> &mut Value {
        let claims = self.root["claims"].as_array_mut().expect("an array");
        claims.iter_mut().find(|claim| claim["id"] == id).expect("the claim")
    }

    pub(crate) fn keep_claims(&mut self, ids: &[&str]) {
        let claims = self.root["claims"].as_array_mut().expect("an array");
        claims.retain(|claim| ids.iter().any(|id| claim["id"] == *id));
    }

    /// The table's cells without the header.
    pub(crate) fn rows(&self) -> Vec<Vec<String>> {
        self.table.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
    }

    /// Replaces a cell; rows count from 0 after the header.
    pub(crate) fn set_cell(&mut self, row: usize, column: usize, cell: &str) {
        let mut rows = self.rows();
        rows[row][column] = cell.to_owned();
        self.set_rows(&rows);
    }

    /// Rounds every median.
    pub(crate) fn round_medians(&mut self, decimals: usize) {
        let mut rows = self.rows();
        for cell in rows.iter_mut().flat_map(|row| &mut row[1..=5]).filter(|cell| *cell != "missing") {
            *cell = format!("{:.decimals$}", number(cell));
        }
        self.set_rows(&rows);
    }

    fn set_rows(&mut self, rows: &[Vec<String>]) {
        let header = self.table.lines().next().expect("a header").to_owned();
        let lines = rows.iter().map(|row| row.join(","));
        self.table = std::iter::once(header).chain(lines).collect::<Vec<_>>().join("\n") + "\n";
    }

    /// Writes and seals it.
    pub(crate) fn write(&self) -> TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let text = serde_json::to_string_pretty(&self.root).expect("JSON");
        std::fs::write(folder.path().join("claims.json"), text).expect("written");
        if self.has_table {
            std::fs::write(folder.path().join("medians.csv"), &self.table).expect("written");
        }
        let receipts = receipts_text(folder.path(), &Options::default().allow_absent).expect("sealed");
        write_receipts(folder.path(), &receipts).expect("written");
        folder
    }

    /// What the claims family says of it.
    pub(crate) fn check(&self) -> CheckReport {
        let folder = self.write();
        let mut report = verify(folder.path(), "claims", &Options::default(), &|_| {});
        let at = report.checks.iter().position(|check| check.family == Family::Claims).expect("the family");
        report.checks.swap_remove(at)
    }

    /// What does not hold.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        self.check().findings
    }

    /// Whether the claim is found inconsistent.
    pub(crate) fn inconsistent(&self, id: &str) -> bool {
        let id = format!("({id})");
        self.findings().iter().any(|finding| finding.code == Code::ClaimInconsistent && finding.found.ends_with(&id))
    }
}

/// The number that a text stands for.
pub(crate) fn number(text: &str) -> f64 {
    text.parse().expect("a number")
}

/// A cell's text as CSV.
pub(crate) fn cell_with(text: &str) -> String {
    if text.contains(',') { format!("\"{text}\"") } else { text.to_owned() }
}
