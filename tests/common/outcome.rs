//! One run of the built program: how it ended, what it said, and what a failed assertion shows of it.

use std::ffi::OsStr;
use std::fmt::Write;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::Value;

/// No run of the program takes longer; one that hangs ends here.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// The built program with a surrounding that does not depend on the tester's.
pub(crate) fn program() -> assert_cmd::Command {
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_recount"));
    for name in ["NO_COLOR", "COLUMNS", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command.env("TERM", "xterm").timeout(TIME_LIMIT);
    command
}

/// How one run ended.
#[derive(Debug)]
pub(crate) struct Outcome {
    command: String,
    /// What lay in the folder that the run was about.
    listing: String,
    /// Exit status; -1 where a signal ended it.
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Standard output as JSON, where it was asked for.
    report: Option<Value>,
}

/// One finding of a JSON report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) code: String,
    pub(crate) severity: String,
    pub(crate) file: String,
    pub(crate) pointer: String,
    pub(crate) line: u64,
    pub(crate) column: u64,
    pub(crate) field: String,
    pub(crate) expected: String,
    pub(crate) found: String,
    pub(crate) advice: String,
}

impl Outcome {
    /// Runs the program with these arguments.
    #[track_caller]
    pub(crate) fn of(args: &[impl AsRef<OsStr>], folder: Option<&Path>) -> Self {
        Self::with(&mut program(), args, folder)
    }

    /// Runs a prepared program with these arguments.
    #[track_caller]
    pub(crate) fn with(command: &mut assert_cmd::Command, args: &[impl AsRef<OsStr>], folder: Option<&Path>) -> Self {
        command.args(args);
        let output = command.output().expect("the program runs");
        let stdout = String::from_utf8(output.stdout).expect("standard output is UTF-8");
        let stderr = String::from_utf8(output.stderr).expect("standard error is UTF-8");
        let report = serde_json::from_str(&stdout).ok();
        let mut listing = String::new();
        if let Some(folder) = folder {
            list(folder, "  ", &mut listing);
        }
        let outcome = Self {
            command: format!("{command:?}"),
            listing,
            status: output.status.code().unwrap_or(-1),
            stdout,
            stderr,
            report,
        };
        outcome.require(
            !outcome.stderr.contains("panicked") && (0..=2).contains(&outcome.status),
            "it ends with status 0, 1 or 2 and without a panic",
        );
        outcome
    }

    /// Fails with everything there is to know about the run, unless `holds`.
    #[track_caller]
    pub(crate) fn require(&self, holds: bool, what: &str) {
        assert!(holds, "does not hold: {what}\n{}", self.context());
    }

    fn context(&self) -> String {
        let mut text = format!("command: {}\nstatus: {}\nfolder:\n{}", self.command, self.status, self.listing);
        for (name, output) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            let shown: String = output.chars().take(6000).collect();
            let more = if shown.len() < output.len() { "\n..." } else { "" };
            let _ = write!(text, "{name}:\n{shown}{more}\n");
        }
        text
    }

    /// The exit status is this one.
    #[track_caller]
    pub(crate) fn exits(&self, status: i32) -> &Self {
        self.require(self.status == status, &format!("the exit status is {status}"));
        self
    }

    /// The JSON report.
    #[track_caller]
    pub(crate) fn report(&self) -> &Value {
        self.require(self.report.is_some(), "standard output is one JSON document");
        self.report.as_ref().expect("there is one")
    }

    /// All findings, in the report's order.
    #[track_caller]
    pub(crate) fn findings(&self) -> Vec<Found> {
        let checks = self.checks();
        checks.iter().flat_map(|check| check["findings"].as_array().expect("findings").iter().map(found)).collect()
    }

    /// All check families' results, of all subjects.
    #[track_caller]
    pub(crate) fn checks(&self) -> Vec<&Value> {
        let subjects = self.report()["subjects"].as_array().expect("subjects");
        subjects.iter().flat_map(|subject| subject["checks"].as_array().expect("checks")).collect()
    }

    /// The result of one family: `passed`, `failed`, or `not-run: REASON`.
    #[track_caller]
    pub(crate) fn outcome_of(&self, family: &str) -> String {
        let checks = self.checks();
        let check = checks.iter().find(|check| check["family"] == family);
        self.require(check.is_some(), &format!("there is a family {family}"));
        let outcome = &check.expect("there is one")["outcome"];
        match outcome["reason"].as_str() {
            Some(reason) => format!("{}: {reason}", outcome["result"].as_str().expect("a result")),
            None => outcome["result"].as_str().expect("a result").to_owned(),
        }
    }

    /// A fact of the first subject.
    #[track_caller]
    pub(crate) fn fact(&self, name: &str) -> String {
        let facts = self.report()["subjects"][0]["facts"].as_array().expect("facts");
        let fact = facts.iter().find(|fact| fact["name"] == name);
        self.require(fact.is_some(), &format!("there is a fact {name}"));
        fact.expect("there is one")["value"].as_str().expect("a text").to_owned()
    }

    /// The codes that were found, each once, sorted.
    #[track_caller]
    pub(crate) fn codes(&self) -> Vec<String> {
        let mut codes: Vec<String> = self.findings().into_iter().map(|finding| finding.code).collect();
        codes.sort();
        codes.dedup();
        codes
    }

    /// The findings with this code; at least one.
    #[track_caller]
    pub(crate) fn all(&self, code: &str) -> Vec<Found> {
        let found: Vec<Found> = self.findings().into_iter().filter(|finding| finding.code == code).collect();
        self.require(!found.is_empty(), &format!("there is a finding {code}"));
        found
    }

    /// The only finding with this code.
    #[track_caller]
    pub(crate) fn one(&self, code: &str) -> Found {
        let mut found = self.all(code);
        self.require(found.len() == 1, &format!("there is one finding {code}, not {}", found.len()));
        found.remove(0)
    }

    /// The first finding with this code in this file at this pointer.
    #[track_caller]
    pub(crate) fn at(&self, code: &str, file: &str, pointer: &str) -> Found {
        let found = self.all(code).into_iter().find(|finding| finding.file == file && finding.pointer == pointer);
        self.require(found.is_some(), &format!("there is a finding {code} in {file} at {pointer}"));
        found.expect("there is one")
    }

    /// Everything holds and nothing was found.
    #[track_caller]
    pub(crate) fn holds(&self) -> &Self {
        self.exits(0);
        self.require(self.findings().is_empty(), "there is no finding");
        self
    }

    /// Only these codes were found.
    #[track_caller]
    pub(crate) fn only(&self, codes: &[&str]) -> &Self {
        let mut codes = codes.to_vec();
        codes.sort_unstable();
        self.require(self.codes() == codes, &format!("the codes found are {codes:?}, not {:?}", self.codes()));
        self
    }

    /// Standard output is one JSON document that obeys this schema.
    #[track_caller]
    pub(crate) fn obeys(&self, schema: &str) -> &Self {
        let schema = serde_json::from_str(schema).expect("the schema is JSON");
        let schema = jsonschema::validator_for(&schema).expect("the schema is a JSON Schema");
        let problems: Vec<String> = schema.iter_errors(self.report()).map(|error| error.to_string()).collect();
        self.require(problems.is_empty(), &format!("the output obeys its schema: {}", problems.join("; ")));
        self
    }

    /// The report obeys the published schema of reports.
    #[track_caller]
    pub(crate) fn obeys_schema(&self) -> &Self {
        let problems = problems(self.report());
        self.require(problems.is_empty(), &format!("the report obeys its schema: {}", problems.join("; ")));
        self
    }
}

/// In what a report does not obey the published schema of reports.
pub(crate) fn problems(report: &Value) -> Vec<String> {
    static SCHEMA: OnceLock<jsonschema::Validator> = OnceLock::new();
    let schema = SCHEMA.get_or_init(|| {
        let text = include_str!("../../docs/schema/recount-report-v1.json");
        let schema = serde_json::from_str(text).expect("the schema is JSON");
        jsonschema::validator_for(&schema).expect("the schema is a JSON Schema")
    });
    schema.iter_errors(report).map(|error| error.to_string()).collect()
}

fn found(value: &Value) -> Found {
    let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let number = |name: &str| value[name].as_u64().unwrap_or_default();
    Found {
        code: text("code"),
        severity: text("severity"),
        file: text("file"),
        pointer: text("pointer"),
        line: number("line"),
        column: number("column"),
        field: text("field"),
        expected: text("expected"),
        found: text("found"),
        advice: text("advice"),
    }
}

fn list(folder: &Path, indent: &str, text: &mut String) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        let _ = writeln!(text, "{indent}(cannot be listed)");
        return;
    };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let bytes = entry.metadata().map_or(0, |metadata| metadata.len());
        let _ = writeln!(text, "{indent}{} ({bytes} bytes)", entry.file_name().to_string_lossy());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            list(&entry.path(), &format!("{indent}  "), text);
        }
    }
}
