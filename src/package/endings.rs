//! What the line endings of a file are, and whether it is text at all.

use std::io::{self, Read};

use super::digest::LfNormalizer;

const CHUNK_BYTES: usize = 256 << 10;

/// How the lines of a file end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endings {
    /// The bytes are not text: they hold a NUL.
    Binary,
    /// Text without CRLF.
    Lf,
    /// Text with at least one CRLF.
    Crlf,
}

/// Looks at everything a reader gives, up to the first NUL.
///
/// # Errors
/// Those of the reader.
pub fn endings(reader: &mut dyn Read) -> io::Result<Endings> {
    let mut buffer = vec![0; CHUNK_BYTES];
    let (mut found, mut held_cr) = (Endings::Lf, false);
    loop {
        let count = match reader.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            count => count?,
        };
        let chunk = &buffer[..count];
        let (Some(first), Some(last)) = (chunk.first(), chunk.last()) else { return Ok(found) };
        if chunk.contains(&0) {
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
