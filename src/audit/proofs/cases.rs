//! Cases are described alike in `cases.json`, `validation.json` and the manifests, and make sense.

use crate::audit::evidence::Evidence;
use crate::audit::{Code, Place, Recorder, compare, show};
use crate::package::json::{Json, object};
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
    let pattern = case.at.get("pattern").unwrap_or(case.at);
    recorder.equal(Code::CaseMismatch, document, pattern, &Json::from(case.operation.pattern()));
}

/// The parts of a manifest that follow from the case.
fn check_manifest(validation: &Validation<'_>, record: &CaseRecord<'_>, manifest: &Json, recorder: &mut Recorder) {
    let case = &record.case;
    let geometry = case.geometry;
    let (dtype, extension) = (case.storage.dtype(), case.storage.extension());
    let repeated = ["operation", "precision", "seed", "pattern", "dimensions", "tile"];
    let mut expected: Vec<_> = repeated.iter().filter_map(|&name| Some((name, case.at.get(name)?.clone()))).collect();
    let input_count = manifest.get("inputs").and_then(Json::as_array).map_or(0, <[Json]>::len);
    let inputs: Vec<_> = (0..input_count)
        .map(|at| {
            object([
                ("name", Json::from(format!("input{at}"))),
                ("path", Json::from(format!("input{at}.{extension}"))),
                ("storage_dtype", Json::from(dtype)),
                ("shape", Json::from(vec![geometry.rows, geometry.columns])),
            ])
        })
        .collect();
    expected.push(("inputs", Json::Array(inputs)));
    expected.push((
        "output",
        object([
            ("path", Json::from(format!("output.{extension}"))),
            ("storage_dtype", Json::from(dtype)),
            ("shape", Json::from(vec![geometry.rows, 1])),
        ]),
    ));
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
