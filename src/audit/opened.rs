//! A partition package as a refit uses it: its contents, and what is to be said against them.

use std::path::{Path, PathBuf};

use super::evidence::{Evidence, Options, PartitionEvidence};
use super::verify::{locate, verify_subject};
use super::{CheckReport, Code, Family, Finding, Recorder, Severity, Subject, SubjectKind, integrity, report_problems};
use crate::package::folder::Folder;

/// A partition package that was opened, whose contents nobody has judged.
pub struct OpenedPartition {
    /// The contents.
    pub evidence: Evidence,
    integrity: CheckReport,
}

/// Opens the partition package that `folder` stands for.
///
/// # Errors
/// There is not exactly one package, or it is of another kind.
pub fn open_partition(folder: &Path, options: &Options) -> Result<OpenedPartition, String> {
    let opened = integrity::open(&Folder::new(only_package(folder)?), options, &|_| {});
    is_partition(opened.kind)?;
    Ok(OpenedPartition { evidence: opened.evidence, integrity: opened.check })
}

/// Verifies the partition package that `folder` stands for in full, and gives its contents with what was found, the worst
/// first.
///
/// # Errors
/// There is not exactly one package, or it is of another kind.
pub fn verify_partition(folder: &Path, options: &Options) -> Result<(Evidence, Vec<Finding>), String> {
    let subject = Subject::Package(only_package(folder)?);
    let (report, evidence) = verify_subject(&subject, &folder.display().to_string(), options, &|_| {});
    is_partition(report.kind)?;
    let mut findings: Vec<_> = report.findings().cloned().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    Ok((evidence, findings))
}

fn only_package(folder: &Path) -> Result<PathBuf, String> {
    let folders = super::packages(folder)?;
    match <[PathBuf; 1]>::try_from(folders) {
        Ok([folder]) => Ok(folder),
        Err(folders) => Err(format!("{} packages lie below it; name one", folders.len())),
    }
}

fn is_partition(kind: SubjectKind) -> Result<(), String> {
    match kind {
        SubjectKind::Partition => Ok(()),
        other => Err(format!("it is not a partition package but {}", other.title())),
    }
}

impl OpenedPartition {
    /// What integrity found, and what of the runs could not be read, the worst first. `package` is what was read of
    /// [`OpenedPartition::evidence`].
    pub fn findings(&self, package: &PartitionEvidence<'_>, options: &Options) -> Vec<Finding> {
        let mut recorder = Recorder::new(Family::Proofs, options.tolerance);
        if let Ok(validation) = package.validation() {
            report_problems(&mut recorder, validation.document, validation.problems.clone());
        }
        let mut checks = [self.integrity.clone(), recorder.finish()];
        locate(checks.iter_mut(), &self.evidence);
        let mut findings: Vec<_> = checks.into_iter().flat_map(|check| check.findings).collect();
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        findings
    }
}

/// Whether a finding means that a refit is not about the package that was published. A file that is not there has no part in
/// the fit; one that the fit needs cannot be missed silently.
pub fn spoils_refit(finding: &Finding) -> bool {
    finding.severity != Severity::Warning && finding.code != Code::AbsentFile
}
