//! Verification of one package: integrity first, then every other family on what could be read, side by side.

use std::collections::BTreeMap;
use std::path::Path;

use rayon::prelude::*;

use super::evidence::{Evidence, PartitionEvidence, RefitEvidence};
use super::quote::quoted_pointer;
use super::{
    CheckReport, Fact, Family, Options, Place, Recorder, Subject, SubjectKind, SubjectReport, integrity, overlap,
    recorder,
};
use super::{
    claims, completeness, divergence, exactness, failures, malformed, model, proofs, prose, samples, signature, timing,
};
use crate::package::folder::Folder;
use crate::package::partition::{RETEST, Route};

/// Verifies the package in `folder`; `name` is how a person called it. `progress` is told how many bytes were hashed.
pub fn verify(folder: &Path, name: &str, options: &Options, progress: &(dyn Fn(u64) + Sync)) -> SubjectReport {
    verify_subject(&Subject::Package(folder.to_owned()), name, options, progress).0
}

/// Verifies a package or a receipt, and gives the contents that were judged, so that what is used afterwards is what was
/// verified. That nothing binds the bytes of a single file makes its integrity "not run"; it does not make it fail, since
/// there is nothing that could have been run.
pub fn verify_subject(
    subject: &Subject,
    name: &str,
    options: &Options,
    progress: &(dyn Fn(u64) + Sync),
) -> (SubjectReport, Evidence) {
    match subject {
        Subject::Receipt(path) => judge(integrity::open_file(path, options, progress), name, options),
        Subject::Package(folder) => {
            let opened = integrity::open(&Folder::new(folder), options, progress);
            let (mut report, evidence) = judge(opened, name, options);
            report.limits.push(signature::limit(evidence.signer.as_ref()));
            (report, evidence)
        }
    }
}

/// All checks on what was opened.
fn judge(opened: integrity::Opened, name: &str, options: &Options) -> (SubjectReport, Evidence) {
    let mut report = SubjectReport {
        path: name.to_owned(),
        kind: opened.kind,
        receipts_sha256: opened.receipts_sha256,
        checks: vec![opened.check],
        facts: Vec::new(),
        limits: Vec::new(),
    };
    let evidence = opened.evidence;
    match opened.kind {
        SubjectKind::Partition => {
            partition(&evidence, options, &mut report);
            // Claims may lie beside the data; that the data is there does not make them true.
            if evidence.documents.contains_key(integrity::CLAIMS) {
                report.checks.push(claims::check(&evidence, options));
            }
        }
        SubjectKind::Claims => {
            report.checks.push(claims::check(&evidence, options));
            report.facts = claims::facts(&evidence);
            report.limits.push(
                "that the printed medians are right: their samples are not here, and nothing was measured again"
                    .to_owned(),
            );
        }
        SubjectKind::Divergence => {
            report.checks.push(divergence::check_package(&evidence, options));
            report.facts = divergence::package_facts(&evidence);
            report.limits.extend(divergence::package_limits(&evidence));
        }
        SubjectKind::DivergenceReceipt => {
            for document in evidence.documents.values() {
                match document {
                    Ok(document) => {
                        report.checks.push(divergence::check_receipt(document, options));
                        report.facts = divergence::receipt_facts(document);
                    }
                    Err(reason) => {
                        let recorder = Recorder::new(Family::Divergence, options.tolerance);
                        report.checks.push(recorder.not_run(reason.as_str()));
                    }
                }
            }
            report.limits.extend(divergence::receipt_limits());
        }
        SubjectKind::Files => {
            report.limits.push("what the files say: no check of their content is known for them".to_owned())
        }
    }
    locate(report.checks.iter_mut(), &evidence);
    (report, evidence)
}

type Check = fn(&PartitionEvidence<'_>, &Options) -> CheckReport;
type RefitCheck = fn(&PartitionEvidence<'_>, &RefitEvidence<'_, '_>, &Options) -> CheckReport;

const CHECKS: [Check; 4] = [samples::check, timing::check, proofs::check, failures::check];
const REFIT_CHECKS: [RefitCheck; 3] = [model::check, exactness::check, prose::check];

fn partition(evidence: &Evidence, options: &Options, report: &mut SubjectReport) {
    let package = PartitionEvidence::read(evidence);
    let (recounted, refitted) = rayon::join(
        || CHECKS.par_iter().map(|check| check(&package, options)).collect::<Vec<_>>(),
        || {
            let refit = package.refit();
            let checks = REFIT_CHECKS.par_iter().map(|check| check(&package, &refit, options)).collect::<Vec<_>>();
            (checks, completeness::check(&package, &refit, options))
        },
    );
    let (refitted, incomplete) = refitted;
    malformed::absorb(&mut report.checks, Family::Integrity, incomplete);
    report.checks.extend(recounted);
    report.checks.extend(refitted);
    malformed::absorb(&mut report.checks, Family::Timing, overlap::check(&package, options));
    malformed::gather(&mut report.checks);
    report.facts = facts(&package);
    report.limits.extend([
        "that the outputs are right: the tensors are not in the package, only the records of their checks".to_owned(),
        "that the times are right: nothing was measured again".to_owned(),
    ]);
}

/// Counts of what the package holds, from its data alone.
fn facts(package: &PartitionEvidence<'_>) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut fact = |one: &str, many: &str, value: usize| {
        let name = if value == 1 { one } else { many };
        facts.push(Fact { name: name.to_owned(), value: value.to_string() });
    };
    if let Ok(validation) = package.validation() {
        let executions = |wanted: Route| validation.timed().filter(|(_, _, route, _)| *route == wanted).count();
        fact("case", "cases", validation.cases.len());
        fact("cohort", "cohorts", validation.cohorts.len());
        fact("native execution", "native executions", executions(Route::Native));
        fact("torch execution", "torch executions", executions(Route::Torch));
        fact("sample", "samples", validation.timed().map(|(_, _, _, timing)| timing.samples.len()).sum());
        let retests = validation.runs().filter(|(_, run)| run.cohort == RETEST).count();
        fact("independent retest", "independent retests", retests);
        let failed = validation.runs().filter(|(_, run)| run.case_status == "failed").count();
        let overlapping = overlap::executions(package);
        if overlapping > 0 {
            fact("overlap execution", "overlap executions", overlapping);
        }
        fact("failed run, kept as failed", "failed runs, kept as failed", failed);
    }
    facts
}

/// Fills in line and column of findings that have a JSON pointer, one walk over each document, and sorts by them.
pub(super) fn locate<'c>(checks: impl Iterator<Item = &'c mut CheckReport>, evidence: &Evidence) {
    let mut checks: Vec<_> = checks.collect();
    let mut of_file: BTreeMap<String, Vec<&mut Place>> = BTreeMap::new();
    for finding in checks.iter_mut().flat_map(|check| &mut check.findings) {
        if finding.place.line.is_none() && finding.place.pointer.is_some() {
            of_file.entry(finding.file.clone()).or_default().push(&mut finding.place);
        }
    }
    for (file, places) in of_file {
        let Ok(document) = evidence.document(&file) else { continue };
        let pointers: Vec<String> = places.iter().filter_map(|place| place.pointer.clone()).collect();
        let positions = document.positions(pointers.iter().map(String::as_str));
        for (place, pointer) in places.into_iter().zip(&pointers) {
            (place.line, place.column) = positions.get(pointer.as_str()).copied().unzip();
        }
    }
    // Only now: a pointer that was cut leads elsewhere.
    for place in checks.iter_mut().flat_map(|check| &mut check.findings).map(|finding| &mut finding.place) {
        if let Some(pointer) = &mut place.pointer {
            pointer.truncate(quoted_pointer(pointer).len());
        }
    }
    checks.into_iter().for_each(|check| recorder::sort(&mut check.findings));
}
