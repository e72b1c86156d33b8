//! A raw package: the results of each engine by themselves, then what engines share.

use std::collections::BTreeMap;

use super::protocol::Measure;
use super::{accuracy, conditions, device, inputs, origin, probe, protocol, timing};
use crate::audit::evidence::Evidence;
use crate::audit::{CheckReport, Code, Fact, Family, Options, Place, Recorder, report_problems, same_value, show};
use crate::divergence::pair_count;
use crate::package::divergence::{DEFINING, Engine, RawResults, files};
use crate::package::json::Json;
use crate::package::npy::Tensor;

/// The results that can be read, in the order of their folders.
fn results(evidence: &Evidence) -> Vec<(&str, RawResults<'_>)> {
    let engines = evidence.documents.iter().filter_map(|(name, document)| Some((files::engine_of(name)?, document)));
    engines.filter_map(|(folder, document)| Some((folder, RawResults::read(document.as_ref().ok()?)))).collect()
}

/// Runs the family on a package.
pub(in crate::audit) fn check(evidence: &Evidence, options: &Options) -> CheckReport {
    let mut recorder = Recorder::new(Family::Divergence, options.tolerance);
    let results = results(evidence);
    if results.is_empty() {
        return recorder.not_run(format!("no {} can be read", files::RESULTS));
    }
    let mut unused: BTreeMap<&str, ()> = BTreeMap::new();
    unused.extend(evidence.texts.keys().filter(|name| files::is_tensor(name)).map(|name| (name.as_str(), ())));
    for (folder, results) in &results {
        check_engine(folder, results, &mut recorder);
        let measure = Measure::of(&results.protocol);
        for condition in &results.conditions {
            conditions::check(folder, results, condition, &measure, evidence, &mut unused, &mut recorder);
        }
    }
    check_same_protocol(&results, &mut recorder);
    check_same_device(&results, &mut recorder);
    inputs::check(&results, evidence, &mut unused, &mut recorder);
    accuracy::check(&results, evidence, &mut recorder);
    timing::check(&results, evidence, &mut recorder);
    for name in unused.keys().filter(|name| evidence.text(name).is_ok()) {
        let expected = "a tensor that the results speak of";
        recorder.report(Code::TensorFile, name, Place::whole_file(), expected, "one that they do not");
    }
    for (_, results) in results {
        report_problems(&mut recorder, results.document, results.problems);
    }
    recorder.finish()
}

fn check_engine(folder: &str, results: &RawResults<'_>, recorder: &mut Recorder) {
    let document = results.document;
    let root = document.root();
    if let Some(name) = root.get("engine").and_then(Json::as_str) {
        let at = root.get("engine").unwrap_or(root);
        let known = Engine::from_name(name).is_some();
        let expected = "torch, cuda, deterministic or cpu";
        if recorder.require(known, Code::EngineFolder, document, at, expected, name) {
            let expected = format_args!("{folder}, the folder that it is in");
            recorder.require(name == folder, Code::EngineFolder, document, at, expected, name);
        }
    }
    protocol::check(&results.protocol, document, recorder);
    device::check(&results.environment, folder, document, recorder);
    if results.engine == Some(Engine::Torch) {
        device::check_has_pytorch(&results.environment, folder, document, recorder);
    }
    if results.complete == Some(false) {
        let at = root.get("status").unwrap_or(root);
        let measured: Vec<_> = results
            .conditions
            .iter()
            .map(|condition| {
                let outputs = condition.resolutions.as_deref().unwrap_or_default();
                let outputs: Vec<_> = outputs.iter().map(u64::to_string).collect();
                format!("{} at outputs {}", condition.arm.name(), outputs.join(" "))
            })
            .collect();
        let measured = if measured.is_empty() { "nothing".to_owned() } else { measured.join(", ") };
        let found = format_args!("{folder} is incomplete: it has measured {measured}");
        recorder.report_at(Code::ExperimentIncomplete, document, at, "a complete run", found);
    }
    check_arms(folder, results, recorder);
    check_probe(results, recorder);
    if results.engine.is_some_and(Engine::is_deterministic) {
        let drifts = |condition: &conditions::Condition<'_>| {
            let drifts = condition.figures.drift.and_then(Json::as_array).unwrap_or_default();
            drifts.iter().any(|drift| drift.as_u64().is_some_and(|drift| drift > 0))
        };
        if results.conditions.iter().any(drifts) {
            recorder.note(format!("{folder} is meant to be deterministic, but its trials differ"));
        }
    }
}

/// A complete run has every arm of its protocol; no run has another.
fn check_arms(folder: &str, results: &RawResults<'_>, recorder: &mut Recorder) {
    let (document, root) = (results.document, results.document.root());
    let declared = results.protocol.known_arms();
    for condition in &results.conditions {
        let expected = format_args!("an arm that the protocol of {folder} declares");
        let known = declared.contains(&condition.arm);
        recorder.require(known, Code::DivergenceArm, document, condition.at, expected, condition.arm.name());
    }
    if results.complete != Some(true) {
        return;
    }
    for arm in declared {
        let there = results.conditions.iter().any(|condition| condition.arm == arm);
        let at = root.get(arm.condition()).unwrap_or(root);
        let expected = format_args!("the arm {}: the protocol of {folder} declares it", arm.name());
        recorder.require(there, Code::DivergenceArm, document, at, expected, "nothing, in a complete run");
    }
}

/// Only PyTorch has a deterministic mode to ask for.
fn check_probe(results: &RawResults<'_>, recorder: &mut Recorder) {
    if results.engine != Some(Engine::Torch) {
        return;
    }
    let at = results.probe.at.get("result").unwrap_or(results.probe.at);
    let Some(outcome) = results.probe_result else {
        // An interrupted run may not have come to it.
        if results.complete == Some(true) {
            let expected = "what asking PyTorch for deterministic algorithms led to";
            recorder.report_at(Code::DeterminismProbe, results.document, at, expected, "nothing");
        }
        return;
    };
    let place = if results.environment.is_gpu() { probe::Place::Gpu } else { probe::Place::Host };
    let releases: Vec<_> = results.environment.pytorch_release().into_iter().collect();
    probe::check((at, outcome), place, &releases, results.document, recorder);
}

/// Engines of one package measured the same thing.
fn check_same_protocol(results: &[(&str, RawResults<'_>)], recorder: &mut Recorder) {
    let Some(((first_folder, first), others)) = results.split_first() else { return };
    for (folder, other) in others {
        for name in DEFINING {
            let (left, right) = (first.protocol.at.get(name), other.protocol.at.get(name));
            let same = match (left, right) {
                (Some(left), Some(right)) => same_value(left, right),
                (left, right) => left.is_none() && right.is_none(),
            };
            let at = right.unwrap_or(other.protocol.at);
            let shown = |value: Option<&Json>| value.map_or("nothing".to_owned(), |value| show(value).to_string());
            let expected = format_args!("{name} {} as {first_folder} has it", shown(left));
            let found = format_args!("{} ({folder})", shown(right));
            recorder.require(same, Code::DivergenceProtocol, other.document, at, expected, found);
        }
    }
}

/// A package is of one machine: its engines on a GPU name the same device. The host's engine has no capability, and our own
/// kernels run on a GPU without PyTorch.
fn check_same_device(results: &[(&str, RawResults<'_>)], recorder: &mut Recorder) {
    let on_gpu = |results: &RawResults<'_>| results.engine.is_some_and(|engine| engine != Engine::Cpu);
    let first = results.iter().find(|(_, results)| on_gpu(results));
    for (folder, other) in results {
        let environment = &other.environment;
        let mut require = |holds: bool, expected: &str, found: Option<&str>| {
            let found = format_args!("{} ({folder})", found.unwrap_or("nothing"));
            recorder.require(holds, Code::DeviceCapability, other.document, environment.at, expected, found);
        };
        match other.engine {
            Some(Engine::Cpu) => {
                require(environment.capability.is_none(), "no compute capability of the host", environment.capability);
            }
            Some(Engine::Cuda | Engine::Deterministic) => {
                require(environment.capability.is_some(), "a compute capability", environment.capability);
                require(
                    environment.pytorch.is_none(),
                    "no PyTorch version: the kernel is our own",
                    environment.pytorch,
                );
            }
            _ => {}
        }
        if let Some((first_folder, first)) = first.filter(|_| on_gpu(other)) {
            let named = |name: Option<&str>| format!("{} as {first_folder} names it", name.unwrap_or("nothing"));
            let (device, capability) = (first.environment.device_name, first.environment.capability);
            require(environment.device_name == device, &named(device), environment.device_name);
            require(environment.capability == capability, &named(capability), environment.capability);
        }
    }
}

/// The tensor in a file of the package; `None` where it is not there or could not be read.
///
/// # Errors
/// Its bytes are not a tensor of this shape.
pub(super) fn tensor(evidence: &Evidence, name: &str, shape: &[u64]) -> Option<Result<Tensor, String>> {
    let bytes = evidence.text(name).ok()?;
    let tensor = match Tensor::read(bytes) {
        Ok(tensor) => tensor,
        Err(error) => return Some(Err(error.to_string())),
    };
    let matches = tensor.shape.iter().map(|&extent| extent as u64).eq(shape.iter().copied());
    Some(if matches { Ok(tensor) } else { Err(format!("its shape is {:?}", tensor.shape)) })
}

/// What the package holds.
pub(in crate::audit) fn facts(evidence: &Evidence) -> Vec<Fact> {
    let results = results(evidence);
    let conditions = || results.iter().flat_map(|(_, results)| &results.conditions);
    let count = |one: &str, many: &str, value: u64| {
        let name = if value == 1 { one } else { many };
        Fact { name: name.to_owned(), value: value.to_string() }
    };
    let pairs = |condition: &conditions::Condition<'_>| {
        let trials = condition.trials.filter(|trials| *trials < 1 << 31).unwrap_or(0);
        pair_count(trials) * condition.resolutions.as_ref().map_or(0, Vec::len) as u64
    };
    let folders: Vec<_> = results.iter().map(|(folder, _)| *folder).collect();
    let tensors = evidence.texts.keys().filter(|name| files::is_tensor(name)).count();
    let mut facts = vec![
        Fact { name: "engines".to_owned(), value: folders.join(" ") },
        count("arm of an engine", "arms of engines", conditions().count() as u64),
        count("pair", "pairs", conditions().map(pairs).sum()),
        count("tensor in the package", "tensors in the package", tensors as u64),
    ];
    if let Some(device) = results.iter().find_map(|(_, results)| results.environment.device_name) {
        facts.push(Fact { name: "device".to_owned(), value: device.to_owned() });
    }
    facts
}

/// What a pass does not prove.
pub(in crate::audit) fn limits(evidence: &Evidence) -> Vec<String> {
    let mut limits = [
        "that the gradients were computed on the named device, from the inputs, as the protocol says: nothing was run again",
        "that the spans in timing.json were measured, and that the errors in accuracy.json are those of the trials: only what \
         follows from them, from equal trials, and from norms is checked",
        "that the divergences of pairs are right whose tensors are not in the package: their hashes only say which trials \
         are equal",
    ]
    .map(str::to_owned)
    .to_vec();
    let results = results(evidence);
    match origin::plan(&results) {
        _ if results.is_empty() => {}
        Ok(plan) if !plan.left_out => {}
        Ok(_) => limits.push("that all inputs are those of the seed: not all of them were made again".to_owned()),
        Err(reason) => {
            limits.push(format!("that the inputs are what the protocol says: {reason}, so they were not made again"))
        }
    }
    limits
}
