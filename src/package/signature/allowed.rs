//! OpenSSH's allowed-signers files (`ssh-keygen(1)`, ALLOWED SIGNERS): who may have signed, as what, and when.

use ssh_key::PublicKey;
use ssh_key::public::KeyData;

use super::moment;
use crate::package::digest::digest;

/// Largest allowed-signers file that is read: 4 MiB, tens of thousands of keys.
pub const MAX_ALLOWED_BYTES: u64 = 4 << 20;

/// Whom a reader accepts as signer of a package.
#[derive(Debug, Clone)]
pub struct Signers {
    /// The keys.
    pub allowed: AllowedSigners,
    /// The identity that must have signed, where only one is accepted.
    pub identity: Option<String>,
    /// What the receipts must be signed as.
    pub namespace: String,
    /// When the signature counts as made, in seconds since 1970: nothing in a signature proves a time.
    pub at: i64,
}

/// The lines of a file.
#[derive(Debug, Clone, Default)]
pub struct AllowedSigners {
    /// What the file is called in messages.
    pub name: String,
    /// SHA-256 of its text.
    pub sha256: String,
    entries: Vec<Entry>,
    /// Lines that allow nobody here, and why.
    pub skipped: Vec<String>,
}

/// One line: identities, a key, and when and for what it counts.
#[derive(Debug, Clone)]
struct Entry {
    line: usize,
    principals: String,
    restrictions: Restrictions,
    key: KeyData,
}

/// When and for what a key counts.
#[derive(Debug, Clone, Default)]
struct Restrictions {
    namespaces: Option<String>,
    valid_after: Option<i64>,
    valid_before: Option<i64>,
    authority: bool,
}

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}:{line}: expected {expected}, found {found}")]
pub struct LineError {
    /// The file.
    pub name: String,
    /// The line, from 1.
    pub line: usize,
    /// What should stand there.
    pub expected: &'static str,
    /// What stands there, or the beginning of it.
    pub found: String,
}

/// Characters of a line that an error shows.
const SHOWN: usize = 60;

impl AllowedSigners {
    /// Reads the text of a file that messages call `name`.
    ///
    /// # Errors
    /// The first line that is none of the format's.
    pub fn read(name: &str, text: &str) -> Result<Self, LineError> {
        let mut read = Self { name: name.to_owned(), sha256: digest(text.as_bytes()).sha256, ..Self::default() };
        for (index, line) in text.lines().enumerate() {
            let content = line.trim();
            if content.is_empty() || content.starts_with('#') {
                continue;
            }
            let line = index + 1;
            match entry(content, line) {
                Ok(Ok(entry)) => read.entries.push(entry),
                Ok(Err(reason)) => read.skipped.push(format!("{name}:{line}: {reason}; the line allows nobody")),
                Err((expected, found)) => {
                    let found = if found.is_empty() { "nothing" } else { found };
                    return Err(LineError {
                        name: name.to_owned(),
                        line,
                        expected,
                        found: found.chars().take(SHOWN).collect(),
                    });
                }
            }
        }
        Ok(read)
    }

    /// Whether no line allows anybody.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl Signers {
    /// Who signed with this key: the identity that was asked for, or those of the line that has the key.
    ///
    /// # Errors
    /// Nobody who is accepted, and why not.
    pub fn signer(&self, key: &KeyData) -> Result<&str, String> {
        let mut reasons = Vec::new();
        for entry in self.allowed.entries.iter().filter(|entry| entry.key == *key) {
            match self.refusal(entry) {
                None => return Ok(self.identity.as_deref().unwrap_or(&entry.principals)),
                Some(reason) => reasons.push(format!("in line {} {reason}", entry.line)),
            }
        }
        Err(if reasons.is_empty() { "which is not in the file".to_owned() } else { reasons.join("; ") })
    }

    /// Why a line with the right key does not allow the signature.
    fn refusal(&self, entry: &Entry) -> Option<String> {
        if let Some(identity) = self.identity.as_ref().filter(|identity| !matches_list(&entry.principals, identity)) {
            return Some(format!("it is allowed for {}, not for {identity}", entry.principals));
        }
        // A line of exceptions alone allows nobody; ssh-keygen accepts no identity for it either.
        if entry.principals.split(',').all(|pattern| pattern.starts_with('!')) {
            return Some(format!("it is allowed for nobody: {}", entry.principals));
        }
        let restrictions = &entry.restrictions;
        if let Some(namespaces) = restrictions.namespaces.as_ref().filter(|list| !matches_list(list, &self.namespace)) {
            return Some(format!("it is allowed for the namespaces {namespaces}, not for {}", self.namespace));
        }
        if restrictions.valid_after.is_some_and(|after| self.at < after) {
            return Some("it is not valid yet".to_owned());
        }
        restrictions.valid_before.is_some_and(|before| self.at > before).then(|| "it is not valid any more".to_owned())
    }
}

/// What was expected, and what stands there instead.
type Wrong<'t> = (&'static str, &'t str);

/// One line; in the inner `Err` why it allows nobody here.
fn entry(content: &str, line: usize) -> Result<Result<Entry, String>, Wrong<'_>> {
    let (principals, rest) = first_word(content)?;
    let principals = principals.trim_matches('"').to_owned();
    if principals.is_empty() {
        return Err(("identities, separated by commas", content));
    }
    let (word, after) = first_word(rest)?;
    let (options, rest) = if is_key_type(word) { ("", rest) } else { (word, after) };
    let restrictions = restrictions(options)?;
    if restrictions.authority {
        return Ok(Err("cert-authority is not supported".to_owned()));
    }
    let kind = first_word(rest)?.0;
    if kind == "ssh-dss" || kind.contains("-cert-v0") {
        return Ok(Err(format!("keys of the kind {kind} are not supported")));
    }
    match PublicKey::from_openssh(rest) {
        Ok(key) => Ok(Ok(Entry { line, principals, restrictions, key: key.key_data().clone() })),
        Err(_) => Err(("identities, options if any, and a public key such as `ssh-ed25519 AAAA...`", rest)),
    }
}

fn restrictions(options: &str) -> Result<Restrictions, Wrong<'_>> {
    let mut read = Restrictions::default();
    for option in split_options(options)? {
        let (name, value) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
        let quoted = value.and_then(|value| value.strip_prefix('"')?.strip_suffix('"'));
        let is_new = match (name.to_ascii_lowercase().as_str(), quoted) {
            ("cert-authority", None) if value.is_none() => !std::mem::replace(&mut read.authority, true),
            ("namespaces", Some(list)) if !list.is_empty() => read.namespaces.replace(list.to_owned()).is_none(),
            ("valid-after", Some(text)) => set_moment(&mut read.valid_after, text)?,
            ("valid-before", Some(text)) => set_moment(&mut read.valid_before, text)?,
            _ => {
                return Err((
                    "cert-authority, namespaces=\"...\", valid-after=\"...\" or valid-before=\"...\"",
                    option,
                ));
            }
        };
        if !is_new {
            return Err(("each option once", option));
        }
    }
    match (read.valid_after, read.valid_before) {
        (Some(after), Some(before)) if before <= after => Err(("a valid-before after its valid-after", options)),
        _ => Ok(read),
    }
}

fn set_moment<'t>(moment: &mut Option<i64>, text: &'t str) -> Result<bool, Wrong<'t>> {
    let seconds = moment::seconds(text).ok_or(("a time as YYYYMMDD or YYYYMMDDHHMM[SS], with or without Z", text))?;
    Ok(moment.replace(seconds).is_none())
}

/// Everything up to the first blank outside quotes, and what follows.
fn first_word(text: &str) -> Result<(&str, &str), Wrong<'_>> {
    let mut is_quoted = false;
    for (at, character) in text.char_indices() {
        match character {
            '"' => is_quoted = !is_quoted,
            ' ' | '\t' if !is_quoted => return Ok((&text[..at], text[at..].trim_start())),
            _ => {}
        }
    }
    if is_quoted { Err(("a closing quotation mark", text)) } else { Ok((text, "")) }
}

/// The parts between commas outside quotes.
fn split_options(text: &str) -> Result<Vec<&str>, Wrong<'_>> {
    let mut is_quoted = false;
    let parts: Vec<&str> = text
        .split(|character| {
            is_quoted ^= character == '"';
            character == ',' && !is_quoted
        })
        .collect();
    match parts.as_slice() {
        [""] => Ok(Vec::new()),
        parts if parts.contains(&"") => Err(("an option between commas", text)),
        _ => Ok(parts),
    }
}

fn is_key_type(word: &str) -> bool {
    ["ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-sha2-"].iter().any(|prefix| word.starts_with(prefix))
}

/// Whether a text matches a list of patterns as OpenSSH reads them: `*` and `?`, and `!` before one that must not match.
fn matches_list(list: &str, text: &str) -> bool {
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
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut read) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while read < text.len() {
        match (pattern.get(at), star) {
            (Some('*'), _) => {
                star = Some((at, read));
                at += 1;
            }
            (Some(&character), _) if character == '?' || character == text[read] => {
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
    pattern[at..].iter().all(|&character| character == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti";

    fn signers(text: &str, identity: Option<&str>, at: &str) -> Signers {
        Signers {
            allowed: AllowedSigners::read("allowed", text).unwrap(),
            identity: identity.map(str::to_owned),
            namespace: "recount".to_owned(),
            at: moment::seconds(at).unwrap(),
        }
    }

    fn key() -> KeyData {
        PublicKey::from_openssh(KEY).unwrap().key_data().clone()
    }

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
        ] {
            assert_eq!(matches_list(list, text), expected, "{list} {text}");
        }
        assert!(!matches(&"*a".repeat(2000), &"a".repeat(1999)));
    }

    #[test]
    fn options_restrict_a_line() {
        for (options, at, expected) in [
            ("", "20250101", true),
            ("namespaces=\"recount\" ", "20250101", true),
            ("NameSpaces=\"git,re*\" ", "20250101", true),
            ("namespaces=\"git\" ", "20250101", false),
            ("valid-after=\"20250101\" ", "20250101Z", true),
            ("valid-after=\"20250101\" ", "202412312359", false),
            ("valid-after=\"20240101\",valid-before=\"20250101Z\" ", "20250101000001", false),
            ("cert-authority ", "20250101", false),
        ] {
            let signers = signers(&format!("# who\n\nalice@a,bob@b {options}{KEY} comment\n"), None, at);
            assert_eq!(signers.signer(&key()).is_ok(), expected, "{options} {at}: {:?}", signers.signer(&key()));
            assert_eq!(signers.allowed.skipped.len(), usize::from(options.starts_with("cert")));
        }
        let quoted = format!("\"a b@c\"\t{KEY}");
        assert_eq!(signers(&quoted, None, "20250101").signer(&key()), Ok("a b@c"));
        assert_eq!(signers(&format!("*@c {KEY}"), Some("x@c"), "20250101").signer(&key()), Ok("x@c"));
        let refused = signers(&format!("*@c {KEY}"), Some("x@d"), "20250101");
        assert!(refused.signer(&key()).unwrap_err().contains("in line 1"));
    }

    #[test]
    fn a_line_that_is_none_is_named_with_what_stands_there() {
        for (line, found) in [
            ("alice", "nothing"),
            ("alice ssh-ed25519", "ssh-ed25519"),
            ("alice ssh-ed25519 AAAA", "ssh-ed25519 AAAA"),
            ("alice nonsense ssh-ed25519 AAAA", "nonsense"),
            ("alice namespaces=recount ssh-ed25519 AAAA", "namespaces=recount"),
            ("alice namespaces=\"a ssh-ed25519 AAAA", "namespaces=\"a ssh-ed25519 AAAA"),
            ("alice valid-after=\"2025\" ssh-ed25519 AAAA", "2025"),
            ("alice valid-after=\"20251301\" ssh-ed25519 AAAA", "20251301"),
            ("alice namespaces=\"a\",namespaces=\"b\" ssh-ed25519 AAAA", "namespaces=\"b\""),
            ("alice namespaces=\"a\",, ssh-ed25519 AAAA", "namespaces=\"a\",,"),
            ("\"\" ssh-ed25519 AAAA", "\"\" ssh-ed25519 AAAA"),
        ] {
            let error = AllowedSigners::read("file", &format!("#\n{line}\n")).unwrap_err();
            assert_eq!((error.line, error.found.as_str()), (2, found), "{line}: {error}");
        }
    }
}
