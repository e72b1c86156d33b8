//! The Torch compiler's record: its options, its files and how many kernels it counted, each as often as they stand.

use std::collections::HashSet;

use super::receipts::{Files, is_same_file};
use crate::audit::{Code, Recorder, show};
use crate::package::json::{Document, Json};
use crate::package::partition::{Run, Validation};

/// Lists of files that hold generated code.
const WRAPPERS: [&str; 3] = ["triton_wrappers", "cuda_wrappers", "external_call_wrappers"];

/// What a compiler's record has for every case, where it has it for one.
const FOR_EVERY_CASE: [&str; 5] =
    ["artifacts", "generated_kernel_count", "triton_wrappers", "cuda_wrappers", "external_call_wrappers"];

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
    for member in FOR_EVERY_CASE {
        let (own, other) = (compiler.get(member), first.get(member));
        let expected = if other.is_some() { "recorded, as for other cases" } else { "nothing, as for other cases" };
        let holds = own.is_some() == other.is_some();
        recorder.require(
            holds,
            Code::ProtocolSetting,
            document,
            compiler,
            format_args!("{member}: {expected}"),
            member,
        );
    }
    let graphs = compiler.path(&["counters", "stats", "unique_graphs"]);
    if let (Some(graphs), Some(Json::Bool(true))) = (graphs, compiler.get("fullgraph")) {
        recorder.equal(Code::OutputCheck, document, graphs, &Json::Int(1));
    }
}

/// Each wrapper is a file that the compiler wrote. As in the published package each of those is a wrapper, and there are as
/// many kernels as wrappers of Triton's.
fn check_files(document: &Document, compiler: &Json, recorder: &mut Recorder) {
    let count = compiler.get("generated_kernel_count");
    if let Some(count) = count {
        let holds = count.as_u64().is_some();
        recorder.require(holds, Code::MalformedField, document, count, "a number of kernels", show(count));
    }
    for at in FOR_EVERY_CASE.iter().filter(|name| name.starts_with("art") || name.ends_with("wrappers")) {
        if let Some(list) = compiler.get(at) {
            let holds = list.as_array().is_some();
            recorder.require(holds, Code::MalformedField, document, list, "a list of files", show(list));
        }
    }
    if let (Some(count), Some(wrappers)) = (count, compiler.get("triton_wrappers").and_then(Json::as_array)) {
        let expected = format_args!("{}, one for each of triton_wrappers", wrappers.len());
        let holds = count.as_u64() == Some(wrappers.len() as u64);
        recorder.require(holds, Code::CompilerFiles, document, count, expected, show(count));
    }
    let Some(artifacts) = compiler.get("artifacts").and_then(Json::as_array) else { return };
    let lists = || WRAPPERS.iter().filter_map(|name| compiler.get(name)?.as_array()).flatten();
    let written: Files = artifacts.iter().filter_map(path_of).collect();
    for wrapper in lists() {
        let path = wrapper.as_str();
        let is_written = |path: &str| written.have(path);
        let expected = "one of the artifacts that the compiler wrote";
        recorder.require(path.is_some_and(is_written), Code::CopyMismatch, document, wrapper, expected, show(wrapper));
    }
    if WRAPPERS.iter().all(|name| compiler.get(name).is_none()) {
        return;
    }
    let wrappers: Files = lists().filter_map(Json::as_str).collect();
    for artifact in artifacts {
        let Some(path) = path_of(artifact) else { continue };
        let is_wrapper = wrappers.have(path);
        let expected = "a file that is listed as a wrapper";
        recorder.require(is_wrapper, Code::CompilerFiles, document, artifact, expected, path);
    }
}

fn path_of(record: &Json) -> Option<&str> {
    record.get("path")?.as_str()
}

/// What the compiler wrote is listed by the route and again by those who rechecked it: both lists, or neither for any case of
/// the cohort. That the hashes are the same is seen to where all receipts are.
fn check_copies(validation: &Validation<'_>, recorder: &mut Recorder) {
    let document = validation.document;
    let rechecked: HashSet<&str> =
        validation.runs().filter(|(_, run)| run.at.get(RECHECKED).is_some()).map(|(_, run)| run.cohort).collect();
    for (_, run) in validation.runs() {
        let listed = evidence(run).and_then(|compiler| compiler.get("artifacts"));
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
