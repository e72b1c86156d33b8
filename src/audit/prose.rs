//! Prose: numbers in the package's README. (placeholder)

use super::evidence::{Options, PartitionEvidence, RefitEvidence};
use super::{CheckReport, Family, Recorder};

pub(super) fn check(_: &PartitionEvidence<'_>, _: &RefitEvidence<'_, '_>, options: &Options) -> CheckReport {
    Recorder::new(Family::Prose, options.tolerance).not_run("not written yet")
}
