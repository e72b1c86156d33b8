//! A text cut into sentences of words, numbers and marks.

use super::markdown::Text;
use super::printed::{Printed, Unit};

/// Longest sentence in tokens; a longer one is cut, which bounds the work for each number in it.
const MAX_SENTENCE_TOKENS: usize = 256;

/// What a token is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// A word or identifier.
    Word,
    /// A number that may be a claim.
    Number(Printed),
    /// Two sizes: `37x257`.
    Shape(u64, u64),
    /// Inline code of hexadecimal digits only.
    Hex,
    /// A punctuation mark.
    Mark(char),
}

/// One token.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    /// What it is.
    pub kind: Kind,
    /// First byte in the text.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
    /// Number of its clause within the sentence.
    pub clause: usize,
}

/// The sentences of a text; numbers, shapes and words keep the order of the text.
pub(super) fn sentences(text: &Text) -> Vec<Vec<Token>> {
    let mut lexer = Lexer { text, at: 0, codes: 0 };
    let mut sentences = Vec::new();
    let mut sentence: Vec<Token> = Vec::new();
    let mut clause = 0;
    while let Some(mut token) = lexer.next_token() {
        let is_end = match token.kind {
            Kind::Mark('.' | '!' | '?') => lexer.ends_sentence(sentence.last(), &token),
            Kind::Mark(',' | ';' | '(' | ')' | '\u{2014}') => {
                clause += 1;
                false
            }
            Kind::Word => {
                clause += usize::from(matches!(&text.text[token.start..token.end], "while" | "whereas" | "but"));
                false
            }
            _ => false,
        };
        token.clause = clause;
        sentence.push(token);
        if is_end || sentence.len() >= MAX_SENTENCE_TOKENS {
            sentences.push(std::mem::take(&mut sentence));
            clause = 0;
        }
    }
    sentences.push(sentence);
    sentences.iter_mut().for_each(|sentence| share_units(sentence));
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// The compute capability that a word such as `SM89` or `sm_90a` names.
pub(super) fn architecture(word: &str) -> Option<u64> {
    let number = word.strip_prefix("SM").or_else(|| word.strip_prefix("sm"))?;
    let number = number.strip_prefix('_').unwrap_or(number).trim_end_matches('a');
    if (2..=3).contains(&number.len()) { number.parse().ok() } else { None }
}

/// In `1.20 to 1.24 us` the first number counts what the second does.
fn share_units(sentence: &mut [Token]) {
    for at in (2..sentence.len()).rev() {
        let Kind::Number(Printed { unit, decimals, .. }) = sentence[at].kind else { continue };
        let joins = |token: &Token| match token.kind {
            Kind::Mark('-' | '\u{2013}' | '/') => true,
            // `to`, `and`, `or` are short words between two numbers.
            Kind::Word => token.end - token.start <= 3,
            _ => false,
        };
        if unit == Unit::Plain || !joins(&sentence[at - 1]) {
            continue;
        }
        if let Kind::Number(before) = &mut sentence[at - 2].kind
            && before.unit == Unit::Plain
            && before.decimals == decimals
        {
            before.unit = unit;
        }
    }
}

struct Lexer<'t> {
    text: &'t Text,
    at: usize,
    /// Code ranges that are behind.
    codes: usize,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        &self.text.text[self.at..]
    }

    fn next_token(&mut self) -> Option<Token> {
        self.at += self.rest().len() - self.rest().trim_start().len();
        let first = self.rest().chars().next()?;
        let start = self.at;
        if let Some(end) = self.hex_code() {
            self.at = end;
            return Some(Token { kind: Kind::Hex, start, end, clause: 0 });
        }
        let has_digit_at = |index: usize| self.text.text[index..].starts_with(|next: char| next.is_ascii_digit());
        let follows_word = self.text.text[..start]
            .chars()
            .next_back()
            .is_some_and(|before| before.is_alphanumeric() || matches!(before, '_' | ')' | ']'));
        let kind = if first.is_ascii_digit() {
            self.number(start)
        } else if matches!(first, '+' | '-' | '\u{2212}') && !follows_word && has_digit_at(start + first.len_utf8()) {
            self.at += first.len_utf8();
            self.number(start)
        } else if first.is_alphabetic() || first == '_' {
            self.word();
            Kind::Word
        } else {
            self.at += first.len_utf8();
            Kind::Mark(first)
        };
        Some(Token { kind, start, end: self.at, clause: 0 })
    }

    /// The end of an inline code of hexadecimal digits (a commit, a status) that starts here.
    fn hex_code(&mut self) -> Option<usize> {
        while self.text.code.get(self.codes).is_some_and(|range| range.end <= self.at) {
            self.codes += 1;
        }
        let range = self.text.code.get(self.codes).filter(|range| range.start == self.at)?;
        let code = &self.text.text[range.clone()];
        let code = code.strip_prefix("0x").unwrap_or(code);
        ((7..=64).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(range.end)
    }

    /// Takes letters, digits and underscores, and points within a name such as `samples.csv`; a URL to its end.
    fn word(&mut self) {
        let mut characters = self.rest().char_indices().peekable();
        let mut end = self.rest().len();
        while let Some((at, character)) = characters.next() {
            let is_part = character.is_alphanumeric()
                || character == '_'
                || (character == '.' && characters.peek().is_some_and(|(_, next)| next.is_alphanumeric()));
            if !is_part {
                end = at;
                break;
            }
        }
        if self.rest()[end..].starts_with("://") {
            end = self.rest().find(char::is_whitespace).unwrap_or(self.rest().len());
        }
        self.at += end;
    }

    /// A number from its first digit on, with the sign that may stand before it at `start`; or what only begins with
    /// digits: a shape, a date, a version, an identifier.
    fn number(&mut self, start: usize) -> Kind {
        let bytes = self.rest().as_bytes();
        let digits = |from: usize| from + bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mut end = digits(0);
        let whole = end;
        while bytes.get(end) == Some(&b',') && whole <= 3 && digits(end + 1) == end + 4 {
            end += 4;
        }
        if let Some(kind) = self.shape(end) {
            return kind;
        }
        if bytes.get(end) == Some(&b'.') && digits(end + 1) > end + 1 {
            end = digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = end + 1 + sign;
            if exponent < bytes.len() && digits(exponent) > exponent {
                end = digits(exponent);
            }
        }
        // More points (versions), colons (times) and two hyphens (dates) make it no number.
        let continues = |mark: u8, at: usize| bytes.get(at) == Some(&mark) && digits(at + 1) > at + 1;
        let is_date = continues(b'-', end) && continues(b'-', digits(end + 1));
        if is_date || continues(b'.', end) || continues(b':', end) {
            self.word_of_marks(end);
            return Kind::Word;
        }
        let literal_end = self.at + end;
        let Some(mut printed) = Printed::parse(&self.text.text[start..literal_end]) else {
            self.at = literal_end;
            return Kind::Word;
        };
        self.at = literal_end;
        let letters =
            self.rest().find(|next: char| !next.is_alphanumeric() && next != '_').unwrap_or(self.rest().len());
        if letters > 0 {
            let Some(unit) = unit(&self.rest()[..letters]) else {
                self.word();
                return Kind::Word;
            };
            printed.unit = unit;
            self.at += letters;
        } else {
            printed.unit = self.unit_behind();
        }
        Kind::Number(printed)
    }

    /// The unit that stands behind a number, after at most one space. It is consumed.
    fn unit_behind(&mut self) -> Unit {
        let rest = self.rest();
        let behind = rest.strip_prefix([' ', '\u{a0}', '\u{202f}']).unwrap_or(rest);
        let gap = rest.len() - behind.len();
        if behind.starts_with('%') {
            self.at += gap + 1;
            return Unit::Percent;
        }
        if behind.starts_with('\u{d7}') && gap == 0 {
            self.at += '\u{d7}'.len_utf8();
            return Unit::Factor;
        }
        let letters = behind.find(|next: char| !next.is_alphanumeric()).unwrap_or(behind.len());
        // A lone x after a space multiplies what follows.
        match unit(&behind[..letters]).filter(|_| gap > 0 && &behind[..letters] != "x") {
            Some(unit) => {
                self.at += gap + letters;
                unit
            }
            None => Unit::Plain,
        }
    }

    /// `37x257`, when the digits before the `x` end at `end`; longer products are no shapes of a case.
    fn shape(&mut self, end: usize) -> Option<Kind> {
        let rest = self.rest();
        let is_size = |byte: u8| byte.is_ascii_digit() || byte == b'x';
        let behind = rest[end..].strip_prefix(['x', '\u{d7}'])?;
        // `0x15400` is a number in hexadecimal digits.
        if !behind.starts_with(|next: char| next.is_ascii_digit()) || &rest[..end] == "0" {
            return None;
        }
        let length = behind.bytes().take_while(|&byte| is_size(byte)).count();
        let sizes = (rest[..end].parse(), behind[..length].parse());
        self.at += rest.len() - behind.len() + length;
        let ends = !self.rest().starts_with(|next: char| next.is_alphanumeric());
        match sizes {
            (Ok(rows), Ok(columns)) if ends => Some(Kind::Shape(rows, columns)),
            _ => {
                self.word();
                Some(Kind::Word)
            }
        }
    }

    /// Takes a date, time or version from `end` on.
    fn word_of_marks(&mut self, end: usize) {
        let bytes = &self.rest().as_bytes()[end..];
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b':' | b'-' | b'+' | b'_');
        let length = bytes.iter().take_while(|byte| is_part(byte)).count();
        // A full stop behind it ends the sentence.
        let trailing = bytes[..length].iter().rev().take_while(|&&byte| byte == b'.').count();
        self.at += end + length - trailing;
    }

    /// Whether a mark ends a sentence: white space or the end follows, and no abbreviation stands before.
    fn ends_sentence(&self, before: Option<&Token>, mark: &Token) -> bool {
        let rest = self.rest().trim_start_matches(['"', '\'', ')', ']', '\u{201d}']);
        if !(rest.is_empty() || rest.starts_with(char::is_whitespace)) {
            return false;
        }
        let Some(before) = before.filter(|before| before.kind == Kind::Word && before.end == mark.start) else {
            return true;
        };
        let word = &self.text.text[before.start..before.end];
        !matches!(word, "e.g" | "i.e" | "vs" | "cf" | "ca" | "approx" | "Fig" | "Tab" | "Sec" | "No" | "resp")
    }
}

/// The unit with this name.
fn unit(name: &str) -> Option<Unit> {
    match name {
        "us" | "\u{b5}s" | "\u{3bc}s" | "usec" | "microsecond" | "microseconds" => Some(Unit::Us),
        "ns" | "nanosecond" | "nanoseconds" => Some(Unit::Ns),
        "ms" | "millisecond" | "milliseconds" => Some(Unit::Ms),
        "percent" => Some(Unit::Percent),
        "x" | "times" => Some(Unit::Factor),
        _ => None,
    }
}
