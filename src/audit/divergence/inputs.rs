//! Inputs: every arm and engine consumed the same bytes, and those are the bytes in the package.

use std::collections::{BTreeMap, HashMap};

use super::origin;
use super::package::tensor;
use crate::audit::evidence::Evidence;
use crate::audit::{Code, Place, Recorder, show};
use crate::package::divergence::{Condition, RawResults, files, input_sha256};
use crate::package::receipts::is_sha256;

/// The name of the input that all resolutions share.
pub(super) const INPUT: &str = "input";

/// Checks the input hashes of all arms and engines. Tensors that they speak of are taken out of `unused`.
pub(super) fn check(
    results: &[(&str, RawResults<'_>)],
    evidence: &Evidence,
    unused: &mut BTreeMap<&str, ()>,
    recorder: &mut Recorder,
) {
    let mut first: HashMap<&str, (&str, String)> = HashMap::new();
    for (folder, results) in results {
        for condition in &results.conditions {
            let place = format!("{folder}, {}", condition.arm.name());
            check_names(&place, results, condition, recorder);
            for (name, at) in condition.input_hashes {
                let Some(hash) = at.as_str().filter(|hash| is_sha256(hash)) else {
                    let found = format_args!("{} ({place})", show(at));
                    recorder.report_at(Code::InputHash, results.document, at, "64 hexadecimal digits", found);
                    continue;
                };
                let (expected, other) = first.entry(name).or_insert_with(|| (hash, place.clone()));
                let same = *expected == hash;
                let expected = format_args!("{expected} as in {other}");
                let found = format_args!("{hash} ({place})");
                recorder.require(same, Code::InputHash, results.document, at, expected, found);
            }
        }
    }
    let Some((_, sample)) = results.first() else { return };
    origin::check(results, recorder);
    for (name, (hash, place)) in &first {
        let file = files::input(name);
        unused.remove(file.as_str());
        let Some(shape) = sample.protocol.input_shape.as_deref().and_then(|shape| shape_of(name, shape)) else {
            continue;
        };
        match tensor(evidence, &file, &shape) {
            Some(Ok(tensor)) => {
                let found = input_sha256(&tensor);
                if found == *hash {
                    recorder.held();
                } else {
                    let expected = format_args!("{hash}, as {place} records of {name}");
                    recorder.report(Code::InputHash, &file, Place::whole_file(), expected, found);
                }
            }
            Some(Err(reason)) => {
                let expected = format_args!("binary32 values of shape {shape:?}");
                recorder.report(Code::TensorFile, &file, Place::whole_file(), expected, reason);
            }
            None => {}
        }
    }
    let absent = first.keys().filter(|name| evidence.text(&files::input(name)).is_err()).count();
    if absent > 0 {
        recorder.note(format!(
            "{absent} of {} inputs are not in the package; their hashes agree with each other",
            first.len()
        ));
    }
}

/// One input, and a grid and an output gradient for each measured resolution.
fn check_names(place: &str, results: &RawResults<'_>, condition: &Condition<'_>, recorder: &mut Recorder) {
    let resolutions = condition.resolutions.iter().flatten();
    let mut wanted = vec![INPUT.to_owned()];
    wanted.extend(resolutions.flat_map(|one| [format!("grid-{one}"), format!("grad-output-{one}")]));
    let at = condition.at.get("input_hashes").unwrap_or(condition.at);
    for name in wanted {
        let there = condition.input_hashes.iter().any(|(other, _)| *other == name);
        let found = format_args!("nothing ({place})");
        let expected = format_args!("the hash of {name}");
        recorder.require(there, Code::InputHash, results.document, at, expected, found);
    }
}

/// The shape of an input from its name and the shape of the operation's input; `None` for names that are not known, whose
/// files are then bound by the package's receipts alone.
pub(super) fn shape_of(name: &str, input: &[u64]) -> Option<Vec<u64>> {
    if name == INPUT {
        return Some(input.to_vec());
    }
    let &[batch, channels, _, _] = input else { return None };
    let side = |prefix: &str| name.strip_prefix(prefix)?.parse::<u64>().ok();
    match (side("grad-output-"), side("grid-")) {
        (Some(side), _) => Some(vec![batch, channels, side, side]),
        (_, Some(side)) => Some(vec![batch, side, side, 2]),
        _ => None,
    }
}
