//! What each rule looks for. Patterns are precise rather than complete: a hash, a version or a name of a processor is
//! not private, and a false alarm in every package would be read by nobody.
//!
//! Texts are untrusted: no pattern may look far ahead of what it takes, so that a search costs no more than the text's length.

use regex::Regex;

use super::address::is_address;
use super::homes::{is_home, names_somebody};
use super::identities::is_of_a_device;
use super::secrets::{
    OPTIONS, SECRETS, assigned, given, in_netrc, in_url, is_bearer, is_query_token, is_short_token, is_token, is_wandb,
    quoted, stated, userinfo,
};

/// How much of a match may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mask {
    /// So many characters at the beginning.
    First(usize),
    /// All but the last part of a path.
    Folder,
}

/// A match in its text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found<'t> {
    pub(super) text: &'t str,
    pub(super) start: usize,
    pub(super) end: usize,
    /// The group of the pattern, from 1; 0 is all of it.
    pub(super) group: usize,
}

impl<'t> Found<'t> {
    pub(super) fn part(&self) -> &'t str {
        &self.text[self.start..self.end]
    }

    pub(super) fn before(&self) -> &'t str {
        &self.text[..self.start]
    }

    pub(super) fn after(&self) -> &'t str {
        &self.text[self.end..]
    }

    /// All of the match is meant, or nothing.
    pub(super) fn judged(&self, is_meant: bool) -> Judged {
        Judged { bytes: self.end - self.start, is_meant }
    }
}

/// What became of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Judged {
    /// So many bytes from its beginning were looked at; the search goes on behind them.
    pub(super) bytes: usize,
    /// Whether they are what the rule looks for.
    pub(super) is_meant: bool,
}

/// Conditions that a pattern cannot express.
pub(super) type Meant = fn(Found<'_>) -> Judged;

/// A pattern beside the conditions that it cannot express.
#[derive(Debug)]
pub(super) struct General {
    pub(super) name: &'static str,
    pub(super) placeholder: &'static str,
    pub(super) pattern: &'static str,
    pub(super) mask: Mask,
    pub(super) meant: Meant,
}

const fn rule(
    name: &'static str,
    placeholder: &'static str,
    pattern: &'static str,
    mask: Mask,
    meant: Meant,
) -> General {
    General { name, placeholder, pattern, mask, meant }
}

pub(super) const fn secret(name: &'static str, pattern: &'static str, shown: usize, meant: Meant) -> General {
    rule(name, "${SECRET}", pattern, Mask::First(shown), meant)
}

/// What may stand in patterns between `<` and `>`.
const PARTS: [(&str, &str); 9] = [
    // Where an absolute path may begin: behind nothing that makes it the rest of another one, behind a compiler's flag, an
    // escape of a program's string, a colour of a terminal, or the host of an address that names files.
    (
        "<lead>",
        r"(?:^|[^0-9A-Za-z_.})$/\\-]|(?:^|[^0-9A-Za-z_./-])-{1,2}(?:[A-Za-z]|isystem|iquote|idirafter|isysroot|include|imacros|rpath|ccbin)|\\[abefnrtv0]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\[[0-9;]{0,16}m|(?:file|s?ftp|ssh|sshfs|scp|nfs|smb|cifs|rsync|vscode|vscode-remote)://[^\s/]*)",
    ),
    // In an address, two separators begin the name of a host.
    ("<lead-twice>", r"(?:^|[^0-9A-Za-z_.})$/\\:-])"),
    ("<sep>", r"(?:\\{0,2}/)+"),
    // A full stop or a hyphen at the end belongs to the sentence.
    ("<name>", r"\w(?:[\w.-]*\w)?"),
    (
        "<prefix>",
        r"(?:mnt|var|private<sep>var|exports?|nfs[0-9]*|net|data[0-9]*|usr|srv|gpfs[0-9]*|lustre|beegfs|ceph(?:fs)?|scratch|storage|cluster|shared?|pool|raid|tank|disk[0-9]*|vol[0-9]*|volume[0-9]*)",
    ),
    ("<uuid>", r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
    ("<secrets>", SECRETS),
    ("<options>", OPTIONS),
    // Also in the string of a program.
    ("<blank>", r"(?:\s|\\[nrt])+"),
];

/// The general rules. A match is the first group that takes part, or all of it. Separators are `/`, `\` and, in the text of a
/// JSON or program string, `\\` and `\/`.
pub(super) static GENERAL: &[General] = &[
    rule(
        "toolkit path",
        "${CUDA_TOOLKIT}",
        r"<lead>(<sep>usr<sep>local<sep>cuda(?:-[0-9]+(?:\.[0-9]+)*)?|<sep>opt<sep>cuda)(?:$|[^\w.-]|\.(?:\s|$))",
        Mask::First(15),
        anything,
    ),
    rule(
        "toolkit path",
        "${CUDA_TOOLKIT}",
        r"(?i)(?:\b|[-/][IL]|\\[nrt])([a-z]:[\\/]+Program Files[\\/]+NVIDIA GPU Computing Toolkit(?:[\\/]+CUDA(?:[\\/]+v[0-9.]*[0-9])?)?)",
        Mask::First(16),
        anything,
    ),
    rule(
        "home folder",
        "${USER_HOME}",
        // By themselves or below what systems have them in; below other folders; in an address of files.
        r"<lead>(?:(\\{0,2}/(?:(?:<prefix><sep>)?(?:home[0-9]?|Users)|run<sep>media)<sep><name>|\\{0,2}/(?:(?:mnt|cygdrive)<sep>)?[A-Za-z]<sep>Users<sep><name>)|(\\{0,2}/(?:[0-9A-Za-z_.-]+<sep>){1,2}homes?[0-9]?<sep><name>))|<lead-twice>(\\{0,2}/<sep>(?:<prefix><sep>)?(?:home[0-9]?|Users)<sep><name>)",
        Mask::Folder,
        is_home,
    ),
    rule(
        "home folder",
        "${USER_HOME}",
        r#"(?i)(?:\b|[-/][IL]|\\[nrt])(?:([a-z]:[\\/]+Users[\\/]+[^\\/:*?"<>|\s$%{]+(?: [^\\/:*?"<>|\s$%{]+){0,2})[\\/]|([a-z]:[\\/]+Users[\\/]+<name>))"#,
        Mask::Folder,
        names_somebody,
    ),
    rule(
        "home folder",
        "${USER_HOME}",
        r#"(?i)([\\/]{2,4}wsl(?:\$|\.localhost)[\\/]+[^\\/\s"']+[\\/]+home[\\/]+<name>)|(?:^|[^\w\\:.)\]])(\\{2}[a-z0-9][a-z0-9._-]*\\(?:homes?[0-9]?|users)\$?\\<name>|\\{4}[a-z0-9][a-z0-9._-]*\\{2}(?:homes?[0-9]?|users)\$?\\{2}<name>)|(?:^|[^\w.%-])(%2F(?:home|Users)%2F<name>)"#,
        Mask::First(6),
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
        "GPU identity",
        "${GPU_UUID_REDACTED}",
        // Behind the name of a device; behind a bare name.
        r#"(?i)(?:^|[^\w-])(?:(?:(?:nvidia|mig)[_ .-]?)?(?:gpu|mig|device|cuda|nvidia)[_ .-]?uuid(?:\\{0,3}["']?[ \t]*[:=,;|])?[ \t]*\\{0,3}["']?(<uuid>)|uuid\\{0,3}["']?[ \t]*[:=,;|][ \t]*\\{0,3}["']?(<uuid>))\b"#,
        Mask::First(0),
        is_of_a_device,
    ),
    rule(
        "e-mail address",
        "${EMAIL}",
        r"[A-Za-z0-9._%+-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}\b",
        Mask::First(1),
        is_address,
    ),
    secret(
        "web token",
        r#"(?i)\bauthorization\\{0,3}["']?[ \t]*[:=][ \t]*\\{0,3}["']?(?:bearer|basic|token)[ \t]+([A-Za-z0-9._~+/=-]{8,})"#,
        0,
        is_bearer,
    ),
    secret("web token", r"(?i)\bbearer[ \t]+([A-Za-z0-9._~+/=-]{16,})", 0, is_token),
    secret(
        "web token",
        r#"(?i)[?&](?:[0-9A-Za-z_.-]*token|[0-9A-Za-z_.-]*signature|sig|auth|secret)=([^\s&#"'<>\\`]{8,})"#,
        0,
        is_query_token,
    ),
    secret("password", r#"://[^\s/:@"'$]*:([^\s/@"'<]{3,})@"#, 0, in_url),
    secret("web token", r#"://([^\s/:@"'$<{]{16,})@"#, 0, userinfo),
    secret(
        "password",
        r#"(?:<secrets>)\\{0,3}["']?\]?[ \t]*(?::=|=>|:|={1,3})[ \t]*[bBrRuUfF]{0,2}\\{0,3}(?:"([^"\s]{4,})"|'([^'\s]{4,})')"#,
        0,
        quoted,
    ),
    secret("password", r#"(?:<secrets>)[ \t]*=[ \t]*([^\s"'`=\\])"#, 0, assigned),
    secret("password", r#"(?:<secrets>)\\{0,3}["']?[ \t]*:[ \t]+([^\s"'`\\])"#, 0, stated),
    secret(
        "token",
        r#"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_TOKEN\\{0,3}["']?\]?[ \t]*[:=][ \t]*\\{0,3}["']?([A-Za-z0-9._~+/=-]{8,})"#,
        0,
        is_short_token,
    ),
    secret(
        "token",
        r#"(?i)(?:\b|_)token\\{0,3}["']?\]?[ \t]*[:=][ \t]*\\{0,3}["']?([A-Za-z0-9._~+/=-]{16,})"#,
        0,
        is_token,
    ),
    secret("password", r#"<options>(?:\\{0,3}["'],?[ \t]*\\{0,3}["']|[ \t]+["']?)([^\s"'`\\=])"#, 0, given),
    secret(
        "API key",
        r#"\bwandb\\{0,3}["']?[ \t,]+\\{0,3}["']?login(?:\\{0,3}["']?[ \t,]+\\{0,3}["']?-[\w=:/.-]+)*\\{0,3}["']?[ \t,]+\\{0,3}["']?([0-9A-Za-z_-]{40,})"#,
        0,
        is_wandb,
    ),
    secret("API key", r#"\bwandb\.login\([^()"'\r\n]*\bkey[ \t]*=[ \t]*\\{0,3}["']([^"'\s\\]{4,})"#, 0, quoted),
    secret(
        "password",
        r"\b(?:machine<blank>[^\s\\,:;]+|default)<blank>login<blank>[^\s\\,:;]+<blank>(?:account<blank>[^\s\\,:;]+<blank>)?password<blank>([^\s\x22\\]+)",
        0,
        in_netrc,
    ),
];

pub(super) fn anything(found: Found<'_>) -> Judged {
    found.judged(true)
}

/// A pattern of this folder; `None` never, as a test compiles all of them. Boundaries of words are those of ASCII, without which
/// every text that holds other letters would be searched slowly.
pub(super) fn compiled(pattern: &str) -> Option<Regex> {
    let mut pattern = pattern.to_owned();
    // Parts may name those before them.
    for (name, part) in PARTS.iter().rev() {
        pattern = pattern.replace(name, part);
    }
    Regex::new(&pattern.replace("<sep>", PARTS[2].1).replace(r"\b", r"(?-u:\b)")).ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn all_patterns_compile() {
        for rule in super::GENERAL.iter().chain(super::super::keys::KEYS) {
            assert!(super::compiled(rule.pattern).is_some(), "{}: {}", rule.name, rule.pattern);
        }
        let others = super::super::secrets::MEMBERS.into_iter().chain([super::OPTIONS]);
        for pattern in others {
            assert!(super::compiled(pattern).is_some(), "{pattern}");
        }
    }
}
