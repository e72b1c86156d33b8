//! What in a package's texts looks as if it should not have been published. The rules are those of `recount seal --redact`
//! that hold on every machine; what was found is shown masked, since a report may be more public than the package.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::evidence::Content;
use super::{Code, Family, Place, Recorder};
use crate::package::folder::Folder;
use crate::package::json::{Document, Json};
use crate::package::limits::{MAX_BINARY_BYTES, MAX_PARSED_BYTES};
use crate::package::name::check_name;
use crate::package::private::{Hit, Legible, Places, Reading, Rules, is_binary, legible};

/// Places of one file that are looked up; the others are counted.
const LOCATED: usize = 1000;

/// Looks through the declared files and their names: those that were read, and the others one at a time. What is no text in
/// UTF-8 is searched for the letters that can be read in it. Files that are too large are not searched, and a note says so.
pub(super) fn check(
    folder: &Folder,
    declared: &[String],
    contents: &BTreeMap<String, Content<Vec<u8>>>,
    recorder: &mut Recorder,
) {
    let names: Vec<&String> = declared.iter().filter(|name| check_name(name).is_ok()).collect();
    let rules = Rules::general_for(names.len());
    let tolerance = recorder.tolerance();
    let searched: Vec<(Recorder, bool)> = names
        .into_par_iter()
        .map(|name| {
            let mut recorder = Recorder::new(Family::Integrity, tolerance);
            let is_passed_over = check_file(folder, name, contents.get(name), &rules, &mut recorder);
            (recorder, is_passed_over)
        })
        .collect();
    let mut tensors = 0;
    for (found, is_passed_over) in searched {
        recorder.absorb(found);
        tensors += usize::from(is_passed_over);
    }
    if tensors > 0 {
        let limit = MAX_BINARY_BYTES >> 20;
        recorder.note(format!("not searched for what is private: {tensors} files above {limit} MiB that are no text"));
    }
}

/// Looks through one file and its name; says whether it is a large one that is no text, and was passed over.
fn check_file(
    folder: &Folder,
    name: &str,
    content: Option<&Content<Vec<u8>>>,
    rules: &Rules,
    recorder: &mut Recorder,
) -> bool {
    check_file_name(name, rules, recorder);
    match content {
        Some(Ok(bytes)) => check_bytes(name, bytes, rules, recorder),
        Some(Err(_)) => {}
        None => match read(folder, name) {
            Some(Read::Bytes(bytes)) => check_bytes(name, &bytes, rules, recorder),
            Some(Read::LargeText) => {
                recorder.note(format!("{name} is too large to be searched for what is private"));
            }
            Some(Read::LargeBinary) => return true,
            None => {}
        },
    }
    false
}

enum Read {
    Bytes(Vec<u8>),
    LargeText,
    LargeBinary,
}

/// A file that no other check reads; `None` for one that cannot be read, which others report.
fn read(folder: &Folder, name: &str) -> Option<Read> {
    use std::io::Read as _;
    let (file, bytes) = folder.open(name, u64::MAX).ok()?;
    let mut beginning = Vec::new();
    file.take(8 << 10).read_to_end(&mut beginning).ok()?;
    match is_binary(&beginning) {
        // The beginning of a tensor says how it lies in memory; the rest is numbers.
        true if name.ends_with(".npy") => Some(Read::Bytes(beginning)),
        true if bytes > MAX_BINARY_BYTES => Some(Read::LargeBinary),
        false if bytes > MAX_PARSED_BYTES => Some(Read::LargeText),
        _ => folder.read(name, MAX_PARSED_BYTES).ok().map(Read::Bytes),
    }
}

fn check_file_name(name: &str, rules: &Rules, recorder: &mut Recorder) {
    for hit in rules.scan_name(name) {
        let found = format_args!("{} in the name of the file: {}", hit.rule, hit.masked);
        recorder.report(Code::Unredacted, name, Place::whole_file(), "a name without it", found);
    }
}

fn check_bytes(name: &str, bytes: &[u8], rules: &Rules, recorder: &mut Recorder) {
    let legible = legible(bytes);
    let text = legible.letters();
    let hits = rules.scan(text, Reading::of(name, text)).hits;
    if hits.is_empty() {
        return;
    }
    if matches!(legible, Legible::Lossy(_)) {
        for hit in hits {
            let found = format_args!("{} in bytes that are no UTF-8 text: {}", hit.rule, hit.masked);
            recorder.report(Code::Unredacted, name, Place::whole_file(), &hit.placeholder, found);
        }
        return;
    }
    let document = name.ends_with(".json").then(|| Document::parse(name, text.to_owned()).ok()).flatten();
    let pointers = document.as_ref().map(|document| pointers(document, &hits)).unwrap_or_default();
    let mut places = Places::of(text);
    for (at, hit) in hits.iter().enumerate() {
        let mut place = Place::whole_file();
        if at < LOCATED {
            let (line, column) = places.place(hit.offset);
            place = Place { pointer: pointers.get(&hit.offset).cloned(), ..Place::text(line, column) };
        }
        recorder.report(Code::Unredacted, name, place, &hit.placeholder, format_args!("{}: {}", hit.rule, hit.masked));
    }
}

/// Looks through what was taken from a file that is too large to be kept; `line_of` gives the line that a line of it was
/// taken from.
pub(super) fn check_part(name: &str, text: &str, line_of: &dyn Fn(usize) -> Option<usize>, recorder: &mut Recorder) {
    let mut part = Recorder::new(Family::Integrity, recorder.tolerance());
    check_bytes(name, text.as_bytes(), &Rules::general(), &mut part);
    part.move_places(&mut |place| (place.line, place.column) = (place.line.and_then(line_of), None));
    recorder.absorb(part);
}

/// The pointer of the value at, or named by, each place.
fn pointers(document: &Document, hits: &[Hit]) -> BTreeMap<usize, String> {
    let offsets = document.offsets();
    let mut wanted: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for hit in hits.iter().take(LOCATED) {
        // A member's name stands right before its value.
        wanted.entry(offsets.partition_point(|&offset| offset < hit.offset)).or_default().push(hit.offset);
    }
    let mut found = BTreeMap::new();
    each_value(document.root(), &mut 0, &mut |at, value| {
        for offset in wanted.get(&at).into_iter().flatten() {
            let pointer = document.pointer_of(value).unwrap_or_default();
            found.insert(*offset, pointer.clone());
        }
    });
    found
}

/// All values with their number, in the order of the text.
fn each_value(value: &Json, at: &mut usize, take: &mut dyn FnMut(usize, &Json)) {
    take(*at, value);
    *at += 1;
    match value {
        Json::Array(items) => items.iter().for_each(|item| each_value(item, at, take)),
        Json::Object(members) => members.iter().for_each(|(_, member)| each_value(member, at, take)),
        _ => {}
    }
}
