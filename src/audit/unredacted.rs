//! What in a package's texts looks as if it should not have been published. The rules are those of `recount seal --redact`
//! that hold on every machine; what was found is shown masked, since a report may be more public than the package.

use std::collections::BTreeMap;

use super::evidence::Content;
use super::{Code, Family, Place, Recorder};
use crate::package::folder::Folder;
use crate::package::json::{Document, Json};
use crate::package::limits::MAX_PARSED_BYTES;
use crate::package::name::check_name;
use crate::package::private::{Hit, Places, Rules};

/// Places of one file that are looked up; the others are counted.
const LOCATED: usize = 1000;

/// Looks through the declared texts: those that were read, and the others one at a time. Files that are too large to be
/// parsed are not searched, and a note says so.
pub(super) fn check(
    folder: &Folder,
    declared: &[String],
    contents: &BTreeMap<String, Content<Vec<u8>>>,
    recorder: &mut Recorder,
) {
    let rules = Rules::general();
    for name in declared.iter().filter(|name| check_name(name).is_ok()) {
        match contents.get(name) {
            Some(Ok(bytes)) => check_bytes(name, bytes, &rules, recorder),
            Some(Err(_)) => {}
            None => match read(folder, name) {
                Some(Ok(bytes)) => check_bytes(name, &bytes, &rules, recorder),
                Some(Err(())) => recorder.note(format!("{name} is too large to be searched for what is private")),
                None => {}
            },
        }
    }
}

/// A text that no other check reads; `None` for other files, an error for one that is too large.
fn read(folder: &Folder, name: &str) -> Option<Result<Vec<u8>, ()>> {
    use std::io::Read;
    let (file, bytes) = folder.open(name, u64::MAX).ok()?;
    let mut beginning = Vec::new();
    file.take(8 << 10).read_to_end(&mut beginning).ok()?;
    match beginning.contains(&0) {
        true => None,
        false if bytes > MAX_PARSED_BYTES => Some(Err(())),
        false => folder.read(name, MAX_PARSED_BYTES).ok().map(Ok),
    }
}

fn check_bytes(name: &str, bytes: &[u8], rules: &Rules, recorder: &mut Recorder) {
    let Some(text) = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0')) else { return };
    // As plain text first: nearly every text holds nothing, and then it need not be parsed.
    let is_json = name.ends_with(".json");
    let mut hits = rules.scan(text, is_json).hits;
    if hits.is_empty() {
        return;
    }
    let document = is_json.then(|| Document::parse(name, text.to_owned()).ok()).flatten();
    if is_json && document.is_none() {
        hits = rules.scan(text, false).hits;
    }
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
