//! SHA-256 of bytes as they are and of text with its line endings normalised to LF.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use sha2::{Digest as _, Sha256};

use super::ahead::{Buffers, read_ahead};

/// Bytes read at a time. Large enough to keep the hash busy, small enough for the cache.
const BUFFER_BYTES: usize = 256 << 10;

/// SHA-256 and length of some bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// 64 lower-case hexadecimal digits.
    pub sha256: String,
    /// Number of bytes.
    pub bytes: u64,
}

/// The digest of a slice.
pub fn digest(bytes: &[u8]) -> Digest {
    Digest { sha256: hex(&Sha256::digest(bytes)), bytes: bytes.len() as u64 }
}

/// The digest of everything a reader gives, but of no more than `limit` bytes.
///
/// # Errors
/// Those of the reader, and `FileTooLarge` when it gives more than `limit` bytes.
pub fn digest_reader(reader: &mut dyn Read, limit: u64) -> io::Result<Digest> {
    let mut hash = Hash::default();
    each_part(&mut buffered(reader, limit), limit, &mut |part| hash.update(part))?;
    Ok(hash.finish())
}

/// Files up to this size are hashed by one thread; a second one would cost more than it saves.
const SINGLE_THREAD_BYTES: u64 = 8 << 20;

const BUFFERS: Buffers = Buffers { bytes: 1 << 20, count: 5 };

/// The digest of an open file, but of no more than `limit` bytes. Large files are read by a second thread, so that the
/// hash does not wait for copies out of the page cache.
///
/// # Errors
/// As [`digest_reader`].
pub fn digest_file(mut file: &File, limit: u64) -> io::Result<Digest> {
    if file.metadata()?.len() <= SINGLE_THREAD_BYTES {
        return digest_reader(&mut file, limit);
    }
    let source = file.take(limit.saturating_add(1));
    let (digest, read) = read_ahead(source, BUFFERS, |bytes| {
        let mut hash = Hash::default();
        each_part(bytes, limit, &mut |part| hash.update(part))?;
        Ok(hash.finish())
    });
    read.and(digest)
}

/// Hashes what is read through it.
pub(crate) struct Hashed<R> {
    inner: R,
    hash: Hash,
}

impl<R: Read> Hashed<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { inner, hash: Hash::default() }
    }

    /// The digest of all that was read.
    pub(crate) fn finish(self) -> Digest {
        self.hash.finish()
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(into)?;
        self.hash.update(&into[..count]);
        Ok(count)
    }
}

/// A digest of which not all bytes are known.
#[derive(Default)]
pub(crate) struct Hash {
    sha256: Sha256,
    bytes: u64,
}

impl Hash {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.sha256.update(bytes);
        self.bytes += bytes.len() as u64;
    }

    pub(crate) fn finish(self) -> Digest {
        Digest { sha256: hex(&self.sha256.finalize()), bytes: self.bytes }
    }
}

/// The digest of a text after every CRLF became LF; `None` where the bytes are not text (they hold a NUL, which is how
/// version control tells them apart, too). A lone CR is content, not a line ending.
///
/// # Errors
/// As [`digest_reader`].
pub fn lf_digest_reader(reader: &mut dyn Read, limit: u64) -> io::Result<Option<Digest>> {
    let mut hash = Hash::default();
    let mut normalizer = LfNormalizer::default();
    let mut is_text = true;
    let mut text = Vec::new();
    each_part(&mut buffered(reader, limit), limit, &mut |part| {
        is_text &= !part.contains(&0);
        text.clear();
        normalizer.push(part, &mut text);
        hash.update(&text);
    })?;
    text.clear();
    normalizer.finish(&mut text);
    hash.update(&text);
    Ok(is_text.then(|| hash.finish()))
}

/// Turns CRLF into LF over any division of the text into chunks.
#[derive(Debug, Default)]
pub struct LfNormalizer {
    held_cr: bool,
}

impl LfNormalizer {
    /// Takes the next chunk and appends what is certain of it to `text`. A CR at the end is held back until it is known
    /// what follows.
    pub fn push(&mut self, chunk: &[u8], text: &mut Vec<u8>) {
        for &byte in chunk {
            if self.held_cr && byte != b'\n' {
                text.push(b'\r');
            }
            self.held_cr = byte == b'\r';
            if !self.held_cr {
                text.push(byte);
            }
        }
    }

    /// Appends a CR that nothing followed.
    pub fn finish(&mut self, text: &mut Vec<u8>) {
        if std::mem::take(&mut self.held_cr) {
            text.push(b'\r');
        }
    }
}

/// A small file needs no large buffer; one byte more shows a file that is longer.
fn buffered(reader: &mut dyn Read, limit: u64) -> BufReader<&mut dyn Read> {
    let size = usize::try_from(limit).unwrap_or(BUFFER_BYTES).saturating_add(1).min(BUFFER_BYTES);
    BufReader::with_capacity(size, reader)
}

/// Takes what a reader gives, part by part, but no more than `limit` bytes.
fn each_part(reader: &mut dyn BufRead, limit: u64, take: &mut dyn FnMut(&[u8])) -> io::Result<()> {
    let mut total = 0;
    loop {
        let part = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            part => part?,
        };
        let count = part.len();
        if count == 0 {
            return Ok(());
        }
        total += count as u64;
        if total > limit {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        take(part);
        reader.consume(count);
    }
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
