//! Receipts of files outside the package are never opened, but they are receipts, and one file cannot have two hashes.

use std::collections::{HashMap, HashSet};

use super::forms;
use crate::audit::evidence::Evidence;
use crate::audit::{Code, Recorder, show};
use crate::package::json::{Document, Json};
use crate::package::partition::files;

pub(super) fn check(evidence: &Evidence, recorder: &mut Recorder) {
    let mut seen = HashMap::new();
    for name in [files::VALIDATION, files::PROOF_RECEIPTS, files::PROVENANCE, files::DEVICE, files::MODEL] {
        if let Ok(document) = evidence.document(name) {
            forms::check(document, recorder);
            walk(document, document.root(), &mut seen, recorder);
        }
    }
    if let Ok(document) = evidence.document(files::OVERLAP) {
        forms::check(document, recorder);
    }
}

type Seen<'d> = HashMap<String, (&'d Document, &'d Json)>;

fn walk<'d>(document: &'d Document, value: &'d Json, seen: &mut Seen<'d>, recorder: &mut Recorder) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| walk(document, item, seen, recorder)),
        Json::Object(members) => {
            if let Some(path) = value.get("path").and_then(Json::as_str) {
                compare(document, path, value, seen, recorder);
            }
            for (name, member) in members {
                // `compact_receipts` names files by member instead of by `path`.
                if name.contains(['/', '\\']) {
                    compare(document, name, member, seen, recorder);
                }
                walk(document, member, seen, recorder);
            }
        }
        _ => {}
    }
}

fn compare<'d>(document: &'d Document, path: &str, record: &'d Json, seen: &mut Seen<'d>, recorder: &mut Recorder) {
    let (Some(hash), Some(bytes)) = (record.get("sha256"), record.get("bytes")) else { return };
    // A bare name is one of many files so called: each run may have its own.
    if !path.contains(['/', '\\']) {
        return;
    }
    let path = normalized(path);
    match seen.get(&path) {
        None => {
            seen.insert(path, (document, record));
        }
        Some(&(other, earlier)) => {
            for (found, member) in [(hash, "sha256"), (bytes, "bytes")] {
                let Some(expected) = earlier.get(member) else { continue };
                if found == expected {
                    recorder.held();
                    continue;
                }
                let place = other.pointer_of(earlier).unwrap_or_default();
                let expected = format_args!("{}, as at {} {place}", show(expected), other.name());
                recorder.report_at(Code::ReceiptConflict, document, found, expected, show(found));
            }
        }
    }
}

/// The same file is written with and without the repository's placeholder, and with either separator.
fn normalized(path: &str) -> String {
    let path = path.replace('\\', "/");
    path.strip_prefix("${REPO}/").unwrap_or(&path).to_owned()
}

/// Whether two paths may name one file: the same whole path, or the same name where one of them is a name alone.
pub(in crate::audit) fn is_same_file(left: &str, right: &str) -> bool {
    Files::from_iter([left]).have(right)
}

/// Files by their paths, so that one of many is found at once.
pub(super) struct Files {
    /// Whole paths.
    paths: HashSet<String>,
    /// The last parts of all, and of those that are nothing else.
    names: [HashSet<String>; 2],
}

impl<'p> FromIterator<&'p str> for Files {
    fn from_iter<I: IntoIterator<Item = &'p str>>(paths: I) -> Self {
        let paths: HashSet<String> = paths.into_iter().map(normalized).collect();
        let names =
            |of: &dyn Fn(&&String) -> bool| paths.iter().filter(of).map(|path| name_of(path).to_owned()).collect();
        let names = [names(&|_| true), names(&|path| !path.contains('/'))];
        Self { paths, names }
    }
}

impl Files {
    /// Whether one of them may be the file of a path, as [`is_same_file`] says.
    pub(super) fn have(&self, path: &str) -> bool {
        let path = normalized(path);
        let [all, bare] = &self.names;
        let name = name_of(&path);
        self.paths.contains(&path) || bare.contains(name) || !path.contains('/') && all.contains(name)
    }
}

/// The last part of a path.
fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
