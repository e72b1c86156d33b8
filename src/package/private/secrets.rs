//! Whether what stands where a secret would stand is one: neither a variable, nor code, nor a word of documentation.

use std::sync::LazyLock;

use regex::Regex;

use super::rules::{Found, Judged, compiled};

/// What settings and members are called whose values are secrets, with what may come before.
pub(super) const SECRETS: &str = r"(?i-u:(?:\b|_)(?:password|passwd|passphrase|(?:client|app|shared)[_-]?secret|secret(?:[_-]?access)?[_-]?key|secret|api[_-]?key|access[_-]?key|private[_-]?key|(?:access|auth|api|bearer|refresh|session|secret|bot|deploy|private|personal|hf|hub|huggingface|wandb|github|gh|gitlab|ngc|npm|pypi|slack)[_-]?token))|[a-z0-9](?:Password|Passphrase|Secret|SecretKey|ApiKey|AccessKey|PrivateKey|AccessToken|AuthToken|ApiToken)";

/// Members of JSON objects: those whose values are secrets, those whose values are tokens if they look like one, and those
/// whose values are a scheme and a secret.
pub(super) const MEMBERS: [&str; 3] =
    [r"(?:<secrets>)$", r"(?i)(?:^|[_.-])token$|[a-z0-9](?-i:Token)$", r"(?i)^(?:proxy-)?authorization$"];

static COMPILED: LazyLock<[Option<Regex>; 3]> = LazyLock::new(|| MEMBERS.map(compiled));

/// Whether the value of a member is a secret.
pub(super) fn is_secret_member(key: &str, value: &str) -> bool {
    let is = |at: usize| COMPILED[at].as_ref().is_some_and(|regex| regex.is_match(key));
    (is(0) && quoted_value(value).is_some())
        || (is(1) && (looks_random(value, 16) || (key.ends_with("_TOKEN") && looks_random(value, 8))))
        || (is(2) && value.split_once(' ').is_some_and(|(_, secret)| is_bearer_value(secret.trim())))
}

/// Whether the value of a member is the bare identity of a device.
pub(super) fn is_identity_member(key: &str, value: &str) -> bool {
    if value.len() != 36 {
        return false;
    }
    let key: String = key.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let is_uuid = || {
        let groups: Vec<&str> = value.split('-').collect();
        groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
            && groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
            && value.bytes().any(|byte| !matches!(byte, b'0' | b'-'))
    };
    ["uuid", "gpuuuid", "miguuid", "deviceuuid", "cudauuid"].contains(&key.as_str()) && is_uuid()
}

/// Words that stand where a secret would, in documentation, forms and schemas.
const WORDS: &[&str] = &[
    "changeme",
    "dummy",
    "empty",
    "example",
    "false",
    "hidden",
    "masked",
    "none",
    "null",
    "optional",
    "pass",
    "passphrase",
    "passwd",
    "password",
    "placeholder",
    "redacted",
    "removed",
    "required",
    "secret",
    "string",
    "text",
    "token",
    "true",
    "undefined",
    "unset",
];

/// Whether a value only stands for one: a variable, a template, a word.
fn is_template(value: &str) -> bool {
    let inner = value.trim_matches(|symbol: char| !symbol.is_alphanumeric());
    let name = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'));
    let is_variable = value.starts_with("${")
        || value.starts_with("$(")
        || value.strip_prefix('$').is_some_and(|rest| name(rest) && !rest.is_empty());
    let lower = inner.to_ascii_lowercase();
    let is_masked = inner.is_empty() || lower.bytes().all(|byte| matches!(byte, b'x' | b'.' | b'*'));
    let is_word = WORDS.contains(&lower.as_str()) || lower.starts_with("your") || lower.contains("api_key_here");
    let is_constant = value.contains('_')
        && value.starts_with(|first: char| first.is_ascii_uppercase())
        && value.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    is_variable
        || is_masked
        || is_word
        || is_constant
        || (value.starts_with('<') && value.ends_with('>'))
        || value.starts_with("{{")
        || (value.starts_with('{') && value.ends_with('}'))
        || (value.starts_with('[') && value.ends_with(']'))
        || (value.len() > 2 && value.starts_with('%') && value.ends_with('%'))
        || value.starts_with("%(")
}

/// Whether a value is an expression of a program.
fn is_code(value: &str) -> bool {
    let end = value
        .find(|symbol: char| !(symbol.is_alphanumeric() || matches!(symbol, '_' | '.' | ':')))
        .unwrap_or(value.len());
    let (head, rest) = value.split_at(end);
    let starts_as_name = head.starts_with(|first: char| first.is_alphabetic() || first == '_');
    let is_path = head.trim_end_matches(['.', ':']).contains(['.', ':'])
        && head
            .split(['.', ':'])
            .filter(|part| !part.is_empty())
            .all(|part| !part.starts_with(|first: char| first.is_ascii_digit()));
    starts_as_name && (rest.starts_with(['(', '[']) || (is_path && (rest.is_empty() || rest.starts_with('<'))))
}

fn is_file(value: &str) -> bool {
    value.len() != 40 && ["/", "./", "../", "~/"].iter().any(|beginning| value.starts_with(beginning))
}

/// How much of what stands between quotes is a secret.
fn quoted_value(value: &str) -> Option<usize> {
    let value = value.trim_end_matches('\\');
    (value.len() >= 4 && !value.contains(char::is_whitespace) && !is_template(value) && !is_file(value))
        .then_some(value.len())
}

pub(super) fn quoted(found: Found<'_>) -> Judged {
    let taken = quoted_value(found.part());
    Judged { bytes: taken.unwrap_or(found.part().len()), is_meant: taken.is_some() }
}

/// Without quotes, a bare word is the name of a variable, and what follows may be more settings, or code.
pub(super) fn assigned(found: Found<'_>) -> Judged {
    let extent = extent(found.text, found.start);
    let value = without_closing(&found.text[found.start..extent]);
    // What a shell reads is no expression.
    let mut before = found.before().bytes().rev();
    let is_shell = before.next() == Some(b'=') && before.next().is_some_and(|byte| byte.is_ascii_uppercase());
    let is_code = is_code(value) && !(is_shell && !value.ends_with([')', ']']) && !value.contains('.'));
    judged(found, extent, value, !is_code)
}

/// As [`assigned`], where a colon precedes; prose and annotations of types go on after a word.
pub(super) fn stated(found: Found<'_>) -> Judged {
    let extent = extent(found.text, found.start);
    let value = without_closing(&found.text[found.start..extent]);
    let rest = found.text[extent..].trim_start_matches([' ', '\t']);
    let is_last = rest.is_empty() || rest.starts_with(['\r', '\n', '#', '"', '\'', '\\', '}', ',', ';']);
    judged(found, extent, value, is_last && !is_code(value))
}

fn judged(found: Found<'_>, extent: usize, value: &str, holds: bool) -> Judged {
    let is_mark = |byte: u8| byte.is_ascii_digit() || b"!#%^+@~$*&".contains(&byte);
    let is_meant = holds && value.len() >= 6 && value.bytes().any(is_mark) && !is_template(value) && !is_file(value);
    Judged { bytes: if is_meant { value.len() } else { extent - found.start }, is_meant }
}

/// Where a value without quotes ends: before white space, a quote, an escape of one, or the next setting.
fn extent(text: &str, start: usize) -> usize {
    for (at, symbol) in text[start..].char_indices() {
        let rest = &text[start + at + symbol.len_utf8()..];
        let begins_another = || {
            let name = rest.find(|symbol: char| !(symbol.is_ascii_alphanumeric() || matches!(symbol, '_' | '-' | '.')));
            name.is_some_and(|name| name > 0 && rest[name..].starts_with('='))
        };
        let ends = match symbol {
            '"' | '\'' | '`' => true,
            '\\' => rest.starts_with(['n', 'r', 't', '"', '\'']),
            '&' | ';' | ',' => begins_another(),
            _ => symbol.is_whitespace(),
        };
        if ends {
            return start + at;
        }
    }
    text.len()
}

/// A value without what closes a sentence or an expression around it.
fn without_closing(value: &str) -> &str {
    let mut value = value.trim_end_matches([',', ';', '.', '\\']);
    for (open, close) in [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')] {
        if value.ends_with(close) && !value.contains(open) {
            value = value.trim_end_matches([close, ',', ';', '.']);
        }
    }
    value
}

/// Letters and digits mixed as no word or expression mixes them.
fn looks_random(value: &str, shortest: usize) -> bool {
    let is_hash = matches!(value.len(), 64 | 128) && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    value.len() >= shortest
        && value.starts_with(|first: char| first.is_ascii_alphanumeric())
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._~+/=-".contains(&byte))
        && !is_hash
        && !is_template(value)
        && !is_code(value)
        && !is_file(value)
}

fn token(found: Found<'_>, shortest: usize) -> Judged {
    let value = found.part().trim_end_matches('.');
    found.judged(looks_random(value, shortest) && !found.after().starts_with(['(', '[']))
}

pub(super) fn is_token(found: Found<'_>) -> Judged {
    token(found, 16)
}

pub(super) fn is_short_token(found: Found<'_>) -> Judged {
    token(found, 8)
}

pub(super) fn is_query_token(found: Found<'_>) -> Judged {
    found.judged(has_digit(found).is_meant && !is_template(found.part()))
}

fn is_bearer_value(value: &str) -> bool {
    value.len() >= 8 && !is_template(value) && (value.len() >= 20 || value.bytes().any(|byte| byte.is_ascii_digit()))
}

pub(super) fn is_bearer(found: Found<'_>) -> Judged {
    found.judged(is_bearer_value(found.part()))
}

/// The password in an address.
pub(super) fn in_url(found: Found<'_>) -> Judged {
    found.judged(!is_template(found.part()))
}

/// A token that stands in an address in the place of a user's name.
pub(super) fn userinfo(found: Found<'_>) -> Judged {
    found.judged(looks_random(found.part(), 16))
}

pub(super) fn has_digit(found: Found<'_>) -> Judged {
    found.judged(found.part().bytes().any(|byte| byte.is_ascii_digit()))
}
