//! A summary receipt: one file with the figures of several devices.

use std::collections::HashMap;

use super::figures::Basis;
use super::protocol::Measure;
use super::{device, figures, probe, protocol};
use crate::audit::{CheckReport, Code, Fact, Family, Options, Recorder, report_problems, show};
use crate::package::divergence::{Arm, Device, Engine, SummaryReceipt};
use crate::package::json::{Document, Json};
use crate::package::name::portable_key;

/// Runs the family on a receipt.
pub(in crate::audit) fn check(document: &Document, options: &Options) -> CheckReport {
    let mut recorder = Recorder::new(Family::Divergence, options.tolerance);
    let receipt = SummaryReceipt::read(document);
    protocol::check(&receipt.protocol, document, &mut recorder);
    let measure = Measure::of(&receipt.protocol);
    if let (Some(trials), None) = (measure.trials, &measure.counts) {
        recorder.note(format!(
            "{trials} trials: which numbers of equal pairs they can have is decided up to {} only",
            crate::divergence::feasibility::MAX_TRIALS
        ));
    }
    if receipt.devices.is_empty() {
        let devices = document.root().get("devices").unwrap_or(document.root());
        recorder.report_at(Code::FigureLength, document, devices, "at least one device", "none");
    }
    let mut keys: HashMap<String, &str> = HashMap::new();
    for one in &receipt.devices {
        let twin = keys.insert(portable_key(one.key), one.key);
        let expected = format_args!("a key that differs from {} in more than case", twin.unwrap_or_default());
        recorder.require(twin.is_none(), Code::DeviceKey, document, one.at, expected, one.key);
        check_device(one, &receipt, &measure, &mut recorder);
    }
    check_probe(&receipt, &mut recorder);
    report_problems(&mut recorder, document, receipt.problems);
    recorder.finish()
}

fn check_device(one: &Device<'_>, receipt: &SummaryReceipt<'_>, measure: &Measure, recorder: &mut Recorder) {
    let document = receipt.document;
    device::check(&one.environment, one.key, document, recorder);
    if one.is_torch() {
        device::check_has_pytorch(&one.environment, one.key, document, recorder);
    }
    device::check_key(one.key, one.at, &one.environment, document, recorder);
    check_engine(one, document, recorder);
    check_arms(one, receipt, recorder);
    for arm in &one.arms {
        figures::check(&arm.figures, measure, (one.key, arm.arm), Basis::Printed, document, recorder);
    }
}

/// A stated engine is a known one; a deterministic one that drifts is noted, as in packages.
fn check_engine(one: &Device<'_>, document: &Document, recorder: &mut Recorder) -> Option<()> {
    let name = one.engine?;
    let at = one.at.get("engine").unwrap_or(one.at);
    let engine = Engine::from_name(name);
    let expected = format_args!("torch, cuda, deterministic or cpu, the engine of {}", one.key);
    recorder.require(engine.is_some(), Code::EngineFolder, document, at, expected, name);
    let suffix = one.key.rsplit_once('_').and_then(|(_, last)| Engine::from_name(last));
    // The name of a host may end in "CPU" itself.
    if let Some(suffix) = suffix.filter(|suffix| *suffix != Engine::Cpu) {
        let expected = format_args!("{}, as the key {} says", suffix.name(), one.key);
        recorder.require(engine == Some(suffix), Code::EngineFolder, document, at, expected, name);
    }
    let drifts = one.arms.iter().filter_map(|arm| arm.figures.drift?.as_array()).flatten();
    let mut drifts = drifts.filter_map(Json::as_u64);
    if engine.is_some_and(Engine::is_deterministic) && drifts.any(|drift| drift > 0) {
        recorder.note(format!("{} is meant to be deterministic, but its trials differ", one.key));
    }
    Some(())
}

/// Every arm of a device is declared, and nothing that looks like one is unknown.
fn check_arms(one: &Device<'_>, receipt: &SummaryReceipt<'_>, recorder: &mut Recorder) {
    let document = receipt.document;
    let declared = receipt.protocol.known_arms();
    for arm in &one.arms {
        let expected = format_args!("an arm that the protocol declares, of {}", one.key);
        recorder.require(declared.contains(&arm.arm), Code::DivergenceArm, document, arm.at, expected, arm.arm.name());
    }
    for (name, member) in one.at.as_object().unwrap_or_default() {
        let is_known = Arm::ALL.iter().any(|arm| arm.member() == name);
        let is_arm = ["max_drift_coords", "max_div", "pairwise_match_rate"].iter().any(|it| member.get(it).is_some());
        if is_arm && !is_known {
            let expected = format_args!("idle or background_matmul of {}", one.key);
            recorder.report_at(Code::DivergenceArm, document, member, expected, name);
        }
    }
}

/// There is an outcome on a GPU where a GPU ran PyTorch, and one on the host where the host did.
fn check_probe(receipt: &SummaryReceipt<'_>, recorder: &mut Recorder) -> Option<()> {
    let document = receipt.document;
    let at = receipt.probe.as_ref()?.at;
    let places =
        [(probe::Place::Gpu, "cuda_result", receipt.probe_cuda), (probe::Place::Host, "cpu_result", receipt.probe_cpu)];
    for (place, name, outcome) in places {
        let here = |one: &&Device<'_>| one.environment.is_gpu() == (place == probe::Place::Gpu);
        let torch = receipt.devices.iter().filter(|one| one.is_torch() && one.environment.pytorch.is_some());
        let here: Vec<_> = torch.filter(here).collect();
        let stated = at.get(name).unwrap_or(at);
        if let Some(outcome) = outcome {
            let mut releases: Vec<_> = here.iter().filter_map(|one| one.environment.pytorch_release()).collect();
            releases.sort_unstable();
            releases.dedup();
            probe::check((stated, outcome), place, &releases, document, recorder);
        } else if let Some(device) = here.first() {
            let expected = format_args!("{name}, the outcome on devices such as {}", device.key);
            recorder.report_at(Code::DeterminismProbe, document, stated, expected, "nothing");
        }
    }
    Some(())
}

/// What the receipt is about.
pub(in crate::audit) fn facts(document: &Document) -> Vec<Fact> {
    let receipt = SummaryReceipt::read(document);
    let fact = |one: &str, many: &str, value: usize| {
        let name = if value == 1 { one } else { many };
        Fact { name: name.to_owned(), value: value.to_string() }
    };
    let arms = receipt.devices.iter().map(|device| device.arms.len()).sum::<usize>();
    let mut facts = vec![fact("device", "devices", receipt.devices.len()), fact("arm", "arms", arms)];
    if let Some(resolutions) = &receipt.protocol.resolutions {
        facts.push(fact("resolution", "resolutions", resolutions.len()));
    }
    for (name, member) in [("trials", "trials_per_resolution"), ("pairs", "pairs_per_resolution")] {
        if let Some(value) = receipt.protocol.at.get(member).filter(|value| value.as_u64().is_some()) {
            facts.push(Fact { name: name.to_owned(), value: show(value).to_string() });
        }
    }
    if let Some(date) = receipt.protocol.at.get("date").and_then(Json::as_str) {
        facts.push(Fact { name: "date".to_owned(), value: date.to_owned() });
    }
    facts
}

/// What a pass does not prove.
pub(in crate::audit) fn limits() -> Vec<String> {
    [
        "that the figures were measured: the raw results are not here, so only their possibility and agreement were checked",
        "that the bytes are the author's: a single file has no receipts.json; --expect-receipts with its SHA-256 binds it",
    ]
    .map(str::to_owned)
    .to_vec()
}
