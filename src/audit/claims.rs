//! Claims: claims made from printed medians. (placeholder)

use super::evidence::{Evidence, Options};
use super::{CheckReport, Family, Recorder};

pub(super) fn check(_: &Evidence, options: &Options) -> CheckReport {
    Recorder::new(Family::Claims, options.tolerance).not_run("not written yet")
}
