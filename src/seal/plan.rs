//! Everything that a normalisation and a redaction would do to a folder, before the first byte is written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use globset::GlobSet;

use super::record::{self, Record};
use super::redact::{Replacement, redact};
use super::rewrite::Rewrites;
use super::survey::{CRLF, Survey, Surveyed, survey};
use super::{SealError, mentions, stage};
use crate::package::digest::{Digest, digest, digest_reader};
use crate::package::endings::copy_with_lf;
use crate::package::folder::Folder;
use crate::package::limits::{MAX_BINARY_BYTES, MAX_PARSED_BYTES};
use crate::package::partition::files;
use crate::package::private::{Legible, Rules, legible};

/// A script that a model names by its hash.
const SCRIPT: &str = "code/calibrate.py";

/// Everything that is to be rewritten; nothing is written yet.
#[derive(Debug, Default)]
pub struct Plan {
    /// Texts with CRLF that get LF.
    pub normalized: Vec<String>,
    /// The replacements, by file and line.
    pub replacements: Vec<Replacement>,
    /// What is private and stays, or was not looked at, in words.
    pub left: Vec<String>,
    /// Files whose bytes before an earlier redaction are no longer on record, since they were changed afterwards.
    pub forgotten: Vec<String>,
    /// Files that are no text and too large to be searched.
    not_searched: usize,
    /// New content by name.
    contents: BTreeMap<String, String>,
    /// Digests of the bytes that are rewritten; a file that is not among them is new.
    before: BTreeMap<String, Digest>,
}

impl Plan {
    /// Whether nothing is to be rewritten.
    pub fn is_empty(&self) -> bool {
        self.normalized.is_empty() && self.contents.is_empty()
    }
}

/// Looks for what is to be rewritten in all files that would be sealed: line endings if `normalize`, what is private if there
/// are `rules`. The package with its new contents is verified on a copy.
///
/// # Errors
/// Whatever keeps the folder from being sealed, and what the redaction would break.
pub fn plan(folder: &Path, exclude: &GlobSet, rules: Option<&Rules>, normalize: bool) -> Result<Plan, SealError> {
    let survey = survey(folder, exclude)?;
    let mut refused = survey.refused.clone();
    let crlf = survey.files.iter().filter(|file| file.crlf);
    let mut plan = Plan::default();
    match normalize {
        true => plan.normalized.extend(crlf.map(|file| file.name.clone())),
        false => refused.extend(crlf.map(|file| format!("{}: {CRLF}", file.name))),
    }
    let package = Folder::new(folder);
    if let Some(rules) = rules {
        for file in &survey.files {
            plan.search(&package, file, rules)?
                .unwrap_or_else(|reason| refused.push(format!("{}: {reason}", file.name)));
        }
    }
    if !refused.is_empty() {
        return Err(SealError::Refused { refused });
    }
    if plan.not_searched > 0 {
        let limit = MAX_BINARY_BYTES >> 20;
        plan.left.push(format!("not searched: {} files above {limit} MiB that are no text", plan.not_searched));
    }
    for file in survey.files.iter().filter(|file| file.crlf) {
        plan.before.insert(file.name.clone(), file.digest.clone());
    }
    if rules.is_some() {
        plan.complete(&package, &survey, exclude)?;
    }
    if !plan.contents.is_empty() {
        stage::check(folder, &survey, &plan.contents)?;
    }
    Ok(plan)
}

/// Writes what was planned: all new bytes beside their places first, then each gets its name. The record of the bytes before
/// comes first, so that an interruption loses nothing and the redaction can be run again.
///
/// # Errors
/// A file or its folder cannot be written to, or a file changed since it was looked at; the error says what was rewritten.
pub fn apply(folder: &Path, plan: &Plan) -> Result<(), SealError> {
    let mut rewrites = Rewrites::in_folder(folder);
    let changed = || std::io::Error::other("the file changed since it was read");
    let ordered = plan.contents.get_key_value(files::PROVENANCE).into_iter();
    for (name, text) in ordered.chain(plan.contents.iter().filter(|(name, _)| *name != files::PROVENANCE)) {
        match plan.before.get(name) {
            Some(before) => rewrites.replace(name, &mut |old, new| match digest_reader(old, MAX_PARSED_BYTES)? {
                digest if digest == *before => new.write_all(text.as_bytes()),
                _ => Err(changed()),
            })?,
            None => rewrites.create(name, text.as_bytes())?,
        }
    }
    for name in plan.normalized.iter().filter(|name| !plan.contents.contains_key(*name)) {
        rewrites.replace(name, &mut |old, new| copy_with_lf(old, new))?;
    }
    rewrites.commit()
}

impl Plan {
    /// Looks through one file and its name. The inner error keeps the folder from being sealed, as others do.
    fn search(&mut self, package: &Folder, file: &Surveyed, rules: &Rules) -> Result<Result<(), String>, SealError> {
        let name = &file.name;
        for hit in rules.scan_name(name) {
            self.left.push(format!(
                "{name}: {} in the name of the file ({}) stays; rename the file, and what names it",
                hit.rule, hit.masked
            ));
        }
        if !file.is_text && file.digest.bytes > MAX_BINARY_BYTES {
            self.not_searched += 1;
            return Ok(Ok(()));
        }
        let bytes = match read(package, file) {
            Ok(bytes) => bytes,
            Err(reason) => return Ok(Err(reason)),
        };
        match legible(&bytes) {
            Legible::Text(text) => {
                // A carriage return may come from an escape in a string, and stays there.
                let text = if file.crlf { text.replace("\r\n", "\n") } else { text.to_owned() };
                if let Some((new, replacements)) = redact(name, &text, rules)? {
                    self.contents.insert(name.clone(), new);
                    self.before.insert(name.clone(), file.digest.clone());
                    self.replacements.extend(replacements);
                }
            }
            lossy => {
                let hits = rules.scan(lossy.letters(), crate::package::private::Reading::TEXT).hits;
                let found: BTreeSet<String> =
                    hits.into_iter().map(|hit| format!("{} ({})", hit.rule, hit.masked)).collect();
                if !found.is_empty() {
                    let found = found.into_iter().collect::<Vec<_>>().join(", ");
                    self.left.push(format!(
                        "{name} is no UTF-8 text and stays as it is, with what is private in it: {found}"
                    ));
                } else if file.is_text || is_mostly(lossy.letters(), &bytes) {
                    self.left
                        .push(format!("{name} is no UTF-8 text and stays as it is; nothing private was found in it"));
                }
            }
        }
        Ok(Ok(()))
    }

    /// Brings the ids up to date, writes down what the files were before, and looks for other places that name them.
    fn complete(&mut self, package: &Folder, survey: &Survey, exclude: &GlobSet) -> Result<(), SealError> {
        let originals: BTreeMap<String, Digest> =
            self.contents.keys().filter_map(|name| Some((name.clone(), self.before.get(name)?.clone()))).collect();
        let present: BTreeMap<&str, &Digest> =
            survey.files.iter().map(|file| (file.name.as_str(), &file.digest)).collect();
        let current = |contents: &BTreeMap<String, String>, name: &str| -> Option<String> {
            let read = || String::from_utf8(package.read(name, MAX_PARSED_BYTES).ok()?).ok();
            contents.get(name).cloned().or_else(|| Some(read()?.replace("\r\n", "\n")))
        };
        let model = current(&self.contents, files::MODEL);
        if let (Some(original), Some(model)) = (originals.get(SCRIPT), &model)
            && record::names_script(model, original)
        {
            let reason = format!(
                "{} names the hash of its bytes; remove what is private from it by hand, fit again, and seal",
                files::MODEL
            );
            return Err(SealError::Redact { file: SCRIPT.to_owned(), reason });
        }
        if survey.is_left_out(files::PROVENANCE, exclude) {
            if !originals.is_empty() {
                self.left.push(format!(
                    "{} is excluded, so nothing records what the redacted files were before",
                    files::PROVENANCE
                ));
            }
            if let (Some(model), true) = (model, originals.contains_key(files::MODEL))
                && let Some(renewed) = record::renewed(&model)
            {
                self.contents.insert(files::MODEL.to_owned(), renewed.model);
            }
        } else {
            let old = match present.get(files::PROVENANCE) {
                None => None,
                Some(digest) => {
                    let text = current(&self.contents, files::PROVENANCE);
                    Some((text.ok_or_else(|| record::unusable("it cannot be read as UTF-8 text"))?, (*digest).clone()))
                }
            };
            let mut record = Record::read(old.as_ref().map(|(text, _)| text.as_str()))?;
            self.forgotten = record.forget(&present, &originals);
            if originals.is_empty() && self.forgotten.is_empty() {
                return Ok(());
            }
            if let (Some(model), true) = (model, originals.contains_key(files::MODEL)) {
                self.contents.insert(files::MODEL.to_owned(), record.renew(&model));
            }
            record.note(&originals, &self.contents, &self.replacements);
            if let Some((_, digest)) = old {
                self.before.insert(files::PROVENANCE.to_owned(), digest);
            }
            self.contents.insert(files::PROVENANCE.to_owned(), record.into_text());
        }
        let rewritten: BTreeMap<&str, &str> = self
            .before
            .iter()
            .filter(|(name, _)| name.as_str() != files::PROVENANCE)
            .map(|(name, digest)| (digest.sha256.as_str(), name.as_str()))
            .collect();
        self.left.extend(mentions::of(&rewritten, package, survey));
        Ok(())
    }
}

/// Whether a file with a NUL is a text all the same: what can be read is nearly all of it, or half, with two bytes a letter.
fn is_mostly(letters: &str, bytes: &[u8]) -> bool {
    letters.len() * 9 >= bytes.len() * 4 && !letters.is_empty()
}

/// The bytes of a file that still has the digest it had.
fn read(package: &Folder, file: &Surveyed) -> Result<Vec<u8>, String> {
    let bytes = package.read(&file.name, MAX_PARSED_BYTES).map_err(|error| error.to_string())?;
    if digest(&bytes) != file.digest {
        return Err("the file changed while it was read; redact when nothing writes to it any more".to_owned());
    }
    Ok(bytes)
}
