//! Completeness: a partition package has the files and records that its own evidence needs.
//!
//! A check that finds no input compares nothing, and what was left out would look like what agrees. So a missing input is a
//! finding here, unless the reader accepts its absence or another finding says already why it cannot be used.

use super::evidence::{Evidence, Options, PartitionEvidence, RefitEvidence};
use super::{CheckReport, Code, Family, Place, Recorder};
use crate::package::partition::{DEFAULT, Validation, files};
use crate::package::receipts::RECEIPTS;

/// Files of every partition package.
const REQUIRED: [&str; 4] = [files::VALIDATION, files::CASES, files::DEVICE, files::SAMPLES];

/// What a partition package lacks; belongs to the family of integrity.
pub(super) fn check(package: &PartitionEvidence<'_>, refit: &RefitEvidence<'_, '_>, options: &Options) -> CheckReport {
    let mut recorder = Recorder::new(Family::Integrity, options.tolerance);
    let evidence = package.evidence;
    let required = REQUIRED.into_iter().map(|name| (name, "a partition package has it")).chain(implied(package));
    let missing: Vec<_> = required.filter(|(name, _)| is_missing(evidence, name, options)).collect();
    for (name, reason) in &missing {
        recorder.report(
            Code::IncompletePackage,
            name,
            Place::whole_file(),
            format_args!("the file: {reason}"),
            "nothing",
        );
    }
    if let Ok(validation) = package.validation() {
        check_records(validation, &mut recorder);
        check_model(package, validation, refit, &mut recorder);
    }
    recorder.finish()
}

/// Files that others of the package speak of.
fn implied(package: &PartitionEvidence<'_>) -> impl Iterator<Item = (&'static str, &'static str)> {
    let evidence = package.evidence;
    let model = evidence.documents.contains_key(files::MODEL);
    let provenance = evidence.documents.contains_key(files::PROVENANCE);
    let snapshot = package.validation().is_ok_and(|validation| {
        let stated = |member: &str| validation.document.root().get(member).is_some();
        stated("build_snapshot") || stated("implementation_files_rechecked")
    });
    [
        (model, files::PROVENANCE, "model.json has a profile whose origin it states"),
        (provenance, files::MODEL, "provenance.json states the id of its profile"),
        (snapshot, files::PROOF_RECEIPTS, "validation.json names the snapshot that it is about"),
    ]
    .into_iter()
    .filter_map(|(is_implied, file, reason)| is_implied.then_some((file, reason)))
}

/// Whether a file is simply not there; one that was declared or could not be read has a finding of its own.
pub(super) fn is_missing(evidence: &Evidence, name: &str, options: &Options) -> bool {
    // Without receipts nothing is known of the package, and that is said already.
    let Ok(receipts) = evidence.document(RECEIPTS) else { return false };
    let is_declared = receipts.root().path(&["files", name]).is_some();
    let is_known = evidence.documents.contains_key(name) || evidence.texts.contains_key(name);
    !is_declared && !is_known && !options.allow_absent.is_match(name)
}

/// There is something to verify, and the runs that all others are compared with are there.
fn check_records(validation: &Validation<'_>, recorder: &mut Recorder) {
    let document = validation.document;
    let root = document.root();
    // Where the record is damaged instead, what could not be read is reported.
    let is_empty = |member: &str| root.get(member).and_then(|list| list.as_array()).is_some_and(<[_]>::is_empty);
    for (member, what) in [("cases", "at least one case"), ("cohorts", "at least one cohort")] {
        if is_empty(member) {
            recorder.report_at(Code::EmptyPackage, document, root.get(member).unwrap_or(root), what, "none");
        }
    }
    if validation.cases.is_empty() || validation.cohorts.is_empty() {
        return;
    }
    if validation.timed().next().is_none() {
        let cases = root.get("cases").unwrap_or(root);
        recorder.report_at(Code::EmptyPackage, document, cases, "at least one run with times", "none");
    }
    if validation.cohorts.iter().all(|cohort| cohort.name != DEFAULT) {
        let cohorts = root.get("cohorts").unwrap_or(root);
        let expected = "a cohort default, which the others are compared with";
        recorder.report_at(Code::IncompletePackage, document, cohorts, expected, "none");
    }
}

/// A recorded model can be fitted again from what is recorded beside it.
fn check_model(
    package: &PartitionEvidence<'_>,
    validation: &Validation<'_>,
    refit: &RefitEvidence<'_, '_>,
    recorder: &mut Recorder,
) {
    let (Ok(model), Err(reason)) = (package.evidence.document(files::MODEL), refit) else { return };
    // Without a device there is no refit; that is said of the file. So is what is wrong in damaged records.
    if package.evidence.document(files::DEVICE).is_ok() && validation.problems.is_empty() {
        recorder.report_at(
            Code::IncompletePackage,
            model,
            model.root(),
            "the runs and the device that it was fitted on",
            reason,
        );
    }
}
