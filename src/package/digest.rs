//! SHA-256 of bytes as they are and of text with its line endings normalised to LF.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};
use std::sync::mpsc;

use sha2::{Digest as _, Sha256};

/// Bytes read at a time. Large enough to keep the hash busy, small enough for the cache.
const CHUNK_BYTES: usize = 256 << 10;

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
    let mut hash = Sha256::new();
    let bytes = each_chunk(reader, limit, &mut |chunk| hash.update(chunk))?;
    Ok(Digest { sha256: hex(&hash.finalize()), bytes })
}

/// Files up to this size are hashed by one thread; a second one would cost more than it saves.
const SINGLE_THREAD_BYTES: u64 = 8 << 20;

/// Bytes handed from the reading to the hashing thread at a time: enough that waking each other takes no part of the time.
const HANDED_BYTES: usize = 1 << 20;

/// Chunks that the reading thread may be ahead of the hashing one.
const CHUNKS_AHEAD: usize = 4;

/// The digest of an open file, but of no more than `limit` bytes. Large files are read by a second thread, so that the
/// hash does not wait for copies out of the page cache.
///
/// # Errors
/// As [`digest_reader`].
pub fn digest_file(mut file: &File, limit: u64) -> io::Result<Digest> {
    if file.metadata()?.len() <= SINGLE_THREAD_BYTES {
        return digest_reader(&mut file, limit);
    }
    let (full, to_hash) = mpsc::sync_channel::<Vec<u8>>(CHUNKS_AHEAD);
    let (empty, to_fill) = mpsc::channel::<Vec<u8>>();
    for _ in 0..=CHUNKS_AHEAD {
        // The receiver lives until the end of this function.
        let _ = empty.send(vec![0; HANDED_BYTES]);
    }
    std::thread::scope(|scope| {
        let reading = scope.spawn(move || -> io::Result<u64> {
            let mut total = 0;
            while let Ok(mut buffer) = to_fill.recv() {
                buffer.resize(HANDED_BYTES, 0);
                let count = read_some(&mut file, &mut buffer)?;
                total += count as u64;
                if total > limit {
                    return Err(io::Error::from(io::ErrorKind::FileTooLarge));
                }
                buffer.truncate(count);
                if count == 0 || full.send(buffer).is_err() {
                    break;
                }
            }
            Ok(total)
        });
        let mut hash = Sha256::new();
        while let Ok(chunk) = to_hash.recv() {
            hash.update(&chunk);
            // A reader that has reached the end no longer takes buffers.
            let _ = empty.send(chunk);
        }
        let bytes = reading.join().map_err(|_| io::Error::other("the reading thread failed"))??;
        Ok(Digest { sha256: hex(&hash.finalize()), bytes })
    })
}

/// The digest of a text after every CRLF became LF; `None` where the bytes are not text (they hold a NUL, which is how
/// version control tells them apart, too). A lone CR is content, not a line ending.
///
/// # Errors
/// As [`digest_reader`].
pub fn lf_digest_reader(reader: &mut dyn Read, limit: u64) -> io::Result<Option<Digest>> {
    let mut hash = Sha256::new();
    let mut normalizer = LfNormalizer::default();
    let mut is_text = true;
    let mut bytes = 0;
    let mut text = Vec::with_capacity(CHUNK_BYTES + 1);
    each_chunk(reader, limit, &mut |chunk| {
        is_text &= !chunk.contains(&0);
        text.clear();
        normalizer.push(chunk, &mut text);
        hash.update(&text);
        bytes += text.len() as u64;
    })?;
    text.clear();
    normalizer.finish(&mut text);
    hash.update(&text);
    bytes += text.len() as u64;
    Ok(is_text.then(|| Digest { sha256: hex(&hash.finalize()), bytes }))
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

fn each_chunk(reader: &mut dyn Read, limit: u64, take: &mut dyn FnMut(&[u8])) -> io::Result<u64> {
    // A small file needs no large buffer, which would have to be cleared first; one byte more shows a file that is longer.
    let size = limit.saturating_add(1).min(CHUNK_BYTES as u64);
    let mut buffer = vec![0; usize::try_from(size).unwrap_or(CHUNK_BYTES)];
    let mut total = 0;
    loop {
        let count = read_some(reader, &mut buffer)?;
        if count == 0 {
            return Ok(total);
        }
        total += count as u64;
        if total > limit {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        take(&buffer[..count]);
    }
}

/// One read that an interruption does not end.
fn read_some(reader: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
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
