//! What the line endings of a file are, and whether it is text at all.

use std::io::{self, Read};

use super::digest::LfNormalizer;

const CHUNK_BYTES: usize = 256 << 10;

/// How the lines of a file end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endings {
    /// The bytes are not text, as [`is_binary`] says.
    Binary,
    /// Text without CRLF.
    Lf,
    /// Text with at least one CRLF.
    Crlf,
}

/// Whether bytes are no text of one byte or more a letter: they hold a NUL, begin with the mark of letters of two bytes, or
/// hold control characters that no text has and are not UTF-8 either.
pub fn is_binary(bytes: &[u8]) -> bool {
    let mut kind = Kind::default();
    kind.push(bytes);
    kind.is_binary()
}

/// What is known of bytes that come in pieces.
#[derive(Debug, Default)]
struct Kind {
    /// The first two bytes.
    mark: Vec<u8>,
    has_nul: bool,
    has_control: bool,
    is_other_than_utf8: bool,
    /// The beginning of a letter whose other bytes are in the next piece. One that never comes is held against nobody: the
    /// bytes may be the beginning of a file.
    held: Vec<u8>,
}

impl Kind {
    fn push(&mut self, piece: &[u8]) {
        self.mark.extend(piece.iter().take(2 - self.mark.len()));
        // Bell to carriage return, and escape: logs and terminals have them. Every byte is looked at, which is quicker than
        // to ask after each whether to go on.
        let is_control = |byte: u8| byte < b' ' && !(7..=13).contains(&byte) && byte != 0x1b;
        let (mut nul, mut control) = (false, false);
        for &byte in piece {
            nul |= byte == 0;
            control |= is_control(byte);
        }
        self.has_nul |= nul;
        self.has_control |= control;
        if !self.is_other_than_utf8 {
            self.check_utf8(piece);
        }
    }

    fn check_utf8(&mut self, mut piece: &[u8]) {
        while let ([first, rest @ ..], false) = (piece, self.held.is_empty()) {
            self.held.push(*first);
            piece = rest;
            match std::str::from_utf8(&self.held) {
                Ok(_) => self.held.clear(),
                Err(error) if error.error_len().is_none() => {}
                Err(_) => {
                    self.is_other_than_utf8 = true;
                    return;
                }
            }
        }
        match std::str::from_utf8(piece) {
            Ok(_) => {}
            Err(error) if error.error_len().is_none() => self.held.extend(&piece[error.valid_up_to()..]),
            Err(_) => self.is_other_than_utf8 = true,
        }
    }

    fn is_binary(&self) -> bool {
        let is_wide = matches!(self.mark[..], [0xff, 0xfe] | [0xfe, 0xff]);
        self.has_nul || is_wide || (self.has_control && self.is_other_than_utf8)
    }
}

/// Looks at everything a reader gives, up to where it is known to be binary.
///
/// # Errors
/// Those of the reader.
pub fn endings(reader: &mut dyn Read) -> io::Result<Endings> {
    let mut buffer = vec![0; CHUNK_BYTES];
    let (mut found, mut held_cr, mut kind) = (Endings::Lf, false, Kind::default());
    loop {
        let count = match reader.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            count => count?,
        };
        let chunk = &buffer[..count];
        let (Some(first), Some(last)) = (chunk.first(), chunk.last()) else { return Ok(found) };
        kind.push(chunk);
        if kind.is_binary() {
            return Ok(Endings::Binary);
        }
        if found == Endings::Lf && ((held_cr && *first == b'\n') || chunk.windows(2).any(|pair| pair == b"\r\n")) {
            found = Endings::Crlf;
        }
        held_cr = *last == b'\r';
    }
}

/// Copies a text with LF in place of CRLF.
///
/// # Errors
/// Those of the reader and of the writer.
pub fn copy_with_lf(reader: &mut dyn Read, writer: &mut dyn io::Write) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK_BYTES];
    let mut normalizer = LfNormalizer::default();
    let mut text = Vec::with_capacity(CHUNK_BYTES + 1);
    loop {
        let count = match reader.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            count => count?,
        };
        text.clear();
        if count == 0 {
            normalizer.finish(&mut text);
            return writer.write_all(&text);
        }
        normalizer.push(&buffer[..count], &mut text);
        writer.write_all(&text)?;
    }
}
