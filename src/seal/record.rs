//! What `provenance.json` keeps of a redaction: the bytes before, the rules, and the ids of the profile.
//!
//! A record of a file counts as long as the file's bytes are those that the redaction left, or still those before, where it was
//! interrupted. `provenance.json` cannot hold its own hash; what it was before its first redaction stays.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::SealError;
use super::redact::Replacement;
use super::splice::ObjectText;
use crate::package::digest::{Digest, digest, digest_reader};
use crate::package::folder::Folder;
use crate::package::json::{Json, canonical, object};
use crate::package::limits::{MAX_HASHED_BYTES, MAX_PARSED_BYTES};
use crate::package::partition::files;

/// The member of a record with the hash of the bytes that the redaction left.
const LEFT: &str = "redacted_sha256";

/// `provenance.json` with what is to be added to it.
pub(super) struct Record {
    text: ObjectText,
    /// The records of files by name.
    files: Vec<(String, Json)>,
}

/// A model whose profile changed.
pub(super) struct Renewed {
    pub(super) model: String,
    old_id: String,
    new_id: String,
}

pub(super) fn unusable(why: &str) -> SealError {
    let reason = format!("{why}, so it cannot hold what the files were before");
    SealError::Redact { file: files::PROVENANCE.to_owned(), reason }
}

/// Whether a model names its script by this digest.
pub(super) fn names_script(model: &str, script: &Digest) -> bool {
    let inputs = ObjectText::new(model.to_owned()).and_then(|model| model.get("input_receipts"));
    let named = inputs.as_ref().and_then(|inputs| inputs.path(&["script", "sha256"])).and_then(Json::as_str);
    named == Some(script.sha256.as_str())
}

/// The model's text with the id of its profile as it is; `None` where that is the one it has, or where it has none.
pub(super) fn renewed(model: &str) -> Option<Renewed> {
    let mut text = ObjectText::new(model.to_owned())?;
    let old_id = text.get("profile_id")?.as_str()?.to_owned();
    let new_id = digest(canonical(&text.get("profile")?).as_bytes()).sha256;
    if new_id == old_id {
        return None;
    }
    text.set("profile_id", &Json::from(new_id.as_str()));
    Some(Renewed { model: text.text().to_owned(), old_id, new_id })
}

impl Record {
    /// Reads `provenance.json`, or begins one.
    pub(super) fn read(text: Option<&str>) -> Result<Self, SealError> {
        let text =
            ObjectText::new(text.unwrap_or("{}\n").to_owned()).ok_or_else(|| unusable("it is no JSON object"))?;
        let redaction = text.get("redaction");
        let part = |name: &str| redaction.as_ref().and_then(|redaction| redaction.get(name));
        if redaction.as_ref().is_some_and(|redaction| redaction.as_object().is_none())
            || part("files").is_some_and(|files| files.as_object().is_none())
            || part("rules").is_some_and(|rules| rules.as_array().is_none())
        {
            return Err(unusable("its member redaction is not one that recount writes; rename it, and it stays"));
        }
        let files = redaction.as_ref().and_then(|redaction| redaction.get("files")).and_then(Json::as_object);
        let files = files.unwrap_or_default().to_vec();
        Ok(Self { text, files })
    }

    /// Drops the records of files that were changed since, or are gone; gives their names.
    pub(super) fn forget(
        &mut self,
        present: &BTreeMap<&str, &Digest>,
        redacted: &BTreeMap<String, Digest>,
    ) -> Vec<String> {
        let is_stale = |name: &str, record: &Json| {
            let [left, original] = [LEFT, "sha256"].map(|member| record.get(member).and_then(Json::as_str));
            let now = present.get(name).map(|digest| digest.sha256.as_str());
            let is_known = now.is_some() && (now == left || (now == original && redacted.contains_key(name)));
            // Of a record without a hash of what was left, only that the file is gone can be said.
            name != files::PROVENANCE && !is_known && (left.is_some() || now.is_none())
        };
        let (stale, kept) =
            std::mem::take(&mut self.files).into_iter().partition(|(name, record)| is_stale(name, record));
        self.files = kept;
        let stale: Vec<(String, Json)> = stale;
        stale.into_iter().map(|(name, _)| name).collect()
    }

    /// The model's text with the id of its profile as it is; this record follows. The id before the redaction is the original
    /// one, where neither file names another.
    pub(super) fn renew(&mut self, model: &str) -> String {
        let Some(Renewed { model, old_id, new_id }) = renewed(model) else { return model.to_owned() };
        self.text.set("public_profile_id", &Json::from(new_id));
        let Some(mut text) = ObjectText::new(model.clone()) else { return model };
        let stated = self.text.get("original_profile_id");
        let original = stated.clone().or_else(|| text.get("original_profile_id")).unwrap_or(Json::from(old_id));
        if stated.is_none() {
            self.text.set("original_profile_id", &original);
        }
        if text.get("original_profile_id").is_none() {
            text.set("original_profile_id", &original);
        }
        text.text().to_owned()
    }

    /// Adds the redacted files with their digests before and after, and the rules; what is known of a file before stays.
    pub(super) fn note(
        &mut self,
        originals: &BTreeMap<String, Digest>,
        contents: &BTreeMap<String, String>,
        replacements: &[Replacement],
    ) {
        let mut counted = BTreeSet::new();
        for (name, before) in originals {
            let known = self.files.iter_mut().find(|(other, _)| other == name);
            let member = |record: &Json, member: &str| record.get(member).cloned();
            let (sha256, bytes) = match &known {
                Some((_, record)) => (member(record, "sha256"), member(record, "bytes")),
                None => (None, None),
            };
            if sha256.as_ref().and_then(Json::as_str) == Some(before.sha256.as_str()) {
                counted.insert(name.clone());
            }
            let mut record = vec![
                ("sha256".to_owned(), sha256.unwrap_or(Json::from(before.sha256.as_str()))),
                ("bytes".to_owned(), bytes.unwrap_or(Json::from(before.bytes))),
            ];
            if let Some(left) = contents.get(name).filter(|_| name != files::PROVENANCE) {
                record.push((LEFT.to_owned(), Json::from(digest(left.as_bytes()).sha256)));
            }
            match known {
                Some((_, old)) => *old = Json::Object(record),
                None => self.files.push((name.clone(), Json::Object(record))),
            }
        }
        let redaction = self.text.get("redaction");
        // What somebody else wrote there stays.
        let others = redaction.as_ref().and_then(Json::as_object).unwrap_or_default().iter();
        let others: Vec<_> = others.filter(|(name, _)| !["files", "rules"].contains(&name.as_str())).cloned().collect();
        let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
        let earlier = redaction.as_ref().and_then(|redaction| redaction.get("rules")).and_then(Json::as_array);
        for rule in earlier.unwrap_or_default() {
            let text = |name: &str| rule.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
            let count = rule.get("count").and_then(Json::as_u64).unwrap_or(0);
            *counts.entry((text("rule"), text("placeholder"))).or_default() += count;
        }
        // What an interrupted redaction counted is not counted again.
        for replacement in replacements.iter().filter(|replacement| !counted.contains(&replacement.file)) {
            *counts.entry((replacement.rule.clone(), replacement.placeholder.clone())).or_default() += 1;
        }
        let rules = counts.into_iter().map(|((rule, placeholder), count)| {
            object([("rule", Json::from(rule)), ("placeholder", Json::from(placeholder)), ("count", Json::from(count))])
        });
        let rules = Json::Array(rules.collect());
        let files = Json::Object(std::mem::take(&mut self.files));
        let members = [("files".to_owned(), files), ("rules".to_owned(), rules)];
        self.text.set("redaction", &Json::Object(members.into_iter().chain(others).collect()));
    }

    pub(super) fn into_text(self) -> String {
        self.text.text().to_owned()
    }
}

/// The files that `provenance.json` has records of whose bytes are not those that the redaction left.
pub fn outdated(folder: &Path) -> Vec<String> {
    let package = Folder::new(folder);
    let text = || String::from_utf8(package.read(files::PROVENANCE, MAX_PARSED_BYTES).ok()?).ok();
    let Some(Ok(record)) = text().map(|text| Record::read(Some(&text))) else { return Vec::new() };
    let is_outdated = |name: &str, record: &Json| {
        let Some(left) = record.get(LEFT).and_then(Json::as_str) else { return false };
        let digest =
            package.open(name, MAX_HASHED_BYTES).ok().map(|(mut file, _)| digest_reader(&mut file, MAX_HASHED_BYTES));
        !matches!(digest, Some(Ok(digest)) if digest.sha256 == left)
    };
    record.files.into_iter().filter(|(name, record)| is_outdated(name, record)).map(|(name, _)| name).collect()
}
