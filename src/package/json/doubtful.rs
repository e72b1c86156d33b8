//! Integers that `serde_json` reads as floats, in a text that is not kept: those beyond 64 bits, which it rounds, and `-0`.
//! Of floats that are as large, or zero with a sign, only the literal tells them apart.

use std::ops::Range;

/// An integer literal that became a float.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Doubtful {
    /// Line and column in bytes, from 1.
    pub(super) position: (usize, usize),
    /// Whether it is `-0`; otherwise it needs more than 64 bits.
    pub(super) is_zero: bool,
}

/// Looks at what stands between strings and commas.
#[derive(Default)]
pub(super) struct Watch {
    found: Option<Doubtful>,
    /// Lines before the bytes that are looked at, and bytes of the last of them.
    before: (usize, usize),
    /// The beginning of a number whose end was not read yet, and where it stands.
    begun: Option<(Vec<u8>, (usize, usize))>,
}

/// The shortest literal beyond 64 bits: -9223372036854775809 and 18446744073709551616 have 20 bytes.
const LARGE_BYTES: usize = 20;

fn is_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E')
}

impl Watch {
    /// Looks at a part of `all` without strings or commas. What ends where `all` ends may go on in what is read next.
    pub(super) fn look(&mut self, all: &[u8], part: Range<usize>) {
        let bytes = all.get(part.clone()).unwrap_or_default();
        let is_last = part.end == all.len();
        // Nearly everything is a short number without a sign.
        let is_plain = (bytes.len() < LARGE_BYTES || memchr::memchr(b'.', bytes).is_some())
            && memchr::memchr(b'-', bytes).is_none()
            && !is_last
            && self.begun.is_none();
        if is_plain || self.found.is_some() {
            return;
        }
        let mut at = part.start;
        for run in bytes.chunk_by(|&left, &right| is_number(left) == is_number(right)) {
            let start = at;
            at += run.len();
            let is_number = run.first().copied().is_some_and(is_number);
            let goes_on = is_number && at == all.len();
            match self.begun.take() {
                Some((mut literal, position)) if is_number => {
                    literal.extend_from_slice(run);
                    if goes_on {
                        self.begun = Some((literal, position));
                    } else {
                        self.note(&literal, position);
                    }
                }
                Some((literal, position)) => self.note(&literal, position),
                None if goes_on => self.begun = Some((run.to_vec(), self.position(all, start))),
                // Where it stands is only counted for what is noted.
                None if is_number && is_doubtful(run) => self.note(run, self.position(all, start)),
                None => {}
            }
        }
        // A comma or a string follows at once.
        if bytes.is_empty()
            && !is_last
            && let Some((literal, position)) = self.begun.take()
        {
            self.note(&literal, position);
        }
    }

    /// Goes on behind `all`.
    pub(super) fn next(&mut self, all: &[u8]) {
        self.before = self.place(all, all.len());
    }

    /// Nothing follows.
    pub(super) fn end(&mut self, in_string: bool) -> Option<Doubtful> {
        if let Some((literal, position)) = self.begun.take().filter(|_| !in_string) {
            self.note(&literal, position);
        }
        self.found
    }

    /// Lines before a place, and bytes before it in its line.
    fn place(&self, all: &[u8], at: usize) -> (usize, usize) {
        let before = all.get(..at).unwrap_or_default();
        let (lines, bytes) = self.before;
        match memchr::memrchr(b'\n', before) {
            Some(last) => (lines + memchr::memchr_iter(b'\n', before).count(), at - last - 1),
            None => (lines, bytes + at),
        }
    }

    fn position(&self, all: &[u8], at: usize) -> (usize, usize) {
        let (lines, bytes) = self.place(all, at);
        (lines + 1, bytes + 1)
    }

    fn note(&mut self, literal: &[u8], position: (usize, usize)) {
        if self.found.is_none() && is_doubtful(literal) {
            self.found = Some(Doubtful { position, is_zero: literal == b"-0" });
        }
    }
}

fn is_doubtful(literal: &[u8]) -> bool {
    let digits = literal.strip_prefix(b"-").unwrap_or(literal);
    let is_integer = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let is_large = || {
        let text = str::from_utf8(literal).unwrap_or_default();
        text.parse::<i64>().is_err() && text.parse::<u64>().is_err()
    };
    literal == b"-0" || (is_integer && literal.len() >= LARGE_BYTES && is_large())
}
