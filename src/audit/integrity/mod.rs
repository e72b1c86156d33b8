//! Integrity: declared names are safe and unique, files are there and have the recorded bytes, nothing else lies around.
//!
//! This is also where the contents are read, once: what is hashed is what the other checks see.

mod declared;
mod documents;
mod examined;
mod receipts;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use super::evidence::{Evidence, Options};
use super::streamed::{self, Streamed, StreamedContent};
use super::{CheckReport, Code, Family, Place, Recorder, SubjectKind, undeclared, unredacted};
use crate::package::digest::digest;
use crate::package::divergence::{self, Engine};
use crate::package::folder::Folder;
use crate::package::ignore::IGNORE;
use crate::package::limits::{MAX_PARSED_BYTES, MAX_RECEIPT_BYTES};
use crate::package::partition::files;
use crate::package::receipts::{RECEIPTS, SIGNATURE};
use declared::{Taken, check_declared, taken_in_stream};
pub(super) use documents::parsed;
use documents::{parse, parse_document};
use examined::report_file_error;
use receipts::{ReadReceipts, read_receipts};

/// Name of the file with claims over printed medians.
pub const CLAIMS: &str = "claims.json";
/// Name of the table of printed medians.
pub const MEDIANS: &str = "medians.csv";

/// JSON files that checks read.
const DOCUMENTS: [&str; 8] = [
    files::CASES,
    files::DEVICE,
    files::VALIDATION,
    files::MODEL,
    files::PROOF_RECEIPTS,
    files::PROVENANCE,
    files::OVERLAP,
    CLAIMS,
];
/// Files that only a partition package has: where one lies, the others are missing.
const CHARACTERISTIC: [&str; 3] = [files::MODEL, files::CASES, files::SAMPLES];
/// Other files that checks read.
const TEXTS: [&str; 3] = [files::SAMPLES, files::README, MEDIANS];

/// JSON files that are read beside the results that they belong to.
const BESIDE_RESULTS: [&str; 2] = [divergence::files::ACCURACY, divergence::files::TIMING];

/// Whether checks of this kind of package read a file.
pub(super) fn is_read(name: &str, kind: SubjectKind) -> bool {
    let is_claims = [CLAIMS, MEDIANS].contains(&name);
    let is_result = divergence::files::engine_of(name).is_some();
    match kind {
        SubjectKind::Partition => !is_claims && !is_result && (is_document(name) || TEXTS.contains(&name)),
        SubjectKind::Claims => is_claims,
        SubjectKind::Divergence => is_result,
        SubjectKind::DivergenceReceipt | SubjectKind::Files => false,
    }
}

/// Whether a file is JSON that checks read.
fn is_document(name: &str) -> bool {
    DOCUMENTS.contains(&name) || divergence::files::engine_of(name).is_some()
}

/// What integrity found and read.
pub(super) struct Opened {
    /// The family's result.
    pub check: CheckReport,
    /// What kind of package it is.
    pub kind: SubjectKind,
    /// SHA-256 of `receipts.json`.
    pub receipts_sha256: Option<String>,
    /// The contents.
    pub evidence: Evidence,
}

/// Checks the files of the package in `folder` and reads what the other checks need. `progress` is told how many bytes
/// were hashed.
pub(super) fn open(folder: &Folder, options: &Options, progress: &(dyn Fn(u64) + Sync)) -> Opened {
    let mut recorder = Recorder::new(Family::Integrity, options.tolerance);
    let mut contents = BTreeMap::new();
    let ReadReceipts { receipts, sha256: receipts_sha256, signer } = read_receipts(folder, options, &mut recorder);
    let mut known = HashSet::from([RECEIPTS, SIGNATURE].map(str::to_owned));
    let mut digests: BTreeMap<String, String> =
        receipts_sha256.iter().map(|sha256| (RECEIPTS.to_owned(), sha256.clone())).collect();
    let mut streamed = Vec::new();
    if let Some(receipts) = &receipts {
        let mut taken = Taken { contents: &mut contents, digests: &mut digests, streamed: &mut streamed };
        let declared = check_declared(folder, receipts, options, progress, &mut recorder, &mut taken);
        unredacted::check(folder, &declared, &contents, &mut recorder);
        known.extend(declared);
    }
    let results = Engine::ALL.map(|engine| divergence::files::results(engine.name()));
    for name in DOCUMENTS.iter().chain(&TEXTS).copied().chain(results.iter().map(String::as_str)) {
        if known.contains(name) {
            continue;
        }
        if streamed::is_streamed(folder, name, options) {
            for (read_digest, read) in streamed::read(folder, &[name], options, progress) {
                if let Ok(read_digest) = read_digest {
                    digests.insert(name.to_owned(), read_digest.sha256);
                    taken_in_stream(&mut contents, &read);
                    streamed.push(read);
                }
            }
        } else if let Ok(bytes) = folder.read(name, MAX_PARSED_BYTES) {
            digests.insert(name.to_owned(), digest(&bytes).sha256);
            contents.insert(name.to_owned(), Ok(bytes));
        }
    }
    let kind = if contents.contains_key(files::VALIDATION) {
        SubjectKind::Partition
    } else if contents.keys().any(|name| divergence::files::engine_of(name).is_some()) {
        SubjectKind::Divergence
    } else if contents.contains_key(CLAIMS) {
        SubjectKind::Claims
    } else if CHARACTERISTIC.iter().any(|name| contents.contains_key(*name)) {
        SubjectKind::Partition
    } else {
        SubjectKind::Files
    };
    if receipts.is_some() {
        undeclared::check(folder, kind, &known, contents.get(IGNORE), &mut recorder);
    }
    let mut evidence = parse(contents, &mut recorder);
    for Streamed { name, content, recorder: found, .. } in streamed {
        recorder.absorb(found);
        match content {
            StreamedContent::Document(document) => drop(evidence.documents.insert(name, document)),
            StreamedContent::Samples(samples) => evidence.streamed_samples = Some(samples),
        }
    }
    evidence.documents.extend(receipts.map(|receipts| (RECEIPTS.to_owned(), Ok(receipts))));
    (evidence.digests, evidence.signer) = (digests, signer);
    Opened { check: recorder.finish(), kind, receipts_sha256, evidence }
}

/// Reads the one file of a receipt that no `receipts.json` binds. Its integrity is not run, with that reason, unless its hash
/// is known from elsewhere.
pub(super) fn open_file(path: &Path, options: &Options, progress: &(dyn Fn(u64) + Sync)) -> Opened {
    let mut recorder = Recorder::new(Family::Integrity, options.tolerance);
    let folder = Folder::new(path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")));
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut evidence = Evidence::default();
    match folder.read(&name, MAX_RECEIPT_BYTES) {
        Ok(bytes) => {
            progress(bytes.len() as u64);
            let sha256 = digest(&bytes).sha256;
            let anchored = options.expect_receipts.as_ref();
            let holds = anchored.is_none_or(|expected| expected.eq_ignore_ascii_case(&sha256));
            if let Some(expected) = anchored.filter(|_| !holds) {
                recorder.report(Code::ReceiptsAnchor, &name, Place::whole_file(), expected, &sha256);
            } else if anchored.is_some() {
                recorder.held();
            }
            recorder.note(format!("the file's SHA-256 is {sha256}"));
            let document = parse_document(&name, bytes, &mut recorder);
            evidence.digests.insert(name.clone(), sha256);
            evidence.documents.insert(name.clone(), document);
        }
        Err(error) => {
            report_file_error(&mut recorder, &name, Place::whole_file(), &error);
            evidence.documents.insert(name.clone(), Err(error.to_string()));
        }
    }
    if options.signers.is_some() {
        let expected = format_args!("a signature, {SIGNATURE}, over the receipts of a package");
        recorder.report(Code::Unsigned, &name, Place::whole_file(), expected, "a single file, without receipts");
    }
    let check = match options.expect_receipts {
        Some(_) => recorder.finish(),
        None => recorder.not_run("it is a single file: no receipts.json records its hash"),
    };
    Opened { check, kind: SubjectKind::DivergenceReceipt, receipts_sha256: None, evidence }
}
