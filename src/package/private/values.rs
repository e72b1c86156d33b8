//! What a value is by its form: a number, words, a placeholder of documentation, code, a file, or none of these.

use std::sync::LazyLock;

use regex::Regex;

use super::rules::compiled;

/// A number with what may stand around it: a sign, an exponent, a unit, others that it is set against, a deviation; or a time.
const NUMBER: &str =
    r"^[+-]?(?:<atom><unit>(?:(?:\+-|\+/-|[-+~/=*x])<atom><unit>)*|[0-9]{4}-?[0-9]{2}-?[0-9]{2}[Tt_-][0-9.-]+[Zz]?)$";

const ATOM: &str = r"(?:0[xX][0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?[pP][+-]?[0-9]+|(?:[0-9][0-9_,]*(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)";

/// Units of time, size, rate, energy and counts; what they are counted by may be any word.
const UNIT: &str = r"(?:(?i:[kmgtpnuµ]?(?:s|b|ib|bit|hz|w|j|wh|flops?|flop/s|ops?|iops|tok|tokens?|m|h|x|c|k|v|a|l|i)|secs?|seconds?|milliseconds?|microseconds?|nanoseconds?|min|minutes?|hours?|bytes?|bits?|calls?|steps?|iters?|samples?|requests?|cycles?|percent|f)?%?(?:(?i:ps)|(?:/|_per_|per)[A-Za-z]+)*)";

/// Whether a value is a number, whatever its notation and unit.
pub(super) fn is_number(value: &str) -> bool {
    static COMPILED: LazyLock<Option<Regex>> =
        LazyLock::new(|| compiled(&NUMBER.replace("<atom>", ATOM).replace("<unit>", UNIT)));
    value.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-' | '.'))
        && COMPILED.as_ref().is_some_and(|number| number.is_match(value))
}

/// Whether a value is a number with a fraction or an exponent, which nobody has for a password.
pub(super) fn is_measured(value: &str) -> bool {
    let is_whole = |byte: u8| byte.is_ascii_digit();
    let digits = value.bytes().take_while(|&byte| is_whole(byte)).count();
    let goes_on = value[digits..].starts_with(['.', 'e', 'E']) || value.starts_with(['.', '-', '+']);
    goes_on && is_number(value)
}

/// Whether a value is put together of words and short numbers, as names of models, kernels and settings are:
/// `vit_base_patch16_224`.
pub(super) fn is_words(value: &str) -> bool {
    let mut count = 0;
    let all = value.split(|symbol: char| !symbol.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).all(|word| {
        count += 1;
        is_word(word) || is_product(word.trim_start_matches(|symbol: char| symbol.is_ascii_alphabetic()))
    });
    (all && count > 1 && !is_uuid(value)) || is_product(value)
}

/// Letters and digits with few turns from one to the other, as from small letters to capitals.
fn is_word(word: &str) -> bool {
    let bytes = word.as_bytes();
    let turns = bytes.windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count();
    let most = if word.len() <= 7 && bytes[0].is_ascii_lowercase() { 4 } else { 2 };
    let longest = |is_digit: bool| {
        let runs = word.split(|symbol: char| symbol.is_ascii_digit() != is_digit);
        runs.map(str::len).max().unwrap_or(0)
    };
    // `BFloat16`, `FlashAttention2`
    let humps = bytes.windows(2).filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()).count();
    turns <= most && humps <= 1 && longest(true) <= 8 && longest(false) <= 16
}

/// `128x128x64`
fn is_product(word: &str) -> bool {
    let is_factor = |factor: &str| !factor.is_empty() && factor.bytes().all(|byte| byte.is_ascii_digit());
    word.contains('x') && word.split('x').all(|factor| factor.len() <= 8 && is_factor(factor))
}

/// Whether a value has the form of a UUID.
pub(super) fn is_uuid(value: &str) -> bool {
    let groups = value.split('-');
    value.len() == 36
        && groups.clone().map(str::len).eq([8, 4, 4, 4, 12])
        && groups.clone().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Words that stand where a secret would, in documentation, forms and schemas.
const WORDS: &[&str] = &[
    "changeme",
    "dummy",
    "empty",
    "example",
    "false",
    "foobar",
    "hidden",
    "masked",
    "mypassword",
    "mysecret",
    "mysecretpassword",
    "mytoken",
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
    "supersecret",
    "test",
    "text",
    "todo",
    "token",
    "true",
    "undefined",
    "unset",
    "unused",
];

/// What a value of documentation is put together of: words for what belongs there, of which it has one,
const ROLES: &str = "api apikey auth changeme credential credentials dummy example fake key my pass passphrase passwd password \
    placeholder pw pwd sample secret some the token your";

/// and others beside them.
const FILLERS: &str = "a abc abcd access app aws bar change client db default demo foo for gh ghp github glpat goes here hf hub \
    huggingface insert is me needed new no not nvapi old openai password private put replace required server sk \
    string super test this user value very wandb with xyz";

fn is_one_of(list: &str, word: &str) -> bool {
    list.split(' ').any(|other| other == word)
}

/// Whether a value is one of documentation: `my_password`, `token-abc123`, `sk-...`.
fn is_documentation(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    if ["...", "\u{2026}", "xxxx", "****"].iter().any(|gap| lower.contains(gap)) || value.contains("EXAMPLE") {
        return true;
    }
    let words = || lower.split(|symbol: char| !symbol.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    if words().count() < 2 || !lower.is_ascii() {
        return false;
    }
    let is_count = |digits: &str| digits.len() <= 1 || "1234567890".starts_with(digits);
    let parts = || {
        words().flat_map(|word| {
            let (letters, digits) =
                word.split_at(word.find(|symbol: char| symbol.is_ascii_digit()).unwrap_or(word.len()));
            [letters, digits]
        })
    };
    let is_known = |part: &str| match part.bytes().all(|byte| byte.is_ascii_digit()) {
        true => is_count(part),
        false => is_one_of(ROLES, part) || is_one_of(FILLERS, part),
    };
    words().any(|word| word == "your" || word == "example")
        || (parts().any(|part| is_one_of(ROLES, part)) && parts().all(is_known))
}

/// Whether a value only stands for one: a variable, a template, a word.
pub(super) fn is_template(value: &str) -> bool {
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
        || is_documentation(value)
        || (value.starts_with('<') && value.ends_with('>'))
        || value.starts_with("{{")
        || (value.starts_with('{') && value.ends_with('}'))
        || (value.starts_with('[') && value.ends_with(']'))
        || (value.len() > 2 && value.starts_with('%') && value.ends_with('%'))
        || value.starts_with("%(")
}

/// Whether a value is an expression of a program.
pub(super) fn is_code(value: &str) -> bool {
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

pub(super) fn is_file(value: &str) -> bool {
    value.len() != 40 && ["/", "./", "../", "~/"].iter().any(|beginning| value.starts_with(beginning))
}

/// Letters and digits mixed as no word, number or expression mixes them.
pub(super) fn looks_random(value: &str, shortest: usize) -> bool {
    let is_hash = matches!(value.len(), 64 | 128) && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    value.len() >= shortest
        && value.starts_with(|first: char| first.is_ascii_alphanumeric())
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._~+/=-".contains(&byte))
        && !is_hash
        && !is_number(value)
        && !is_words(value)
        && !is_template(value)
        && !is_code(value)
        && !is_file(value)
}
