//! What in a text names a person or a machine, or is a secret: found, shown masked, and replaced by placeholders.

mod address;
mod columns;
mod homes;
mod identities;
mod keys;
mod names;
mod pem;
mod rules;
mod secrets;
mod settings;
mod strings;
mod texts;
mod tokens;
mod values;

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use super::receipts::is_sha256;
use identities::{is_bare, is_beside, is_identity, names_identity};
use keys::KEYS;
pub use names::names_nobody;
use rules::{Found, GENERAL, Mask, Meant, anything, compiled};
use secrets::{is_secret_argument, is_secret_member};
pub use strings::{Token, each_string, literal};
pub use texts::{Legible, Reading, legible};
use tokens::is_of_a_vocabulary;

pub use super::endings::is_binary;

/// What one rule looks for and puts in its place.
#[derive(Debug, Clone)]
pub struct Rule {
    /// The rule in a word or two.
    pub name: String,
    /// What stands in place of a match.
    pub placeholder: String,
    regex: Regex,
    mask: Mask,
    kind: Kind,
    meant: Meant,
}

/// Where a rule is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Everywhere.
    Anything,
    /// The name of a machine or a user: neither in names of members, which belong to the format, nor in evidence, whose words
    /// and numbers it may look like.
    Name,
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Where it begins in the file; in JSON, where the string that holds it begins.
    pub offset: usize,
    /// The rule's name.
    pub rule: String,
    /// The rule's placeholder.
    pub placeholder: String,
    /// What was found, so that nobody can read the secret in it.
    pub masked: String,
}

/// The rule for identities of devices.
const IDENTITY: &str = "GPU identity";

/// What is to be done with a text.
#[derive(Debug, Default)]
pub struct Scan {
    /// Everything that was found, in the order of the text.
    pub hits: Vec<Hit>,
    /// What is to stand in which place; in order, apart from each other.
    pub edits: Vec<(Range<usize>, String)>,
}

/// A set of rules; of two matches that begin alike the longer one counts.
#[derive(Debug)]
pub struct Rules {
    all: Vec<Rule>,
    /// All patterns at once, where that is worth its making. For a short text it is quicker to ask once than each of them.
    any: Option<&'static RegexSet>,
}

/// So many short texts make up for the time that making all patterns one takes, which is as much as all checks of a small
/// package.
const MANY: usize = 1000;

/// Bytes of a text for which all patterns are asked at once. In longer ones each finds its own beginnings sooner.
const SHORT: usize = 256;

impl Rules {
    /// The rules that hold for every package on every machine.
    pub fn general() -> Self {
        // Compiled once: a self-test verifies thousands of packages.
        static COMPILED: LazyLock<Vec<Rule>> = LazyLock::new(|| {
            let rules = KEYS.iter().chain(GENERAL).filter_map(|rule| {
                Some(Rule {
                    name: rule.name.to_owned(),
                    placeholder: rule.placeholder.to_owned(),
                    regex: compiled(rule.pattern)?,
                    mask: rule.mask,
                    kind: Kind::Anything,
                    meant: rule.meant,
                })
            });
            rules.collect()
        });
        Self { all: COMPILED.clone(), any: None }
    }

    /// The same, for looking through so many short texts.
    pub fn general_for(texts: usize) -> Self {
        static ANY: LazyLock<Option<RegexSet>> =
            LazyLock::new(|| RegexSet::new(Rules::general().all.iter().map(|rule| rule.regex.as_str())).ok());
        Self { any: if texts < MANY { None } else { ANY.as_ref() }, ..Self::general() }
    }

    /// Adds a rule for a pattern; the first group that takes part in a match is replaced, or else all of it.
    pub fn add(&mut self, name: &str, placeholder: &str, regex: Regex) {
        self.push(name, placeholder, regex, Kind::Anything, anything);
    }

    /// Adds a rule for a folder, whichever way its separators are written.
    pub fn add_path(&mut self, name: &str, placeholder: &str, path: &str) {
        let path = path.split(['/', '\\']).map(regex::escape).collect::<Vec<_>>().join(r"[\\/]+");
        if let Some(regex) = compiled(&format!(r"<lead>({path})(?:$|[^\w-])")) {
            self.push(name, placeholder, regex, Kind::Anything, anything);
        }
    }

    /// Adds a rule for a name of a user or a machine, as it is.
    pub fn add_name(&mut self, name: &str, placeholder: &str, regex: Regex) {
        self.push(name, placeholder, regex, Kind::Name, anything);
    }

    /// Adds a rule for the name of a machine; of a match, labels of a domain count at the end, others do not.
    pub fn add_host(&mut self, name: &str, placeholder: &str, regex: Regex) {
        self.push(name, placeholder, regex, Kind::Name, address::in_domain);
    }

    fn push(&mut self, name: &str, placeholder: &str, regex: Regex, kind: Kind, meant: Meant) {
        let (name, placeholder) = (name.to_owned(), placeholder.to_owned());
        self.any = None;
        self.all.push(Rule { name, placeholder, regex, mask: Mask::First(1), kind, meant });
    }

    /// Looks through a text.
    pub fn scan(&self, text: &str, reading: Reading) -> Scan {
        let mut scan = Scan::default();
        if !reading.is_json {
            for (range, rule) in self.matches(text, !reading.is_evidence) {
                scan.hits.push(hit(rule, range.start, &text[range.clone()]));
                scan.edits.push((range, rule.placeholder.clone()));
            }
        } else if self.may_match(text) {
            let mut before = None;
            each_string(text, &mut |token| {
                self.token(text, &token, before.take(), reading, &mut scan);
                before = (!token.is_key).then_some((token.range.end, token.value));
            });
        }
        scan
    }

    /// What is private in the name of a file, by rule; offsets say nothing.
    pub fn scan_name(&self, name: &str) -> Vec<Hit> {
        // A folder in the root may be what a whole tree was copied into; an ending may look like one of a domain.
        let stem = name.rsplit_once('.').map_or("", |(stem, _)| stem);
        let mut hits: Vec<Hit> = Vec::new();
        for text in [format!("/{name}"), stem.to_owned()] {
            for hit in self.scan(&text, Reading::TEXT).hits {
                if hits.iter().all(|other| other.rule != hit.rule) {
                    hits.push(hit);
                }
            }
        }
        hits
    }

    /// Whether the strings of a JSON text are worth a look of their own. Escapes may hide what a search of the text misses.
    fn may_match(&self, text: &str) -> bool {
        static ESCAPES: LazyLock<Option<Regex>> =
            LazyLock::new(|| compiled(r#"\\[nrtu/]|(?i:passw|passphrase|secret|key"|token"|authorization"|uuid")"#));
        ESCAPES.as_ref().is_none_or(|escapes| escapes.is_match(text))
            || self.all.iter().any(|rule| rule.regex.is_match(text))
    }

    /// Looks at a string of a JSON text; `before` is the one before it, with its end, if that is a value, too.
    fn token(&self, text: &str, token: &Token<'_>, before: Option<(usize, String)>, reading: Reading, scan: &mut Scan) {
        let value = &token.value;
        if is_sha256(value) {
            return;
        }
        let written = &text[token.range.clone()];
        let whole = match token.key {
            Some(_) if is_placeholder(value) => None,
            Some(key) if is_secret_member(key, value) && !is_of_a_vocabulary(key, text, &token.range) => {
                Some(("password", "${SECRET}"))
            }
            Some(key)
                if is_identity(value)
                    && (names_identity(key)
                        || (is_bare(key) && is_beside(text, token.range.start, token.range.end))) =>
            {
                Some((IDENTITY, "${GPU_UUID_REDACTED}"))
            }
            None if before.is_some_and(|before| is_argument(text, &before, token)) => Some(("password", "${SECRET}")),
            _ => None,
        };
        if let Some((rule, placeholder)) = whole {
            scan.hits.push(Hit {
                offset: token.range.start,
                rule: rule.to_owned(),
                placeholder: placeholder.to_owned(),
                masked: masked(value, Mask::First(0)),
            });
            scan.edits.push((token.range.clone(), literal(placeholder, written)));
            return;
        }
        let mut edits = Vec::new();
        for (range, rule) in self.matches(value, !token.is_key && (!reading.is_evidence || token.in_surroundings)) {
            scan.hits.push(hit(rule, token.range.start, &value[range.clone()]));
            edits.push((range, rule.placeholder.clone()));
        }
        if !edits.is_empty() {
            scan.edits.push((token.range.clone(), literal(&edited(value, &edits), written)));
        }
    }

    /// Matches in order, apart from each other.
    fn matches<'r>(&'r self, text: &str, with_names: bool) -> Vec<(Range<usize>, &'r Rule)> {
        let mut found: Vec<(Range<usize>, &Rule)> = Vec::new();
        let identities = columns::identities(text);
        if identities.is_empty() && text.len() <= SHORT && self.any.is_some_and(|any| !any.is_match(text)) {
            return found;
        }
        for rule in self.all.iter().filter(|rule| with_names || rule.kind != Kind::Name) {
            let mut from = 0;
            while let Some(captures) = rule.regex.captures_at(text, from) {
                let groups = captures.iter().enumerate().skip(1).find_map(|(group, part)| Some((group, part?)));
                let Some((group, part)) = groups.or_else(|| Some((0, captures.get(0)?))) else { break };
                let judged = (rule.meant)(Found { text, start: part.start(), end: part.end(), group });
                if judged.bytes == 0 {
                    break;
                }
                // What follows the part may be what precedes the next one.
                from = part.start() + judged.bytes;
                if judged.is_meant {
                    found.push((part.start()..from, rule));
                }
            }
        }
        if let Some(rule) = self.all.iter().find(|rule| rule.name == IDENTITY) {
            found.extend(identities.into_iter().map(|range| (range, rule)));
        }
        found.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        let mut end = 0;
        found.retain(|(range, _)| {
            let apart = range.start >= end;
            if apart {
                end = range.end;
            }
            apart
        });
        found
    }
}

/// Whether a string is the secret that the option before it asks for.
fn is_argument(text: &str, before: &(usize, String), token: &Token<'_>) -> bool {
    let (end, option) = before;
    !token.is_key
        && text[*end..token.range.start].trim() == ","
        && !is_placeholder(&token.value)
        && is_secret_argument(option, &token.value)
}

fn hit(rule: &Rule, offset: usize, found: &str) -> Hit {
    let (name, placeholder) = (rule.name.clone(), rule.placeholder.clone());
    Hit { offset, rule: name, placeholder, masked: masked(found, rule.mask) }
}

/// Whether a text is one placeholder, `${NAME}`.
pub fn is_placeholder(text: &str) -> bool {
    text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    })
}

/// A text with parts of it replaced.
pub fn edited(text: &str, edits: &[(Range<usize>, String)]) -> String {
    let (mut result, mut at) = (String::with_capacity(text.len()), 0);
    for (range, replacement) in edits {
        result.push_str(&text[at..range.start]);
        result.push_str(replacement);
        at = range.end;
    }
    result + &text[at..]
}

fn masked(found: &str, mask: Mask) -> String {
    let characters = found.chars().count();
    let shown = match mask {
        Mask::First(count) => found.char_indices().nth(count).map_or(found, |(end, _)| &found[..end]),
        Mask::Folder => found.rfind(['/', '\\']).map_or("", |end| &found[..=end]),
    };
    format!("{shown}... ({characters} characters)")
}

/// Lines and columns of rising offsets in one walk over a text; both from 1, columns in characters.
#[derive(Debug)]
pub struct Places<'t> {
    text: &'t [u8],
    at: usize,
    place: (usize, usize),
}

impl<'t> Places<'t> {
    /// The beginning of a text.
    pub fn of(text: &'t str) -> Self {
        Self { text: text.as_bytes(), at: 0, place: (1, 1) }
    }

    /// The place of an offset that is no smaller than the one before.
    pub fn place(&mut self, offset: usize) -> (usize, usize) {
        while self.at < offset.min(self.text.len()) {
            let byte = self.text[self.at];
            self.at += 1;
            match byte {
                b'\n' => self.place = (self.place.0 + 1, 1),
                0x80..=0xbf => {}
                _ => self.place.1 += 1,
            }
        }
        self.place
    }
}
