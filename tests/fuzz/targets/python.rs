//! Python's `json.dumps`, written down a second time and otherwise: over `serde_json`'s tree, with floats from their digits.
//! `tests/fuzz.rs` holds it against what Python itself wrote.

use serde_json::Value;

/// What `json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)` writes.
pub(crate) fn naive_canonical(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) => value.to_string(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (None, None) => float(number.as_f64().expect("a float")),
            _ => number.to_string(),
        },
        Value::String(text) => string(text),
        Value::Array(items) => format!("[{}]", items.iter().map(naive_canonical).collect::<Vec<_>>().join(",")),
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| name.chars().map(u32::from).collect::<Vec<_>>());
            let members: Vec<_> =
                members.iter().map(|(name, member)| format!("{}:{}", string(name), naive_canonical(member))).collect();
            format!("{{{}}}", members.join(","))
        }
    }
}

/// Python's `repr` of a finite float: of the shortest decimals that read back to it the nearest one.
fn float(value: f64) -> String {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let value = value.abs();
    if value == 0.0 {
        return format!("{sign}0.0");
    }
    // A correctly rounded decimal of each length; the first that reads back is the shortest and the nearest of its length,
    // but for a power of two, below which numbers lie closer: there a longer step up may read back where the nearest does not.
    let scientific = (0..17)
        .flat_map(|digits| {
            let nearest = format!("{value:.digits$e}");
            let (mantissa, exponent) =
                nearest.split_once('e').map(|(m, e)| (m.to_owned(), e.to_owned())).expect("an e");
            let whole: u64 = mantissa.replace('.', "").parse().expect("digits");
            let next = format!("{}e{}", whole + 1, exponent.parse::<i32>().expect("an exponent") - digits as i32);
            [nearest, next]
        })
        .find(|text| text.parse() == Ok(value))
        .expect("17 digits read back");
    let (mantissa, exponent) = scientific.split_once('e').expect("an e");
    let point = exponent.parse::<i32>().expect("an exponent") + mantissa.find('.').unwrap_or(mantissa.len()) as i32;
    let digits = mantissa.replace('.', "");
    let digits = digits.trim_end_matches('0');
    let text = match point {
        ..=-4 | 17.. => {
            let (first, rest) = digits.split_at(1);
            let point_and_rest = if rest.is_empty() { String::new() } else { format!(".{rest}") };
            let (mark, size) = if point < 1 { ('-', 1 - point) } else { ('+', point - 1) };
            format!("{first}{point_and_rest}e{mark}{size:02}")
        }
        -3..=0 => format!("0.{}{digits}", "0".repeat(point.unsigned_abs() as usize)),
        1..=16 => {
            let padded = format!("{digits:0<width$}", width = point as usize + 1);
            let (whole, fraction) = padded.split_at(point as usize);
            format!("{whole}.{fraction}")
        }
    };
    format!("{sign}{text}")
}

fn string(text: &str) -> String {
    let units: String = text
        .encode_utf16()
        .map(|unit| match unit {
            0x08 => "\\b".to_owned(),
            0x09 => "\\t".to_owned(),
            0x0a => "\\n".to_owned(),
            0x0c => "\\f".to_owned(),
            0x0d => "\\r".to_owned(),
            0x22 => "\\\"".to_owned(),
            0x5c => "\\\\".to_owned(),
            0x20..=0x7e => char::from(unit as u8).to_string(),
            _ => format!("\\u{unit:04x}"),
        })
        .collect();
    format!("\"{units}\"")
}
