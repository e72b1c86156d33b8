//! What two packages say of their devices and of how they were measured, field by field.
//!
//! Names are dotted paths: `device.` for `device.json` (without the receipts of the queries it was read from),
//! `environment.` and `protocol.` for those members of `validation.json`, `manifest.` for the manifests of the common cases
//! (without what defines a case), `native.` and `torch.` for the sampling of the routes. A field that is not the same in
//! all runs of a package has all its values.

use std::collections::{BTreeMap, BTreeSet};

use super::Side;
use super::cases::Pair;
use crate::package::json::{Json, canonical};
use crate::package::partition::{CaseRecord, Route};

/// Fields of one package. A package chooses how many it has.
const MAX_FIELDS: usize = 4096;
/// Length of a field's name in bytes.
const MAX_NAME_BYTES: usize = 512;
/// Length of a field's value in characters.
const MAX_VALUE_CHARACTERS: usize = 512;
/// Values of one field.
const MAX_VALUES: usize = 8;

/// Members of a manifest that define its case, or follow from it.
const OF_THE_CASE: [&str; 9] =
    ["operation", "precision", "seed", "pattern", "dimensions", "tile", "inputs", "output", "expected"];

/// The fields of two packages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// All of them: device, environment, protocol, manifests, routes; within each by name.
    pub fields: Vec<Field>,
    /// Fields that were left out because a package has too many, or too long names.
    pub left_out: usize,
}

/// One field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its dotted name.
    pub name: String,
    /// Its value in OLD; several are separated by ` | `. `None` where OLD has no such field.
    pub old: Option<String>,
    /// Its value in NEW.
    pub new: Option<String>,
}

impl Field {
    /// Whether it is not the same in both.
    pub fn differs(&self) -> bool {
        self.old != self.new
    }
}

impl Environment {
    /// The fields that are not the same in both.
    pub fn differing(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| field.differs())
    }
}

pub(super) fn compare(old: &Side<'_, '_>, new: &Side<'_, '_>, pairs: &[Pair<'_, '_>]) -> Environment {
    let mut left = fields(old, pairs.iter().map(|(old, _)| *old));
    let mut right = fields(new, pairs.iter().map(|(_, new)| *new));
    let names: BTreeSet<_> = left.found.keys().chain(right.found.keys()).cloned().collect();
    let left_out = left.left_out + right.left_out;
    let mut take = |name: &(usize, String)| (left.found.remove(name), right.found.remove(name));
    let fields = names.iter().map(|name| {
        let (old, new) = take(name);
        Field { name: name.1.clone(), old: old.map(joined), new: new.map(joined) }
    });
    Environment { fields: fields.collect(), left_out }
}

/// The distinct values of a field as one text.
fn joined(values: BTreeSet<String>) -> String {
    let count = values.len();
    let mut shown: Vec<String> = values.into_iter().take(MAX_VALUES).collect();
    if count > MAX_VALUES {
        shown.push(format!("and {} more", count - MAX_VALUES));
    }
    shown.join(" | ")
}

/// Values by part and name.
#[derive(Default)]
struct Fields {
    found: BTreeMap<(usize, String), BTreeSet<String>>,
    left_out: usize,
}

fn fields<'s, 'd: 's>(side: &Side<'s, 'd>, records: impl Iterator<Item = &'s CaseRecord<'d>>) -> Fields {
    let mut fields = Fields::default();
    for (name, value) in side.device.as_object().unwrap_or_default() {
        if name != "evidence" {
            fields.flatten(0, &format!("device.{name}"), value);
        }
    }
    for (part, member) in [(1, "environment"), (2, "protocol")] {
        if let Some(value) = side.validation.document.root().get(member) {
            fields.flatten(part, member, value);
        }
    }
    for record in records {
        for run in &record.runs {
            let manifest = record.manifest(run).and_then(Json::as_object).unwrap_or_default();
            for (name, value) in manifest.iter().filter(|(name, _)| !OF_THE_CASE.contains(&name.as_str())) {
                fields.flatten(3, &format!("manifest.{name}"), value);
            }
            for (at, (route, from)) in run.routes().into_iter().enumerate() {
                let (Some(record), Some(timing)) = (from.at, &from.timing) else { continue };
                fields.sampling(4 + at, route, record);
                fields.add(4 + at, &format!("{}.samples", route.name()), timing.samples.len().to_string());
            }
        }
    }
    fields
}

impl Fields {
    /// What was asked for when a route was timed, not what came out.
    fn sampling(&mut self, part: usize, route: Route, record: &Json) {
        for path in [
            ["sampling", "protocol"],
            ["sampling", "sample_target_ms"],
            ["sampling", "replay_cap"],
            ["sampling", "operation_cap"],
            ["warmup", "target_ms"],
        ] {
            if let Some(value) = record.path(&path) {
                self.flatten(part, &format!("{}.{}", route.name(), path.join(".")), value);
            }
        }
    }

    /// Adds a value, or what it holds, under dotted names.
    fn flatten(&mut self, part: usize, name: &str, value: &Json) {
        match value {
            Json::Object(members) if !members.is_empty() && name.len() <= MAX_NAME_BYTES => {
                members.iter().for_each(|(member, value)| self.flatten(part, &format!("{name}.{member}"), value));
            }
            Json::Array(items) if !items.is_empty() && name.len() <= MAX_NAME_BYTES => {
                items.iter().enumerate().for_each(|(at, item)| self.flatten(part, &format!("{name}.{at}"), item));
            }
            _ => self.add(part, name, shown(value)),
        }
    }

    fn add(&mut self, part: usize, name: &str, value: String) {
        let key = (part, name.to_owned());
        if let Some(values) = self.found.get_mut(&key) {
            values.insert(value);
        } else if self.found.len() < MAX_FIELDS && name.len() <= MAX_NAME_BYTES {
            self.found.insert(key, BTreeSet::from([value]));
        } else {
            self.left_out += 1;
        }
    }
}

/// A single value as text. `100` and `100.0` are the same number.
fn shown(value: &Json) -> String {
    let text = match value {
        Json::Str(text) => text.clone(),
        Json::Float(number) if number.fract() == 0.0 && number.abs() < 1e15 => format!("{number:.0}"),
        // What is deeper than names can say is told by its kind.
        Json::Object(members) if !members.is_empty() => value.kind().to_owned(),
        Json::Array(items) if !items.is_empty() => value.kind().to_owned(),
        other => canonical(other),
    };
    match text.char_indices().nth(MAX_VALUE_CHARACTERS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
