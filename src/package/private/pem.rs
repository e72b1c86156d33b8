//! How far a private key goes from the line that begins it: to the line that ends it, or as far as a key that is cut off.

use super::rules::{Found, Judged};

/// Names that PEM and its relatives have before a colon.
const HEADERS: [&str; 7] = ["Proc-Type", "DEK-Info", "Key-Info", "Version", "Comment", "Hash", "Charset"];

/// Letters of a word that only a key has.
const LONG_WORD: usize = 24;

/// Bytes behind the beginning of a key in which one would begin.
const NEAR: usize = 256;

const MARK: &str = "-----";

/// All up to the end that belongs to it. Prose that only names such lines is kept: without an end, or with sentences before
/// it, the key is the beginning and what directly follows in base64 or as a header.
pub(super) fn extent(found: Found<'_>) -> Judged {
    let after = found.after();
    let end = found.part().replacen("BEGIN", "END", 1);
    // No key holds such a mark: nothing is looked at twice from two beginnings.
    let closed = after.find(MARK).filter(|&at| after[at..].starts_with(&end) && is_of_a_key(&after[..at]));
    let more = closed.map_or_else(|| cut_off(after), |at| at + end.len());
    Judged { bytes: found.part().len() + more, is_meant: more > 0 || !is_of_a_sentence(after) }
}

/// Whether a line goes on behind the beginning of a key as only a sentence does, and no key is near.
fn is_of_a_sentence(after: &str) -> bool {
    let near = &after.as_bytes()[..after.len().min(NEAR)];
    let is_quoted = near.starts_with(b"`") || (near.starts_with(b"\"") || near.starts_with(b"'"));
    let goes_on =
        matches!(near, [b' ', next, ..] if next.is_ascii_lowercase()) || matches!(near, [b'.' | b',' | b';', ..]);
    let mut words = near.split(|&byte| !is_base64(byte));
    (is_quoted || goes_on) && !words.any(|word| std::str::from_utf8(word).is_ok_and(|word| is_key_word(word, false)))
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Whether each line between beginning and end may be one of a key, with what a log or a program puts around it.
fn is_of_a_key(text: &str) -> bool {
    let mut has_headers_only = true;
    text.split('\n').flat_map(|line| line.split("\\n")).map(str::trim).all(|line| {
        has_headers_only &= line.is_empty() || is_some_header(line);
        let mut words = line.split(|symbol: char| !symbol.is_ascii() || !is_base64(symbol as u8));
        has_headers_only || line.split_whitespace().nth(2).is_none() || words.any(|word| word.len() >= LONG_WORD)
    })
}

/// `Name: value`
fn is_some_header(line: &str) -> bool {
    let name = line.split_once(": ").map_or("", |(name, _)| name);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn is_header(line: &str) -> bool {
    HEADERS.iter().any(|name| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(": ")))
}

/// How many bytes of a text go on with a key.
fn cut_off(text: &str) -> usize {
    let (mut end, mut at, mut was_long) = (0, 0, false);
    loop {
        at += between(&text[at..]);
        let rest = &text[at..];
        let word = rest.bytes().take_while(|&byte| is_base64(byte)).count();
        let length = match is_header(rest) {
            true => rest.find(['\r', '\n', '\\', '"']).unwrap_or(rest.len()),
            false if is_key_word(&rest[..word], was_long) => word,
            false => return end,
        };
        // Only the last line of a key is shorter than the others.
        was_long = word >= LONG_WORD;
        at += length;
        end = at;
    }
}

/// White space, escapes of it, and quotes.
fn between(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += match byte {
            b' ' | b'\t' | b'\r' | b'\n' | b'"' | b'\'' => 1,
            b'\\' if matches!(bytes.get(at + 1), Some(b'n' | b'r' | b't' | b'\\')) => 2,
            _ => break,
        };
    }
    at
}

/// Whether a word is base64 rather than one of a language.
fn is_key_word(word: &str, follows_another: bool) -> bool {
    let has = |is: fn(&u8) -> bool| word.as_bytes().iter().any(is);
    let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    let is_cased = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    // What keys begin with: a sequence, and the name of a format.
    let begins_key = ["MI", "b3BlbnNza"].iter().any(|beginning| word.starts_with(beginning));
    (word.len() >= LONG_WORD && is_cased)
        || (word.len() >= 12 && is_cased && (is_mixed || begins_key))
        || (follows_another && word.len() >= 2 && (is_mixed || word.ends_with('=')))
}
