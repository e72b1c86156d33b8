//! What a finding quotes of a package: short, and with placeholders for what looks private. A report may be more public than
//! the package, and the rule does not depend on which check happens to quote a text, nor on the format of the report.

use std::sync::LazyLock;

use crate::package::json::{Json, canonical};
use crate::package::private::{Reading, Rules, edited};

/// Longest text of an expected or found value in a finding.
const SHOWN_CHARACTERS: usize = 160;

/// How many of them are its end where the middle is left out: what tells one row of a table from the next may stand there.
const SHOWN_OF_END: usize = 60;

/// How much of a text is searched: enough that nothing private that begins in what is shown is cut off before it is known.
const SEARCHED_BYTES: usize = 8 << 10;

static RULES: LazyLock<Rules> = LazyLock::new(Rules::general);

/// A text as a finding shows it.
pub(super) fn quoted(text: &str) -> String {
    let end = (0..=text.len().min(SEARCHED_BYTES)).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    let searched = &text[..end];
    shown(edited(searched, &RULES.scan(searched, Reading::TEXT).edits), text, searched)
}

/// A JSON value as a finding shows it. Members whose name says that they hold a secret are known here alone.
pub(super) fn quoted_value(value: &Json) -> String {
    let text = canonical(value);
    if text.len() > SEARCHED_BYTES {
        return quoted(&text);
    }
    let masked = edited(&text, &RULES.scan(&text, Reading::JSON).edits);
    shown(masked, &text, &text)
}

/// Whether a member of this name holds a secret.
pub(super) fn names_secret(member: &str) -> bool {
    let object = Json::Object(vec![(member.to_owned(), Json::from("a-secret-or-not"))]);
    !RULES.scan(&canonical(&object), Reading::JSON).hits.is_empty()
}

/// A pointer up to the first name in it that is private itself.
pub(super) fn quoted_pointer(pointer: &str) -> &str {
    let is_public =
        |token: &str| RULES.scan(&token.replace("~1", "/").replace("~0", "~"), Reading::TEXT).hits.is_empty();
    let mut end = 0;
    for token in pointer.split_inclusive('/') {
        if !is_public(token.trim_end_matches('/')) {
            return pointer[..end].trim_end_matches('/');
        }
        end += token.len();
    }
    pointer
}

/// A text that is not of the package, as a finding shows it.
pub(super) fn shortened(text: &str) -> String {
    shown(text.to_owned(), text, text)
}

/// A masked text without its middle where it is long, with the length of the one that it was made from. Of a text that was not
/// searched to its end only the beginning is shown.
fn shown(masked: String, text: &str, searched: &str) -> String {
    let is_whole = searched.len() == text.len();
    let length = masked.chars().count();
    if is_whole && length <= SHOWN_CHARACTERS {
        return masked;
    }
    let place = |characters: usize| masked.char_indices().nth(characters).map_or(masked.len(), |(place, _)| place);
    let of_end = if is_whole { SHOWN_OF_END } else { 0 };
    let (beginning, end) = (&masked[..place(SHOWN_CHARACTERS - of_end)], &masked[place(length - of_end.min(length))..]);
    format!("{beginning}...{end} ({} characters)", text.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_texts_become_placeholders_before_they_are_cut() {
        for (text, expected) in [
            ("plain", "plain"),
            ("/home/alice/x", "${USER_HOME}/x"),
            ("by alice@lab.edu", "by ${EMAIL}"),
            ("GPU-01234567-89ab-cdef-0123-456789abcdef", "${GPU_UUID_REDACTED}"),
        ] {
            assert_eq!(quoted(text), expected);
        }
        let private = "GPU-01234567-89ab-cdef-0123-456789abcdef";
        // Whether the cut is before, in or after it, what is private was replaced before.
        for (before, after) in [(49, 60), (60, 20), (0, 90), (78, 0), (120, 20)] {
            let long = format!("{}{private}{}", "x ".repeat(before), " y".repeat(after));
            let (shown, length) = (quoted(&long), long.chars().count());
            assert!(shown.ends_with(&format!(" ({length} characters)")), "{shown}");
            assert!(!["GPU-", "0123", "89ab", "cdef"].iter().any(|part| shown.contains(part)), "{shown}");
        }
        assert_eq!(
            quoted(&format!("{},default,na,7", "0.1,".repeat(50))),
            format!("{}....1,{},default,na,7 (213 characters)", "0.1,".repeat(25), "0.1,".repeat(11))
        );
        assert!(quoted(&"\u{e9}".repeat(9000)).ends_with("\u{e9}... (9000 characters)"));
        assert_eq!(quoted(&"a".repeat(160)), "a".repeat(160));
    }

    #[test]
    fn members_with_secrets_are_known_by_their_names() {
        let secret = Json::Object(vec![("api_key".to_owned(), Json::from("hunter2"))]);
        assert_eq!(quoted_value(&secret), "{\"api_key\":\"${SECRET}\"}");
        assert!(names_secret("password") && names_secret("API_KEY") && !names_secret("sm_count"));
        assert_eq!(quoted_pointer("/env/home~1x/HOME"), "/env/home~1x/HOME");
        assert_eq!(quoted_pointer("/paths/~1home~1alice/x"), "/paths");
        assert_eq!(quoted_pointer(""), "");
    }
}
