//! The strings of a JSON text with their places in it, so that they can be replaced and nothing else is touched.

use std::ops::Range;

/// One string literal.
#[derive(Debug)]
pub struct Token<'k> {
    /// Where it stands in the text, with its quotes.
    pub range: Range<usize>,
    /// What it says.
    pub value: String,
    /// Whether it names a member.
    pub is_key: bool,
    /// The member whose value it is.
    pub key: Option<&'k str>,
    /// Arrays and objects around it.
    pub depth: usize,
    /// Whether it says where and by whom something was run: it lies in, or is, a member of such a name.
    pub in_surroundings: bool,
}

/// Members whose values describe the surroundings of a run.
const SURROUNDINGS: [&str; 12] = [
    "environment",
    "env",
    "host",
    "hostname",
    "machine",
    "user",
    "username",
    "command",
    "argv",
    "cwd",
    "log",
    "stderr",
];

/// Calls `take` with each string of a text that is JSON.
pub fn each_string(text: &str, take: &mut dyn FnMut(Token<'_>)) {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    let mut key: Option<String> = None;
    // The depth at which the outermost such member's value begins.
    let mut surroundings: Option<usize> = None;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' => {
                if key.as_deref().is_some_and(is_surroundings) {
                    surroundings = surroundings.or(Some(depth));
                }
                (depth, key) = (depth + 1, None);
            }
            b'}' | b']' => {
                (depth, key) = (depth.saturating_sub(1), None);
                surroundings = surroundings.filter(|&outer| outer < depth);
            }
            b',' => key = None,
            b'"' => {
                let start = at - 1;
                at = closing(bytes, at);
                let literal = &text[start..at];
                let value = match literal.contains('\\') {
                    true => serde_json::from_str(literal).unwrap_or_default(),
                    false => literal.trim_matches('"').to_owned(),
                };
                let is_key = bytes[at..].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':');
                let named = is_key.then(|| value.clone());
                let of = key.as_deref().filter(|_| !is_key);
                let in_surroundings = surroundings.is_some() || of.is_some_and(is_surroundings);
                take(Token { range: start..at, value, is_key, key: of, depth, in_surroundings });
                if is_key {
                    key = named;
                }
            }
            _ => {}
        }
    }
}

fn is_surroundings(key: &str) -> bool {
    SURROUNDINGS.contains(&key)
}

/// The offset behind the quote that closes the string whose content begins at `at`.
fn closing(bytes: &[u8], mut at: usize) -> usize {
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// A text as a JSON string; with ASCII escapes where the literal that it replaces has no other characters.
pub fn literal(value: &str, replaced: &str) -> String {
    let json = crate::package::json::Json::from(value);
    match replaced.is_ascii() {
        true => crate::package::json::compact(&json),
        false => serde_json::to_string(value).unwrap_or_else(|_| crate::package::json::compact(&json)),
    }
}
