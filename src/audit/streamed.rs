//! Files of measurements that are too large to be kept as text: hashed and taken apart while they are read, once.

use std::fs::File;
use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

use super::evidence::{Content, Options, StreamedSamples};
use super::{Family, Recorder, integrity, unredacted};
use crate::package::digest::{Digest, hex};
use crate::package::folder::{FileError, Folder};
use crate::package::json::{Document, Json, KnownFloats, StreamOptions, compact};
use crate::package::limits::{MAX_STREAMED_BYTES, PACKED_FROM};
use crate::package::partition::sample_runs::SampleRuns;
use crate::package::partition::{files, scale_times};

/// JSON files with lists of measurements. The first has all of them; the others repeat some.
const DOCUMENTS: [&str; 3] = [files::VALIDATION, files::MODEL, files::OVERLAP];

/// Told how many bytes were hashed.
pub(super) type Progress<'p> = &'p (dyn Fn(u64) + Sync);

/// A file that was read in a stream.
pub(super) struct Streamed {
    /// Its name.
    pub(super) name: String,
    /// Its digest, or why it could not be read; until it is taken.
    pub(super) digest: Option<Result<Digest, FileError>>,
    /// Its content.
    pub(super) content: StreamedContent,
    /// What was found in it.
    pub(super) recorder: Recorder,
}

/// The content of a file that was read in a stream.
pub(super) enum StreamedContent {
    /// JSON.
    Document(Content<Document>),
    /// The samples.
    Samples(Content<StreamedSamples>),
}

/// Whether a file is one of those, and large.
pub(super) fn is_streamed(folder: &Folder, name: &str, options: &Options) -> bool {
    (name == files::SAMPLES || DOCUMENTS.contains(&name))
        && folder.open(name, u64::MAX).is_ok_and(|(_, bytes)| bytes >= options.streamed_from)
}

/// Reads files of which [`is_streamed`] holds, JSON beside samples.
pub(super) fn read(folder: &Folder, names: &[&str], options: &Options, progress: Progress<'_>) -> Vec<Streamed> {
    let is_wanted = |name: &&&str| names.contains(*name);
    let (mut read, samples) = rayon::join(
        || {
            let mut known = KnownFloats::default();
            let documents = DOCUMENTS.iter().filter(is_wanted);
            documents.map(|name| document(folder, name, &mut known, options, progress)).collect::<Vec<_>>()
        },
        || names.contains(&files::SAMPLES).then(|| samples(folder, options, progress)),
    );
    read.extend(samples);
    read
}

fn document(
    folder: &Folder,
    name: &str,
    known: &mut KnownFloats,
    options: &Options,
    progress: Progress<'_>,
) -> Streamed {
    let mut recorder = Recorder::new(Family::Integrity, options.tolerance);
    let (digest, content) = match folder.open(name, MAX_STREAMED_BYTES) {
        Ok((file, bytes)) => {
            let mut reader =
                Hashing { file: file.take(bytes.saturating_add(1)), hash: Sha256::new(), bytes: 0, progress };
            let stream = StreamOptions { packed_from: PACKED_FROM, shrink: scale_times, known };
            let parsed = Document::stream(name, &mut reader, &stream);
            // An error ends the parse and not the file.
            match io::copy(&mut reader, &mut io::sink()) {
                Ok(_) if reader.bytes == bytes => {
                    let content = integrity::parsed(name, parsed, &mut recorder);
                    (Ok(reader.digest()), content)
                }
                Ok(_) => failed(FileError::Changed),
                Err(error) => failed(FileError::Io(error)),
            }
        }
        Err(error) => failed(error),
    };
    if let Ok(document) = &content {
        known.add_all(document.root());
        // Of its strings alone, and so without lines of the file.
        unredacted::check_part(name, &compact(&without_floats(document.root())), &|_| None, &mut recorder);
    }
    Streamed { name: name.to_owned(), digest: Some(digest), content: StreamedContent::Document(content), recorder }
}

fn samples(folder: &Folder, options: &Options, progress: Progress<'_>) -> Streamed {
    let mut recorder = Recorder::new(Family::Integrity, options.tolerance);
    let read = folder.open(files::SAMPLES, MAX_STREAMED_BYTES).and_then(|(file, bytes)| {
        let (digest, runs) = SampleRuns::read(&file, bytes, progress).map_err(|error| match error.kind() {
            io::ErrorKind::FileTooLarge => FileError::Changed,
            _ => FileError::Io(error),
        })?;
        if digest.bytes == bytes { Ok((digest, runs)) } else { Err(FileError::Changed) }
    });
    let (digest, content) = match read {
        Ok((digest, runs)) => {
            let names: Vec<_> = runs.runs.iter().map(|run| run.names.join(",")).collect();
            let line = |line: usize| runs.runs.get(line - 1).map(|run| run.line);
            unredacted::check_part(files::SAMPLES, &names.join("\n"), &line, &mut recorder);
            (Ok(digest), Ok(StreamedSamples { runs, folder: folder.clone() }))
        }
        Err(error) => failed(error),
    };
    Streamed {
        name: files::SAMPLES.to_owned(),
        digest: Some(digest),
        content: StreamedContent::Samples(content),
        recorder,
    }
}

fn failed<T>(error: FileError) -> (Result<Digest, FileError>, Content<T>) {
    let reason = error.to_string();
    (Err(error), Err(reason))
}

/// Hashes what is read.
struct Hashing<'p> {
    file: io::Take<File>,
    hash: Sha256,
    bytes: u64,
    progress: Progress<'p>,
}

impl Hashing<'_> {
    fn digest(self) -> Digest {
        Digest { sha256: hex(&self.hash.finalize()), bytes: self.bytes }
    }
}

impl Read for Hashing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.hash.update(&buffer[..count]);
        self.bytes += count as u64;
        (self.progress)(count as u64);
        Ok(count)
    }
}

/// A copy without the long lists.
fn without_floats(value: &Json) -> Json {
    match value {
        Json::Floats(_) => Json::Null,
        Json::Array(items) => Json::Array(items.iter().map(without_floats).collect()),
        Json::Object(members) => {
            Json::Object(members.iter().map(|(name, member)| (name.clone(), without_floats(member))).collect())
        }
        other => other.clone(),
    }
}
