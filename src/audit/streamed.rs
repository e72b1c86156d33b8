//! Files of measurements that are too large to be kept as text: hashed and taken apart while they are read, once.

use std::io::{self, Read};

use super::evidence::{Content, Options, StreamedSamples};
use super::{Family, Recorder, integrity, unredacted};
use crate::package::ahead::{Buffers, read_ahead};
use crate::package::digest::{Digest, Hashed};
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

/// The digest of a file, or why it could not be read.
pub(super) type Digested = Result<Digest, FileError>;

/// Reads files of which [`is_streamed`] holds, JSON beside samples.
pub(super) fn read(
    folder: &Folder,
    names: &[&str],
    options: &Options,
    progress: Progress<'_>,
) -> Vec<(Digested, Streamed)> {
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
) -> (Digested, Streamed) {
    let mut recorder = Recorder::new(Family::Integrity, options.tolerance);
    let read = folder.open(name, MAX_STREAMED_BYTES).and_then(|(file, bytes)| {
        let stream = StreamOptions { packed_from: PACKED_FROM, is_long: is_long_list, shrink: scale_times, known };
        let source = Told { inner: Hashed::new(file.take(bytes.saturating_add(1))), progress };
        let (parsed, source) = read_ahead(source, BUFFERS, |reader| Document::stream(name, reader, &stream));
        let digest = source?.inner.finish();
        if digest.bytes == bytes { Ok((digest, parsed)) } else { Err(FileError::Changed) }
    });
    let (digest, content) = match read {
        Ok((digest, parsed)) => (Ok(digest), integrity::parsed(name, parsed, &mut recorder)),
        Err(error) => failed(error),
    };
    if let Ok(document) = &content {
        known.add_all(document.root());
        // Of its strings alone, and so without lines of the file.
        unredacted::check_part(name, &compact(&without_floats(document.root())), &|_| None, &mut recorder);
    }
    (digest, Streamed { name: name.to_owned(), content: StreamedContent::Document(content), recorder })
}

fn samples(folder: &Folder, options: &Options, progress: Progress<'_>) -> (Digested, Streamed) {
    let mut recorder = Recorder::new(Family::Integrity, options.tolerance);
    let read = folder.open(files::SAMPLES, MAX_STREAMED_BYTES).and_then(|(file, bytes)| {
        let (digest, runs) = SampleRuns::read(&mut &file, bytes, progress)?;
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
    (digest, Streamed { name: files::SAMPLES.to_owned(), content: StreamedContent::Samples(content), recorder })
}

/// Buffers of a document that is parsed while it is read: small, as they count among what a large package takes.
const BUFFERS: Buffers = Buffers { bytes: 256 << 10, count: 6 };

/// Tells how many bytes were read.
struct Told<'p, R> {
    inner: R,
    progress: Progress<'p>,
}

impl<R: Read> Read for Told<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(into)?;
        (self.progress)(count as u64);
        Ok(count)
    }
}

fn failed<T>(error: FileError) -> (Digested, Content<T>) {
    let reason = error.to_string();
    (Err(error), Err(reason))
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
