//! The result of a verification as an in-toto Statement (v1) with the published predicate test-result (v0.1), see
//! docs/schema/recount-attestation-v1.json.
//!
//! The statement depends on the package, the options and the version of the program alone: no clock, no path. (Where keys are
//! valid for a time only, the verdict depends on the clock unless the time is an option.)

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::json::write_pretty;
use crate::audit::{CheckReport, Evidence, Outcome, SubjectKind, SubjectReport, Tally, Verdict};

const STATEMENT: &str = "https://in-toto.io/Statement/v1";
const PREDICATE: &str = "https://in-toto.io/attestation/test-result/v0.1";

/// What a statement is made from.
#[derive(Debug)]
pub struct Attested<'a> {
    /// What was found out.
    pub report: &'a SubjectReport,
    /// What it was found out about: the files that were hashed.
    pub evidence: &'a Evidence,
    /// How it was asked for.
    pub settings: Settings<'a>,
}

/// The options that the result depends on.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings<'a> {
    /// Whether warnings and checks that could not be run fail.
    pub strict: bool,
    /// Largest relative difference of recomputed floats.
    pub tolerance: f64,
    /// Globs of files that may be absent.
    pub allow_absent: &'a [String],
    /// The SHA-256 that the receipts must have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect_receipts: Option<&'a str>,
    /// The identity that must have signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signer: Option<&'a str>,
    /// The namespace of the signature, where one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature_namespace: Option<&'a str>,
    /// When the signature was to count as made, where that was stated; otherwise the present time counted, which no statement
    /// holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signed_at: Option<String>,
    /// Size in bytes from which files of measurements were read in a stream, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_from: Option<u64>,
    /// SHA-256 of the allowed-signers file.
    #[serde(skip)]
    pub allowed_signers_sha256: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Statement<'a> {
    #[serde(rename = "_type")]
    kind: &'static str,
    subject: Vec<Resource<'a>>,
    predicate_type: &'static str,
    predicate: Predicate<'a>,
}

/// A ResourceDescriptor of in-toto.
#[derive(Default, Serialize)]
struct Resource<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<Sha256<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<&'a Settings<'a>>,
}

#[derive(Serialize)]
struct Sha256<'a> {
    sha256: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Predicate<'a> {
    result: &'static str,
    configuration: Vec<Resource<'a>>,
    passed_tests: Vec<&'static str>,
    warned_tests: Vec<&'static str>,
    failed_tests: Vec<&'static str>,
    /// An extension field, as the parsing rules of in-toto allow it: no other field depends on it.
    recount_verification: Verification<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Verification<'a> {
    verifier: Verifier,
    kind: SubjectKind,
    verdict: Verdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<Signed<'a>>,
    checks: Vec<Check<'a>>,
    findings: BTreeMap<&'static str, usize>,
    not_proved: &'a [String],
}

/// A good signature: the key, and the identity only where one was asked for. A line of an allowed-signers file is a pattern.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Signed<'a> {
    key_type: &'a str,
    key_fingerprint: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    identity: Option<&'a str>,
}

#[derive(Serialize)]
struct Verifier {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct Check<'a> {
    family: &'static str,
    outcome: &'a Outcome,
    tally: Tally,
}

/// Writes the statement; a verdict of failure is a result, too. The only errors are those of `out`.
pub fn attestation(attested: &Attested<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Attested { report, evidence, settings } = attested;
    let mut configuration = vec![Resource {
        name: "recount verify",
        uri: Some(concat!("pkg:generic/recount@", env!("CARGO_PKG_VERSION"))),
        annotations: Some(settings),
        ..Resource::default()
    }];
    configuration.extend(settings.allowed_signers_sha256.map(|sha256| resource("allowed signers", sha256)));
    let verdict = report.verdict(settings.strict);
    let has_findings = report.findings().next().is_some();
    let mut findings = BTreeMap::new();
    for finding in report.findings() {
        *findings.entry(finding.code.name()).or_default() += 1;
    }
    let of = |wanted: &str| -> Vec<&'static str> {
        let named = |check: &&CheckReport| result_of(report, check, settings.strict) == Some(wanted);
        report.checks.iter().filter(named).map(|check| check.family.name()).collect()
    };
    let statement = Statement {
        kind: STATEMENT,
        subject: evidence.digests.iter().map(|(name, sha256)| resource(name, sha256)).collect(),
        predicate_type: PREDICATE,
        predicate: Predicate {
            result: match verdict {
                Verdict::Holds if has_findings => WARNED,
                Verdict::Holds => PASSED,
                Verdict::DoesNotHold | Verdict::CouldNotVerify => FAILED,
            },
            configuration,
            passed_tests: of(PASSED),
            warned_tests: of(WARNED),
            failed_tests: of(FAILED),
            recount_verification: Verification {
                verifier: Verifier { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") },
                kind: report.kind,
                verdict,
                signature: evidence.signer.as_ref().map(|signer| Signed {
                    key_type: &signer.key_type,
                    key_fingerprint: &signer.fingerprint,
                    identity: signer.identity.as_deref(),
                }),
                checks: report
                    .checks
                    .iter()
                    .map(|check| Check { family: check.family.name(), outcome: &check.outcome, tally: check.tally })
                    .collect(),
                findings,
                not_proved: &report.limits,
            },
        },
    };
    write_pretty(&statement, out)
}

const PASSED: &str = "PASSED";
const WARNED: &str = "WARNED";
const FAILED: &str = "FAILED";

/// What a check family counts as; `None` where it was not run and need not have been.
fn result_of(report: &SubjectReport, check: &CheckReport, strict: bool) -> Option<&'static str> {
    match &check.outcome {
        Outcome::Failed => Some(FAILED),
        _ if strict && !check.findings.is_empty() => Some(FAILED),
        Outcome::NotRun(_) if strict && report.asks_for(check) => Some(FAILED),
        Outcome::NotRun(_) => None,
        Outcome::Passed if check.findings.is_empty() => Some(PASSED),
        Outcome::Passed => Some(WARNED),
    }
}

fn resource<'a>(name: &'a str, sha256: &'a str) -> Resource<'a> {
    Resource { name, digest: Some(Sha256 { sha256 }), ..Resource::default() }
}
