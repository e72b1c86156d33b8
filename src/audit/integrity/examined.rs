//! One declared file: its hash, with LF line endings where the bytes as they are do not match, against its receipt.

use std::io::{Read, Seek, SeekFrom};

use crate::audit::{Code, Place, Recorder};
use crate::package::digest::{Digest, digest, digest_file, lf_digest_reader};
use crate::package::folder::{FileError, Folder};
use crate::package::json::{Document, Json};
use crate::package::limits::{MAX_HASHED_BYTES, MAX_PARSED_BYTES};
use crate::package::receipts::Receipt;

/// What was found of a declared file.
pub(super) struct Examined {
    /// Its size.
    pub(super) bytes: u64,
    /// `None` where the size alone shows that neither the bytes nor their LF form can match.
    pub(super) raw: Option<Digest>,
    /// Digest with LF line endings; only taken where the raw one is not the recorded one and the file is text.
    pub(super) normalized: Option<Digest>,
    /// The content, if a check reads it.
    pub(super) content: Option<Vec<u8>>,
}

pub(super) fn examine(
    folder: &Folder,
    name: &str,
    receipt: Receipt<'_>,
    wanted: bool,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Examined, FileError> {
    if wanted {
        let content = folder.read(name, MAX_PARSED_BYTES)?;
        let raw = digest(&content);
        let normalized = if raw.sha256 == receipt.sha256 { None } else { lf_digest(&content) };
        progress(raw.bytes);
        return Ok(Examined { bytes: raw.bytes, raw: Some(raw), normalized, content: Some(content) });
    }
    let (mut file, bytes) = folder.open(name, MAX_HASHED_BYTES)?;
    // Each CRLF is one byte longer than its LF, so a checkout at most doubles a text. A large file of another size is not
    // worth the time that hashing it would take.
    if bytes > MAX_PARSED_BYTES && (bytes < receipt.bytes || bytes / 2 > receipt.bytes) {
        return Ok(Examined { bytes, raw: None, normalized: None, content: None });
    }
    let raw = digest_file(&file, bytes)?;
    if raw.bytes != bytes {
        return Err(FileError::Changed);
    }
    let normalized = if raw.sha256 == receipt.sha256 {
        None
    } else {
        file.seek(SeekFrom::Start(0))?;
        lf_digest_reader(&mut file.take(bytes), MAX_HASHED_BYTES)?
    };
    progress(raw.bytes);
    Ok(Examined { bytes, raw: Some(raw), normalized, content: None })
}

/// The digest of a text with LF line endings; `None` for other bytes.
pub(super) fn lf_digest(bytes: &[u8]) -> Option<Digest> {
    lf_digest_reader(&mut &*bytes, bytes.len() as u64).ok().flatten()
}

pub(super) fn judge(
    recorder: &mut Recorder,
    receipts: &Document,
    record: &Json,
    name: &str,
    receipt: Receipt<'_>,
    file: &Examined,
) {
    let expected = format!("{} ({} bytes)", receipt.sha256, receipt.bytes);
    let found = match &file.raw {
        Some(raw) => format!("{} ({} bytes)", raw.sha256, raw.bytes),
        None => format!("{} bytes, which were not hashed: no file of that size can match", file.bytes),
    };
    if file.raw.as_ref().is_some_and(|raw| raw.sha256 == receipt.sha256) {
        recorder.held();
        let bytes = record.get("bytes").unwrap_or(record);
        recorder.require(file.bytes == receipt.bytes, Code::SizeMismatch, receipts, bytes, file.bytes, receipt.bytes);
        return;
    }
    match &file.normalized {
        Some(normalized) if normalized.sha256 == receipt.sha256 && normalized.bytes == receipt.bytes => {
            recorder.report(
                Code::LineEndings,
                name,
                Place::whole_file(),
                expected,
                format_args!("{found}, which matches with LF line endings"),
            );
        }
        _ => recorder.report(Code::HashMismatch, name, Place::whole_file(), expected, found),
    }
}

pub(super) fn report_file_error(recorder: &mut Recorder, name: &str, place: Place, error: &FileError) {
    let (code, expected) = match error {
        FileError::Name(_) => (Code::UnsafePath, "a plain relative name"),
        FileError::Absent => (Code::AbsentFile, "a regular file"),
        FileError::Symlink(_) => (Code::Symlink, "a regular file"),
        FileError::Special(_) => (Code::SpecialFile, "a regular file"),
        FileError::TooLarge { .. } | FileError::Changed | FileError::Io(_) => (Code::UnreadableFile, "readable bytes"),
    };
    recorder.report(code, name, place, expected, error);
}
