//! Verification of one package: integrity first, then every other family on what could be read, side by side.

use std::path::Path;

use rayon::prelude::*;

use super::evidence::{Evidence, PartitionEvidence, RefitEvidence};
use super::{CheckReport, Fact, Family, Finding, Options, SubjectKind, SubjectReport, integrity};
use super::{claims, completeness, exactness, failures, malformed, model, proofs, prose, samples, timing};
use crate::package::folder::Folder;
use crate::package::partition::{RETEST, Route};

/// Verifies the package in `folder`; `name` is how a person called it. `progress` is told how many bytes were hashed.
pub fn verify(folder: &Path, name: &str, options: &Options, progress: &(dyn Fn(u64) + Sync)) -> SubjectReport {
    let opened = integrity::open(&Folder::new(folder), options, progress);
    let mut report = SubjectReport {
        path: name.to_owned(),
        kind: opened.kind,
        receipts_sha256: opened.receipts_sha256,
        checks: vec![opened.check],
        facts: Vec::new(),
        limits: Vec::new(),
    };
    match opened.kind {
        SubjectKind::Partition => {
            partition(&opened.evidence, options, &mut report);
            // Claims may lie beside the data; that the data is there does not make them true.
            if opened.evidence.documents.contains_key(integrity::CLAIMS) {
                report.checks.push(claims::check(&opened.evidence, options));
            }
        }
        SubjectKind::Claims => {
            report.checks.push(claims::check(&opened.evidence, options));
            report.facts = claims::facts(&opened.evidence);
            report.limits.push(
                "that the printed medians are right: their samples are not here, and nothing was measured again"
                    .to_owned(),
            );
        }
        SubjectKind::Files => {
            report.limits.push("what the files say: no check of their content is known for them".to_owned())
        }
    }
    report.limits.push(
        "that receipts.json is the author's: only --expect-receipts with a hash from elsewhere, or a signature, can"
            .to_owned(),
    );
    locate(&mut report, &opened.evidence);
    report
}

/// Reads the contents of a partition package without judging them.
///
/// # Errors
/// The folder does not hold a partition package.
pub fn read_partition(folder: &Path, options: &Options) -> Result<Evidence, String> {
    let folders = super::packages(folder)?;
    let [folder] = folders.as_slice() else {
        return Err(format!("{} packages lie below it; name one", folders.len()));
    };
    let opened = integrity::open(&Folder::new(folder), options, &|_| {});
    match opened.kind {
        SubjectKind::Partition => Ok(opened.evidence),
        other => Err(format!("it is not a partition package but {}", other.title())),
    }
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
        fact("failed run, kept as failed", "failed runs, kept as failed", failed);
    }
    facts
}

/// Fills in line and column of findings that have a JSON pointer.
fn locate(report: &mut SubjectReport, evidence: &Evidence) {
    let findings = report.checks.iter_mut().flat_map(|check| &mut check.findings);
    for Finding { file, place, .. } in findings {
        if place.line.is_none()
            && let Some(pointer) = &place.pointer
            && let Ok(document) = evidence.document(file)
            && let Some((line, column)) = document.position_or_parent(pointer)
        {
            place.line = Some(line);
            place.column = Some(column);
        }
    }
}
