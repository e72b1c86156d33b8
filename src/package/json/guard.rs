//! What a text that is parsed while it is read may make the parser keep, and what the parser cannot tell without the text: it
//! ends before a string or a number without end does, and integers that would be taken for floats are noted.

use std::io::{self, Read};

use super::doubtful::{Doubtful, Watch};
use crate::package::limits::{MAX_JSON_TEXT_BYTES, MAX_JSON_TOKEN_BYTES};

/// Reads on until a limit is passed.
pub(super) struct Guard<'r> {
    reader: &'r mut dyn Read,
    in_string: bool,
    is_escaped: bool,
    /// Bytes of all strings so far.
    strings: usize,
    /// Bytes since the last comma or string, but for most blanks.
    token: usize,
    integers: Watch,
}

impl<'r> Guard<'r> {
    pub(super) fn new(reader: &'r mut dyn Read) -> Self {
        Self { reader, in_string: false, is_escaped: false, strings: 0, token: 0, integers: Watch::default() }
    }

    /// The first integer that the parser took for a float, in what was read.
    pub(super) fn doubtful(mut self) -> Option<Doubtful> {
        self.integers.end(self.in_string)
    }

    fn watch(&mut self, all: &[u8]) -> io::Result<()> {
        let mut bytes = all;
        while !bytes.is_empty() {
            let at = all.len() - bytes.len();
            let taken = if self.in_string { self.string(bytes) } else { self.outside(all, at) };
            bytes = bytes.get(taken..).unwrap_or_default();
            if self.strings > MAX_JSON_TEXT_BYTES {
                return Err(io::Error::other(format!("more than {MAX_JSON_TEXT_BYTES} bytes in strings")));
            }
            if self.token > MAX_JSON_TOKEN_BYTES {
                return Err(io::Error::other(format!("more than {MAX_JSON_TOKEN_BYTES} bytes without a comma")));
            }
        }
        self.integers.next(all);
        Ok(())
    }

    /// Takes bytes of a string up to its end or behind an escape.
    fn string(&mut self, bytes: &[u8]) -> usize {
        let taken = if std::mem::take(&mut self.is_escaped) {
            1
        } else {
            let found = memchr::memchr2(b'"', b'\\', bytes);
            match found.and_then(|at| bytes.get(at)) {
                Some(b'"') => self.in_string = false,
                Some(_) => self.is_escaped = true,
                None => {}
            }
            found.map_or(bytes.len(), |at| at + 1)
        };
        self.strings += taken;
        taken
    }

    /// Takes bytes up to a comma or the beginning of a string. Blanks cost nothing, and only where there are many bytes are they
    /// told apart.
    fn outside(&mut self, all: &[u8], at: usize) -> usize {
        let bytes = all.get(at..).unwrap_or_default();
        let found = memchr::memchr2(b'"', b',', bytes);
        let before = bytes.get(..found.unwrap_or(bytes.len())).unwrap_or_default();
        self.token += match before.len() {
            few if few <= FEW => few,
            _ => before.iter().filter(|byte| !byte.is_ascii_whitespace()).count(),
        };
        self.integers.look(all, at..at + before.len());
        if let Some(at) = found {
            // What came before the comma or quotation mark may be too long, too.
            if self.token <= MAX_JSON_TOKEN_BYTES {
                self.token = 0;
            }
            self.in_string = bytes.get(at) == Some(&b'"');
        }
        found.map_or(bytes.len(), |at| at + 1)
    }
}

/// So many bytes are not worth being told apart: a number has fewer.
const FEW: usize = 64;

impl Read for Guard<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.watch(buffer.get(..count).unwrap_or_default())?;
        Ok(count)
    }
}
