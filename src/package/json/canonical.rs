//! JSON as Python's `json.dumps` writes it: canonical (sorted, for hashes), compact (for published files) and indented (for
//! people).

use std::borrow::Borrow;
use std::fmt::Write;

use super::Json;

/// The bytes of `json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)`: members sorted by code
/// point, ASCII only, no spaces, floats in Python's notation. Profile ids are hashes of these bytes.
pub fn canonical(value: &Json) -> String {
    write(value, Layout { sorted: true, indent: None })
}

/// The same without sorting: members in their own order, on one line.
pub fn compact(value: &Json) -> String {
    write(value, Layout { sorted: false, indent: None })
}

/// One member or item on each line, indented by two spaces, members in their own order.
pub fn indented(value: &Json) -> String {
    write(value, Layout { sorted: false, indent: Some(0) })
}

#[derive(Clone, Copy)]
struct Layout {
    sorted: bool,
    /// Depth of the current value; `None` for everything on one line.
    indent: Option<usize>,
}

impl Layout {
    fn deeper(self) -> Self {
        Self { indent: self.indent.map(|depth| depth + 1), ..self }
    }

    fn new_line(self, text: &mut String) {
        if let Some(depth) = self.indent {
            text.push('\n');
            text.extend(std::iter::repeat_n("  ", depth));
        }
    }
}

fn write(value: &Json, layout: Layout) -> String {
    let mut text = String::new();
    write_value(value, layout, &mut text);
    text
}

/// A finite float as Python's `repr` writes it: the shortest digits that read back to the same binary64, positional from
/// 1e-4 up to below 1e16, else with a signed exponent of at least two digits.
pub fn python_float(value: f64) -> String {
    let scientific = shortest(value);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        return positional(mantissa, exponent);
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// A whole number as Python writes it: digits without a sign or leading zeros; `None` for other texts.
pub fn whole_number(text: &str) -> Option<u64> {
    let is_plain = text == "0" || (text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0'));
    text.parse().ok().filter(|_| is_plain)
}

/// Digits from which on two shortest decimals can be equally near to one binary64 number: every number of 15 digits or
/// fewer that reads back is the only one.
const FIRST_TIED_DIGITS: usize = 15;

/// The shortest decimal in scientific notation; of two equally near ones that with the even last digit, as Python
/// chooses and Rust's own shortest form does not.
fn shortest(value: f64) -> String {
    let shortest = format!("{value:e}");
    let digits = shortest.split('e').next().map_or(0, |mantissa| mantissa.bytes().filter(u8::is_ascii_digit).count());
    if digits >= FIRST_TIED_DIGITS {
        let nearest = format!("{value:.*e}", digits - 1);
        if nearest != shortest && nearest.parse() == Ok(value) {
            return nearest;
        }
    }
    shortest
}

/// Digits with the point moved by `exponent` places, with at least one digit on each side.
fn positional(mantissa: &str, exponent: i32) -> String {
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let Ok(point) = usize::try_from(exponent) else {
        let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
        return format!("{sign}0.{zeros}{digits}");
    };
    if digits.len() <= point + 1 {
        let zeros = "0".repeat(point + 1 - digits.len());
        return format!("{sign}{digits}{zeros}.0");
    }
    let (whole, fraction) = digits.split_at(point + 1);
    format!("{sign}{whole}.{fraction}")
}

fn write_value(value: &Json, layout: Layout, text: &mut String) {
    match value {
        Json::Null => text.push_str("null"),
        Json::Bool(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Json::Int(value) => text.push_str(&value.to_string()),
        Json::Large(value) => text.push_str(&value.to_string()),
        Json::Float(value) => text.push_str(&python_float(*value)),
        Json::Str(value) => write_string(value, text),
        Json::Array(items) => write_items(items.iter(), layout, text),
        Json::Floats(floats) => write_items(floats.iter().map(Json::Float), layout, text),
        Json::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            if layout.sorted {
                members.sort_by(|(left, _), (right, _)| left.cmp(right));
            }
            text.push('{');
            let inner = layout.deeper();
            for (at, (name, member)) in members.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                inner.new_line(text);
                write_string(name, text);
                text.push_str(if layout.indent.is_some() { ": " } else { ":" });
                write_value(member, inner, text);
            }
            if !members.is_empty() {
                layout.new_line(text);
            }
            text.push('}');
        }
    }
}

fn write_items(items: impl ExactSizeIterator<Item: Borrow<Json>>, layout: Layout, text: &mut String) {
    text.push('[');
    let inner = layout.deeper();
    let is_empty = items.len() == 0;
    for (at, item) in items.enumerate() {
        if at > 0 {
            text.push(',');
        }
        inner.new_line(text);
        write_value(item.borrow(), inner, text);
    }
    if !is_empty {
        layout.new_line(text);
    }
    text.push(']');
}

fn write_string(value: &str, text: &mut String) {
    text.push('"');
    for character in value.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            ' '..='~' => text.push(character),
            other => {
                for unit in other.encode_utf16(&mut [0; 2]) {
                    // Writing to a String cannot fail.
                    let _ = write!(text, "\\u{unit:04x}");
                }
            }
        }
    }
    text.push('"');
}
