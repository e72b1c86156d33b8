//! Patterns as OpenSSH reads them: bytes, `*` and `?`, and lists of them between commas.

/// Whether a text matches a list of patterns; one after `!` must not match.
pub(super) fn matches_list(list: &str, text: &str) -> bool {
    let mut matched = false;
    for pattern in list.split(',') {
        match pattern.strip_prefix('!') {
            Some(pattern) if matches(pattern, text) => return false,
            Some(_) => {}
            None => matched |= matches(pattern, text),
        }
    }
    matched
}

/// One pattern; the time is at most the product of the lengths, whatever the number of `*`.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut read) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while read < text.len() {
        match (pattern.get(at), star) {
            (Some(b'*'), _) => {
                star = Some((at, read));
                at += 1;
            }
            (Some(&byte), _) if byte == b'?' || byte == text[read] => {
                at += 1;
                read += 1;
            }
            (_, Some((star_at, begun))) => {
                star = Some((star_at, begun + 1));
                at = star_at + 1;
                read = begun + 1;
            }
            (_, None) => return false,
        }
    }
    pattern[at..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_openssh() {
        for (list, text, expected) in [
            ("a@b", "a@b", true),
            ("*@b", "a@b", true),
            ("?@b", "a@b", true),
            ("?@b", "aa@b", false),
            ("*", "", true),
            ("x,*@b", "a@b", true),
            ("*@b,!a@b", "a@b", false),
            ("!a@b,*@b", "c@b", true),
            ("!a@b", "c@b", false),
            ("A@b", "a@b", false),
            ("**a**b*", "xaxxb", true),
            ("", "a", false),
            ("?@b", "\u{e9}@b", false),
            ("??@b", "\u{e9}@b", true),
        ] {
            assert_eq!(matches_list(list, text), expected, "{list} {text}");
        }
        assert!(!matches(&"*a".repeat(2000), &"a".repeat(1999)));
    }
}
