//! One receipt of the published form from the raw results of several devices and engines.

use super::protocol::DEFINING;
use super::{Arm, DIVERGENCE_DIGITS, Engine, RATE_DECIMALS, RawResults};
use crate::package::json::{Json, compact, object};

/// Members that describe how; engines may say it differently, the receipt says all of it.
const DESCRIBING: [&str; 3] = ["inputs", "warmup", "synchronization"];

/// Members of an environment that a device in a receipt repeats.
const ENVIRONMENT: [&str; 6] =
    ["device_name", "architecture", "pytorch_version", "cuda_version", "cudnn_version", "compute_capability"];

/// Words of a device's name that do not tell it from others: makers, form factors, editions.
const COMMON_WORDS: [&str; 17] = [
    "nvidia",
    "tesla",
    "geforce",
    "quadro",
    "amd",
    "intel",
    "r",
    "tm",
    "corporation",
    "server",
    "workstation",
    "edition",
    "pcie",
    "nvl",
    "generation",
    "gpu",
    "graphics",
];

/// One engine's results, with what they are called in messages and in the receipt's source.
#[derive(Debug)]
pub struct Source<'s, 'd> {
    /// Package and engine, as a person named them.
    pub label: String,
    /// The results.
    pub results: &'s RawResults<'d>,
}

/// The key of a device in a receipt: what is left of its name without maker, form factor and edition, in lower case,
/// joined with `_`; `cpu` for a host.
pub fn device_key(name: &str, is_gpu: bool) -> String {
    if !is_gpu {
        return "cpu".to_owned();
    }
    let lower = name.to_lowercase();
    let words = lower.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    let telling: Vec<_> = words.filter(|word| !COMMON_WORDS.contains(word) && !is_form_factor(word)).collect();
    if telling.is_empty() { "gpu".to_owned() } else { telling.join("_") }
}

/// `sxm4`, `80gb`, `hbm3`, `hbm3e`.
fn is_form_factor(word: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let after = |prefix: &str| word.strip_prefix(prefix).is_some_and(|rest| digits(rest.trim_end_matches('e')));
    after("sxm") || after("hbm") || word.strip_suffix("gb").is_some_and(digits)
}

/// `value` as printed with so many significant digits.
pub fn significant(value: f64, digits: u32) -> f64 {
    let text = format!("{value:.*e}", digits.saturating_sub(1) as usize);
    text.parse().unwrap_or(value)
}

/// The receipt. `date` and `source` are its words of that name.
///
/// # Errors
/// A sentence that names the sources that cannot stand in one receipt, and why.
pub fn summarize(sources: &[Source<'_, '_>], date: Option<&str>, source: &str) -> Result<Json, String> {
    let Some(first) = sources.first() else { return Err("there is nothing to summarize".to_owned()) };
    for other in sources {
        refuse_incomplete(other)?;
        agree(first, other)?;
    }
    let mut devices: Vec<(String, Json)> = Vec::new();
    for one in sources {
        let key = key_of(one, sources);
        if let Some(at) = devices.iter().position(|(other, _)| *other == key) {
            let (other, label) = (&sources[at].label, &one.label);
            return Err(format!("{other} and {label} are both results of {key}; a receipt has one of them"));
        }
        devices.push((key, device(one)?));
    }
    Ok(object([
        ("protocol", protocol(sources, date, source)),
        ("deterministic_mode_probe", probe(sources)),
        ("devices", Json::Object(devices)),
    ]))
}

/// A receipt's text: members on lines of their own, lists on one line, as in the published form.
pub fn receipt_text(receipt: &Json) -> String {
    let mut text = String::new();
    write(receipt, 0, &mut text);
    text.push('\n');
    text
}

fn write(value: &Json, depth: usize, text: &mut String) {
    match value {
        Json::Object(members) if !members.is_empty() => {
            for (index, (name, member)) in members.iter().enumerate() {
                text.push_str(if index == 0 { "{" } else { "," });
                text.push_str(&format!("\n{}{}: ", "  ".repeat(depth + 1), compact(&Json::from(name.as_str()))));
                write(member, depth + 1, text);
            }
            text.push_str(&format!("\n{}}}", "  ".repeat(depth)));
        }
        Json::Array(items) => {
            let items: Vec<_> = items.iter().map(compact).collect();
            text.push_str(&format!("[{}]", items.join(", ")));
        }
        other => text.push_str(&compact(other)),
    }
}

fn refuse_incomplete(source: &Source<'_, '_>) -> Result<(), String> {
    if source.results.complete == Some(true) {
        return Ok(());
    }
    Err(format!("{} is incomplete: a receipt has every arm and resolution of its protocol", source.label))
}

fn agree(first: &Source<'_, '_>, other: &Source<'_, '_>) -> Result<(), String> {
    let value = |source: &Source<'_, '_>, name: &str| {
        source.results.protocol.at.get(name).map_or("nothing".to_owned(), compact)
    };
    for name in DEFINING {
        let (left, right) = (value(first, name), value(other, name));
        if left != right {
            return Err(format!(
                "{} and {} followed different protocols: {name} is {left} in the one and {right} in the other",
                first.label, other.label
            ));
        }
    }
    let hashes = |source: &Source<'_, '_>| {
        let mut hashes: Vec<_> = source.results.conditions.iter().flat_map(|one| one.input_hashes.to_vec()).collect();
        hashes.sort_by(|left, right| left.0.cmp(&right.0));
        hashes.dedup();
        hashes
    };
    let (left, right) = (hashes(first), hashes(other));
    if let Some((name, _)) =
        left.iter().find(|entry| !right.contains(entry)).or(right.iter().find(|entry| !left.contains(entry)))
    {
        return Err(format!(
            "{} and {} had different inputs: the hash of {name} is not the same",
            first.label, other.label
        ));
    }
    Ok(())
}

/// The engine is appended unless it is the usual one of the device, or unless two engines would share a key.
fn key_of(source: &Source<'_, '_>, sources: &[Source<'_, '_>]) -> String {
    let base = |source: &Source<'_, '_>| {
        let environment = &source.results.environment;
        device_key(environment.device_name.unwrap_or_default(), environment.is_gpu())
    };
    let usual = |source: &Source<'_, '_>| match source.results.engine {
        Some(Engine::Torch) => true,
        Some(Engine::Cpu) => {
            !sources.iter().any(|other| other.results.engine == Some(Engine::Torch) && base(other) == base(source))
        }
        _ => false,
    };
    match source.results.engine {
        Some(engine) if !usual(source) => format!("{}_{}", base(source), engine.name()),
        _ => base(source),
    }
}

fn device(source: &Source<'_, '_>) -> Result<Json, String> {
    let results = source.results;
    let mut members: Vec<(String, Json)> = Vec::new();
    for name in ENVIRONMENT {
        if let Some(value) = results.environment.at.get(name) {
            members.push((name.to_owned(), value.clone()));
        }
    }
    if let Some(engine) = results.engine.filter(|engine| *engine != Engine::Torch) {
        members.push(("engine".to_owned(), Json::from(engine.name())));
    }
    for arm in results.protocol.known_arms() {
        let condition = results.conditions.iter().find(|condition| condition.arm == arm);
        let condition = condition.ok_or_else(|| format!("{} has no arm {}", source.label, arm.name()))?;
        let numbers = |array: Option<&Json>| -> Vec<f64> {
            array.and_then(Json::as_array).unwrap_or_default().iter().filter_map(Json::as_f64).collect()
        };
        let divergences = numbers(condition.figures.divergence).into_iter();
        let rates = numbers(condition.figures.rate).into_iter();
        let decimals = RATE_DECIMALS as usize;
        members.push((
            arm.member().to_owned(),
            object([
                ("max_drift_coords", condition.figures.drift.cloned().unwrap_or(Json::Null)),
                ("max_div", divergences.map(|value| significant(value, DIVERGENCE_DIGITS)).collect::<Vec<_>>().into()),
                (
                    "pairwise_match_rate",
                    rates.map(|rate| format!("{rate:.decimals$}").parse().unwrap_or(rate)).collect::<Vec<f64>>().into(),
                ),
            ]),
        ));
    }
    Ok(Json::Object(members))
}

fn protocol(sources: &[Source<'_, '_>], date: Option<&str>, source: &str) -> Json {
    let mut members: Vec<(String, Json)> = Vec::new();
    let mut push = |name: &str, value: Json| members.push((name.to_owned(), value));
    let first = sources[0].results.protocol.at;
    for name in &DEFINING[..7] {
        push(name, first.get(name).cloned().unwrap_or(Json::Null));
    }
    for name in DESCRIBING {
        let mut texts: Vec<&str> = Vec::new();
        for text in sources.iter().filter_map(|source| source.results.protocol.at.get(name)?.as_str()) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        if !texts.is_empty() {
            push(name, Json::from(texts.join("; ")));
        }
    }
    push("arms", Json::from(sources[0].results.protocol.known_arms().into_iter().map(Arm::name).collect::<Vec<_>>()));
    if let Some(date) = date {
        push("date", Json::from(date));
    }
    push("source", Json::from(source));
    Json::Object(members)
}

/// The outcome on a GPU and on a host, each with the PyTorch version where versions had different ones.
fn probe(sources: &[Source<'_, '_>]) -> Json {
    let torch = || sources.iter().filter(|source| source.results.engine == Some(Engine::Torch));
    let setting = torch().find_map(|source| source.results.probe.setting);
    let outcome = |is_gpu: bool| {
        let mut outcomes: Vec<(&str, &str)> = Vec::new();
        for source in torch().filter(|source| source.results.environment.is_gpu() == is_gpu) {
            let version = source.results.environment.pytorch.unwrap_or("an unknown version");
            if let Some(result) = source.results.probe_result
                && !outcomes.contains(&(version, result))
            {
                outcomes.push((version, result));
            }
        }
        match outcomes.as_slice() {
            [] => Json::Null,
            [(_, result), rest @ ..] if rest.iter().all(|(_, other)| other == result) => Json::from(*result),
            _ => {
                let each: Vec<_> = outcomes.iter().map(|(version, result)| format!("{version}: {result}")).collect();
                Json::from(each.join("; "))
            }
        }
    };
    object([
        ("setting", setting.map_or(Json::Null, Json::from)),
        ("cuda_result", outcome(true)),
        ("cpu_result", outcome(false)),
    ])
}
