//! What names a person or a machine, or is a secret, replaced by placeholders; the hashes of the bytes before stay on record.

use std::collections::BTreeMap;
use std::path::Path;

use globset::GlobSet;

use super::SealError;
use super::normalize::replace;
use super::survey::{CRLF, Surveyed, survey};
use crate::package::digest::{Digest, digest, digest_reader};
use crate::package::folder::{FileError, Folder};
use crate::package::json::{Document, Json, canonical, compact, indented, object};
use crate::package::limits::MAX_PARSED_BYTES;
use crate::package::partial::write_through;
use crate::package::partition::files;
use crate::package::private::{Hit, Places, Rules, each_string, edited, literal};

/// A script that a model names by its hash.
const SCRIPT: &str = "code/calibrate.py";

/// One replacement, as it may be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// The rule.
    pub rule: String,
    /// What is replaced, masked.
    pub masked: String,
    /// What stands there afterwards.
    pub placeholder: String,
}

/// Everything that a redaction would do; nothing is written yet.
#[derive(Debug, Default)]
pub struct Plan {
    /// The replacements, by file and line.
    pub replacements: Vec<Replacement>,
    /// Texts that are not UTF-8 and stay as they are.
    pub passed_over: Vec<String>,
    /// New content by name.
    contents: BTreeMap<String, String>,
    /// Digests of the bytes that the new content was made from.
    before: BTreeMap<String, Digest>,
}

/// Looks for what is to be replaced in all texts that would be sealed. `crlf` says that line endings are no hindrance.
///
/// # Errors
/// Whatever keeps the folder from being sealed, and what the redaction would break.
pub fn plan(folder: &Path, exclude: &GlobSet, rules: &Rules, crlf: bool) -> Result<Plan, SealError> {
    let survey = survey(folder, exclude)?;
    let mut refused = survey.refused;
    if !crlf {
        refused.extend(survey.files.iter().filter(|file| file.crlf).map(|file| format!("{}: {CRLF}", file.name)));
    }
    let package = Folder::new(folder);
    let mut plan = Plan::default();
    let mut originals = BTreeMap::new();
    for file in survey.files.iter().filter(|file| file.is_text) {
        match read(&package, file) {
            Ok(Some(text)) => {
                if let Some(new) = plan.redact(&file.name, &text, rules)? {
                    plan.contents.insert(file.name.clone(), new);
                    plan.before.insert(file.name.clone(), file.digest.clone());
                    originals.insert(file.name.as_str(), &file.digest);
                }
            }
            Ok(None) => plan.passed_over.push(file.name.clone()),
            Err(reason) => refused.push(format!("{}: {reason}", file.name)),
        }
    }
    if !refused.is_empty() {
        return Err(SealError::Refused { refused });
    }
    if !originals.is_empty() {
        plan.record(&package, &originals)?;
    }
    Ok(plan)
}

/// Writes what was planned, each file whole or not at all. The record of the bytes before comes first, so that an
/// interruption loses nothing and the redaction can be run again.
///
/// # Errors
/// A file or its folder cannot be written to, or the file changes meanwhile.
pub fn apply(folder: &Path, plan: &Plan) -> Result<(), SealError> {
    let failed = |name: &str, source| SealError::Rewrite { name: name.to_owned(), source };
    let ordered = plan.contents.get_key_value(files::PROVENANCE).into_iter();
    for (name, text) in ordered.chain(plan.contents.iter().filter(|(name, _)| *name != files::PROVENANCE)) {
        match plan.before.get(name) {
            Some(before) => replace(folder, name, &mut |reader, writer| {
                if digest_reader(reader, MAX_PARSED_BYTES)? == *before {
                    writer.write_all(text.as_bytes())
                } else {
                    Err(std::io::Error::other("the file changed since it was read"))
                }
            }),
            None => write_through(&folder.join(name), text.as_bytes()),
        }
        .map_err(|source| failed(name, source))?;
    }
    Ok(())
}

/// The text of a file that still has the digest it had; `None` where it is not UTF-8.
fn read(package: &Folder, file: &Surveyed) -> Result<Option<String>, String> {
    let bytes = package.read(&file.name, MAX_PARSED_BYTES).map_err(|error| error.to_string())?;
    if digest(&bytes) != file.digest {
        return Err("the file changed while it was read; redact when nothing writes to it any more".to_owned());
    }
    Ok(String::from_utf8(bytes).ok())
}

impl Plan {
    /// The redacted text, if anything in it is to be replaced.
    fn redact(&mut self, name: &str, text: &str, rules: &Rules) -> Result<Option<String>, SealError> {
        let failed = |reason: String| SealError::Redact { file: name.to_owned(), reason };
        let json = name.ends_with(".json") && Document::parse(name, text.to_owned()).is_ok();
        let scan = rules.scan(text, json);
        if scan.hits.is_empty() {
            return Ok(None);
        }
        let mut places = Places::of(text);
        self.replacements.extend(scan.hits.into_iter().map(|hit| {
            let Hit { offset, rule, placeholder, masked } = hit;
            Replacement { file: name.to_owned(), line: places.place(offset).0, rule, masked, placeholder }
        }));
        let new = edited(text, &scan.edits);
        if json && let Err(error) = Document::parse(name, new.clone()) {
            return Err(failed(format!(
                "afterwards it would be no sound JSON: {error}; give own rules that tell them apart"
            )));
        }
        if let Some(again) = rules.scan(&new, json).hits.first() {
            let (rule, placeholder) = (&again.rule, &again.placeholder);
            return Err(failed(format!(
                "what the {rule} puts there ({placeholder}) would be replaced again; change the rules"
            )));
        }
        Ok(Some(new))
    }

    /// Brings the ids up to date and writes down what the files were before.
    fn record(&mut self, package: &Folder, originals: &BTreeMap<&str, &Digest>) -> Result<(), SealError> {
        let current = |name: &str| -> Option<String> {
            let new = self.contents.get(name).cloned();
            new.or_else(|| String::from_utf8(package.read(name, MAX_PARSED_BYTES).ok()?).ok())
        };
        let model = current(files::MODEL).and_then(|text| Document::parse(files::MODEL, text).ok());
        let script = model.as_ref().and_then(|model| model.root().path(&["input_receipts", "script", "sha256"]));
        if let (Some(named), Some(original)) = (script.and_then(Json::as_str), originals.get(SCRIPT))
            && named == original.sha256
        {
            let reason = format!(
                "{} names the hash of its bytes; remove what is private from it by hand, fit again, and seal",
                files::MODEL
            );
            return Err(SealError::Redact { file: SCRIPT.to_owned(), reason });
        }
        let text = current(files::PROVENANCE);
        if text.is_none() && !matches!(package.read(files::PROVENANCE, MAX_PARSED_BYTES), Err(FileError::Absent)) {
            let reason = "it cannot be read as UTF-8 text, so it cannot hold what the files were before".to_owned();
            return Err(SealError::Redact { file: files::PROVENANCE.to_owned(), reason });
        }
        if let (Ok(bytes), false) =
            (package.read(files::PROVENANCE, MAX_PARSED_BYTES), originals.contains_key(files::PROVENANCE))
        {
            self.before.insert(files::PROVENANCE.to_owned(), digest(&bytes));
        }
        let mut root = match &text {
            None => Json::Object(Vec::new()),
            Some(text) => match Document::parse(files::PROVENANCE, text.clone()) {
                Ok(document) if document.root().as_object().is_some() => document.root().clone(),
                _ => {
                    let reason = "it is no JSON object, so it cannot hold what the files were before".to_owned();
                    return Err(SealError::Redact { file: files::PROVENANCE.to_owned(), reason });
                }
            },
        };
        if let (Some(model), true) = (&model, originals.contains_key(files::MODEL)) {
            let (profile, old) = (model.root().get("profile"), model.root().get("profile_id"));
            if let (Some(profile), Some(old)) = (profile, old.and_then(Json::as_str)) {
                let new = digest(canonical(profile).as_bytes()).sha256;
                if new != old {
                    self.contents.insert(files::MODEL.to_owned(), with_profile_id(model.text(), &new));
                    set(&mut root, "public_profile_id", Json::from(new));
                }
            }
        }
        self.note_originals(&mut root, originals);
        let compactly = text.as_deref().is_none_or(|text| !text.trim_end().contains('\n'));
        let ending = if text.as_deref().is_none_or(|text| text.ends_with('\n')) { "\n" } else { "" };
        let new = if compactly { compact(&root) } else { indented(&root) };
        self.contents.insert(files::PROVENANCE.to_owned(), new + ending);
        Ok(())
    }

    /// Adds to the member `redaction`; what was recorded of a file before stays.
    fn note_originals(&self, root: &mut Json, originals: &BTreeMap<&str, &Digest>) {
        let earlier = |name: &str| root.path(&["redaction", name]).cloned();
        let mut recorded =
            earlier("files").filter(|files| files.as_object().is_some()).unwrap_or(Json::Object(Vec::new()));
        for (name, digest) in originals {
            if recorded.get(name).is_none() {
                let bytes = Json::from(digest.bytes);
                set(&mut recorded, name, object([("sha256", Json::from(digest.sha256.as_str())), ("bytes", bytes)]));
            }
        }
        let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
        for rule in earlier("rules").as_ref().and_then(Json::as_array).unwrap_or_default() {
            let text = |name: &str| rule.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
            let count = rule.get("count").and_then(Json::as_u64).unwrap_or(0);
            *counts.entry((text("rule"), text("placeholder"))).or_default() += count;
        }
        for replacement in &self.replacements {
            *counts.entry((replacement.rule.clone(), replacement.placeholder.clone())).or_default() += 1;
        }
        let rules = counts.into_iter().map(|((rule, placeholder), count)| {
            object([("rule", Json::from(rule)), ("placeholder", Json::from(placeholder)), ("count", Json::from(count))])
        });
        let redaction = object([("files", recorded), ("rules", Json::Array(rules.collect()))]);
        set(root, "redaction", redaction);
    }
}

/// The model's text with another id; everything else stays as it is written.
fn with_profile_id(text: &str, id: &str) -> String {
    let mut edits = Vec::new();
    each_string(text, &mut |token| {
        if token.depth == 1 && token.key == Some("profile_id") {
            edits.push((token.range.clone(), literal(id, "")));
        }
    });
    edited(text, &edits)
}

fn set(object: &mut Json, name: &str, value: Json) {
    if let Json::Object(members) = object {
        match members.iter_mut().find(|(member, _)| member == name) {
            Some((_, old)) => *old = value,
            None => members.push((name.to_owned(), value)),
        }
    }
}
