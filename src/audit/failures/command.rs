//! The command line of a process names again what was run: words that name an operation, a storage type or extents are the
//! case's, and options that name a setting have the run's.

use crate::audit::{Code, Recorder, show};
use crate::package::json::{Document, Json};
use crate::package::partition::{CaseRecord, Operation, Run, Storage};

/// The command line of the process of a run; `preserved` is the record of the failure around it.
pub(super) fn check(
    document: &Document,
    process: &Json,
    preserved: &Json,
    (record, run): (&CaseRecord<'_>, &Run<'_>),
    recorder: &mut Recorder,
) {
    let words = process.get("command").and_then(Json::as_array).unwrap_or_default();
    let case = &record.case;
    for at in words {
        let Some(word) = at.as_str() else {
            recorder.report_at(Code::FailureRecord, document, at, "a word of a command", show(at));
            continue;
        };
        let extents: Option<Vec<u64>> = word.split(',').map(|extent| extent.parse().ok()).collect();
        let expected = match extents {
            Some(extents) if extents.len() == 2 => joined(case.at.get("dimensions")),
            Some(extents) if extents.len() == 3 => joined(case.at.get("tile")),
            _ if Operation::from_name(word).is_some() => Some(case.operation.name().to_owned()),
            _ if Storage::from_name(word).is_some() => Some(case.storage.name().to_owned()),
            _ => None,
        };
        if let Some(expected) = expected {
            let holds = word == expected;
            recorder.require(holds, Code::FailureRecord, document, at, format_args!("{expected}, the case's"), word);
        }
    }
    let manifest = record.manifest(run);
    let native = run.native.at;
    let samples = run.native.timing.as_ref().map(|timing| Json::from(timing.samples.len()));
    let settings = [
        ("--manifest", preserved.get("canonical_manifest")),
        ("--precision", case.at.get("precision")),
        ("--samples", samples.as_ref()),
        ("--graph-batch", manifest.and_then(|manifest| manifest.get("graph_batch"))),
        ("--sample-ms", native.and_then(|route| route.path(&["sampling", "sample_target_ms"]))),
        ("--warmup-ms", native.and_then(|route| route.path(&["warmup", "target_ms"]))),
    ];
    for pair in words.windows(2) {
        let Some((_, expected)) = settings.iter().find(|(option, _)| pair[0].as_str() == Some(option)) else {
            continue;
        };
        let (Some(word), Some(expected)) = (pair[1].as_str(), expected) else { continue };
        let same = match expected.as_f64() {
            Some(number) => word.parse() == Ok(number),
            None => expected.as_str() == Some(word),
        };
        recorder.require(same, Code::FailureRecord, document, &pair[1], show(expected), word);
    }
}

/// Extents as a command line has them.
fn joined(extents: Option<&Json>) -> Option<String> {
    let extents: Option<Vec<String>> =
        extents?.as_array()?.iter().map(|extent| Some(extent.as_u64()?.to_string())).collect();
    Some(extents?.join(","))
}
