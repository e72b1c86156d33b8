//! One arm of raw results: hashes and pairs from the tensors, the summary from the pairs.

use std::collections::{BTreeMap, HashSet};

use super::figures::Basis;
use super::package::tensor;
use super::protocol::{self, Measure};
use super::{Where, figures};
use crate::audit::evidence::Evidence;
use crate::audit::{Code, Place, Recorder, same_value, show};
use crate::divergence::{Pair, pair_count, summarize};
pub(super) use crate::package::divergence::Condition;
use crate::package::divergence::{RawResults, ResolutionRecord, files, number};
use crate::package::json::{Document, Json};
use crate::package::npy::Tensor;
use crate::package::receipts::is_sha256;

/// Checks one arm of the engine in `folder`. Tensors that it speaks of are taken out of `unused`.
pub(super) fn check(
    folder: &str,
    results: &RawResults<'_>,
    condition: &Condition<'_>,
    measure: &Measure,
    evidence: &Evidence,
    unused: &mut BTreeMap<&str, ()>,
    recorder: &mut Recorder,
) {
    check_counts(folder, results, condition, measure, recorder);
    let document = results.document;
    let Some(resolutions) = &condition.resolutions else { return };
    let measured = Measure {
        resolutions: Some(resolutions.clone()),
        coordinates: measure.coordinates,
        pairs: condition.trials.filter(|trials| *trials < 1 << 31).map(pair_count),
        trials: condition.trials,
        counts: match condition.trials {
            trials if trials == measure.trials => measure.counts.clone(),
            trials => trials.and_then(crate::divergence::EqualPairs::of),
        },
    };
    figures::check(&condition.figures, &measured, (folder, condition.arm), Basis::Data, document, recorder);
    check_entries(condition, resolutions, document, recorder);
    for (index, &resolution) in resolutions.iter().enumerate() {
        let place = Where { who: folder, arm: condition.arm, resolution };
        let Some(trials) = condition.trials else { continue };
        let mut one = One { place, condition, document, trials, recorder: &mut *recorder };
        let hashes = one.hashes();
        let pairs = one.pairs();
        let kept = condition.kept.as_ref().is_some_and(|kept| kept.contains(&resolution));
        let name = files::gradients(folder, condition.arm, resolution);
        let read = if kept { one.gradients(&name, results, evidence, unused) } else { None };
        match read {
            Some(gradients) => {
                // Pairs are bounded by what is recorded: a tensor alone could ask for far more than fit.
                let measured = match pairs {
                    Some(_) => ResolutionRecord::measure(resolution, &gradients, true),
                    None => ResolutionRecord::hashes(resolution, &gradients, true),
                };
                one.against_tensors(hashes, pairs, &measured)
            }
            None => one.against_hashes(hashes, pairs),
        }
        if let Some(pairs) = pairs {
            one.summary(index, pairs, measured.coordinates);
        }
    }
}

/// Trials, pairs, coordinates, extents and resolutions follow from the protocol; an incomplete run may have fewer.
fn check_counts(
    folder: &str,
    results: &RawResults<'_>,
    condition: &Condition<'_>,
    measure: &Measure,
    recorder: &mut Recorder,
) {
    let document = results.document;
    let at = |name: &str| condition.at.get(name).unwrap_or(condition.at);
    let place = format!("{folder}, {}", condition.arm.name());
    let complete = results.complete != Some(false);
    if let Some(name) = condition.name {
        let expected = condition.arm.name();
        recorder.require(name == expected, Code::DivergenceArm, document, at("condition"), expected, name);
    }
    if let (Some(found), Some(expected)) = (condition.trials, measure.trials) {
        let holds = if complete { found == expected } else { found <= expected };
        let words = format_args!("{expected} trials, as the protocol of {place} says");
        recorder.require(holds, Code::DivergenceProtocol, document, at("trials_per_res"), words, found);
    }
    if let Some(trials) = condition.trials {
        protocol::pairs(condition.pairs, trials, document, at("total_pairs_per_res"), recorder);
    }
    if let (Some(stated), Some(shape)) = (condition.coordinates, &results.protocol.input_shape) {
        protocol::coordinates(stated, shape, document, at("total_coords"), recorder);
    }
    if let (Some(extents), Some(shape)) = (&condition.input_res, &results.protocol.input_shape) {
        let found = at("input_res");
        let expected = format_args!("height and width of {shape:?}");
        let holds = extents.len() == 2 && shape.ends_with(extents);
        recorder.require(holds, Code::DivergenceProtocol, document, found, expected, show(found));
    }
    if let (Some(found), Some(expected)) = (&condition.resolutions, &measure.resolutions) {
        let mut rest = expected.iter();
        let in_order = found.iter().all(|one| rest.any(|other| other == one));
        let holds = if complete { found == expected } else { in_order };
        let words = format_args!("resolutions {expected:?}, as the protocol of {place} says");
        recorder.require(holds, Code::DivergenceProtocol, document, at("res"), words, show(at("res")));
    }
    if let (Some(kept), Some(measured)) = (&condition.kept, &condition.resolutions) {
        let distinct = kept.iter().collect::<HashSet<_>>().len() == kept.len();
        let holds = distinct && kept.iter().all(|one| measured.contains(one));
        let found = at("tensors_kept");
        let expected = format_args!("resolutions of {place}, each once");
        recorder.require(holds, Code::TensorFile, document, found, expected, show(found));
    }
}

/// Objects by resolution have the measured ones and no others.
fn check_entries(condition: &Condition<'_>, resolutions: &[u64], document: &Document, recorder: &mut Recorder) {
    for name in ["all_pairwise_divs", "all_pairwise_drift", "trial_sha256"] {
        let Some(object) = condition.at.get(name) else { continue };
        for (key, member) in object.as_object().unwrap_or_default() {
            let known = resolutions.iter().any(|resolution| resolution.to_string() == *key);
            recorder.require(known, Code::FigureLength, document, member, "entries of measured resolutions only", key);
        }
    }
}

/// The recorded drift and divergence of all pairs.
type RecordedPairs<'d> = (&'d [Json], &'d [Json]);

/// One resolution of one arm.
struct One<'o, 'd> {
    place: Where<'o>,
    condition: &'o Condition<'d>,
    document: &'o Document,
    trials: u64,
    recorder: &'o mut Recorder,
}

impl<'d> One<'_, 'd> {
    /// The items of an entry by resolution, if there are as many as there should be.
    fn items(&mut self, name: &str, expected: u64, of: &str) -> Option<&'d [Json]> {
        let entry = self.condition.entry(name, self.place.resolution);
        let items = entry.and_then(Json::as_array);
        let at = entry.or(self.condition.at.get(name)).unwrap_or(self.condition.at);
        let holds = items.is_some_and(|items| items.len() as u64 == expected);
        let words = format_args!("{expected} values, one for each {of}");
        let found = items.map_or("none".to_owned(), |items| items.len().to_string());
        let found = format_args!("{found} ({})", self.place);
        self.recorder.require(holds, Code::FigureLength, self.document, at, words, found);
        items.filter(|_| holds)
    }

    fn hashes(&mut self) -> Option<&'d [Json]> {
        let hashes = self.items("trial_sha256", self.trials, "trial")?;
        let mut sound = true;
        for hash in hashes {
            if !hash.as_str().is_some_and(is_sha256) {
                let found = format_args!("{} ({})", show(hash), self.place);
                self.recorder.report_at(Code::TrialHash, self.document, hash, "64 hexadecimal digits", found);
                sound = false;
            }
        }
        sound.then_some(hashes)
    }

    fn pairs(&mut self) -> Option<RecordedPairs<'d>> {
        let pairs = pair_count(self.trials.min(1 << 31));
        let divergences = self.items("all_pairwise_divs", pairs, "pair");
        let drifts = self.items("all_pairwise_drift", pairs, "pair");
        Some((drifts?, divergences?))
    }

    /// The gradients of all trials; `None`, reported, where they are not as the protocol asks for.
    fn gradients(
        &mut self,
        name: &str,
        results: &RawResults<'_>,
        evidence: &Evidence,
        unused: &mut BTreeMap<&str, ()>,
    ) -> Option<Tensor> {
        unused.remove(name);
        let mut shape = vec![self.trials];
        shape.extend(results.protocol.input_shape.as_ref()?);
        let expected = format_args!("binary32 values of shape {shape:?}");
        match tensor(evidence, name, &shape) {
            Some(Ok(tensor)) => {
                self.recorder.held();
                Some(tensor)
            }
            Some(Err(reason)) => {
                self.recorder.report(Code::TensorFile, name, Place::whole_file(), expected, reason);
                None
            }
            // Declared, but absent or unreadable: integrity has said so, or its absence was allowed.
            None if evidence.texts.contains_key(name) => {
                self.recorder
                    .note(format!("{}: {name} is not here; its pairs are checked by their hashes", self.place));
                None
            }
            None => {
                let at = self.condition.at.get("tensors_kept").unwrap_or(self.condition.at);
                let found = format_args!("no {name}, though it is listed");
                self.recorder.report_at(Code::TensorFile, self.document, at, expected, found);
                None
            }
        }
    }

    /// Hashes and pairs are those of the tensors, bit for bit.
    fn against_tensors(
        &mut self,
        hashes: Option<&[Json]>,
        pairs: Option<RecordedPairs<'_>>,
        measured: &ResolutionRecord,
    ) {
        for (trial, (found, expected)) in hashes.unwrap_or_default().iter().zip(&measured.trial_sha256).enumerate() {
            let words = format_args!("{expected}, as the tensor has it");
            let shown = format_args!("{} ({}, trial {trial})", found.as_str().unwrap_or_default(), self.place);
            let holds = found.as_str() == Some(expected);
            self.recorder.require(holds, Code::TrialHash, self.document, found, words, shown);
        }
        let Some((drifts, divergences)) = pairs else { return };
        let mut signed_zeros = 0_u64;
        let recorded = drifts.iter().zip(divergences);
        for (index, (&pair, (drift, divergence))) in measured.pairs.iter().zip(recorded).enumerate() {
            self.value(Code::PairMismatch, drift, &Json::from(pair.drift), Some(index));
            if pair.divergence.is_finite() {
                self.value(Code::PairMismatch, divergence, &number(pair.divergence), Some(index));
            } else {
                let found =
                    format_args!("{}: the tensors' own is {} ({})", show(divergence), pair.divergence, self.place);
                self.recorder.report_at(Code::FigureRange, self.document, divergence, "a finite number", found);
            }
            signed_zeros += u64::from(pair.drift > 0 && pair.divergence == 0.0);
        }
        if signed_zeros > 0 {
            self.recorder
                .note(format!("{}: in {signed_zeros} pairs only 0.0 and -0.0 differ, as the tensors show", self.place));
        }
    }

    /// Without tensors: trials with one hash have no drift, and others have some.
    fn against_hashes(&mut self, hashes: Option<&[Json]>, pairs: Option<RecordedPairs<'_>>) {
        let (Some(hashes), Some((drifts, divergences))) = (hashes, pairs) else { return };
        let mut at = 0;
        for first in 0..hashes.len() {
            for second in first + 1..hashes.len() {
                let (drift, divergence) = (&drifts[at], &divergences[at]);
                at += 1;
                let equal = hashes[first] == hashes[second];
                let holds = drift.as_u64().is_some_and(|drift| (drift == 0) == equal);
                if holds {
                    self.recorder.held();
                } else {
                    let expected = if equal { "0: their hashes are equal" } else { "more than 0: their hashes differ" };
                    let found = format_args!("{} (trials {first} and {second}, {})", show(drift), self.place);
                    self.recorder.report_at(Code::PairMismatch, self.document, drift, expected, found);
                }
                if equal && divergence.as_f64() != Some(0.0) {
                    let found = format_args!("{} (trials {first} and {second}, {})", show(divergence), self.place);
                    let expected = "0.0: their hashes are equal";
                    self.recorder.report_at(Code::PairMismatch, self.document, divergence, expected, found);
                } else if !equal && divergence.as_f64() == Some(0.0) {
                    let found = format_args!("{} (trials {first} and {second}, {})", show(divergence), self.place);
                    let expected = "more than 0, unless 0.0 met -0.0";
                    self.recorder.report_at(Code::SignedZero, self.document, divergence, expected, found);
                }
            }
        }
    }

    /// The summary follows from the recorded pairs.
    fn summary(&mut self, index: usize, (drifts, divergences): RecordedPairs<'_>, coordinates: Option<u64>) {
        let most = coordinates.unwrap_or(u64::MAX);
        let mut pairs = Vec::with_capacity(drifts.len());
        for (drift, divergence) in drifts.iter().zip(divergences) {
            let counted = drift.as_u64().filter(|&drift| drift <= most);
            let sized = divergence.as_f64().and_then(binary32);
            match (counted, sized) {
                (Some(drift), Some(divergence)) => pairs.push(Pair { drift, divergence }),
                (None, _) => {
                    let expected = format_args!("a whole number of coordinates from 0 to {most}");
                    let found = format_args!("{} ({})", show(drift), self.place);
                    self.recorder.report_at(Code::FigureRange, self.document, drift, expected, found);
                }
                (_, None) => {
                    let expected = "a finite binary32 number, not negative";
                    let found = format_args!("{} ({})", show(divergence), self.place);
                    self.recorder.report_at(Code::FigureRange, self.document, divergence, expected, found);
                }
            }
        }
        if pairs.len() != drifts.len() {
            return;
        }
        let summary = summarize(&pairs);
        let figures = self.condition.figures;
        let found = |column: Option<&'d Json>| column.and_then(|column| column.as_array()?.get(index));
        let expected = [
            (figures.drift, Json::from(summary.max_drift)),
            (figures.divergence, number(summary.max_divergence)),
            (figures.rate, Json::Float(summary.match_rate())),
        ];
        for (column, expected) in expected {
            if let Some(found) = found(column) {
                self.value(Code::SummaryMismatch, found, &expected, None);
            }
        }
    }

    fn value(&mut self, code: Code, found: &Json, expected: &Json, pair: Option<usize>) {
        if same_value(found, expected) {
            self.recorder.held();
            return;
        }
        let pair = pair.map_or(String::new(), |pair| format!(", pair {pair}"));
        let shown = format_args!("{} ({}{pair})", show(found), self.place);
        self.recorder.report_at(code, self.document, found, show(expected), shown);
        self.recorder.add_distance(expected, found);
    }
}

/// A number that binary32 holds exactly; `None` for others, and for negative ones.
fn binary32(value: f64) -> Option<f32> {
    let narrow = value as f32;
    (narrow.is_finite() && f64::from(narrow) == value && !value.is_sign_negative()).then_some(narrow)
}
