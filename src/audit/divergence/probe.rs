//! The deterministic-mode probe: its outcome fits the device, and the PyTorch release that it belongs to.

use crate::audit::{Code, Recorder};
use crate::package::json::{Document, Json};

/// What PyTorch says where an operation cannot be deterministic.
const REFUSAL: &str = "does not have a deterministic implementation";

/// The kernel that it says so of.
const KERNEL: &str = "grid_sampler_2d_backward_cuda";

/// Releases in which the gradient of 2D `grid_sample` is known to be refused on a GPU: that of the published receipt, with
/// which a run on another GPU agreed.
const REFUSING_RELEASES: [&str; 1] = ["2.11."];

/// Where an outcome was observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// On a GPU.
    Gpu,
    /// On the host.
    Host,
}

/// Checks one outcome; `releases` are the PyTorch releases that it may belong to.
pub(super) fn check(
    (at, outcome): (&Json, &str),
    place: Place,
    releases: &[&str],
    document: &Document,
    recorder: &mut Recorder,
) {
    match place {
        Place::Host => {
            let names = outcome.contains("_cuda");
            let expected = "an outcome on the host, which has no CUDA kernel";
            recorder.require(!names, Code::DeterminismProbe, document, at, expected, outcome);
        }
        Place::Gpu => {
            let mut words = outcome.split(|character: char| !(character.is_alphanumeric() || character == '_'));
            if outcome.contains(REFUSAL) && words.any(|word| word == KERNEL) {
                recorder.held();
                return;
            }
            // Only a release whose outcome is known can be held to it; the outcome may be that of any of them.
            let refusing = |release: &str| REFUSING_RELEASES.iter().any(|refusing| release.starts_with(refusing));
            if releases.is_empty() || releases.iter().any(|release| !refusing(release)) {
                let release = releases.iter().find(|release| !refusing(release));
                let release = release.copied().unwrap_or("of unknown release");
                recorder.note(format!(
                    "the deterministic-mode probe is changed: PyTorch {release} says \"{outcome}\" where 2.11 refused"
                ));
                recorder.held();
            } else {
                let expected = format_args!("a refusal: in PyTorch {} {KERNEL} {REFUSAL}", releases.join(" and "));
                recorder.report_at(Code::DeterminismProbe, document, at, expected, outcome);
            }
        }
    }
}
