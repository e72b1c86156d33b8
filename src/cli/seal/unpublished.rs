//! What an author uses and must not publish with the package: the key, its passphrase, rules that name what is private.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use globset::GlobSet;

use super::Args;
use crate::cli::Failure;
use crate::cli::output::real;
use crate::package::digest::digest;
use crate::package::json::{Document, Json};
use crate::package::limits::MAX_SIGNATURE_BYTES;
use crate::package::receipts::{RECEIPTS, declared};
use crate::seal::{is_published, read_secret};

/// Refuses to seal what the command itself uses.
///
/// # Errors
/// The key, the passphrase or the rules lie in the package.
pub(super) fn check(args: &Args, exclude: &GlobSet) -> Result<(), Failure> {
    for (what, path) in [("key", &args.sign), ("passphrase", &args.passphrase_file)] {
        if let Some(path) = path
            && name_in(&args.dir, path).is_some()
        {
            bail!(
                "the {what} {} lies in the package and would be published with it; move it out first",
                path.display()
            );
        }
    }
    if let Some(Some(rules)) = &args.redact
        && let Some(name) = name_in(&args.dir, rules)
        && is_published(&args.dir, exclude, &name.to_string_lossy())?
    {
        bail!(
            "the rules {} lie in the package and would be published with the private names in them; move them out, or name \
             them in .recountignore",
            rules.display()
        );
    }
    Ok(())
}

/// The name of a file below a folder, if it lies there.
fn name_in(folder: &Path, file: &Path) -> Option<PathBuf> {
    real(file).strip_prefix(real(folder)).map(Path::to_owned).ok()
}

/// Refuses receipts that list a copy of the key.
///
/// # Errors
/// There is one; the key cannot be read again.
pub(super) fn check_key(key: &Path, receipts: &str) -> Result<(), Failure> {
    let bytes = std::fs::File::open(key).and_then(|file| read_secret(file, MAX_SIGNATURE_BYTES));
    let sha256 = digest(&bytes.with_context(|| format!("{}: the key cannot be read", key.display()))?).sha256;
    let receipts = Document::parse(RECEIPTS, receipts.to_owned()).context(RECEIPTS)?;
    let has_it = |entry: &&(String, Json)| entry.1.get("sha256").and_then(Json::as_str) == Some(sha256.as_str());
    if let Some((name, _)) = declared(&receipts).unwrap_or_default().iter().find(has_it) {
        bail!("{name} is a copy of the key {} and would be published; remove it first", key.display());
    }
    Ok(())
}
