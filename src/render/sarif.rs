//! SARIF 2.1.0: a pure conversion of the report, with types of its own.
//!
//! Rules are the whole catalogue, so that a rule's index never depends on what was found. Checks that were not run and
//! paths that could not be looked at are notifications: they are no results, and must not read as a clean one.

use std::collections::HashMap;
use std::io::{self, Write};

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::audit::{CATALOGUE, Finding, Outcome, Report, Rule, Severity, SubjectReport, Verdict};

use super::escape::visible;
use super::{json, uri, words};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The kinds of notification, in the order of their index.
const NOTIFICATIONS: [(&str, &str); 2] = [
    ("check-not-run", "A check could not be made, so nothing is known about what it covers"),
    ("path-not-verified", "A path could not be looked at at all"),
];

#[derive(Serialize)]
struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    invocations: [Invocation; 1],
    /// Columns count characters, not UTF-16 units.
    column_kind: &'static str,
    results: Vec<SarifResult>,
    properties: RunProperties,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    semantic_version: &'static str,
    rules: Vec<Descriptor>,
    notifications: Vec<Descriptor>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    id: &'static str,
    short_description: Message,
    #[serde(skip_serializing_if = "Option::is_none")]
    full_description: Option<Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<Message>,
    default_configuration: Configuration,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<RuleProperties>,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct RuleProperties {
    tags: [&'static str; 1],
}

#[derive(Serialize)]
struct RunProperties {
    verdict: Verdict,
    strict: bool,
}

#[derive(Serialize)]
struct Message {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    exit_code: u8,
    tool_execution_notifications: Vec<Notification>,
}

#[derive(Serialize)]
struct Notification {
    descriptor: DescriptorReference,
    level: &'static str,
    message: Message,
    locations: [Location; 1],
}

#[derive(Serialize)]
struct DescriptorReference {
    id: &'static str,
    index: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Message,
    locations: [Location; 1],
    partial_fingerprints: Fingerprints,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<LogicalLocation>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_column: Option<usize>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation {
    fully_qualified_name: String,
    kind: &'static str,
}

/// The key is this project's own: consumers compute theirs, and must not take ours for it.
#[derive(Serialize)]
struct Fingerprints {
    #[serde(rename = "recountFinding/v1")]
    finding: String,
}

pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let verdict = report.verdict();
    let mut seen = HashMap::new();
    let results = report.findings().map(|(subject, finding)| result(subject, finding, &mut seen)).collect();
    let invocation = Invocation {
        execution_successful: verdict != Verdict::CouldNotVerify,
        exit_code: verdict.exit_code(),
        tool_execution_notifications: notifications(report),
    };
    let driver = Driver {
        name: env!("CARGO_PKG_NAME"),
        semantic_version: env!("CARGO_PKG_VERSION"),
        rules: CATALOGUE.iter().map(rule).collect(),
        notifications: NOTIFICATIONS.iter().map(notification_descriptor).collect(),
    };
    let run = Run {
        tool: Tool { driver },
        invocations: [invocation],
        column_kind: "unicodeCodePoints",
        results,
        properties: RunProperties { verdict, strict: report.strict },
    };
    json::write_pretty(&Log { schema: SCHEMA, version: "2.1.0", runs: [run] }, out)
}

fn rule(rule: &Rule) -> Descriptor {
    Descriptor {
        id: rule.name,
        short_description: message(rule.title),
        full_description: Some(message(rule.explanation)),
        help: Some(message(&format!("{} {}", rule.explanation, rule.advice))),
        default_configuration: Configuration { level: level(rule.severity) },
        properties: Some(RuleProperties { tags: [rule.family.name()] }),
    }
}

fn notification_descriptor(&(id, text): &(&'static str, &'static str)) -> Descriptor {
    Descriptor {
        id,
        short_description: message(text),
        full_description: None,
        help: None,
        default_configuration: Configuration { level: notification_level(id) },
        properties: None,
    }
}

fn result(subject: &SubjectReport, finding: &Finding, seen: &mut HashMap<[u8; 16], usize>) -> SarifResult {
    let rule = finding.code.rule();
    let mut text = format!("{}: expected {}", rule.title, words::shown(&finding.expected));
    text.push_str(&format!(", found {}", words::shown(&finding.found)));
    if let Some(distance) = finding.distance {
        text.push_str(&format!(" (apart {})", words::apart(distance)));
    }
    // The location may not be able to say it: a name that leaves the package is no URI in it.
    text.push_str(&format!(", at {}. {}", words::place(finding), visible(&finding.advice)));
    let region = finding
        .place
        .line
        .filter(|line| *line > 0)
        .map(|start_line| Region { start_line, start_column: finding.place.column.filter(|column| *column > 0) });
    let logical = |name: &String, kind| LogicalLocation { fully_qualified_name: visible(name).into_owned(), kind };
    let place = &finding.place;
    let pointer = place.pointer.iter().map(|pointer| logical(pointer, "value"));
    let field = place.field.iter().map(|field| logical(field, "column"));
    SarifResult {
        rule_id: rule.name,
        rule_index: finding.code as usize,
        level: level(finding.severity),
        message: message(&text),
        locations: [Location {
            physical_location: PhysicalLocation { artifact_location: artifact(subject, &finding.file), region },
            logical_locations: pointer.chain(field).collect(),
        }],
        partial_fingerprints: Fingerprints { finding: fingerprint(finding, seen) },
    }
}

/// Rule and place, never what was measured: the finding stays the same one when its numbers change. Findings that agree in
/// both (two cells of one column) are told apart by their order.
fn fingerprint(finding: &Finding, seen: &mut HashMap<[u8; 16], usize>) -> String {
    let place = &finding.place;
    let mut hash = Sha256::new();
    for part in [Some(finding.code.name()), Some(&finding.file), place.pointer.as_deref(), place.field.as_deref()] {
        // The length first, so that no two lists of parts are one text.
        hash.update(part.map_or(u64::MAX, |part| part.len() as u64).to_le_bytes());
        hash.update(part.unwrap_or_default());
    }
    let digest = hash.finalize();
    let mut key = [0; 16];
    key.copy_from_slice(&digest[..16]);
    let ordinal = seen.entry(key).or_insert(0);
    *ordinal += 1;
    format!("{:032x}:{ordinal}", u128::from_be_bytes(key))
}

fn notifications(report: &Report) -> Vec<Notification> {
    let mut notifications = Vec::new();
    for subject in &report.subjects {
        for check in &subject.checks {
            if let Outcome::NotRun(reason) = &check.outcome {
                let text = format!("{}: not run: {}", check.family.name(), visible(reason));
                notifications.push(notification(0, &text, artifact(subject, ".")));
            }
        }
    }
    for error in &report.errors {
        let text = format!("{}: {}", visible(&error.path), visible(&error.reason));
        let artifact = ArtifactLocation { uri: uri::uri(&error.path, ".") };
        notifications.push(notification(1, &text, artifact));
    }
    notifications
}

fn notification(index: usize, text: &str, artifact: ArtifactLocation) -> Notification {
    let (id, _) = NOTIFICATIONS[index];
    let physical_location = PhysicalLocation { artifact_location: artifact, region: None };
    Notification {
        descriptor: DescriptorReference { id, index },
        level: notification_level(id),
        message: message(text),
        locations: [Location { physical_location, logical_locations: Vec::new() }],
    }
}

fn notification_level(id: &str) -> &'static str {
    if id == NOTIFICATIONS[0].0 { "warning" } else { "error" }
}

fn artifact(subject: &SubjectReport, file: &str) -> ArtifactLocation {
    ArtifactLocation { uri: uri::uri(&subject.path, file) }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Warning => "warning",
        Severity::Error | Severity::Unsupported => "error",
    }
}

/// A plain text message. Braces are placeholders there (SARIF 2.1.0, 3.11.5), so literal ones are doubled; `[a](b)` is a link
/// (3.11.6), so a space keeps text that looks like one from being one.
fn message(text: &str) -> Message {
    Message { text: text.replace('{', "{{").replace('}', "}}").replace("](", "] (") }
}
