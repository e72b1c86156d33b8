//! The Torch compiler's record: its options, its files and how many kernels it counted, each as often as they stand.

use std::collections::HashSet;

use super::receipts::{Files, is_same_file};
use crate::audit::{Code, Recorder, show};
use crate::package::json::{Document, Json};
use crate::package::partition::{Run, Validation};

/// Lists of files that hold generated code.
const WRAPPERS: [&str; 3] = ["triton_wrappers", "cuda_wrappers", "external_call_wrappers"];

/// The files that the compiler wrote, listed again by those who rechecked them.
const RECHECKED: &str = "torch_compiler_artifacts_rechecked";

/// The records of all runs.
pub(super) fn check(validation: &Validation<'_>, recorder: &mut Recorder) {
    let mut first = None;
    for (_, run) in validation.runs() {
        let Some(compiler) = evidence(run) else { continue };
        let first = *first.get_or_insert(compiler);
        check_options(validation.document, compiler, first, recorder);
        check_files(validation.document, compiler, recorder);
    }
    check_copies(validation, recorder);
}

/// What a timed Torch route says of its compiler.
fn evidence<'d>(run: &Run<'d>) -> Option<&'d Json> {
    run.torch.timing.as_ref()?;
    run.torch.at?.get("compiler_evidence").filter(|compiler| **compiler != Json::Null)
}

/// The compiler ran with the same options for every case, and a full graph is one graph.
fn check_options(document: &Document, compiler: &Json, first: &Json, recorder: &mut Recorder) {
    for option in ["backend", "fullgraph", "suppress_errors"] {
        if let (Some(found), Some(expected)) = (compiler.get(option), first.get(option)) {
            recorder.equal(Code::ProtocolSetting, document, found, expected);
        }
    }
    let graphs = compiler.path(&["counters", "stats", "unique_graphs"]);
    if let (Some(graphs), Some(Json::Bool(true))) = (graphs, compiler.get("fullgraph")) {
        recorder.equal(Code::OutputCheck, document, graphs, &Json::Int(1));
    }
}

/// Each wrapper is a file that the compiler wrote, where those are listed. A file may have several kernels, and not each file
/// is a wrapper; but where there are wrappers of Triton's, there are kernels, and the other way round.
fn check_files(document: &Document, compiler: &Json, recorder: &mut Recorder) {
    let list = |name: &str| compiler.get(name).and_then(Json::as_array);
    let count = compiler.get("generated_kernel_count").filter(|count| **count != Json::Null);
    if let Some(count) = count {
        let holds = count.as_u64().is_some();
        recorder.require(holds, Code::MalformedField, document, count, "a number of kernels", show(count));
    }
    if let (Some((count, kernels)), Some(triton)) = (count.and_then(|at| Some((at, at.as_u64()?))), list(WRAPPERS[0])) {
        let none_at_all = WRAPPERS.iter().all(|name| list(name).is_none_or(<[Json]>::is_empty));
        let (holds, expected) = match kernels {
            0 => (triton.is_empty(), "kernels: triton_wrappers lists their files"),
            _ => (!none_at_all, "0: no wrapper is listed"),
        };
        recorder.require(holds, Code::CompilerFiles, document, count, expected, show(count));
    }
    let Some(artifacts) = list("artifacts") else { return };
    // Where what one of them is called is not understood, each wrapper may be that one.
    let Some(paths) = artifacts.iter().map(path_of).collect::<Option<Vec<&str>>>() else { return };
    let written: Files = paths.into_iter().collect();
    for wrapper in WRAPPERS.iter().filter_map(|name| list(name)).flatten() {
        let Some(path) = path_of(wrapper) else { continue };
        let expected = "one of the artifacts that the compiler wrote";
        recorder.require(written.have(path), Code::CopyMismatch, document, wrapper, expected, path);
    }
}

/// The path of a file that is named, or recorded with its hash.
fn path_of(record: &Json) -> Option<&str> {
    record.as_str().or_else(|| record.get("path")?.as_str())
}

/// What the compiler wrote is listed by the route and again by those who rechecked it: both lists, or neither for any case of
/// the cohort. That the hashes are the same is seen to where all receipts are.
fn check_copies(validation: &Validation<'_>, recorder: &mut Recorder) {
    let document = validation.document;
    let rechecked: HashSet<&str> =
        validation.runs().filter(|(_, run)| run.at.get(RECHECKED).is_some()).map(|(_, run)| run.cohort).collect();
    for (_, run) in validation.runs() {
        // What is no list is the producer's own, such as the address of all of them.
        let listed = evidence(run).and_then(|compiler| compiler.get("artifacts"));
        if listed.is_some_and(|listed| listed.as_str().is_some()) {
            continue;
        }
        match (run.at.get(RECHECKED), listed) {
            (Some(copies), Some(listed)) => check_copy(document, copies, listed, recorder),
            (Some(copies), None) => {
                let expected = "nothing: the Torch route lists no artifacts of its compiler";
                recorder.report_at(Code::CopyMismatch, document, copies, expected, show(copies));
            }
            (None, Some(listed)) => {
                let expected = format_args!("{RECHECKED} beside it, as in other cases of the cohort");
                recorder.require(
                    !rechecked.contains(run.cohort),
                    Code::CopyMismatch,
                    document,
                    listed,
                    expected,
                    "nothing",
                );
            }
            (None, None) => {}
        }
    }
}

/// The same files in the same order.
fn check_copy(document: &Document, copies: &Json, listed: &Json, recorder: &mut Recorder) {
    let (items, wanted) = (copies.as_array().unwrap_or_default(), listed.as_array().unwrap_or_default());
    recorder.require(
        items.len() == wanted.len(),
        Code::CopyMismatch,
        document,
        copies,
        format_args!("the {} files that the compiler wrote", wanted.len()),
        format_args!("{} files", items.len()),
    );
    for (copy, original) in items.iter().zip(wanted) {
        let same = match (path_of(copy), path_of(original)) {
            (Some(copy), Some(original)) => is_same_file(copy, original),
            (copy, original) => copy == original,
        };
        recorder.require(
            same,
            Code::CopyMismatch,
            document,
            copy.get("path").unwrap_or(copy),
            path_of(original).unwrap_or("a path"),
            path_of(copy).unwrap_or("none"),
        );
    }
}
