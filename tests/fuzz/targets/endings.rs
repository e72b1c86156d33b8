//! Line endings: bytes, and how they are cut into chunks.

use std::io::{self, Read};

use arbitrary::Unstructured;
use recount::package::digest::{Digest, LfNormalizer, digest, digest_reader, lf_digest_reader};
use recount::package::endings::{Endings, copy_with_lf, endings};

/// However a text arrives, it is the same text: what is found of it chunk by chunk is what is found of it as a whole.
pub(super) fn run(data: &[u8]) {
    let mut data = Unstructured::new(data);
    let Ok(sizes) = data.arbitrary::<Vec<u8>>() else { return };
    let text = data.take_rest();
    let expected = naive(text);

    let mut whole = Vec::new();
    let mut normalizer = LfNormalizer::default();
    normalizer.push(text, &mut whole);
    normalizer.finish(&mut whole);
    assert_eq!(whole, expected);

    let mut chunked = Vec::new();
    let mut rest = text;
    for &size in &sizes {
        let (chunk, after) = rest.split_at(usize::from(size).min(rest.len()));
        normalizer.push(chunk, &mut chunked);
        rest = after;
    }
    normalizer.push(rest, &mut chunked);
    normalizer.finish(&mut chunked);
    assert_eq!(chunked, expected);

    // The readers have buffers of their own, which cost far more than what an input holds.
    if (text.len() + sizes.len()) % 16 == 1 {
        read(text, &sizes, &expected);
    }
}

/// What reads a file in chunks finds what is found of the whole.
fn read(text: &[u8], sizes: &[u8], expected: &[u8]) {
    let reader = || Trickle { text, sizes, at: 0 };
    let mut copy = Vec::new();
    copy_with_lf(&mut reader(), &mut copy).expect("nothing refuses");
    assert_eq!(copy, expected);

    let found = endings(&mut reader()).expect("nothing refuses");
    assert_eq!(
        found,
        match (is_binary(text), expected == text) {
            (true, _) => Endings::Binary,
            (false, true) => Endings::Lf,
            (false, false) => Endings::Crlf,
        }
    );

    let bytes = text.len() as u64;
    assert_eq!(digest_reader(&mut reader(), bytes).expect("within the limit"), digest(text));
    let normalized: Option<Digest> = lf_digest_reader(&mut reader(), bytes).expect("within the limit");
    assert_eq!(normalized, (!text.contains(&0)).then(|| digest(expected)));
    if bytes > 0 {
        let kind = digest_reader(&mut reader(), bytes - 1).expect_err("beyond the limit").kind();
        assert_eq!(kind, io::ErrorKind::FileTooLarge);
    }
}

/// What is no text, said of all of it at once.
fn is_binary(text: &[u8]) -> bool {
    let is_control = |byte: &u8| matches!(byte, 1..=6 | 14..=26 | 28..=31);
    let is_other = std::str::from_utf8(text).is_err_and(|error| error.error_len().is_some());
    text.contains(&0)
        || text.starts_with(b"\xff\xfe")
        || text.starts_with(b"\xfe\xff")
        || (is_other && text.iter().any(is_control))
}

/// CRLF as LF, written down as simply as it can be said.
fn naive(text: &[u8]) -> Vec<u8> {
    let is_before_lf = |at: usize| text[at] == b'\r' && text.get(at + 1) == Some(&b'\n');
    (0..text.len()).filter(|&at| !is_before_lf(at)).map(|at| text[at]).collect()
}

/// A reader that gives as many bytes at a time as it was told; 0 stands for an interruption.
struct Trickle<'t> {
    text: &'t [u8],
    sizes: &'t [u8],
    at: usize,
}

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.sizes.get(self.at).copied().map_or(usize::MAX, usize::from);
        self.at += 1;
        if size == 0 {
            return Err(io::Error::from(io::ErrorKind::Interrupted));
        }
        let (chunk, rest) = self.text.split_at(size.min(self.text.len()).min(buffer.len()));
        buffer[..chunk.len()].copy_from_slice(chunk);
        self.text = rest;
        Ok(chunk.len())
    }
}

/// Texts with line endings of all kinds, cut in some ways.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let texts: [&[u8]; 10] = [
        b"a\r\nb\r\r\nc\r",
        b"\r\n\r\n",
        b"a\nb\n",
        b"\r",
        b"a\0\r\n",
        b"\xff\xfe\r\n",
        b"a\x01\r\n\xff",
        b"a\x1b\x07\r\n\xff",
        "\u{e9}\u{1f600}\x01\r\n".as_bytes(),
        b"\xc3\x01\r\n",
    ];
    texts.iter().flat_map(|text| [&[0], &[1, 1, 1, 2, 0][..]].map(|cut| [cut, text].concat())).collect()
}
