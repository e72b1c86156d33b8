//! Whether what stands where a secret would stand is one: neither a variable, nor code, nor a number, nor a word of
//! documentation. The name before it says what would stand there.

use std::sync::LazyLock;

use regex::Regex;

use super::rules::{Found, Judged, compiled};
use super::settings::is_setting;
use super::tokens::{is_of_a_model, is_of_a_sentence, is_of_a_vocabulary, is_plain, is_token_name, names_no_secret};
use super::values::{is_code, is_file, is_measured, is_number, is_template, looks_random};

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
    let is_random = || {
        (looks_random(value, 16) || (key.ends_with("_TOKEN") && looks_random(value, 8)))
            && !is_plain(key, value)
            && !is_setting(key, value)
    };
    (is(0) && quoted_value(key, value).is_some())
        || (is(1) && !names_no_secret(key) && is_random())
        || (is(2) && value.split_once(' ').is_some_and(|(_, secret)| is_bearer_value(secret.trim())))
}

/// Bytes of a name that are looked at.
const LONGEST_NAME: usize = 64;

/// The name before what was found, without what stands between them.
pub(super) fn name_before(found: Found<'_>) -> &str {
    let before = found.before().trim_end_matches(|symbol: char| {
        symbol.is_ascii_whitespace() || matches!(symbol, ':' | '=' | '>' | '"' | '\'' | '\\' | ']' | ',')
    });
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/');
    let length = before.as_bytes().iter().rev().take(LONGEST_NAME).take_while(|byte| is_part(byte)).count();
    &before[before.len() - length..]
}

/// Whether a number or a name of a model stands there, which no rule may destroy.
fn is_evidence(name: &str, value: &str) -> bool {
    is_of_a_model(name)
        || is_measured(value)
        || (is_token_name(name) && is_number(value))
        || is_setting(name.trim_start_matches('-'), value)
}

/// How much of what stands between quotes is a secret.
pub(super) fn quoted_value(name: &str, value: &str) -> Option<usize> {
    let value = value.trim_end_matches('\\');
    let is_meant = value.len() >= 4 && !value.contains(char::is_whitespace) && !is_template(value) && !is_file(value);
    (is_meant && !is_evidence(name, value)).then_some(value.len())
}

pub(super) fn quoted(found: Found<'_>) -> Judged {
    let taken = quoted_value(name_before(found), found.part());
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

/// As [`assigned`], where the name is an option and a blank precedes, or both are items of a list.
pub(super) fn given(found: Found<'_>) -> Judged {
    let extent = extent(found.text, found.start);
    let value = without_closing(&found.text[found.start..extent]);
    let option = name_before(found);
    let is_meant = option.starts_with('-') && is_given(option, value);
    Judged { bytes: if is_meant { value.len() } else { extent - found.start }, is_meant }
}

/// Whether a value behind an option is a secret, where it may be the next word of a sentence as well.
fn is_given(option: &str, value: &str) -> bool {
    // `--secret id=x,src=y`
    let is_pair =
        value.split_once('=').is_some_and(|(name, rest)| !rest.trim_matches('=').is_empty() && name.len() < 16);
    // A hash stands behind `token` where texts are counted, too.
    let is_long = |is: fn(&u8) -> bool| value.len() >= 24 && value.as_bytes().iter().all(is);
    let is_key = || {
        looks_random(value, 8)
            || is_long(u8::is_ascii_alphabetic)
            || (!is_token_name(option) && is_long(u8::is_ascii_alphanumeric))
    };
    let is_password = || is_marked(value) && !is_code(value) && !is_file(value) && !is_template(value);
    let is_secret = if option.to_ascii_lowercase().contains("pass") { is_password() } else { is_key() };
    is_secret
        && !value.starts_with(['-', '|', '>', '<', '&'])
        && !is_pair
        && !names_no_secret(option)
        && !is_evidence(option, value)
}

/// What options are called whose next argument is a secret.
pub(super) const OPTIONS: &str = r"(?i-u:--?(?:[a-z0-9]+[_-])*(?:password|passwd|passphrase|secret|(?:api|secret|access|wandb|account|auth)[_-]?key|token))";

/// Whether an argument behind another one is a secret: each stands for itself, so that it is none of a sentence.
pub(super) fn is_secret_argument(option: &str, value: &str) -> bool {
    static OPTION: LazyLock<Option<Regex>> = LazyLock::new(|| compiled(&format!("^{OPTIONS}$")));
    let is_login = option == "login" && is_key_of_wandb(value);
    let is_option = option.starts_with('-') && OPTION.as_ref().is_some_and(|regex| regex.is_match(option));
    is_login
        || (is_option
            && !value.starts_with('-')
            && match is_token_name(option) {
                true => is_given(option, value),
                false => quoted_value(option, value).is_some(),
            })
}

/// Keys of 40 digits, and newer ones that say whose they are.
fn is_key_of_wandb(value: &str) -> bool {
    (value.len() == 40 && value.bytes().all(|byte| byte.is_ascii_hexdigit()))
        || (value.starts_with("wandb_v") && value.len() >= 40)
}

pub(super) fn is_wandb(found: Found<'_>) -> Judged {
    found.judged(is_key_of_wandb(found.part()))
}

/// The password of a line of `.netrc`.
pub(super) fn in_netrc(found: Found<'_>) -> Judged {
    let value = found.part();
    found.judged(is_marked(value) && !is_template(value))
}

fn judged(found: Found<'_>, extent: usize, value: &str, holds: bool) -> Judged {
    let is_meant =
        holds && is_marked(value) && !is_template(value) && !is_file(value) && !is_evidence(name_before(found), value);
    Judged { bytes: if is_meant { value.len() } else { extent - found.start }, is_meant }
}

/// Whether a value is none of the words of a sentence.
fn is_marked(value: &str) -> bool {
    value.len() >= 6 && value.bytes().any(|byte| byte.is_ascii_digit() || b"!#%^+@~$*&".contains(&byte))
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

fn token(found: Found<'_>, shortest: usize) -> Judged {
    let value = found.part().trim_end_matches('.');
    let is_called = found.after().starts_with(['(', '[']);
    if !looks_random(value, shortest) || is_called {
        return found.judged(false);
    }
    let name = name_before(found);
    let is_other = names_no_secret(name)
        || is_plain(name, value)
        || is_setting(name, value)
        || is_of_a_sentence(found, name)
        || is_of_a_vocabulary(name, found.text, &(found.start..found.end));
    found.judged(!is_other)
}

pub(super) fn is_token(found: Found<'_>) -> Judged {
    token(found, 16)
}

pub(super) fn is_short_token(found: Found<'_>) -> Judged {
    token(found, 8)
}

pub(super) fn is_query_token(found: Found<'_>) -> Judged {
    let value = found.part();
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    found.judged(has_digit && !is_template(value) && !is_evidence(name_before(found), value))
}

fn is_bearer_value(value: &str) -> bool {
    value.len() >= 8 && !is_template(value) && (value.len() >= 20 || value.bytes().any(|byte| byte.is_ascii_digit()))
}

pub(super) fn is_bearer(found: Found<'_>) -> Judged {
    found.judged(is_bearer_value(found.part()))
}

/// The password in an address.
pub(super) fn in_url(found: Found<'_>) -> Judged {
    // `http://proxy:3128@cluster:80/`
    let host = found.before().strip_suffix(':').is_some_and(|before| !before.ends_with('/'));
    let is_port = host && found.part().len() <= 5 && found.part().bytes().all(|byte| byte.is_ascii_digit());
    found.judged(!is_template(found.part()) && !is_port)
}

/// A token that stands in an address in the place of a user's name.
pub(super) fn userinfo(found: Found<'_>) -> Judged {
    found.judged(looks_random(found.part(), 16))
}
