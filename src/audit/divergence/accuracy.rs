//! `accuracy.json`: what it says of trials agrees with the hashes of these trials.
//!
//! The errors themselves are against a reference in binary64 that is not computed here. But equal gradients have equal
//! errors, what equals the host's fixed point is one known tensor for each resolution, and norms bound each other.

use std::collections::HashMap;

use super::beside;
use super::norms::{self, Errors, norm};
use super::package::tensor;
use crate::audit::evidence::Evidence;
use crate::audit::{Code, Recorder, show};
use crate::package::divergence::{Arm, Condition, RawResults, files};
use crate::package::json::{Document, Json};

const SCHEMA: &str = "recount-divergence-accuracy-v1";

/// The columns of an arm: an item for each resolution.
const COLUMNS: [&str; 3] = ["relative_error", "largest_error", "equals_host_fixed_point"];

/// One resolution of an arm of an engine.
struct Row<'d> {
    resolution: u64,
    /// Of all its trials, in their order.
    hashes: Vec<&'d str>,
    /// Errors and flag, as [`COLUMNS`].
    cells: [&'d Json; 3],
    /// Coordinates of a gradient, where they are known.
    coordinates: Option<u64>,
    /// Norm of the first trial, where its tensor is here.
    norm: Option<f64>,
}

/// Checks the errors of a package, where it has some.
pub(super) fn check(results: &[(&str, RawResults<'_>)], evidence: &Evidence, recorder: &mut Recorder) {
    let Some(document) = beside(files::ACCURACY, SCHEMA, evidence, recorder) else { return };
    let root = document.root();
    let engines = root.get("engines");
    let Some(members) = engines.and_then(Json::as_object) else {
        let at = engines.unwrap_or(root);
        recorder.report_at(Code::DivergenceAccuracy, document, at, "engines, an object", at.kind());
        return;
    };
    let mut rows = Vec::new();
    for (name, engine) in members {
        let measured = results.iter().find(|(folder, _)| folder == name);
        let expected = "an engine that has results in the package";
        recorder.require(measured.is_some(), Code::DivergenceAccuracy, document, engine, expected, name);
        let Some((folder, results)) = measured else { continue };
        let conditions = results.conditions.as_slice();
        for (name, arm) in engine.as_object().unwrap_or_default() {
            let condition = conditions.iter().find(|condition| Arm::from_name(name) == Some(condition.arm));
            let expected = "an arm that the engine has measured";
            recorder.require(condition.is_some(), Code::DivergenceAccuracy, document, arm, expected, name);
            if let Some(condition) = condition {
                rows.extend(read((folder, results, condition), (document, arm), evidence, recorder));
            }
        }
        for condition in conditions {
            let name = condition.arm.name();
            let there = engine.get(name).is_some();
            recorder.require(
                there,
                Code::DivergenceAccuracy,
                document,
                engine,
                format_args!("the arm {name}"),
                "nothing",
            );
        }
    }
    let at = engines.unwrap_or(root);
    for (folder, _) in results.iter().filter(|(_, results)| !results.conditions.is_empty()) {
        let there = members.iter().any(|(name, _)| name == folder);
        let expected = format_args!("the engine {folder}, which has results in the package");
        recorder.require(there, Code::DivergenceAccuracy, document, at, expected, "nothing");
    }
    fixed_point(&rows, document, recorder);
    equal_trials(&rows, document, recorder);
    let sound = rows.iter().filter(|row| row.cells[..2].iter().all(|at| is_error(at)));
    let errors = sound.map(|row| Errors {
        resolution: row.resolution,
        relative: row.cells[0],
        largest: row.cells[1],
        coordinates: row.coordinates,
        norm: row.norm,
    });
    norms::check(&errors.collect::<Vec<_>>(), document, recorder);
}

/// An error is a number that is not negative; one that is not finite is null.
fn is_error(at: &Json) -> bool {
    *at == Json::Null || at.as_f64().is_some_and(|error| error >= 0.0)
}

/// The rows of one arm; none where it has other columns than it should.
fn read<'d>(
    (folder, results, condition): (&str, &RawResults<'_>, &'d Condition<'_>),
    (document, arm): (&'d Document, &'d Json),
    evidence: &Evidence,
    recorder: &mut Recorder,
) -> Vec<Row<'d>> {
    let Some(resolutions) = &condition.resolutions else { return Vec::new() };
    let wanted = Json::from(resolutions.clone());
    let res = arm.get("res").unwrap_or(arm);
    let mut sound = recorder.equal(Code::DivergenceAccuracy, document, res, &wanted);
    let columns = COLUMNS.map(|name| {
        let at = arm.get(name).unwrap_or(arm);
        let items = at.as_array().filter(|items| items.len() == resolutions.len());
        let expected = format_args!("{name}, a list of {} items", resolutions.len());
        sound &= recorder.require(items.is_some(), Code::DivergenceAccuracy, document, at, expected, show(at));
        items.unwrap_or_default()
    });
    if !sound {
        return Vec::new();
    }
    let mut rows = Vec::new();
    for (index, &resolution) in resolutions.iter().enumerate() {
        let [relative, largest, flag] = columns.map(|items| &items[index]);
        for at in [relative, largest] {
            recorder.require(is_error(at), Code::DivergenceAccuracy, document, at, "a number, not negative", show(at));
        }
        let is_flag = matches!(flag, Json::Bool(_));
        recorder.require(is_flag, Code::DivergenceAccuracy, document, flag, "true or false", show(flag));
        let hashes = condition.entry("trial_sha256", resolution).and_then(Json::as_array).unwrap_or_default();
        let hashes = hashes.iter().filter_map(Json::as_str).collect();
        let coordinates = results.protocol.shape_product().or(condition.coordinates);
        let norm = first_norm((folder, results, condition), resolution, evidence);
        rows.push(Row { resolution, hashes, cells: [relative, largest, flag], coordinates, norm });
    }
    rows
}

/// The norm of the first trial at a resolution; `None` where its tensor is not here, or not as it should be, which is said
/// elsewhere.
fn first_norm(
    (folder, results, condition): (&str, &RawResults<'_>, &Condition<'_>),
    resolution: u64,
    evidence: &Evidence,
) -> Option<f64> {
    condition.kept.as_ref()?.contains(&resolution).then_some(())?;
    let mut shape = vec![condition.trials?];
    shape.extend(results.protocol.input_shape.as_ref()?);
    let tensor = tensor(evidence, &files::gradients(folder, condition.arm, resolution), &shape)?.ok()?;
    norm(tensor.values.get(..tensor.values.len().checked_div(*tensor.shape.first()?)?)?)
}

/// Trials that are said to equal the host's fixed point are one tensor, and whatever is that tensor equals it.
fn fixed_point(rows: &[Row<'_>], document: &Document, recorder: &mut Recorder) {
    let mut known: HashMap<u64, &str> = HashMap::new();
    let is_said = |row: &&Row<'_>| *row.cells[2] == Json::Bool(true);
    for row in rows.iter().filter(is_said) {
        let Some(&first) = row.hashes.first() else { continue };
        let one = *known.entry(row.resolution).or_insert(first);
        let holds = row.hashes.iter().all(|hash| *hash == one);
        let expected = format_args!("false: not all trials at output {} have the bits {one}", row.resolution);
        recorder.require(holds, Code::DivergenceAccuracy, document, row.cells[2], expected, "true");
    }
    for row in rows.iter().filter(|row| !is_said(row) && !row.hashes.is_empty()) {
        let Some(one) = known.get(&row.resolution) else { continue };
        let differs = row.hashes.iter().any(|hash| hash != one);
        let expected =
            format_args!("true: every trial at output {} has the bits of those that equal it", row.resolution);
        recorder.require(differs, Code::DivergenceAccuracy, document, row.cells[2], expected, "false");
    }
}

/// First trials with the same hash have the same errors.
fn equal_trials(rows: &[Row<'_>], document: &Document, recorder: &mut Recorder) {
    let mut first: HashMap<(u64, &str), [&Json; 3]> = HashMap::new();
    for row in rows {
        let Some(&hash) = row.hashes.first() else { continue };
        let expected = *first.entry((row.resolution, hash)).or_insert(row.cells);
        for (found, expected) in row.cells.iter().zip(expected).take(2) {
            if !std::ptr::eq(*found, expected) {
                recorder.equal(Code::DivergenceAccuracy, document, found, expected);
            }
        }
    }
}
