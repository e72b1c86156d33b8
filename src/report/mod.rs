//! What a report shows besides the verdict: the numbers behind its pictures, collected from what was verified.
//!
//! Nothing here draws or prints; [`figures`] are plain numbers.

mod divergence;
pub mod figures;
mod partition;

use self::figures::Figures;
use crate::audit::{self, Evidence, Options, PartitionEvidence, Subject, SubjectKind, SubjectReport};

/// One package or receipt, verified, with the numbers for its pictures.
#[derive(Debug, Clone)]
pub struct Studied {
    /// What the checks say.
    pub subject: SubjectReport,
    /// What can be drawn.
    pub figures: Figures,
}

/// Verifies one package or receipt and collects its figures from the very contents that were judged. `progress` is told how
/// many bytes were hashed.
pub fn study(subject: &Subject, name: &str, options: &Options, progress: &(dyn Fn(u64) + Sync)) -> Studied {
    let (subject, evidence) = audit::verify_subject(subject, name, options, progress);
    let figures = figures_of(subject.kind, &evidence);
    Studied { subject, figures }
}

fn figures_of(kind: SubjectKind, evidence: &Evidence) -> Figures {
    match kind {
        SubjectKind::Partition => partition::collect(&PartitionEvidence::read(evidence)),
        SubjectKind::Divergence => divergence::of_package(evidence),
        SubjectKind::DivergenceReceipt => divergence::of_receipt(evidence),
        SubjectKind::Claims | SubjectKind::Files => Figures::None,
    }
}
