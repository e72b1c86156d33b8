//! `timing.json`: times follow from spans and replays, medians from times, ratios from medians.

use super::beside;
use crate::audit::evidence::Evidence;
use crate::audit::{Code, Recorder, report_problems, show};
use crate::fit::median;
use crate::fit::metrics::geometric_mean;
use crate::package::divergence::{Engine, RawResults, files};
use crate::package::json::{Document, Json, canonical};
use crate::package::partition::Reader;

const SCHEMA: &str = "recount-divergence-timing-v1";

/// Checks the times of a package, where it has some.
pub(super) fn check(results: &[(&str, RawResults<'_>)], evidence: &Evidence, recorder: &mut Recorder) {
    let Some(document) = beside(files::TIMING, SCHEMA, evidence, recorder) else { return };
    let root = document.root();
    let mut times = Times { document, recorder };
    let Some(engines) = times.member(root, "engines").and_then(|at| times.object(at)) else { return };
    let protocol = root.get("protocol").unwrap_or(root);
    let count = |name: &str| protocol.get(name).and_then(Json::as_u64).filter(|&count| count > 0);
    let (operations, spans) = (count("operations_per_graph"), count("spans"));
    for (name, count) in [("operations_per_graph", operations), ("spans", spans)] {
        let at = protocol.get(name).unwrap_or(protocol);
        let expected = format_args!("{name}, a positive whole number");
        times.require(count.is_some(), at, expected, show(at));
    }
    times.settings(protocol);
    let (Some(operations), Some(spans)) = (operations, spans) else { return };
    let at = root.get("engines").unwrap_or(root);
    times.require(!engines.is_empty(), at, "at least one engine that was timed", "none");
    for (name, engine) in engines {
        let measured = results.iter().find(|(folder, _)| folder == name);
        times.require(measured.is_some(), engine, "an engine that has results in the package", name);
        let resolutions = measured.and_then(|(_, results)| results.protocol.resolutions.as_deref());
        times.engine(engine, resolutions, operations, spans);
    }
    for base in [Engine::Torch, Engine::Cuda] {
        times.ratios(root, base);
    }
}

/// What was found while one file is checked.
struct Times<'d, 'r> {
    document: &'d Document,
    recorder: &'r mut Recorder,
}

impl<'d> Times<'d, '_> {
    fn require(
        &mut self,
        holds: bool,
        at: &Json,
        expected: impl std::fmt::Display,
        found: impl std::fmt::Display,
    ) -> bool {
        self.recorder.require(holds, Code::DivergenceTiming, self.document, at, expected, found)
    }

    /// Settings that nothing follows from are at least what they are called; each may be left out.
    fn settings(&mut self, protocol: &'d Json) {
        let reader = Reader::new(self.document);
        let is_there = |name: &&str| protocol.get(name).is_some();
        for name in ["operation", "clock", "summary"].into_iter().filter(is_there) {
            reader.text(protocol, name);
        }
        if is_there(&"warm_up_replays") {
            reader.count(protocol, "warm_up_replays");
        }
        if let Some(target) = protocol.get("target_span_ms")
            && !target.as_f64().is_some_and(|target| target > 0.0)
        {
            reader.problem(protocol, Some("target_span_ms"), "a positive number of milliseconds", &canonical(target));
        }
        report_problems(self.recorder, self.document, reader.into_problems());
    }

    fn member(&mut self, at: &'d Json, name: &str) -> Option<&'d Json> {
        let member = at.get(name);
        self.require(member.is_some(), at, format_args!("the member {name}"), "nothing");
        member
    }

    fn object(&mut self, at: &'d Json) -> Option<&'d [(String, Json)]> {
        let members = at.as_object();
        self.require(members.is_some(), at, "an object", at.kind());
        members
    }

    fn numbers(&mut self, at: &'d Json, name: &str) -> Option<(&'d Json, Vec<f64>)> {
        let member = self.member(at, name)?;
        let items = member.as_array().unwrap_or_default();
        let numbers: Vec<f64> = items.iter().filter_map(Json::as_f64).filter(|number| *number > 0.0).collect();
        let sound = member.as_array().is_some() && numbers.len() == items.len();
        self.require(sound, member, "a list of positive numbers", "something else").then_some((member, numbers))
    }

    /// A list of recorded floats against what they must be; rounding may differ by the tolerance.
    fn close(&mut self, at: &Json, expected: &[f64]) {
        let items = at.as_array().unwrap_or_default();
        let words = format_args!("{} values", expected.len());
        self.require(items.len() == expected.len(), at, words, format_args!("{} values", items.len()));
        for (item, &expected) in items.iter().zip(expected) {
            self.recorder.close(Code::DivergenceTiming, self.document, item, expected, expected);
        }
    }

    fn engine(&mut self, engine: &'d Json, known: Option<&[u64]>, operations: u64, spans: u64) {
        let (Some(res), Some(samples)) = (self.member(engine, "res"), self.member(engine, "samples")) else { return };
        let Some(members) = self.object(samples) else { return };
        let items = res.as_array().unwrap_or_default();
        self.require(!items.is_empty(), res, "at least one resolution", show(res));
        for item in items {
            let there = item.as_u64().is_some_and(|one| known.is_none_or(|known| known.contains(&one)));
            self.require(there, item, "a resolution of the protocol", show(item));
        }
        let names: Vec<String> = items.iter().filter_map(Json::as_u64).map(|one| one.to_string()).collect();
        let same = names.iter().eq(members.iter().map(|(name, _)| name)) && names.len() == items.len();
        self.require(same, res, "the resolutions that have samples, in their order", show(res));
        let mut medians = Vec::new();
        for (_, one) in members {
            let Some(replays) = self.member(one, "replays") else { continue };
            let Some((at, milliseconds)) = self.numbers(one, "span_ms") else { continue };
            let count = replays.as_u64().filter(|&count| (1..1 << 32).contains(&count));
            self.require(count.is_some(), replays, "a positive whole number", show(replays));
            let Some(count) = count else { continue };
            let found = format_args!("{} spans", milliseconds.len());
            self.require(milliseconds.len() as u64 == spans, at, format_args!("{spans} spans"), found);
            for (item, &span) in at.as_array().unwrap_or_default().iter().zip(&milliseconds) {
                // Device events give binary32.
                self.require(f64::from(span as f32) == span, item, "a binary32 number", show(item));
            }
            let all = count as f64 * operations as f64;
            let times: Vec<f64> = milliseconds.iter().map(|span| span * 1000.0 / all).collect();
            if let Some(at) = self.member(one, "us_per_operation") {
                self.close(at, &times);
            }
            medians.extend(median(&times));
        }
        if let Some(at) = self.member(engine, "median_us") {
            self.close(at, &medians);
        }
    }

    /// The deterministic kernel's medians over those of another engine, at the resolutions that both have.
    fn ratios(&mut self, root: &'d Json, base: Engine) {
        let name = format!("{}_over_{}", Engine::Deterministic.name(), base.name());
        let Some(at) = self.member(root, &name) else { return };
        let medians = |engine: Engine| {
            let engine = root.path(&["engines", engine.name()])?;
            let list = |name: &str| engine.get(name).and_then(Json::as_array);
            let pairs = list("res")?.iter().zip(list("median_us")?);
            Some(pairs.filter_map(|(one, us)| Some((one.as_u64()?, us.as_f64()?))).collect::<Vec<_>>())
        };
        let (Some(ours), Some(theirs)) = (medians(Engine::Deterministic), medians(base)) else {
            self.require(*at == Json::Null, at, "null: one of the two has no times", show(at));
            return;
        };
        let both = ours.iter().filter_map(|(one, ours)| {
            let (_, theirs) = theirs.iter().find(|(other, _)| other == one)?;
            Some((*one, ours / theirs))
        });
        let (resolutions, ratios): (Vec<u64>, Vec<f64>) = both.unzip();
        if let Some(res) = self.member(at, "res") {
            self.recorder.equal(Code::DivergenceTiming, self.document, res, &Json::from(resolutions));
        }
        if let Some(at) = self.member(at, "ratio") {
            self.close(at, &ratios);
        }
        if let (Some(at), Some(mean)) = (self.member(at, "geometric_mean"), geometric_mean(&ratios)) {
            self.recorder.close(Code::DivergenceTiming, self.document, at, mean, mean);
        }
    }
}
