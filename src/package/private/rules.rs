//! What each rule looks for. Patterns are precise rather than complete: a hash, a version or a name of a processor is
//! not private, and a false alarm in every package would be read by nobody.

use regex::Regex;

/// How much of a match may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mask {
    /// So many characters at the beginning.
    First(usize),
    /// All but the last part of a path.
    Folder,
}

/// A pattern beside the conditions that it cannot express.
#[derive(Debug)]
pub(super) struct General {
    pub(super) name: &'static str,
    pub(super) placeholder: &'static str,
    pub(super) pattern: &'static str,
    pub(super) mask: Mask,
    /// Whether a match is meant, given the text and where the match lies in it.
    pub(super) meant: fn(&str, &str) -> bool,
}

const fn rule(
    name: &'static str,
    placeholder: &'static str,
    pattern: &'static str,
    mask: Mask,
    meant: fn(&str, &str) -> bool,
) -> General {
    General { name, placeholder, pattern, mask, meant }
}

/// Members and settings whose values are secrets.
pub(super) const SECRET_NAME: &str = r"(?i)(?:^|[_.-])(?:password|passwd|passphrase|secret[_-]?key|client[_-]?secret|api[_-]?key|access[_-]?token|auth[_-]?token)$";

/// The general rules. A match is the first group that takes part, or all of it. Separators are `/`, `\` and, in the text of a
/// JSON or program string, `\\`.
pub(super) static GENERAL: &[General] = &[
    rule(
        "toolkit path",
        "${CUDA_TOOLKIT}",
        r"(?:^|file://|[^\w.})$/\\-])(/usr/local/cuda(?:-[0-9]+(?:\.[0-9]+)*)?|/opt/cuda)(?:$|[^\w.-])",
        Mask::First(15),
        anything,
    ),
    rule(
        "toolkit path",
        "${CUDA_TOOLKIT}",
        r"(?i)\b[a-z]:[\\/]+Program Files[\\/]+NVIDIA GPU Computing Toolkit(?:[\\/]+CUDA(?:[\\/]+v[0-9.]+[0-9])?)?",
        Mask::First(16),
        anything,
    ),
    rule(
        "home folder",
        "${USER_HOME}",
        r"(?:^|file://|[^\w.})$/\\-])(/(?:home|Users)/[A-Za-z0-9_][A-Za-z0-9._-]*)",
        Mask::Folder,
        names_somebody,
    ),
    rule(
        "home folder",
        "${USER_HOME}",
        r#"(?i)\b([a-z]:[\\/]+Users[\\/]+[^\\/:*?"<>|\s$%{]+(?: [^\\/:*?"<>|\s$%{]+){0,2})[\\/]|\b([a-z]:[\\/]+Users[\\/]+[\w][\w.-]*)"#,
        Mask::Folder,
        names_somebody,
    ),
    rule(
        "GPU identity",
        "${GPU_UUID_REDACTED}",
        r"(?i)\b(?:GPU|MIG)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
        Mask::First(4),
        anything,
    ),
    rule(
        "e-mail address",
        "${EMAIL}",
        r"[A-Za-z0-9._%+-]+@(?:[A-Za-z0-9-]+\.)+[a-z]{2,}\b",
        Mask::First(1),
        is_address,
    ),
    rule("AWS key", "${SECRET}", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b", Mask::First(4), anything),
    rule(
        "GitHub token",
        "${SECRET}",
        r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})",
        Mask::First(4),
        anything,
    ),
    rule("API key", "${SECRET}", r"\b(?:sk-[A-Za-z0-9_-]{20,}|hf_[A-Za-z0-9]{30,})", Mask::First(3), has_digit),
    rule(
        "private key",
        "${SECRET}",
        // Nothing in it can be matched twice from two beginnings: an untrusted text must not cost more than its length.
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----(?:-?[A-Za-z0-9+/=\s\\:,.])*(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY-----)?",
        Mask::First(11),
        anything,
    ),
    rule(
        "web token",
        "${SECRET}",
        r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
        Mask::First(3),
        anything,
    ),
    rule("password", "${SECRET}", r#"://[^\s/:@"'$]+:([^\s/@"'$<{]{3,})@"#, Mask::First(0), anything),
    rule(
        "password",
        "${SECRET}",
        r#"(?i)(?:\b|_)(?:password|passwd|passphrase|secret[_-]?key|client[_-]?secret|api[_-]?key|access[_-]?token|auth[_-]?token)[ \t]*=[ \t]*["']?([^\s"'`,;&<>\\()\[\]{}$*]{6,})(?:["'\s,;&\\]|$)"#,
        Mask::First(0),
        has_digit_or_mark,
    ),
];

fn anything(_: &str, _: &str) -> bool {
    true
}

/// Names that documentation uses for anybody.
fn names_somebody(found: &str, _: &str) -> bool {
    let name = found.rsplit(['/', '\\']).next().unwrap_or(found);
    !["user", "username", "name", "you", "me", "public", "shared", "default"]
        .iter()
        .any(|generic| name.eq_ignore_ascii_case(generic))
}

/// `git@host` is an address of a repository, `example.com` is nobody's, and `a@b.sum()` is a product of matrices.
fn is_address(found: &str, after: &str) -> bool {
    let (local, domain) = found.split_once('@').unwrap_or((found, ""));
    let ending = domain.rsplit('.').next().unwrap_or(domain);
    let reserved = ["example.com", "example.org", "example.net"].iter().any(|name| domain.ends_with(name))
        || ["example", "invalid", "test", "localhost"].contains(&ending);
    let file = ["png", "jpg", "jpeg", "svg", "gif", "webp", "py", "rs", "js", "json", "txt", "md", "so", "dll", "whl"]
        .contains(&ending);
    local != "git" && !reserved && !file && !after.starts_with(['(', '[', '_'])
}

fn has_digit(found: &str, _: &str) -> bool {
    found.bytes().any(|byte| byte.is_ascii_digit())
}

/// A bare word after `password =` is the name of a variable.
fn has_digit_or_mark(found: &str, _: &str) -> bool {
    found.bytes().any(|byte| byte.is_ascii_digit() || matches!(byte, b'!' | b'#' | b'%' | b'^' | b'+' | b'@' | b'~'))
}

/// A pattern of this file; `None` never, as a test compiles all of them.
pub(super) fn compiled(pattern: &str) -> Option<Regex> {
    Regex::new(pattern).ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn all_patterns_compile() {
        assert!(super::compiled(super::SECRET_NAME).is_some());
        for rule in super::GENERAL {
            assert!(super::compiled(rule.pattern).is_some(), "{}", rule.name);
        }
    }
}
