//! Keys that can be told by their published form, whatever stands before them.

use super::rules::{Found, General, Judged, anything, secret};
use super::values::{is_template, is_words};

/// Words of documentation and names of kernels begin like some of them.
pub(super) static KEYS: &[General] = &[
    secret("AWS key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b", 4, is_no_example),
    secret("GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})", 4, is_no_example),
    secret(
        "API key",
        r"\b(?:sk-[A-Za-z0-9_-]{20,}|nvapi-[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9]{36}|gl(?:pat|rt|dt)-[A-Za-z0-9_-]{20,}|xox[abeprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}|AIza[A-Za-z0-9_-]{35}|pypi-[A-Za-z0-9_-]{50,}|dckr_pat_[A-Za-z0-9_-]{20,})",
        3,
        is_key,
    ),
    secret(
        "API key",
        r"\b(?:gsk_[A-Za-z0-9]{32,}|r8_[A-Za-z0-9]{30,}|[rs]k_live_[A-Za-z0-9]{16,}|ya29\.[A-Za-z0-9_-]{20,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{30,}|AGE-SECRET-KEY-1[0-9A-Z]{50,})",
        3,
        is_key,
    ),
    secret("Hugging Face token", r"\b(?:hf|api_org)_[A-Za-z0-9]{30,}", 3, is_hugging_face),
    secret(
        "account key",
        r#"\bAccountKey\\{0,3}["']?[ \t]*[:=][ \t]*\\{0,3}["']?([A-Za-z0-9+/]{40,}={0,2})"#,
        0,
        is_no_example,
    ),
    secret(
        "web hook",
        r"\bhooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/([A-Za-z0-9]+/[A-Za-z0-9]+/[A-Za-z0-9/]{16,})",
        0,
        is_no_example,
    ),
    secret("web hook", r"\bdiscord(?:app)?\.com/api/webhooks/([0-9]{15,}/[A-Za-z0-9_-]{30,})", 0, is_no_example),
    secret("private key", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----", 11, super::pem::extent),
    secret("web token", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}", 3, anything),
];

fn is_no_example(found: Found<'_>) -> Judged {
    found.judged(!is_template(found.part()))
}

fn is_key(found: Found<'_>) -> Judged {
    let key = found.part();
    let has_digit = key.bytes().any(|byte| byte.is_ascii_digit());
    // `sk-128x128x64-f16-stages4`
    let is_name = key.strip_prefix("sk-").is_some_and(is_words);
    found.judged(has_digit && !is_name && !is_template(key))
}

/// The published form is 34 letters, and digits only by chance; with other lengths, or as words that begin with capitals,
/// letters alone are a name in a program.
fn is_hugging_face(found: Found<'_>) -> Judged {
    let key = found.part();
    let random = key.rsplit('_').next().unwrap_or(key);
    let has_digit = random.bytes().any(|byte| byte.is_ascii_digit());
    let is_repeated = random.bytes().all(|byte| random.as_bytes().first() == Some(&byte));
    let is_letters = random.len() == 34 && !is_camel_case(random) && !found.after().starts_with(['_', '(']);
    found.judged((has_digit || is_letters) && !is_repeated && !is_template(key))
}

/// Words of three letters and more, each with a capital at its beginning.
fn is_camel_case(text: &str) -> bool {
    let is_capital = |symbol: char| symbol.is_ascii_uppercase();
    text.starts_with(is_capital) && text.split(is_capital).skip(1).all(|rest| rest.len() >= 2)
}
