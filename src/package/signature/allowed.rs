//! OpenSSH's allowed-signers files (`ssh-keygen(1)`, ALLOWED SIGNERS): who may have signed, as what, and when.

use ssh_key::HashAlg;
use ssh_key::public::KeyData;

use super::line::{BLANK, Entry, entry};
use super::pattern::matches_list;
use crate::package::digest::digest;

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
    /// Whether the reader stated that time; otherwise it is the present.
    pub at_is_stated: bool,
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
        // It would belong to the first word, and ssh-keygen would look for an identity that begins with it.
        if text.starts_with('\u{feff}') {
            let (expected, found) = ("UTF-8 without a byte order mark", "one before the first line".to_owned());
            return Err(LineError { name: name.to_owned(), line: 1, expected, found });
        }
        let mut read = Self { name: name.to_owned(), sha256: digest(text.as_bytes()).sha256, ..Self::default() };
        for (index, line) in text.split('\n').enumerate() {
            let content = line.trim_matches(BLANK);
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

/// A key whose signature counts. That it is listed makes nobody of it: a line is a pattern, which may stand for anybody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer {
    /// The kind of key, such as `ssh-ed25519`.
    pub key_type: String,
    /// The key as `ssh-keygen -l` shows it: `SHA256:...`.
    pub fingerprint: String,
    /// The identities of the line that lists the key, as they stand there: patterns.
    pub listed_for: String,
    /// The identity that was asked for, which the line allows; `None` where none was.
    pub identity: Option<String>,
}

impl Signers {
    /// What is known of who signed with this key.
    ///
    /// # Errors
    /// Nobody who is accepted, and why not.
    pub fn signer(&self, key: &KeyData) -> Result<Signer, String> {
        let mut reasons = Vec::new();
        for entry in self.allowed.entries.iter().filter(|entry| entry.key == *key) {
            match self.refusal(entry) {
                None => {
                    return Ok(Signer {
                        key_type: key.algorithm().to_string(),
                        fingerprint: key.fingerprint(HashAlg::Sha256).to_string(),
                        listed_for: entry.principals.clone(),
                        identity: self.identity.clone(),
                    });
                }
                Some(reason) => reasons.push(format!("in line {} {reason}", entry.line)),
            }
        }
        Err(if reasons.is_empty() { "which is not in the file".to_owned() } else { reasons.join("; ") })
    }

    /// Why a line with the right key does not allow the signature.
    fn refusal(&self, entry: &Entry) -> Option<String> {
        if let Some(identity) = self.identity.as_ref().filter(|identity| !matches_list(&entry.principals, identity)) {
            return Some(format!("it is listed for {}, not for {identity}", entry.principals));
        }
        // A line of exceptions alone allows nobody; ssh-keygen accepts no identity for it either.
        if entry.principals.split(',').all(|pattern| pattern.starts_with('!')) {
            return Some(format!("it is listed for nobody: {}", entry.principals));
        }
        let restrictions = &entry.restrictions;
        if let Some(namespaces) = restrictions.namespaces.as_ref().filter(|list| !matches_list(list, &self.namespace)) {
            return Some(format!("it is listed for the namespaces {namespaces}, not for {}", self.namespace));
        }
        // ssh-keygen reads a time without Z in the time zone of the machine that it runs on.
        let zone = "in some time zones: write the time with Z";
        match restrictions.valid_after.map(|after| after.is_after(self.at)) {
            Some(Some(true)) => return Some("it is not valid yet".to_owned()),
            Some(None) => return Some(format!("it is not valid yet {zone}")),
            Some(Some(false)) | None => {}
        }
        // The last second still counts.
        match restrictions.valid_before.map(|before| before.is_after(self.at.saturating_sub(1))) {
            Some(Some(false)) => Some("it is not valid any more".to_owned()),
            Some(None) => Some(format!("it is not valid any more {zone}")),
            Some(Some(true)) | None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use ssh_key::PublicKey;

    use super::*;
    use crate::package::signature::moment::Moment;

    const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti";

    fn signers(text: &str, identity: Option<&str>, at: &str) -> Signers {
        Signers {
            allowed: AllowedSigners::read("allowed", text).unwrap(),
            identity: identity.map(str::to_owned),
            namespace: "recount".to_owned(),
            at: Moment::read(at).unwrap().in_utc(),
            at_is_stated: true,
        }
    }

    fn key() -> KeyData {
        PublicKey::from_openssh(KEY).unwrap().key_data().clone()
    }

    #[test]
    fn options_restrict_a_line() {
        for (options, at, expected) in [
            ("", "20250101", true),
            ("namespaces=\"recount\" ", "20250101", true),
            ("NameSpaces=\"git,re*\" ", "20250101", true),
            ("namespaces=\"git\" ", "20250101", false),
            ("valid-after=\"20250101Z\" ", "20250101Z", true),
            ("valid-after=\"20250101\" ", "202501011200", true),
            ("valid-after=\"20250101\" ", "20250101", false),
            ("valid-before=\"20250101Z\" ", "20250101", true),
            ("valid-before=\"20250101\" ", "20241231100000", true),
            ("valid-before=\"20250101\" ", "20241231100001", false),
            ("namespaces=\"a\\\"b,recount\" ", "20250101", true),
            ("valid-after=\"20250101\" ", "202412312359", false),
            ("valid-after=\"20240101\",valid-before=\"20250101Z\" ", "20250101000001", false),
            ("cert-authority ", "20250101", false),
        ] {
            let signers = signers(&format!("# who\n\nalice@a,bob@b {options}{KEY} comment\n"), None, at);
            assert_eq!(signers.signer(&key()).is_ok(), expected, "{options} {at}: {:?}", signers.signer(&key()));
            assert_eq!(signers.allowed.skipped.len(), usize::from(options.starts_with("cert")));
        }
        let quoted = format!("\"a b@c\"\t{KEY}");
        assert_eq!(signers(&quoted, None, "20250101").signer(&key()).unwrap().listed_for, "a b@c");
        let pattern = format!("*@c {KEY}");
        let signer = signers(&pattern, None, "20250101").signer(&key()).unwrap();
        assert_eq!((signer.listed_for.as_str(), signer.identity), ("*@c", None), "a pattern is no identity");
        let signer = signers(&pattern, Some("x@c"), "20250101").signer(&key()).unwrap();
        assert_eq!((signer.listed_for.as_str(), signer.identity.as_deref()), ("*@c", Some("x@c")));
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
            ("alice valid-after=\"2025\" ssh-ed25519 AAAA", "valid-after=\"2025\""),
            ("alice valid-after=\"20251301\" ssh-ed25519 AAAA", "valid-after=\"20251301\""),
            ("alice namespaces=\"a\",namespaces=\"b\" ssh-ed25519 AAAA", "namespaces=\"b\""),
            ("alice namespaces=\"a\",, ssh-ed25519 AAAA", "namespaces=\"a\",,"),
            ("\"\" ssh-ed25519 AAAA", "\"\" ssh-ed25519 AAAA"),
            ("a\"b\" ssh-ed25519 AAAA", "a\"b\" ssh-ed25519 AAAA"),
            ("\"a\"b ssh-ed25519 AAAA", "\"a\"b ssh-ed25519 AAAA"),
            ("a namespaces=\"b\\\" ssh-ed25519 AAAA", "namespaces=\"b\\\" ssh-ed25519 AAAA"),
            ("a namespaces=\"b\"c\" ssh-ed25519 AAAA", "namespaces=\"b\"c\" ssh-ed25519 AAAA"),
            ("a namespaces=\"b\"\"c\" ssh-ed25519 AAAA", "namespaces=\"b\"\"c\""),
            ("a valid-after=\"19700101Z\" ssh-ed25519 AAAA", "valid-after=\"19700101Z\""),
            ("a\0b ssh-ed25519 AAAA", "a\0b ssh-ed25519 AAAA"),
        ] {
            let error = AllowedSigners::read("file", &format!("#\n{line}\n")).unwrap_err();
            assert_eq!((error.line, error.found.as_str()), (2, found), "{line}: {error}");
        }
    }
}
