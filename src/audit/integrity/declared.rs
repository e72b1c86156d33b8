//! The files that `receipts.json` declares: each examined, side by side, and its content taken where a check reads it.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;

use super::examined::{Examined, examine, judge, report_file_error};
use super::{BESIDE_RESULTS, TEXTS, is_document};
use crate::audit::evidence::{Content, Options};
use crate::audit::streamed::{self, Streamed};
use crate::audit::{Code, Place, Recorder, show};
use crate::package::digest::lf_digest_reader;
use crate::package::divergence;
use crate::package::folder::{FileError, Folder};
use crate::package::ignore::IGNORE;
use crate::package::json::{Document, pointer_token};
use crate::package::limits::{MAX_HASHED_BYTES, MAX_IGNORE_BYTES};
use crate::package::name::{check_name, portable_key};
use crate::package::receipts::{RECEIPTS, Receipt, declared, receipt};

/// What is taken from the declared files while they are checked.
pub(super) struct Taken<'t> {
    /// The contents that checks read.
    pub(super) contents: &'t mut BTreeMap<String, Content<Vec<u8>>>,
    /// The hashes of all.
    pub(super) digests: &'t mut BTreeMap<String, String>,
    /// What was read in a stream.
    pub(super) streamed: &'t mut Vec<Streamed>,
}

/// Keeps the place of a file's content.
pub(super) fn taken_in_stream(contents: &mut BTreeMap<String, Content<Vec<u8>>>, read: &Streamed) {
    contents.insert(read.name.clone(), Err("it was read in a stream".to_owned()));
}

/// Checks every declared file; gives back the declared names.
pub(super) fn check_declared(
    folder: &Folder,
    receipts: &Document,
    options: &Options,
    progress: &(dyn Fn(u64) + Sync),
    recorder: &mut Recorder,
    taken: &mut Taken<'_>,
) -> Vec<String> {
    let Some(entries) = declared(receipts) else {
        recorder.report(Code::MalformedReceipt, RECEIPTS, Place::pointer("/files"), "an object of receipts", "none");
        return Vec::new();
    };
    if entries.is_empty() {
        recorder.report(Code::NothingVerified, RECEIPTS, Place::pointer("/files"), "at least one file", "none");
    }
    let mut keys: HashMap<String, &str> = HashMap::new();
    let mut sound = Vec::new();
    for (name, record) in entries {
        let place = Place::pointer(format!("/files/{}", pointer_token(name)));
        if let Err(error) = check_name(name) {
            recorder.report(Code::UnsafePath, RECEIPTS, place, "a plain relative name", format!("{name}: {error}"));
            continue;
        }
        if let Some(other) = keys.insert(portable_key(name), name) {
            recorder.report(Code::DuplicatePath, RECEIPTS, place.clone(), format!("a name other than {other}"), name);
        }
        match receipt(record) {
            Some(receipt) => sound.push((name, record, receipt)),
            None => recorder.report_at(
                Code::MalformedReceipt,
                receipts,
                record,
                "sha256 (64 hexadecimal digits) and bytes",
                show(record),
            ),
        }
    }
    // Tensors, times and errors are read only beside the results that they belong to; elsewhere they are files to hash.
    let has_results = entries.iter().any(|(name, _)| divergence::files::engine_of(name).is_some());
    let wanted = |name: &str, receipt: &Receipt<'_>| {
        is_document(name)
            || TEXTS.contains(&name)
            || (name == IGNORE && receipt.bytes <= MAX_IGNORE_BYTES)
            || (has_results && (divergence::files::is_tensor(name) || BESIDE_RESULTS.contains(&name)))
    };
    let names = sound.iter().map(|(name, _, _)| name.as_str());
    let large: Vec<&str> = names.filter(|name| streamed::is_streamed(folder, name, options)).collect();
    let (read, examined) = rayon::join(
        || streamed::read(folder, &large, options, progress),
        || {
            let others = sound.par_iter().map(|(name, _, receipt)| {
                (!large.contains(&name.as_str()))
                    .then(|| examine(folder, name, *receipt, wanted(name, receipt), progress))
            });
            others.collect::<Vec<_>>()
        },
    );
    let mut digests = HashMap::new();
    for (digest, read) in read {
        digests.insert(read.name.clone(), digest);
        taken_in_stream(taken.contents, &read);
        taken.streamed.push(read);
    }
    for ((name, record, receipt), examined) in sound.into_iter().zip(examined) {
        let examined = examined.unwrap_or_else(|| {
            let digest = digests.remove(name).unwrap_or(Err(FileError::Absent))?;
            let normalized = if digest.sha256 == receipt.sha256 {
                None
            } else {
                let (mut file, _) = folder.open(name, MAX_HASHED_BYTES)?;
                lf_digest_reader(&mut file, MAX_HASHED_BYTES)?
            };
            Ok(Examined { bytes: digest.bytes, raw: Some(digest), normalized, content: None })
        });
        let allowed = matches!(examined, Err(FileError::Absent)) && options.allow_absent.is_match(name);
        match examined {
            Ok(file) => {
                judge(recorder, receipts, record, name, receipt, &file);
                taken.digests.extend(file.raw.map(|raw| (name.clone(), raw.sha256)));
                if let Some(content) = file.content {
                    taken.contents.insert(name.clone(), Ok(content));
                }
            }
            Err(error) => {
                if allowed {
                    recorder.note(format!("{name} is absent, which was allowed"));
                } else {
                    report_file_error(recorder, name, Place::whole_file(), &error);
                }
                taken.contents.insert(name.clone(), Err(error.to_string()));
            }
        }
    }
    entries.iter().map(|(name, _)| name.clone()).collect()
}
