//! A partition package as a refit uses it: its contents, and what is to be said against them.

use std::path::Path;

use super::evidence::{Evidence, Options, PartitionEvidence};
use super::verify::locate;
use super::{CheckReport, Code, Family, Finding, Recorder, Severity, SubjectKind, integrity, report_problems};
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
    let folders = super::packages(folder)?;
    let [folder] = folders.as_slice() else {
        return Err(format!("{} packages lie below it; name one", folders.len()));
    };
    let opened = integrity::open(&Folder::new(folder), options, &|_| {});
    match opened.kind {
        SubjectKind::Partition => Ok(OpenedPartition { evidence: opened.evidence, integrity: opened.check }),
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
