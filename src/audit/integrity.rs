//! Integrity: declared names are safe and unique, files are there and have the recorded bytes, nothing else lies around.
//!
//! This is also where the contents are read, once: what is hashed is what the other checks see.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use rayon::prelude::*;

use super::evidence::{Content, Evidence, Options};
use super::streamed::{self, Streamed, StreamedContent};
use super::{CheckReport, Code, Family, Place, Recorder, SubjectKind, signature, undeclared, unredacted};
use crate::package::digest::{Digest, digest, digest_file, lf_digest_reader};
use crate::package::divergence::{self, Engine};
use crate::package::folder::{FileError, Folder};
use crate::package::ignore::IGNORE;
use crate::package::json::{Document, Json, JsonError, pointer_token};
use crate::package::limits::{MAX_HASHED_BYTES, MAX_IGNORE_BYTES, MAX_PARSED_BYTES, MAX_RECEIPT_BYTES};
use crate::package::name::{check_name, portable_key};
use crate::package::partition::files;
use crate::package::receipts::{RECEIPTS, Receipt, SIGNATURE, declared, receipt};
use crate::package::signature::allowed::Signer;

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

/// Whether checks read a file.
pub(super) fn is_read(name: &str) -> bool {
    is_document(name) || TEXTS.contains(&name)
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
        undeclared::check(folder, &known, contents.get(IGNORE), &mut recorder);
    }
    let results = Engine::ALL.map(|engine| divergence::files::results(engine.name()));
    for name in DOCUMENTS.iter().chain(&TEXTS).copied().chain(results.iter().map(String::as_str)) {
        if known.contains(name) {
            continue;
        }
        if streamed::is_streamed(folder, name, options) {
            let read = streamed::read(folder, &[name], options, progress).into_iter();
            let read = read.filter(|read| read.digest.as_ref().is_some_and(Result::is_ok));
            streamed.extend(read.inspect(|read| taken_in_stream(&mut contents, read)));
        } else if let Ok(bytes) = folder.read(name, MAX_PARSED_BYTES) {
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

/// What was read of `receipts.json`.
#[derive(Default)]
struct ReadReceipts {
    receipts: Option<Document>,
    sha256: Option<String>,
    /// Whose key signed them, where that was asked and answered.
    signer: Option<Signer>,
}

fn read_receipts(folder: &Folder, options: &Options, recorder: &mut Recorder) -> ReadReceipts {
    let bytes = match folder.read(RECEIPTS, MAX_PARSED_BYTES) {
        Ok(bytes) => bytes,
        Err(error @ (FileError::Io(_) | FileError::TooLarge { .. } | FileError::Changed)) => {
            recorder.report(Code::UnreadablePackage, RECEIPTS, Place::whole_file(), "readable receipts", error);
            return ReadReceipts::default();
        }
        Err(error) => {
            report_file_error(recorder, RECEIPTS, Place::whole_file(), &error);
            return ReadReceipts::default();
        }
    };
    let sha256 = digest(&bytes).sha256;
    if let Some(expected) = &options.expect_receipts {
        if expected.eq_ignore_ascii_case(&sha256) {
            // Not counted: that the receipts are the expected ones says nothing of the files.
            recorder.note(format!("{RECEIPTS} is the expected one"));
        } else if lf_digest(&bytes).is_some_and(|normalized| normalized.sha256.eq_ignore_ascii_case(expected)) {
            let found = format_args!("{sha256}, which matches with LF line endings");
            recorder.report(Code::LineEndings, RECEIPTS, Place::whole_file(), expected, found);
        } else {
            recorder.report(Code::ReceiptsAnchor, RECEIPTS, Place::whole_file(), expected, &sha256);
        }
    }
    // Of the bytes as they are: what a signature covers does not depend on how they are parsed.
    let signer = signature::check(folder, &bytes, options.signers.as_ref(), recorder);
    let receipts = parse_document(RECEIPTS, bytes, recorder).ok();
    ReadReceipts { receipts, sha256: Some(sha256), signer }
}

/// What is taken from the declared files while they are checked.
struct Taken<'t> {
    /// The contents that checks read.
    contents: &'t mut BTreeMap<String, Content<Vec<u8>>>,
    /// The hashes of all.
    digests: &'t mut BTreeMap<String, String>,
    /// What was read in a stream.
    streamed: &'t mut Vec<Streamed>,
}

/// Keeps the place of a file's content.
fn taken_in_stream(contents: &mut BTreeMap<String, Content<Vec<u8>>>, read: &Streamed) {
    contents.insert(read.name.clone(), Err("it was read in a stream".to_owned()));
}

/// Checks every declared file; gives back the declared names.
fn check_declared(
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
                super::show(record),
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
    let large: Vec<&str> = sound.iter().map(|(name, _, _)| name.as_str()).collect();
    let large: Vec<&str> = large.into_iter().filter(|name| streamed::is_streamed(folder, name, options)).collect();
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
    for mut read in read {
        if let Some(digest) = read.digest.take() {
            digests.insert(read.name.clone(), digest);
        }
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

/// What was found of a declared file.
struct Examined {
    bytes: u64,
    /// `None` where the size alone shows that neither the bytes nor their LF form can match.
    raw: Option<Digest>,
    /// Digest with LF line endings; only taken where the raw one is not the recorded one and the file is text.
    normalized: Option<Digest>,
    /// The content, if a check reads it.
    content: Option<Vec<u8>>,
}

fn examine(
    folder: &Folder,
    name: &str,
    receipt: Receipt<'_>,
    wanted: bool,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Examined, FileError> {
    if wanted {
        let content = folder.read(name, MAX_PARSED_BYTES)?;
        let raw = digest(&content);
        let normalized = if raw.sha256 == receipt.sha256 { None } else { lf_digest(&content) };
        progress(raw.bytes);
        return Ok(Examined { bytes: raw.bytes, raw: Some(raw), normalized, content: Some(content) });
    }
    let (mut file, bytes) = folder.open(name, MAX_HASHED_BYTES)?;
    // Each CRLF is one byte longer than its LF, so a checkout at most doubles a text. A large file of another size is not
    // worth the time that hashing it would take.
    if bytes > MAX_PARSED_BYTES && (bytes < receipt.bytes || bytes / 2 > receipt.bytes) {
        return Ok(Examined { bytes, raw: None, normalized: None, content: None });
    }
    let raw = digest_file(&file, bytes).map_err(|error| match error.kind() {
        std::io::ErrorKind::FileTooLarge => FileError::Changed,
        _ => FileError::Io(error),
    })?;
    if raw.bytes != bytes {
        return Err(FileError::Changed);
    }
    let normalized = if raw.sha256 == receipt.sha256 {
        None
    } else {
        file.seek(SeekFrom::Start(0))?;
        lf_digest_reader(&mut file.take(bytes), MAX_HASHED_BYTES)?
    };
    progress(raw.bytes);
    Ok(Examined { bytes, raw: Some(raw), normalized, content: None })
}

/// The digest of a text with LF line endings; `None` for other bytes.
fn lf_digest(bytes: &[u8]) -> Option<Digest> {
    lf_digest_reader(&mut &*bytes, bytes.len() as u64).ok().flatten()
}

fn judge(
    recorder: &mut Recorder,
    receipts: &Document,
    record: &Json,
    name: &str,
    receipt: Receipt<'_>,
    file: &Examined,
) {
    let expected = format!("{} ({} bytes)", receipt.sha256, receipt.bytes);
    let found = match &file.raw {
        Some(raw) => format!("{} ({} bytes)", raw.sha256, raw.bytes),
        None => format!("{} bytes, which were not hashed: no file of that size can match", file.bytes),
    };
    if file.raw.as_ref().is_some_and(|raw| raw.sha256 == receipt.sha256) {
        recorder.held();
        let bytes = record.get("bytes").unwrap_or(record);
        recorder.require(file.bytes == receipt.bytes, Code::SizeMismatch, receipts, bytes, file.bytes, receipt.bytes);
        return;
    }
    match &file.normalized {
        Some(normalized) if normalized.sha256 == receipt.sha256 && normalized.bytes == receipt.bytes => {
            recorder.report(
                Code::LineEndings,
                name,
                Place::whole_file(),
                expected,
                format_args!("{found}, which matches with LF line endings"),
            );
        }
        _ => recorder.report(Code::HashMismatch, name, Place::whole_file(), expected, found),
    }
}

fn report_file_error(recorder: &mut Recorder, name: &str, place: Place, error: &FileError) {
    let (code, expected) = match error {
        FileError::Name(_) => (Code::UnsafePath, "a plain relative name"),
        FileError::Absent => (Code::AbsentFile, "a regular file"),
        FileError::Symlink(_) => (Code::Symlink, "a regular file"),
        FileError::Special(_) => (Code::SpecialFile, "a regular file"),
        FileError::TooLarge { .. } | FileError::Changed | FileError::Io(_) => (Code::UnreadableFile, "readable bytes"),
    };
    recorder.report(code, name, place, expected, error);
}

fn parse(contents: BTreeMap<String, Content<Vec<u8>>>, recorder: &mut Recorder) -> Evidence {
    let (documents, texts): (BTreeMap<_, _>, BTreeMap<_, _>) =
        contents.into_iter().partition(|(name, _)| is_document(name) || BESIDE_RESULTS.contains(&name.as_str()));
    let tolerance = recorder.tolerance();
    let parsed: Vec<_> = documents
        .into_par_iter()
        .map(|(name, content)| {
            let mut recorder = Recorder::new(Family::Integrity, tolerance);
            let document = content.and_then(|bytes| parse_document(&name, bytes, &mut recorder));
            (name, document, recorder)
        })
        .collect();
    let mut documents = BTreeMap::new();
    for (name, document, parsed) in parsed {
        recorder.absorb(parsed);
        documents.insert(name, document);
    }
    Evidence { documents, texts, ..Evidence::default() }
}

/// Parses a file and checks that its schema is one that this version reads.
fn parse_document(name: &str, bytes: Vec<u8>, recorder: &mut Recorder) -> Content<Document> {
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let valid = String::from_utf8_lossy(&error.as_bytes()[..at]);
            let (line, column) = crate::package::json::line_column(&valid, at);
            recorder.report(Code::JsonSyntax, name, Place::text(line, column), "UTF-8 text", "other bytes");
            return Err("it is not UTF-8 text".to_owned());
        }
    };
    parsed(name, Document::parse(name, text), recorder)
}

/// Judges how a file was parsed, and that its schema is one that this version reads.
pub(super) fn parsed(name: &str, parsed: Result<Document, JsonError>, recorder: &mut Recorder) -> Content<Document> {
    let document = match parsed {
        Ok(document) => document,
        Err(error) => {
            let (line, column) = error.position();
            let mut place = Place::text(line, column);
            let code = match &error {
                JsonError::DuplicateKey { pointer, .. } => {
                    place.pointer = Some(pointer.clone());
                    Code::DuplicateKey
                }
                JsonError::Syntax { .. } | JsonError::LargeInteger { .. } => Code::JsonSyntax,
            };
            recorder.report(code, name, place, "JSON that every reader reads alike", &error);
            return Err("it could not be parsed".to_owned());
        }
    };
    for (member, expected) in required_schema(name) {
        let found = document.root().get(member);
        if found != Some(&expected) {
            // The document is dropped below, so its lines are looked up now.
            let pointer = format!("/{member}");
            let (line, column) = document.position(&pointer).unzip();
            let place = Place { line, column, ..Place::pointer(pointer) };
            recorder.report(
                Code::UnsupportedSchema,
                name,
                place,
                format_args!("{member} {}", super::show(&expected)),
                found.map_or("nothing".to_owned(), |found| super::show(found).to_string()),
            );
            return Err(format!("its {member} is not supported"));
        }
    }
    Ok(document)
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

/// What the members that name a file's format must be.
fn required_schema(name: &str) -> Vec<(&'static str, Json)> {
    match name {
        RECEIPTS | files::CASES | files::DEVICE => vec![("schema", Json::Int(1))],
        files::VALIDATION => vec![("schema", Json::Int(1)), ("kind", Json::from("partition"))],
        files::MODEL => vec![("schema", Json::from("independent-partition-nnls-v1"))],
        CLAIMS => vec![("schema", Json::from("recount-claims-v1"))],
        name if divergence::files::engine_of(name).is_some() => {
            vec![("schema", Json::from(divergence::SCHEMA)), ("kind", Json::from(divergence::KIND))]
        }
        _ => Vec::new(),
    }
}
