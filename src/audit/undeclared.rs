//! Files that lie in a package and have no receipt.

use std::collections::{HashMap, HashSet};

use globset::GlobSet;

use super::evidence::Content;
use super::integrity::is_read;
use super::{Code, Place, Recorder, SubjectKind};
use crate::package::folder::Folder;
use crate::package::ignore::{self, IGNORE};
use crate::package::limits::MAX_IGNORE_BYTES;
use crate::package::name::portable_key;

/// Files that a note names; the others are counted.
const NAMED: usize = 20;

/// Reports every file without a receipt, but for those that a declared `.recountignore` names. `ignore` is the content of that
/// file as it was hashed; what lies on the disk by now may be another.
pub(super) fn check(
    folder: &Folder,
    kind: SubjectKind,
    known: &HashSet<String>,
    ignore: Option<&Content<Vec<u8>>>,
    recorder: &mut Recorder,
) {
    let is_read = |name: &str| is_read(name, kind);
    match folder.list() {
        Ok(listing) => {
            if let Some(first) = listing.left_out.first() {
                let more = listing.left_out.len() - 1;
                let more = if more > 0 { format!(" and {more} more like it") } else { String::new() };
                recorder.note(format!("left out, as no part of the package: {first}{more}"));
            }
            // The list itself must be declared, so that its hash is checked. It says nothing of declared files, of those that
            // are one with them elsewhere, nor of those that checks read anyway.
            let ignored = ignored(known.contains(IGNORE), ignore).unwrap_or_else(|reason| {
                recorder.note(format!("{IGNORE} leaves nothing out: {reason}"));
                GlobSet::empty()
            });
            let is_ignored = |name: &str| ignored.is_match(name) && !is_read(name);
            let (declared, undeclared): (Vec<_>, Vec<_>) =
                listing.names.iter().map(String::as_str).partition(|name| known.contains(*name));
            let keys: HashMap<String, &str> = declared.into_iter().map(|name| (portable_key(name), name)).collect();
            let (twins, undeclared): (Vec<_>, Vec<_>) = undeclared
                .into_iter()
                .map(|name| (name, keys.get(&portable_key(name)).copied()))
                .partition(|(_, twin)| twin.is_some());
            for (name, twin) in twins {
                let expected =
                    format_args!("no file beside {} that is the same one on some systems", twin.unwrap_or_default());
                recorder.report(Code::DuplicatePath, name, Place::whole_file(), expected, "one without a receipt");
                if is_read(name) {
                    recorder.report(Code::UnboundEvidence, name, Place::whole_file(), "a receipt", "none");
                }
            }
            let not_utf8 = listing.not_utf8.iter().map(String::as_str);
            let undeclared = undeclared.into_iter().map(|(name, _)| name);
            let passed_over: Vec<&str> =
                undeclared.clone().chain(not_utf8.clone()).filter(|name| is_ignored(name)).collect();
            if !passed_over.is_empty() {
                let more = match passed_over.len().saturating_sub(NAMED) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let named = &passed_over[..passed_over.len().min(NAMED)];
                recorder.note(format!("without a receipt, as {IGNORE} says: {}{more}", named.join(", ")));
            }
            for name in undeclared.filter(|name| !is_ignored(name)) {
                let code = if is_read(name) { Code::UnboundEvidence } else { Code::UndeclaredFile };
                recorder.report(code, name, Place::whole_file(), "a receipt", "none");
            }
            for name in not_utf8.filter(|name| !is_ignored(name)) {
                let expected = "a receipt, under a name in UTF-8";
                recorder.report(Code::UndeclaredFile, name, Place::whole_file(), expected, "a name that is not UTF-8");
            }
        }
        Err(error) => {
            recorder.report(Code::UnreadableFile, ".", Place::whole_file(), "a listing of the folder", error);
        }
    }
}

/// What the list names; nothing where there is none.
fn ignored(is_declared: bool, content: Option<&Content<Vec<u8>>>) -> Result<GlobSet, String> {
    match content {
        _ if !is_declared => Ok(GlobSet::empty()),
        Some(Ok(bytes)) if bytes.len() as u64 <= MAX_IGNORE_BYTES => {
            ignore::parse(bytes).map_err(|error| error.to_string())
        }
        // A file that could not be read is a finding of its own.
        Some(Err(_)) => Ok(GlobSet::empty()),
        Some(Ok(_)) | None => Err(format!("it may have {MAX_IGNORE_BYTES} bytes")),
    }
}
