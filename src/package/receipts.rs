//! `receipts.json`: which files a package declares, with their hashes and sizes.

use super::json::{Document, Json};

/// Name of the file in a package's root that holds its receipts.
pub const RECEIPTS: &str = "receipts.json";

/// Name of the file beside it that holds a signature over its bytes.
pub const SIGNATURE: &str = "receipts.json.sig";

/// Whether a file is one that receipts do not list: themselves, and the signature over them.
pub fn is_over_receipts(name: &str) -> bool {
    name == RECEIPTS || name == SIGNATURE
}

/// Recorded hash and size of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt<'d> {
    /// 64 lower-case hexadecimal digits.
    pub sha256: &'d str,
    /// Number of bytes.
    pub bytes: u64,
}

/// Reads `{sha256, bytes}` from a record; `None` when either is missing or not of its form.
pub fn receipt(record: &Json) -> Option<Receipt<'_>> {
    let sha256 = record.get("sha256")?.as_str().filter(|text| is_sha256(text))?;
    Some(Receipt { sha256, bytes: record.get("bytes")?.as_u64()? })
}

/// Whether a text is a SHA-256 as receipts write it.
pub fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The declared files in the order of the file, each with its record; `None` when there is no `files` object.
pub fn declared(receipts: &Document) -> Option<&[(String, Json)]> {
    receipts.root().get("files")?.as_object()
}
