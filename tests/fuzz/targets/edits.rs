//! Changes of a JSON document, decoded from bytes: what a fuzzer makes of them is always a document that can be parsed.

use std::mem;

use arbitrary::{Result, Unstructured};
use serde_json::{Map, Value};

/// Most changes of one document.
const MAX_EDITS: usize = 6;

/// Most values that are put in the place of one, and bytes of a text: changes of changes must not grow without end.
const MAX_GROWTH: usize = 4096;

/// Numbers at which readers break.
const NUMBERS: [&str; 22] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "255",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "-9223372036854775808",
    "-0.0",
    "0.5",
    "1e-7",
    "5e-324",
    "1e16",
    "1e22",
    "1e300",
    "1.7976931348623157e308",
    "-1e308",
    "0.1",
];

/// Texts at which readers break.
const TEXTS: [&str; 14] = [
    "",
    "a",
    "passed",
    "failed",
    "default",
    "rows1",
    "torch",
    "[0,0,0,0]",
    "../x",
    "a/b",
    "~0~1",
    "\u{0}",
    "\u{202e}é😀",
    "tile=[18446744073709551615,0,1]",
];

/// The text of the input: as it stands where it begins with `{` or a blank, and else `base` with the changes that it says.
pub(super) fn text(base: &Value, data: &[u8]) -> Option<String> {
    match data.first() {
        Some(b'{' | b' ') => String::from_utf8(data.to_vec()).ok(),
        _ => Some(edited(base, data).to_string()),
    }
}

/// `base` with the changes that the bytes say.
pub(super) fn edited(base: &Value, data: &[u8]) -> Value {
    let mut root = base.clone();
    let mut data = Unstructured::new(data);
    for _ in 0..MAX_EDITS {
        if data.is_empty() || edit(&mut root, &mut data).is_err() {
            break;
        }
    }
    root
}

fn edit(root: &mut Value, data: &mut Unstructured<'_>) -> Result<()> {
    let kind = data.int_in_range(0..=11_u8)?;
    let value = pick(root, data)?;
    match kind {
        0 | 1 => *value = scalar(data)?,
        2 | 3 => remove(value, data)?,
        4 => repeat(value, data)?,
        5 | 6 => nudge(value, data)?,
        7 => *value = Value::Array(vec![mem::take(value)]),
        8 => *value = if data.arbitrary()? { Value::Array(Vec::new()) } else { Value::Object(Map::new()) },
        9 => add(value, data)?,
        // One value in the place of another.
        10 => {
            let value = value.clone();
            *pick(root, data)? = value;
        }
        _ => reorder(value, data)?,
    }
    Ok(())
}

/// Some value of the tree.
fn pick<'v>(root: &'v mut Value, data: &mut Unstructured<'_>) -> Result<&'v mut Value> {
    let index = data.arbitrary::<u16>()?;
    let mut left = usize::from(index) % count(root);
    let mut value = root;
    while left > 0 {
        left -= 1;
        let mut inner: Box<dyn Iterator<Item = &mut Value>> = match value {
            Value::Array(items) => Box::new(items.iter_mut()),
            Value::Object(members) => Box::new(members.values_mut()),
            _ => unreachable!("a scalar holds nothing"),
        };
        value = inner
            .find(|inner| {
                let values = count(inner);
                let is_in = left < values;
                left -= if is_in { 0 } else { values };
                is_in
            })
            .expect("there are as many as were counted");
    }
    Ok(value)
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    }
}

fn scalar(data: &mut Unstructured<'_>) -> Result<Value> {
    Ok(match data.int_in_range(0..=5_u8)? {
        0 => Value::Null,
        1 => Value::Bool(data.arbitrary()?),
        2 => serde_json::from_str(data.choose(&NUMBERS)?).expect("a number"),
        3 => Value::from(data.arbitrary::<f64>()?),
        4 => Value::from(*data.choose(&TEXTS)?),
        _ => Value::from(data.arbitrary::<&str>()?),
    })
}

fn remove(value: &mut Value, data: &mut Unstructured<'_>) -> Result<()> {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let at = data.choose_index(items.len())?;
            items.remove(at);
        }
        Value::Object(members) if !members.is_empty() => {
            let at = data.choose_index(members.len())?;
            let name = members.keys().nth(at).expect("a member").clone();
            members.remove(&name);
        }
        other => *other = Value::Null,
    }
    Ok(())
}

/// An item, member or text again.
fn repeat(value: &mut Value, data: &mut Unstructured<'_>) -> Result<()> {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let item = items[data.choose_index(items.len())?].clone();
            let times = data.int_in_range(1..=40)?.min(MAX_GROWTH / (count(&item) + items.len()));
            items.extend(std::iter::repeat_n(item, times));
        }
        Value::Object(members) if !members.is_empty() => {
            let at = data.choose_index(members.len())?;
            let (name, member) =
                members.iter().nth(at).map(|(name, member)| (name.clone(), member.clone())).expect("one");
            members.insert(format!("{name}2"), member);
        }
        Value::String(text) if text.len() < MAX_GROWTH => *text = text.repeat(data.int_in_range(2..=40)?),
        _ => {}
    }
    Ok(())
}

/// A scalar that is a little another one.
fn nudge(value: &mut Value, data: &mut Unstructured<'_>) -> Result<()> {
    match value {
        Value::Bool(flag) => *flag = !*flag,
        Value::Number(number) => {
            let by = data.int_in_range(-2..=2_i64)?;
            let changed = match (number.as_i64(), number.as_f64()) {
                (Some(whole), _) => Value::from(whole.wrapping_add(by)),
                (None, Some(float)) if data.arbitrary()? => {
                    Value::from(f64::from_bits(float.to_bits().wrapping_add_signed(by)))
                }
                (None, float) => Value::from(float.unwrap_or_default() * by as f64 * 1.5),
            };
            *value = changed;
        }
        Value::String(text) => {
            let characters: Vec<char> = text.chars().collect();
            let (at, insert) = (data.int_in_range(0..=characters.len())?, data.arbitrary::<char>()?);
            let skip = data.int_in_range(0..=2_usize)?;
            let after = characters.get(at + skip..).unwrap_or_default();
            *text = characters[..at].iter().chain([&insert]).chain(after).collect();
        }
        _ => {}
    }
    Ok(())
}

fn add(value: &mut Value, data: &mut Unstructured<'_>) -> Result<()> {
    let added = scalar(data)?;
    match value {
        Value::Array(items) => items.push(added),
        Value::Object(members) => {
            members.insert(data.arbitrary::<&str>()?.to_owned(), added);
        }
        other => *other = added,
    }
    Ok(())
}

fn reorder(value: &mut Value, data: &mut Unstructured<'_>) -> Result<()> {
    match value {
        Value::Array(items) if items.len() > 1 => {
            let (left, right) = (data.choose_index(items.len())?, data.choose_index(items.len())?);
            items.swap(left, right);
        }
        Value::Object(members) if members.len() > 1 => {
            let names: Vec<String> = members.keys().cloned().collect();
            let (left, right) = (data.choose(&names)?, data.choose(&names)?);
            let (first, second) = (members[left].clone(), members[right].clone());
            members.insert(left.clone(), second);
            members.insert(right.clone(), first);
        }
        _ => {}
    }
    Ok(())
}

/// One change of each kind at some places.
pub(super) fn seeds() -> impl Iterator<Item = Vec<u8>> {
    (0..12_u8).flat_map(|kind| (1..5_u8).map(move |at| vec![kind, at.wrapping_mul(37), at - 1, at, kind, 1, 2]))
}
