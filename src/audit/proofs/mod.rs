//! Proofs: that every run of a case did the same work on the same inputs, with the launch that was asked for, and that its
//! outputs were checked.

mod cases;
mod comparisons;
mod compiler;
mod device;
mod forms;
mod inputs;
mod launch;
mod outputs;
mod realization;
mod receipts;
mod settings;

pub(super) use outputs::RouteOutputs;
pub(super) use receipts::is_same_file;

use super::evidence::{Options, PartitionEvidence};
use super::{CheckReport, Family, Recorder, report_problems};
use crate::package::partition::Reader;

/// Runs the family.
pub(super) fn check(package: &PartitionEvidence<'_>, options: &Options) -> CheckReport {
    let mut recorder = Recorder::new(Family::Proofs, options.tolerance);
    receipts::check(package.evidence, &mut recorder);
    let validation = match package.validation() {
        Ok(validation) => validation,
        Err(reason) => return recorder.not_run(reason),
    };
    report_problems(&mut recorder, validation.document, validation.problems.clone());
    cases::check(package.evidence, validation, &mut recorder);
    comparisons::check(validation, &mut recorder);
    compiler::check(validation, &mut recorder);
    device::check(package.evidence, validation, &mut recorder);
    settings::check(validation, &mut recorder);
    launch::check_cohorts(validation, &mut recorder);
    let reader = Reader::new(validation.document);
    for record in &validation.cases {
        inputs::check(validation, record, &reader, &mut recorder);
        launch::check(validation, record, &reader, &mut recorder);
        realization::check(validation, record, &reader, &mut recorder);
        outputs::check(validation, record, &reader, &mut recorder);
    }
    outputs::check_settings(validation, &reader, &mut recorder);
    report_problems(&mut recorder, validation.document, reader.into_problems());
    recorder.finish()
}
