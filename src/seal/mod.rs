//! The author's side: `receipts.json` from the files of a folder, the signature over it, line endings, redaction, and the
//! beginning of a new package.

mod mentions;
mod plan;
mod record;
mod redact;
mod rewrite;
mod rules;
mod sign;
pub mod skeleton;
mod splice;
mod stage;
mod survey;

pub use plan::{Plan, apply, plan};
pub use record::outdated;
pub use redact::Replacement;
pub use sign::{KeyError, SigningKey, read_secret};
pub use stage::abandon_copies;

use std::io::Write;
use std::path::{Path, PathBuf};

use globset::GlobSet;

use crate::package::ignore::IgnoreError;
use crate::package::json::{Json, indented, object};
use crate::package::limits::MAX_FOLDER_DEPTH;
use crate::package::partial::partial_in;
use crate::package::receipts::{RECEIPTS, SIGNATURE};
pub use rules::{Machine, RuleError, own_rules};
use survey::{CRLF, survey};
pub use survey::{idle_globs, is_published};

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
    /// A line of the list of files that are not published.
    #[error("{folder} has a list of what is not published that cannot be used")]
    Ignore {
        /// The folder.
        folder: String,
        /// The line, and what is wrong with it.
        source: IgnoreError,
    },
    /// A file of the package cannot be rewritten.
    #[error("{name} cannot be rewritten; {}", already(rewritten))]
    Rewrite {
        /// Its name.
        name: String,
        /// The files that were rewritten before.
        rewritten: Vec<String>,
        /// Why.
        source: std::io::Error,
    },
    /// No copy can be made to verify what a redaction would leave.
    #[error("{} cannot be verified with what would be replaced; nothing was changed", folder.display())]
    Stage {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A redaction that would leave the package in contradiction with itself.
    #[error("{file} cannot be redacted: {reason}")]
    Redact {
        /// The file.
        file: String,
        /// Why, and what to do.
        reason: String,
    },
    /// The receipts cannot be written.
    #[error("{} cannot be written; nothing was changed", path.display())]
    Write {
        /// The receipts' path.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The signature cannot be written or removed.
    #[error("{SIGNATURE} cannot be written or removed")]
    Signature(#[source] std::io::Error),
}

fn already(rewritten: &[String]) -> String {
    match rewritten {
        [] => "nothing was changed".to_owned(),
        names => format!("already rewritten: {}", names.join(", ")),
    }
}

/// The text of `receipts.json` for the files of `folder`: sorted without regard to case, LF, final newline. Two calls on
/// the same files give the same bytes. What `exclude` or the folder's `.recountignore` names is left out.
///
/// # Errors
/// Links, special files, names that are not portable, text with CRLF, and files that cannot be read or change meanwhile are
/// refused, all at once.
pub fn receipts_text(folder: &Path, exclude: &GlobSet) -> Result<String, SealError> {
    let survey = survey(folder, exclude)?;
    let mut refused = survey.refused;
    refused.extend(survey.files.iter().filter(|file| file.crlf).map(|file| format!("{}: {CRLF}", file.name)));
    if !refused.is_empty() {
        return Err(SealError::Refused { refused });
    }
    let files = survey.files.into_iter().map(|file| {
        let digest = file.digest;
        (file.name, object([("sha256", Json::from(digest.sha256)), ("bytes", Json::from(digest.bytes))]))
    });
    Ok(indented(&object([("schema", Json::Int(1)), ("files", Json::Object(files.collect()))])) + "\n")
}

/// Writes `text` as the folder's `receipts.json`, whole or not at all.
///
/// # Errors
/// The folder cannot be written to.
pub fn write_receipts(folder: &Path, text: &str) -> Result<(), SealError> {
    let path = folder.join(RECEIPTS);
    let failed = |source| SealError::Write { path: path.clone(), source };
    put(partial(folder, text).map_err(failed)?, &path).map_err(failed)
}

/// Writes `receipts.json` and the signature over it. Both are on the disk under other names before either gets its own, so
/// that what can fail has failed by then; should the second name fail all the same, the signature does not fit, which
/// every reader sees.
///
/// # Errors
/// The folder cannot be written to.
pub fn write_signed(folder: &Path, text: &str, signature: &str) -> Result<(), SealError> {
    let path = folder.join(RECEIPTS);
    let failed = |source| SealError::Write { path: path.clone(), source };
    let receipts = partial(folder, text).map_err(failed)?;
    let signature = partial(folder, signature).map_err(SealError::Signature)?;
    put(receipts, &path).map_err(failed)?;
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

/// The nearest package around `folder`, whose receipts would have to declare the files of this one.
pub fn enclosing_package(folder: &Path) -> Option<PathBuf> {
    let real = folder.canonicalize().ok()?;
    let mut around = real.ancestors().skip(1).take(MAX_FOLDER_DEPTH);
    around.find(|parent| parent.join(RECEIPTS).is_file()).map(Path::to_owned)
}
