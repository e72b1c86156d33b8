//! The deterministic-mode probe: its outcome fits the device, and the PyTorch release that it belongs to.

use crate::audit::{Code, Recorder};
use crate::package::json::{Document, Json};

/// What PyTorch says where an operation cannot be deterministic.
const REFUSAL: &str = "does not have a deterministic implementation";

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
    let refused = outcome.contains("Error") || outcome.contains(REFUSAL);
    match place {
        Place::Host => {
            let names = outcome.contains("_cuda");
            let expected = "an outcome on the host, which has no CUDA kernel";
            recorder.require(!names, Code::DeterminismProbe, document, at, expected, outcome);
        }
        Place::Gpu if refused => {
            let names = outcome.split(|character: char| character.is_whitespace() || "'`\"".contains(character));
            let holds = outcome.contains(REFUSAL) && names.clone().any(|word| word.ends_with("_cuda"));
            let expected = format_args!("the name of the CUDA kernel that {REFUSAL}");
            recorder.require(holds, Code::DeterminismProbe, document, at, expected, outcome);
        }
        Place::Gpu => {
            let refusing = |release: &&&str| REFUSING_RELEASES.iter().any(|refusing| release.starts_with(refusing));
            let unchanged: Vec<_> = releases.iter().filter(refusing).copied().collect();
            let changed = releases.len() > unchanged.len();
            if changed || releases.is_empty() {
                let release =
                    releases.iter().find(|release| !refusing(release)).copied().unwrap_or("of unknown release");
                recorder.note(format!(
                    "the deterministic-mode probe is changed: PyTorch {release} says \"{outcome}\" where 2.11 refused"
                ));
                recorder.held();
            } else {
                let expected = format_args!("a refusal: in PyTorch {} this {REFUSAL}", unchanged.join(" and "));
                recorder.report_at(Code::DeterminismProbe, document, at, expected, outcome);
            }
        }
    }
}
