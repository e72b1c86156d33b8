//! Recorded settings (protocol, environment, device) as names and values that a person can read.

use crate::package::json::{Json, python_float};

/// Longest value that is shown, in characters.
const MAX_SHOWN: usize = 200;

/// Objects within objects that are looked into.
const MAX_DEPTH: usize = 6;

/// One row for each value below `settings`: its members joined by points, and the value. Receipts, nulls and values too long
/// for a table are left out; they stand in the JSON.
pub(super) fn rows(settings: &Json) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    collect("", settings, MAX_DEPTH, &mut rows);
    rows.retain(|(name, value)| !value.is_empty() && value.chars().count() + name.chars().count() <= MAX_SHOWN);
    rows
}

fn collect(name: &str, value: &Json, depth: usize, rows: &mut Vec<(String, String)>) {
    let is_receipt = value.get("sha256").is_some();
    match value {
        Json::Object(members) if !is_receipt && depth > 0 => {
            for (member, value) in members {
                let name = if name.is_empty() { member.clone() } else { format!("{name}.{member}") };
                collect(&name, value, depth - 1, rows);
            }
        }
        Json::Array(items) => {
            if let Some(texts) = items.iter().map(scalar).collect::<Option<Vec<_>>>() {
                rows.push((in_cell(name), texts.join(", ")));
            }
        }
        other => rows.extend(scalar(other).map(|text| (in_cell(name), text))),
    }
}

fn scalar(value: &Json) -> Option<String> {
    match value {
        Json::Bool(flag) => Some(if *flag { "yes" } else { "no" }.to_owned()),
        Json::Int(number) => Some(number.to_string()),
        Json::Large(number) => Some(number.to_string()),
        Json::Float(number) => Some(python_float(*number)),
        Json::Str(text) if !text.trim().is_empty() => Some(format!("`{}`", in_cell(text))),
        _ => None,
    }
}

/// A text on one line that ends neither a cell nor inline code.
pub(super) fn in_cell(text: &str) -> String {
    let plain = |character: char| match character {
        '|' => '/',
        '`' => '\'',
        other if other.is_control() => ' ',
        other => other,
    };
    text.trim().chars().map(plain).collect()
}

/// A text on one line that Markdown shows as it is. What follows an `@` (a processor's nominal clock) is left out.
pub(super) fn in_sentence(text: &str) -> String {
    let text = text.split('@').next().unwrap_or(text);
    in_cell(text).chars().filter(|character| !matches!(character, '*' | '_' | '<' | '>' | '[' | ']' | '#')).collect()
}
