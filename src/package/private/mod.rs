//! What in a text names a person or a machine, or is a secret: found, shown masked, and replaced by placeholders.

mod rules;
mod strings;

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::receipts::is_sha256;
use rules::{GENERAL, Mask, SECRET_NAME, compiled};
pub use strings::{Token, each_string, literal};

static SECRET_MEMBER: LazyLock<Option<Regex>> = LazyLock::new(|| compiled(SECRET_NAME));

/// What one rule looks for and puts in its place.
#[derive(Debug, Clone)]
pub struct Rule {
    /// The rule in a word or two.
    pub name: String,
    /// What stands in place of a match.
    pub placeholder: String,
    regex: Regex,
    mask: Mask,
    /// Whether the names of JSON members are looked at, too.
    in_keys: bool,
    meant: fn(&str, &str) -> bool,
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
pub struct Rules(Vec<Rule>);

impl Rules {
    /// The rules that hold for every package on every machine.
    pub fn general() -> Self {
        // Compiled once: a self-test verifies thousands of packages.
        static COMPILED: LazyLock<Vec<Rule>> = LazyLock::new(|| {
            let rules = GENERAL.iter().filter_map(|rule| {
                Some(Rule {
                    name: rule.name.to_owned(),
                    placeholder: rule.placeholder.to_owned(),
                    regex: compiled(rule.pattern)?,
                    mask: rule.mask,
                    in_keys: true,
                    meant: rule.meant,
                })
            });
            rules.collect()
        });
        Self(COMPILED.clone())
    }

    /// Adds a rule for a pattern; the first group that takes part in a match is replaced, or else all of it.
    pub fn add(&mut self, name: &str, placeholder: &str, regex: Regex, in_keys: bool) {
        let (name, placeholder) = (name.to_owned(), placeholder.to_owned());
        self.0.push(Rule { name, placeholder, regex, mask: Mask::First(1), in_keys, meant: |_, _| true });
    }

    /// Looks through a text; `json` says that it is one that was parsed without an error.
    pub fn scan(&self, text: &str, json: bool) -> Scan {
        let mut scan = Scan::default();
        if !json {
            for (range, rule) in self.matches(text, false) {
                scan.hits.push(hit(rule, range.start, &text[range.clone()]));
                scan.edits.push((range, rule.placeholder.clone()));
            }
        } else if self.may_match(text) {
            each_string(text, &mut |token| self.token(text, &token, &mut scan));
        }
        scan
    }

    /// Whether the strings of a JSON text are worth a look of their own. Escapes may hide what a search of the text misses.
    fn may_match(&self, text: &str) -> bool {
        static ESCAPES: LazyLock<Option<Regex>> = LazyLock::new(|| {
            compiled(r#"\\[nrtu/]|(?i:password|passwd|passphrase|secret|api[_-]?key|access[_-]?token|auth[_-]?token)"#)
        });
        ESCAPES.as_ref().is_none_or(|escapes| escapes.is_match(text))
            || self.0.iter().any(|rule| rule.regex.is_match(text))
    }

    fn token(&self, text: &str, token: &Token<'_>, scan: &mut Scan) {
        let value = &token.value;
        if is_sha256(value) {
            return;
        }
        let written = &text[token.range.clone()];
        let secret = SECRET_MEMBER.as_ref().zip(token.key).is_some_and(|(regex, key)| regex.is_match(key));
        if secret && value.len() >= 4 && !value.contains(char::is_whitespace) && !is_placeholder(value) {
            scan.hits.push(Hit {
                offset: token.range.start,
                rule: "password".to_owned(),
                placeholder: "${SECRET}".to_owned(),
                masked: masked(value, Mask::First(0)),
            });
            scan.edits.push((token.range.clone(), literal("${SECRET}", written)));
            return;
        }
        let mut edits = Vec::new();
        for (range, rule) in self.matches(value, token.is_key) {
            scan.hits.push(hit(rule, token.range.start, &value[range.clone()]));
            edits.push((range, rule.placeholder.clone()));
        }
        if !edits.is_empty() {
            scan.edits.push((token.range.clone(), literal(&edited(value, &edits), written)));
        }
    }

    /// Matches in order, apart from each other.
    fn matches<'r>(&'r self, text: &str, in_key: bool) -> Vec<(Range<usize>, &'r Rule)> {
        let mut found: Vec<(Range<usize>, &Rule)> = Vec::new();
        for rule in self.0.iter().filter(|rule| rule.in_keys || !in_key) {
            let mut from = 0;
            while let Some(captures) = rule.regex.captures_at(text, from) {
                let Some(part) = captures.iter().skip(1).flatten().next().or_else(|| captures.get(0)) else { break };
                if part.is_empty() {
                    break;
                }
                // What follows the part may be what precedes the next one.
                from = part.end();
                if (rule.meant)(part.as_str(), &text[part.end()..]) {
                    found.push((part.range(), rule));
                }
            }
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
