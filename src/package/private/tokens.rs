//! What a name that ends with `token` says: a secret, a token of a model, or nothing.

use std::ops::Range;

use super::identities::{contains, neighbours};
use super::rules::Found;

/// What stands before `token` where it is a token of a model: one of its vocabulary, or one that it reads or writes.
const OF_A_MODEL: &str = " additional audio avg begin blank bos class cls decoder dist draft each end eoc eod eom eos eot every fim \
    first forced generated image img input last mask max mean median middle min new newline next num one oov output pad \
    padding placeholder prefill prefix prev previous prompt python register sampled second sep single sot speaker special start stop sub \
    suffix target text think thinking total unk unknown video vision word ";

/// What stands before `token` where it is a secret. Others (`python_token`) are tokens of languages and texts.
const OF_A_SECRET: &str = " access account admin api app auth authorization aws azure bearer bot ci client csrf deploy deployment \
    discord docker gcp gh github gitlab google hf hub huggingface identity jwt job kaggle login my ngc npm oauth openai personal \
    private pypi refresh registry runner secret security service session slack telegram the upload vault wandb webhook your ";

/// Words of a sentence before `token` where no secret follows.
const OF_A_SENTENCE: [&str; 12] = [
    "bad",
    "expected",
    "first",
    "illegal",
    "invalid",
    "key",
    "last",
    "next",
    "null",
    "unexpected",
    "unknown",
    "unrecognized",
];

/// What stands beside the tokens of a vocabulary in an object.
const OF_A_VOCABULARY: [&str; 6] =
    ["\"logprob", "\"top_logprobs\"", "\"token_id\"", "\"logit", "\"prob\"", "\"probability\""];

pub(super) fn is_token_name(name: &str) -> bool {
    name.len() >= 5 && name.as_bytes()[name.len() - 5..].eq_ignore_ascii_case(b"token")
}

/// The words of a name, in small letters.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for symbol in name.chars() {
        let begins = !symbol.is_ascii_alphanumeric() || (was_lower && symbol.is_ascii_uppercase());
        if begins {
            words.push(String::new());
        }
        was_lower = symbol.is_ascii_lowercase() || symbol.is_ascii_digit();
        if symbol.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(symbol.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a name is one of measurements and settings of language models: `time_per_output_token`, `pad_token`.
pub(super) fn is_of_a_model(name: &str) -> bool {
    if !is_token_name(name) {
        return false;
    }
    let words = words_of(name);
    let is_time_to = || words.windows(2).any(|pair| ["time", "latency"].contains(&pair[0].as_str()) && pair[1] == "to");
    let before = words.len().checked_sub(2).and_then(|at| words.get(at));
    words.iter().any(|word| word == "per")
        || is_time_to()
        || before.is_some_and(|word| OF_A_MODEL.contains(&format!(" {word} ")))
}

/// Whether the name of a token names no secret: one of a model, or `WORD_token` whose word is none of secrets. In an
/// environment any word may stand before `_TOKEN`.
pub(super) fn names_no_secret(name: &str) -> bool {
    // An object or a folder before it says nothing.
    let last = name.rsplit(['.', '/']).next().unwrap_or(name);
    if !is_token_name(last) {
        return false;
    }
    let words = words_of(last);
    let before = words.len().checked_sub(2).and_then(|at| words.get(at));
    is_of_a_model(name)
        || (!last.ends_with("_TOKEN") && before.is_some_and(|word| !OF_A_SECRET.contains(&format!(" {word} "))))
}

/// Whether behind a bare `token` stands what hashes, addresses and identifiers are written as, too.
pub(super) fn is_plain(name: &str, value: &str) -> bool {
    let digits = value.strip_prefix("0x").unwrap_or(value);
    let last = name.rsplit(['.', '/']).next().unwrap_or(name);
    last.eq_ignore_ascii_case("token") && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a member is one token of a vocabulary, with its number or its probability beside it.
pub(super) fn is_of_a_vocabulary(key: &str, text: &str, range: &Range<usize>) -> bool {
    let around = || neighbours(text, range.start, range.end);
    key.eq_ignore_ascii_case("token")
        && around().iter().any(|part| OF_A_VOCABULARY.iter().any(|name| contains(part, name)))
}

/// Whether the words before `name`, which stands before what was found, make it a token of a language: `unexpected token: a`.
pub(super) fn is_of_a_sentence(found: Found<'_>, name: &str) -> bool {
    if !name.eq_ignore_ascii_case("token") {
        return false;
    }
    let before = &found.text.as_bytes()[found.start.saturating_sub(96)..found.start];
    let Some(at) = before.windows(name.len()).rposition(|window| window == name.as_bytes()) else { return false };
    let before = before[..at].strip_suffix(b" ").unwrap_or_default();
    let word: Vec<u8> = before.iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).copied().collect();
    OF_A_SENTENCE.iter().any(|other| other.bytes().rev().eq(word.iter().map(u8::to_ascii_lowercase)))
}
