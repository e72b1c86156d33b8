//! Copies of a package: sealed, forged, verified, restored.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;

use globset::GlobSet;

use super::SelftestError;
use super::forge::{Forgery, with_absent_entries};
use crate::audit::{self, Code, Finding, Options, Severity};
use crate::package::digest::{LfNormalizer, digest};
use crate::package::folder::Folder;
use crate::package::json::{Document, Json, Members};
use crate::package::limits::{MAX_HASHED_BYTES, MAX_PARSED_BYTES};
use crate::package::receipts::{RECEIPTS, Receipt, SIGNATURE, receipt};
use crate::package::signature::NAMESPACE;
use crate::package::signature::allowed::{AllowedSigners, Signers};
use crate::seal::{SigningKey, receipts_text, write_receipts};

/// Who signs the copies.
const AUTHOR: &str = "author";

/// Of a key that protects nothing: it signs copies that are thrown away.
const SEED: [u8; 32] = *b"recount selftest, thrown away...";

/// By what a forgery is caught.
pub(super) struct Caught {
    /// The worst severity among the new findings of the checks.
    pub by_checks: Option<Severity>,
    /// Whether the signature over the unforged copy does not fit any more.
    pub by_signature: bool,
}

/// A sealed copy of the package in which one leaf at a time is forged.
pub(super) struct Workbench {
    folder: tempfile::TempDir,
    options: Options,
    baseline: HashSet<String>,
}

impl Workbench {
    pub(super) fn new(source: &Folder, options: &Options) -> Result<Self, SelftestError> {
        let folder = tempfile::tempdir()?;
        copy(source, folder.path())?;
        let key = SigningKey::from_seed(SEED);
        let line = key.allowed_line(AUTHOR)?;
        let allowed = AllowedSigners::read(AUTHOR, &line).map_err(|error| io::Error::other(error.to_string()))?;
        let signers = Signers {
            allowed,
            identity: Some(AUTHOR.to_owned()),
            namespace: NAMESPACE.to_owned(),
            at: 0,
            at_is_stated: true,
        };
        // What the source declares and lacks would be lost by sealing; the receipts keep naming it.
        let options = Options { expect_receipts: None, signers: Some(signers), ..options.clone() };
        let mut bench = Self { folder, options, baseline: HashSet::new() };
        bench.seal()?;
        let receipts = fs::read(bench.folder.path().join(RECEIPTS))?;
        fs::write(bench.folder.path().join(SIGNATURE), key.sign(&receipts)?)?;
        bench.baseline = bench.findings().into_iter().map(|(key, _)| key).collect();
        Ok(bench)
    }

    /// Changes one leaf, verifies, restores; gives what is new. The forger can seal the copy again, but not
    /// sign it.
    pub(super) fn try_forgery(&mut self, file: &str, forgery: &Forgery) -> Result<Caught, SelftestError> {
        let path = self.folder.path().join(file);
        let original = fs::read(&path)?;
        let mut forged = original.clone();
        forged.splice(forgery.range.clone(), forgery.replacement.bytes());
        fs::write(&path, forged)?;
        self.seal()?;
        let findings = self.findings();
        let is_of_signature = |key: &str| key.starts_with(Code::SignatureMismatch.name());
        let new = findings.iter().filter(|(key, _)| !self.baseline.contains(key) && !is_of_signature(key));
        let by_checks = new.map(|(_, severity)| *severity).max();
        let by_signature = findings.iter().any(|(key, _)| is_of_signature(key));
        fs::write(&path, original)?;
        Ok(Caught { by_checks, by_signature })
    }

    /// Updates the hashes of the files that are there; entries of absent files stay as they are.
    fn seal(&self) -> Result<(), SelftestError> {
        let sealed = receipts_text(self.folder.path(), &GlobSet::empty())?;
        let recorded = Folder::new(self.folder.path()).read(RECEIPTS, MAX_PARSED_BYTES).unwrap_or_default();
        let recorded = String::from_utf8(recorded).unwrap_or_default();
        write_receipts(self.folder.path(), &with_absent_entries(&sealed, &recorded))?;
        Ok(())
    }

    fn findings(&self) -> Vec<(String, Severity)> {
        let report = audit::verify(self.folder.path(), "copy", &self.options, &|_| {});
        report.findings().map(|finding| (key(finding), finding.severity)).collect()
    }
}

/// Copies a package. A text whose receipt records it with LF line endings gets those.
///
/// # Errors
/// Anything that cannot be copied: what a selftest says is about the whole package.
pub(super) fn copy(source: &Folder, target: &Path) -> Result<(), SelftestError> {
    let listing = source.list()?;
    if let Some(name) = listing.not_utf8.into_iter().next() {
        return Err(SelftestError::Name(name));
    }
    let text = source.read(RECEIPTS, MAX_PARSED_BYTES).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let receipts = text.and_then(|text| Document::parse(RECEIPTS, text).ok());
    let files = Members::of(receipts.as_ref().and_then(|receipts| receipts.root().get("files")).unwrap_or(&Json::Null));
    for name in listing.names {
        let (mut file, _) = source
            .open(&name, MAX_HASHED_BYTES)
            .map_err(|source| SelftestError::Read { name: name.clone(), source })?;
        let path = target.join(&name);
        fs::create_dir_all(path.parent().unwrap_or(target))?;
        io::copy(&mut file, &mut fs::File::create(&path)?)?;
        if let Some(receipt) = files.get(&name).and_then(receipt) {
            normalize(&path, receipt)?;
        }
    }
    Ok(())
}

/// Gives the file LF line endings if it then is what the receipt records.
fn normalize(path: &Path, receipt: Receipt<'_>) -> io::Result<()> {
    let bytes = fs::metadata(path)?.len();
    if bytes == receipt.bytes || bytes > MAX_PARSED_BYTES {
        return Ok(());
    }
    let mut normalizer = LfNormalizer::default();
    let mut text = Vec::new();
    normalizer.push(&fs::read(path)?, &mut text);
    normalizer.finish(&mut text);
    if digest(&text).sha256 == receipt.sha256 { fs::write(path, text) } else { Ok(()) }
}

fn key(finding: &Finding) -> String {
    format!("{} {} {:?}", finding.code.name(), finding.file, finding.place)
}
