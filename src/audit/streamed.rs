//! Files of measurements that are too large to be kept as text: hashed and taken apart while they are read, once.

use std::fs::File;
use std::io::{self, Read};
use std::sync::mpsc;

use sha2::{Digest as _, Sha256};

use super::evidence::{Content, Options, StreamedSamples};
use super::{Family, Recorder, integrity, unredacted};
use crate::package::digest::{Digest, hex};
use crate::package::folder::{FileError, Folder};
use crate::package::json::{Document, Json, KnownFloats, StreamOptions, compact};
use crate::package::limits::{MAX_STREAMED_BYTES, PACKED_FROM};
use crate::package::partition::sample_runs::SampleRuns;
use crate::package::partition::{files, is_long_list, scale_times};

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
            let stream = StreamOptions { packed_from: PACKED_FROM, is_long: is_long_list, shrink: scale_times, known };
            let (parsed, digest) =
                read_hashed(&file, bytes, progress, |reader| Document::stream(name, reader, &stream));
            match digest {
                Ok(digest) if digest.bytes == bytes => (Ok(digest), integrity::parsed(name, parsed, &mut recorder)),
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
        let (digest, runs) = SampleRuns::read(&mut &file, bytes, progress).map_err(|error| match error.kind() {
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

/// Bytes that are handed over at a time, and how many of such buffers there are.
const HANDED: (usize, usize) = (256 << 10, 6);

/// Gives a file's bytes to a parser, while another thread reads and hashes them; no more than one byte beyond `bytes`. All of
/// the file is hashed, also where the parser ends before it.
fn read_hashed<T>(
    file: &File,
    bytes: u64,
    progress: Progress<'_>,
    parse: impl FnOnce(&mut dyn Read) -> T,
) -> (T, io::Result<Digest>) {
    let (full, to_parse) = mpsc::sync_channel::<Vec<u8>>(HANDED.1);
    let (empty, to_fill) = mpsc::channel::<Vec<u8>>();
    (0..HANDED.1).for_each(|_| drop(empty.send(vec![0; HANDED.0])));
    std::thread::scope(|scope| {
        let hashing = scope.spawn(move || {
            let mut file = file.take(bytes.saturating_add(1));
            let (mut hash, mut total) = (Sha256::new(), 0);
            loop {
                // A parser that has ended gives nothing back.
                let mut buffer = to_fill.recv().unwrap_or_default();
                buffer.resize(HANDED.0, 0);
                let count = loop {
                    match file.read(&mut buffer) {
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        count => break count?,
                    }
                };
                buffer.truncate(count);
                hash.update(&buffer);
                total += count as u64;
                progress(count as u64);
                // To a parser that has ended nothing need be sent.
                let _ = full.send(buffer);
                if count == 0 {
                    return Ok(Digest { sha256: hex(&hash.finalize()), bytes: total });
                }
            }
        });
        let mut reader = Handed { to_parse, empty, buffer: Vec::new(), at: 0 };
        let parsed = parse(&mut reader);
        drop(reader);
        (parsed, hashing.join().unwrap_or_else(|_| Err(io::Error::other("the reading thread failed"))))
    })
}

/// What another thread reads.
struct Handed {
    to_parse: mpsc::Receiver<Vec<u8>>,
    empty: mpsc::Sender<Vec<u8>>,
    buffer: Vec<u8>,
    at: usize,
}

impl Read for Handed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at == self.buffer.len() {
            // Where the other thread ended on an error, that is what is reported.
            let next = self.to_parse.recv().unwrap_or_default();
            let _ = self.empty.send(std::mem::replace(&mut self.buffer, next));
            self.at = 0;
        }
        let rest = self.buffer.get(self.at..).unwrap_or_default();
        let count = rest.len().min(into.len());
        into[..count].copy_from_slice(&rest[..count]);
        self.at += count;
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
