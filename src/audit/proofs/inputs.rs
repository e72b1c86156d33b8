//! All runs of a case have the same fixtures, the same manifest and the same original source.

use crate::audit::{Code, Recorder, compare, show};
use crate::package::json::{Json, Members};
use crate::package::partition::{CaseRecord, Reader, Run, Validation};
use crate::package::receipts::is_sha256;

pub(super) fn check<'d>(
    validation: &Validation<'d>,
    record: &CaseRecord<'d>,
    reader: &Reader<'d>,
    recorder: &mut Recorder,
) {
    let Some(reference) = record.reference() else { return };
    let original = with_original(record, reference);
    for run in &record.runs {
        for member in ["fixture_sha256", "manifest"] {
            let (Some(found), Some(expected)) = (reader.member(run.at, member), reference.at.get(member)) else {
                continue;
            };
            if run.cohort != reference.cohort {
                compare(recorder, validation.document, found, expected, &|_| Code::FixtureMismatch);
            }
        }
        if let Some(fixtures) = run.at.get("fixture_sha256") {
            check_fixtures(validation, record, run, fixtures, recorder);
        }
        if !compiled_nothing(run) {
            check_sources(validation, record, original, run, reader, recorder);
        }
    }
    check_launch_options(validation, record, recorder);
}

/// The fixtures are the manifest's inputs, the oracle and its bound; all of them, and nothing else.
fn check_fixtures(
    validation: &Validation<'_>,
    record: &CaseRecord<'_>,
    run: &Run<'_>,
    fixtures: &Json,
    recorder: &mut Recorder,
) {
    let Some(manifest) = record.manifest(run) else { return };
    let inputs = manifest.get("inputs").and_then(Json::as_array).unwrap_or_default();
    let inputs = inputs.iter().filter_map(|input| input.get("path")?.as_str());
    // The manifest may name the oracle's files; these are their names where it does not.
    let oracle = [("path", "expected.f64"), ("bound_path", "per_element_bound.f64")]
        .map(|(member, usual)| manifest.path(&["expected", member]).and_then(Json::as_str).unwrap_or(usual));
    let expected: Vec<&str> = inputs.chain(oracle).collect();
    for (name, hash) in fixtures.as_object().unwrap_or_default() {
        recorder.require(
            expected.contains(&name.as_str()) && hash.as_str().is_some_and(is_sha256),
            Code::FixtureMismatch,
            validation.document,
            hash,
            "the SHA-256 of an input of the manifest, of the oracle or of its bound",
            format_args!("{name}: {}", show(hash)),
        );
    }
    for name in expected {
        recorder.require(
            fixtures.get(name).is_some(),
            Code::FixtureMismatch,
            validation.document,
            fixtures,
            format_args!("the SHA-256 of {name}"),
            "none",
        );
    }
}

/// Whether a run failed before it had compiled anything: then it has no source, and nothing was measured with one.
fn compiled_nothing(run: &Run<'_>) -> bool {
    let sources = run.at.get("source_files").and_then(Json::as_object);
    run.native.has_failed() && sources.is_some_and(<[_]>::is_empty)
}

/// The run that has the original source: the reference, or where it compiled nothing another of the original schedule.
fn with_original<'r, 'd>(record: &'r CaseRecord<'d>, reference: &'r Run<'d>) -> &'r Run<'d> {
    let mut originals = record.runs.iter().filter(|run| run.requested_rows == 0 && !compiled_nothing(run));
    if compiled_nothing(reference) { originals.next().unwrap_or(reference) } else { reference }
}

fn check_sources<'d>(
    validation: &Validation<'d>,
    record: &CaseRecord<'d>,
    reference: &Run<'d>,
    run: &Run<'d>,
    reader: &Reader<'d>,
    recorder: &mut Recorder,
) {
    let document = validation.document;
    let Some(sources) = reader.member(run.at, "source_files").and_then(Json::as_object) else { return };
    let originals = reference.at.get("source_files").unwrap_or(&Json::Null);
    for (name, original) in originals.as_object().unwrap_or_default() {
        if run.at.path(&["source_files", name]).is_none() {
            recorder.report_at(Code::SourcePrefix, document, run.at, format_args!("the source {name}"), "nothing");
        } else if run.cohort == reference.cohort {
            let _ = reader.member(original, "normalized_source_sha256");
        }
    }
    let originals = Members::of(originals);
    for (name, source) in sources {
        let original = match originals.get(name) {
            Some(original) => original,
            // All that is known of it then is what the others begin with.
            None if compiled_nothing(reference) => &Json::Null,
            None => {
                let expected = "a source that the original schedule has";
                recorder.report_at(Code::SourcePrefix, document, source, expected, name);
                continue;
            }
        };
        let begins = |run: &Run<'d>| run.at.path(&["source_files", name, "original_source_sha256"]);
        let normalized = match original {
            Json::Null => record.runs.iter().find_map(begins),
            original => original.get("normalized_source_sha256"),
        };
        let (Some(normalized), Some(prefix)) = (normalized, reader.member(source, "original_source_sha256")) else {
            continue;
        };
        recorder.equal(Code::SourcePrefix, document, prefix, normalized);
        let partitioned = run.requested_rows > 0;
        if let Some(present) = reader.member(source, "partition_entry_present") {
            recorder.equal(Code::SourcePrefix, document, present, &Json::Bool(partitioned));
        }
        if partitioned {
            check_appended(validation, original, source, reader, recorder);
        } else {
            // Without an appended entry the source is the original, whole.
            for member in ["sha256", "bytes", "normalized_source_sha256"] {
                let (Some(found), Some(expected)) = (reader.member(source, member), original.get(member)) else {
                    continue;
                };
                recorder.equal(Code::SourcePrefix, document, found, expected);
            }
        }
    }
}

/// A source with an appended entry is longer than the original, has another hash, and names the appended part's.
fn check_appended<'d>(
    validation: &Validation<'d>,
    original: &'d Json,
    source: &'d Json,
    reader: &Reader<'d>,
    recorder: &mut Recorder,
) {
    let (Some(hash), Some(suffix), Some(bytes)) = (
        reader.member(source, "sha256"),
        reader.member(source, "partition_suffix_sha256"),
        reader.member(source, "bytes"),
    ) else {
        return;
    };
    let distinct = Some(hash) != original.get("sha256") && suffix != hash;
    recorder.require(
        distinct && suffix.as_str().is_some_and(is_sha256),
        Code::SourcePrefix,
        validation.document,
        suffix,
        "hashes of the whole source and of its appended part that differ from the original's",
        show(suffix),
    );
    let longer = bytes.as_u64() > original.get("bytes").and_then(Json::as_u64);
    recorder.require(
        longer,
        Code::SourcePrefix,
        validation.document,
        bytes,
        format_args!("more than the original's {}", show(original.get("bytes").unwrap_or(&Json::Null))),
        show(bytes),
    );
}

/// Compiler hints are the same in every run of the published package.
fn check_launch_options(validation: &Validation<'_>, record: &CaseRecord<'_>, recorder: &mut Recorder) {
    let Some(first) = validation.runs().find_map(|(_, run)| hints(run)) else { return };
    for run in &record.runs {
        match hints(run) {
            Some(found) => compare(recorder, validation.document, found, first, &|_| Code::CompilerHints),
            None => recorder.report_at(Code::CompilerHints, validation.document, run.at, show(first), "nothing"),
        }
    }
}

fn hints<'d>(run: &Run<'d>) -> Option<&'d Json> {
    run.at.path(&["selection", "compiler_worker_hints"])
}
