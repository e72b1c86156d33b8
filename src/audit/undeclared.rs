//! Files that lie in a package and have no receipt.

use std::collections::HashSet;

use super::integrity::is_read;
use super::{Code, Place, Recorder};
use crate::package::folder::Folder;
use crate::package::ignore::{self, IGNORE};
use crate::package::limits::MAX_IGNORE_BYTES;

/// Reports every file without a receipt, but for those that a declared `.recountignore` names.
pub(super) fn check(folder: &Folder, known: &HashSet<String>, recorder: &mut Recorder) {
    match folder.list() {
        Ok(listing) => {
            if let Some(first) = listing.left_out.first() {
                let more = listing.left_out.len() - 1;
                let more = if more > 0 { format!(" and {more} more like it") } else { String::new() };
                recorder.note(format!("left out, as no part of the package: {first}{more}"));
            }
            // The list itself must be declared, so that its hash is checked. It says nothing of declared files, nor of those
            // that checks read anyway.
            let ignored = (known.contains(IGNORE).then(|| folder.read(IGNORE, MAX_IGNORE_BYTES).ok()).flatten())
                .and_then(|bytes| ignore::parse(&bytes).ok())
                .unwrap_or_default();
            let is_ignored = |name: &str| ignored.is_match(name) && !is_read(name);
            let undeclared: Vec<_> = listing.names.iter().filter(|name| !known.contains(*name)).collect();
            let passed_over = undeclared.iter().filter(|name| is_ignored(name)).count();
            if passed_over > 0 {
                recorder.note(format!("left out, as {IGNORE} says: {passed_over} of the files without a receipt"));
            }
            for name in undeclared.into_iter().filter(|name| !is_ignored(name)) {
                recorder.report(Code::UndeclaredFile, name, Place::whole_file(), "a receipt", "none");
            }
            for name in listing.not_utf8.iter().filter(|name| !is_ignored(name)) {
                let expected = "a receipt, under a name in UTF-8";
                recorder.report(Code::UndeclaredFile, name, Place::whole_file(), expected, "a name that is not UTF-8");
            }
        }
        Err(error) => {
            recorder.report(Code::UnreadableFile, ".", Place::whole_file(), "a listing of the folder", error);
        }
    }
}
