//! The author's side: `receipts.json` from the files of a folder, the signature over it, and the beginning of a new package.

mod sign;
pub mod skeleton;

pub use sign::{KeyError, SigningKey};

use std::io::Write;
use std::path::Path;

use globset::GlobSet;
use rayon::prelude::*;

use crate::package::digest::{Digest, digest_file, lf_digest_reader};
use crate::package::folder::{FileError, Folder};
use crate::package::json::{Json, indented, object};
use crate::package::limits::MAX_HASHED_BYTES;
use crate::package::name::{check_name, portable_key};
use crate::package::partial::partial_in;
use crate::package::receipts::{RECEIPTS, SIGNATURE, is_over_receipts};

/// Why a folder cannot be sealed.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// The folder cannot be listed.
    #[error("{folder} cannot be listed")]
    List {
        /// The folder.
        folder: String,
        /// Why.
        source: std::io::Error,
    },
    /// There is nothing to seal.
    #[error("{folder} holds no file to seal")]
    Empty {
        /// The folder.
        folder: String,
    },
    /// Files that a package must not have; all of them.
    #[error("these files cannot be sealed:\n  {}", refused.join("\n  "))]
    Refused {
        /// Name and reason of each.
        refused: Vec<String>,
    },
    /// The receipts cannot be written.
    #[error("{RECEIPTS} cannot be written")]
    Write(#[source] std::io::Error),
    /// The signature cannot be written or removed.
    #[error("{SIGNATURE} cannot be written or removed")]
    Signature(#[source] std::io::Error),
}

/// The text of `receipts.json` for the files of `folder`: sorted without regard to case, LF, final newline. Two calls on
/// the same files give the same bytes.
///
/// # Errors
/// Links, special files, names that are not portable, text with CRLF, and files that cannot be read are refused, all at
/// once.
pub fn receipts_text(folder: &Path, exclude: &GlobSet) -> Result<String, SealError> {
    let shown = folder.display().to_string();
    let package = Folder::new(folder);
    let listing = package.list().map_err(|source| SealError::List { folder: shown.clone(), source })?;
    let (mut names, mut not_utf8) = (listing.names, listing.not_utf8);
    names.retain(|name| !is_over_receipts(name) && !exclude.is_match(name));
    not_utf8.retain(|name| !exclude.is_match(name));
    names.sort_by_cached_key(|name| (name.to_lowercase(), name.clone()));
    if names.is_empty() && not_utf8.is_empty() {
        return Err(SealError::Empty { folder: shown });
    }
    let mut refused: Vec<String> =
        not_utf8.iter().map(|name| format!("{name}: the name is not UTF-8, so no receipt can hold it")).collect();
    let mut keys = std::collections::HashMap::new();
    for name in &names {
        if let Some(other) = keys.insert(portable_key(name), name) {
            refused.push(format!("{name}: the same file as {other} where case or Unicode form is ignored"));
        }
    }
    let digests: Vec<_> = names.par_iter().map(|name| file_digest(&package, name)).collect();
    let mut files = Vec::new();
    for (name, digest) in names.into_iter().zip(digests) {
        match digest {
            Ok(digest) => {
                let record = object([("sha256", Json::from(digest.sha256)), ("bytes", Json::from(digest.bytes))]);
                files.push((name, record));
            }
            Err(reason) => refused.push(format!("{name}: {reason}")),
        }
    }
    if !refused.is_empty() {
        return Err(SealError::Refused { refused });
    }
    Ok(indented(&object([("schema", Json::Int(1)), ("files", Json::Object(files))])) + "\n")
}

/// Writes `text` as the folder's `receipts.json`, whole or not at all.
///
/// # Errors
/// The folder cannot be written to.
pub fn write_receipts(folder: &Path, text: &str) -> Result<(), SealError> {
    put(partial(folder, text).map_err(SealError::Write)?, &folder.join(RECEIPTS)).map_err(SealError::Write)
}

/// Writes `receipts.json` and the signature over it. Both are on the disk under other names before either gets its own, so
/// that what can fail has failed by then; should the second name fail all the same, the signature does not fit, which
/// every reader sees.
///
/// # Errors
/// The folder cannot be written to.
pub fn write_signed(folder: &Path, text: &str, signature: &str) -> Result<(), SealError> {
    let receipts = partial(folder, text).map_err(SealError::Write)?;
    let signature = partial(folder, signature).map_err(SealError::Signature)?;
    put(receipts, &folder.join(RECEIPTS)).map_err(SealError::Write)?;
    put(signature, &folder.join(SIGNATURE)).map_err(SealError::Signature)
}

/// Removes the signature.
///
/// # Errors
/// It cannot be removed.
pub fn drop_signature(folder: &Path) -> Result<(), SealError> {
    std::fs::remove_file(folder.join(SIGNATURE)).map_err(SealError::Signature)
}

fn partial(folder: &Path, text: &str) -> std::io::Result<tempfile::NamedTempFile> {
    let mut file = partial_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    Ok(file)
}

fn put(file: tempfile::NamedTempFile, place: &Path) -> std::io::Result<()> {
    file.persist(place).map(drop).map_err(|error| error.error)
}

fn file_digest(package: &Folder, name: &str) -> Result<Digest, String> {
    check_name(name).map_err(|error| error.to_string())?;
    let read = || -> Result<(Digest, Option<Digest>), FileError> {
        let (file, bytes) = package.open(name, MAX_HASHED_BYTES)?;
        let raw = digest_file(&file, MAX_HASHED_BYTES)?;
        let (mut file, _) = package.open(name, MAX_HASHED_BYTES)?;
        let normalized = lf_digest_reader(&mut file, MAX_HASHED_BYTES)?;
        if raw.bytes == bytes { Ok((raw, normalized)) } else { Err(FileError::Changed) }
    };
    let (raw, normalized) = read().map_err(|error| error.to_string())?;
    match normalized {
        Some(normalized) if normalized.sha256 != raw.sha256 => {
            Err("a text with CRLF line endings; write it with LF, or its hash will differ elsewhere".to_owned())
        }
        _ => Ok(raw),
    }
}
