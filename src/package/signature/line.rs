//! One line of an allowed-signers file, read as `ssh-keygen` reads it; what it would read in a way that its writer can hardly
//! have meant is refused.

use std::borrow::Cow;

use ssh_key::PublicKey;
use ssh_key::public::KeyData;

use super::moment::Moment;

/// One line: identities, a key, and when and for what it counts.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) line: usize,
    pub(super) principals: String,
    pub(super) restrictions: Restrictions,
    pub(super) key: KeyData,
}

/// When and for what a key counts.
#[derive(Debug, Clone, Default)]
pub(super) struct Restrictions {
    pub(super) namespaces: Option<String>,
    pub(super) valid_after: Option<Moment>,
    pub(super) valid_before: Option<Moment>,
    authority: bool,
}

/// What was expected, and what stands there instead.
pub(super) type Wrong<'t> = (&'static str, &'t str);

/// What `ssh-keygen` takes for blank.
pub(super) const BLANK: [char; 4] = [' ', '\t', '\r', '\n'];

/// What a time looks like.
pub(super) const TIME: &str = "a time after 1970 as YYYYMMDD or YYYYMMDDHHMM[SS], with or without Z";

/// One line; in the inner `Err` why it allows nobody here.
pub(super) fn entry(content: &str, line: usize) -> Result<Result<Entry, String>, Wrong<'_>> {
    if content.contains('\0') {
        return Err(("a line without NUL, at which other readers stop", content));
    }
    let (principals, rest) = principals(content)?;
    let (word, after) = option_word(rest)?;
    let (options, rest) = if is_key_type(word) { ("", rest) } else { (word, after) };
    let restrictions = restrictions(options)?;
    if restrictions.authority {
        return Ok(Err("cert-authority is not supported".to_owned()));
    }
    let kind = rest.split(BLANK).next().unwrap_or_default();
    if kind == "ssh-dss" || kind.contains("-cert-v0") {
        return Ok(Err(format!("keys of the kind {kind} are not supported")));
    }
    match PublicKey::from_openssh(rest) {
        Ok(key) => {
            let (principals, key) = (principals.to_owned(), key.key_data().clone());
            Ok(Ok(Entry { line, principals, restrictions, key }))
        }
        Err(_) => Err(("identities, options if any, and a public key such as `ssh-ed25519 AAAA...`", rest)),
    }
}

/// The identities, perhaps between quotes, and what follows. Nothing is escaped in them.
fn principals(content: &str) -> Result<(&str, &str), Wrong<'_>> {
    let (principals, rest) = match content.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"').ok_or(("a closing quotation mark", content))?,
        None => content.split_at(content.find(BLANK).unwrap_or(content.len())),
    };
    if principals.is_empty() {
        return Err(("identities, separated by commas", content));
    }
    // What `ssh-keygen` makes of these is another list than the one that stands there.
    if principals.contains('"') || !(rest.is_empty() || rest.starts_with(BLANK)) {
        return Err(("identities with quotation marks around all of them or none", content));
    }
    Ok((principals, rest.trim_start_matches(BLANK)))
}

/// The options: everything up to the first blank outside quotes, in which `\"` is a quotation mark; and what follows.
fn option_word(text: &str) -> Result<(&str, &str), Wrong<'_>> {
    let mut quotes = Quotes::default();
    for (at, character) in text.char_indices() {
        if quotes.is_outside(character) && BLANK.contains(&character) {
            return Ok((&text[..at], text[at..].trim_start_matches(BLANK)));
        }
    }
    if quotes.is_open { Err(("a closing quotation mark", text)) } else { Ok((text, "")) }
}

/// Where in a text quotes are open.
#[derive(Default)]
struct Quotes {
    is_open: bool,
    is_escaped: bool,
}

impl Quotes {
    /// Takes the next character; says whether it stands outside quotes.
    fn is_outside(&mut self, character: char) -> bool {
        self.is_open ^= character == '"' && !self.is_escaped;
        // A backslash means something before a quotation mark alone.
        self.is_escaped = character == '\\';
        !self.is_open
    }
}

fn restrictions(options: &str) -> Result<Restrictions, Wrong<'_>> {
    let mut read = Restrictions::default();
    for option in split_options(options)? {
        let (name, value) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
        let quoted = value.and_then(unquoted);
        let is_new = match (name.to_ascii_lowercase().as_str(), quoted) {
            ("cert-authority", None) if value.is_none() => !std::mem::replace(&mut read.authority, true),
            ("namespaces", Some(list)) if !list.is_empty() => read.namespaces.replace(list.into_owned()).is_none(),
            ("valid-after", Some(text)) => set_moment(&mut read.valid_after, &text, option)?,
            ("valid-before", Some(text)) => set_moment(&mut read.valid_before, &text, option)?,
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
        (Some(after), Some(before)) if before.is_no_later_than(after) => {
            Err(("a valid-before after its valid-after", options))
        }
        _ => Ok(read),
    }
}

fn set_moment<'t>(moment: &mut Option<Moment>, text: &str, option: &'t str) -> Result<bool, Wrong<'t>> {
    Ok(moment.replace(Moment::read(text).ok_or((TIME, option))?).is_none())
}

/// The text between quotes, in which `\"` is a quotation mark and every other backslash one; `None` for anything else.
fn unquoted(value: &str) -> Option<Cow<'_, str>> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    // Neither may the last mark be an escaped one, nor may one before it end the text.
    let mut quotes = Quotes::default();
    let ends = value.chars().enumerate().filter(|(at, character)| quotes.is_outside(*character) && *at > 0).count();
    if ends != 1 {
        return None;
    }
    Some(if inner.contains("\\\"") { Cow::Owned(inner.replace("\\\"", "\"")) } else { Cow::Borrowed(inner) })
}

/// The parts between commas outside quotes.
fn split_options(text: &str) -> Result<Vec<&str>, Wrong<'_>> {
    let mut quotes = Quotes::default();
    let parts: Vec<&str> = text.split(|character| quotes.is_outside(character) && character == ',').collect();
    match parts.as_slice() {
        [""] => Ok(Vec::new()),
        parts if parts.contains(&"") => Err(("an option between commas", text)),
        _ => Ok(parts),
    }
}

fn is_key_type(word: &str) -> bool {
    ["ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-sha2-"].iter().any(|prefix| word.starts_with(prefix))
}
