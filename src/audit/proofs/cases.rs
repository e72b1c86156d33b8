//! Cases are described alike in `cases.json`, `validation.json` and the manifests, and make sense.

use std::collections::HashSet;

use crate::audit::evidence::Evidence;
use crate::audit::{Code, Place, Recorder, compare, show};
use crate::package::json::Json;
use crate::package::partition::{CaseRecord, Validation, files};

pub(super) fn check(evidence: &Evidence, validation: &Validation<'_>, recorder: &mut Recorder) {
    for record in &validation.cases {
        check_geometry(validation, record, recorder);
        for run in &record.runs {
            if let Some(manifest) = run.at.get("manifest") {
                check_manifest(validation, record, manifest, recorder);
            }
        }
    }
    let Ok(inventory) = evidence.document(files::CASES) else { return };
    let listed = inventory.root().get("cases").and_then(Json::as_array).unwrap_or_default();
    let recorded = validation.document.root().get("cases").and_then(Json::as_array).unwrap_or_default();
    if listed.len() != recorded.len() {
        recorder.report(
            Code::CaseMismatch,
            files::CASES,
            Place::pointer("/cases"),
            format_args!("{} cases, as in {}", recorded.len(), files::VALIDATION),
            listed.len(),
        );
    }
    for (listed, recorded) in listed.iter().zip(recorded) {
        let Some(expected) = recorded.get("case") else { continue };
        compare(recorder, inventory, listed, expected, &|_| Code::CaseMismatch);
    }
}

fn check_geometry(validation: &Validation<'_>, record: &CaseRecord<'_>, recorder: &mut Recorder) {
    let document = validation.document;
    let case = &record.case;
    let geometry = case.geometry;
    let tile = case.at.get("tile").unwrap_or(case.at);
    let expected = vec![geometry.block, geometry.columns.next_power_of_two(), 1];
    let holds = geometry.width == expected[1] && case.tile_depth() == Some(1);
    recorder.require(
        holds,
        Code::CaseMismatch,
        document,
        tile,
        format_args!("{expected:?}, the rows per program and the least power of two that holds a row"),
        show(tile),
    );
}

/// The parts of a manifest that follow from the case.
fn check_manifest(validation: &Validation<'_>, record: &CaseRecord<'_>, manifest: &Json, recorder: &mut Recorder) {
    let case = &record.case;
    let geometry = case.geometry;
    let dtype = case.storage.dtype();
    let repeated = ["operation", "precision", "seed", "pattern", "dimensions", "tile"];
    let mut expected: Vec<_> = repeated.iter().filter_map(|&name| Some((name, case.at.get(name)?.clone()))).collect();
    // Names and paths are the producer's own; they are repeated so that only what follows from the case is compared.
    let tensor = |found: &Json, columns: u64| {
        let own = ["name", "path"].iter().filter_map(|&name| Some((name, found.get(name)?.clone())));
        let derived = [("storage_dtype", Json::from(dtype)), ("shape", Json::from(vec![geometry.rows, columns]))];
        Json::Object(own.chain(derived).map(|(name, value)| (name.to_owned(), value)).collect())
    };
    let inputs = manifest.get("inputs").and_then(Json::as_array).unwrap_or_default();
    expected.push(("inputs", Json::Array(inputs.iter().map(|input| tensor(input, geometry.columns)).collect())));
    expected.push(("output", tensor(manifest.get("output").unwrap_or(&Json::Null), 1)));
    check_paths(validation, manifest, recorder);
    check_bound(validation, manifest, recorder);
    for (name, expected) in expected {
        let found = manifest.get(name).unwrap_or(manifest);
        compare(recorder, validation.document, found, &expected, &|_| Code::CaseMismatch);
    }
    let offset = |unit: &str| manifest.path(&["semantics", &format!("logical_view_offset_{unit}")]);
    if let (Some(elements), Some(bytes)) = (offset("elements"), offset("bytes")) {
        let expected = elements.as_u64().and_then(|elements| elements.checked_mul(case.storage.bytes()));
        let expected = expected.map_or(Json::Null, Json::from);
        recorder.equal(Code::CaseMismatch, validation.document, bytes, &expected);
    }
}

/// The file of the bound is the same where the oracle's files are named and where the validation is described.
fn check_bound(validation: &Validation<'_>, manifest: &Json, recorder: &mut Recorder) {
    let named = manifest.path(&["expected", "bound_path"]);
    if let (Some(found), Some(expected)) = (manifest.path(&["validation", "bound"]), named) {
        recorder.equal(Code::CaseMismatch, validation.document, found, expected);
    }
}

/// At least one input, a path of its own for each tensor, and a name of its own for each input that has one.
fn check_paths(validation: &Validation<'_>, manifest: &Json, recorder: &mut Recorder) {
    let document = validation.document;
    let inputs = manifest.get("inputs").and_then(Json::as_array).unwrap_or_default();
    recorder.require(!inputs.is_empty(), Code::CaseMismatch, document, manifest, "at least one input", "none");
    let mut seen = HashSet::new();
    for tensor in inputs.iter().chain(manifest.get("output")) {
        let path = tensor.get("path").and_then(Json::as_str);
        recorder.require(
            path.is_some_and(|path| !path.is_empty() && seen.insert(path)),
            Code::CaseMismatch,
            document,
            tensor.get("path").unwrap_or(tensor),
            "a path of its own",
            path.unwrap_or("nothing"),
        );
    }
    let mut names = HashSet::new();
    for name in inputs.iter().filter_map(|input| input.get("name")) {
        let is_own = name.as_str().is_some_and(|name| !name.is_empty() && names.insert(name));
        recorder.require(is_own, Code::CaseMismatch, document, name, "a name of its own", show(name));
    }
}
