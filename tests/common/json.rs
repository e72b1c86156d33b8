//! Edits on `recount`'s own JSON tree, which prints floats as the published files do.

use recount::package::json::{Document, Json};

/// An object from `"name": value` pairs; values are anything that becomes [`Json`].
macro_rules! obj {
    ($($name:literal : $value:expr),* $(,)?) => {
        recount::package::json::object([$(($name, recount::package::json::Json::from($value))),*])
    };
}

/// The value at a JSON pointer, to be changed.
#[track_caller]
pub(crate) fn at<'j>(root: &'j mut Json, pointer: &str) -> &'j mut Json {
    let mut value = root;
    for token in pointer.split('/').skip(1) {
        let name = token.replace("~1", "/").replace("~0", "~");
        let next = match value {
            Json::Array(items) => token.parse::<usize>().ok().and_then(|index| items.get_mut(index)),
            Json::Object(members) => members.iter_mut().find(|(key, _)| *key == name).map(|(_, member)| member),
            _ => None,
        };
        value = next.unwrap_or_else(|| panic!("nothing at {pointer} (from /{token} on)"));
    }
    value
}

/// Replaces what stands at a pointer.
#[track_caller]
pub(crate) fn set(root: &mut Json, pointer: &str, value: impl Into<Json>) {
    *at(root, pointer) = value.into();
}

/// Adds a member to the object at `pointer`.
#[track_caller]
pub(crate) fn add(root: &mut Json, pointer: &str, name: &str, value: impl Into<Json>) {
    match at(root, pointer) {
        Json::Object(members) => members.push((name.to_owned(), value.into())),
        other => panic!("{pointer} is {}, not an object", other.kind()),
    }
}

/// Removes the member or item at a pointer and gives it back.
#[track_caller]
pub(crate) fn take(root: &mut Json, pointer: &str) -> Json {
    let (parent, last) = pointer.rsplit_once('/').expect("a pointer to a member");
    match at(root, parent) {
        Json::Object(members) => {
            let index = members.iter().position(|(name, _)| name == last).expect("the member is there");
            members.remove(index).1
        }
        Json::Array(items) => items.remove(last.parse().expect("an index")),
        other => panic!("{parent} is {}", other.kind()),
    }
}

/// A copy of the value at a pointer.
#[track_caller]
pub(crate) fn copy(root: &Json, pointer: &str) -> Json {
    root.pointer(pointer).unwrap_or_else(|| panic!("nothing at {pointer}")).clone()
}

/// Multiplies the float at a pointer.
#[track_caller]
pub(crate) fn scale(root: &mut Json, pointer: &str, factor: f64) {
    match at(root, pointer) {
        Json::Float(value) => *value *= factor,
        other => panic!("{pointer} is {}, not a float", other.kind()),
    }
}

/// Adds to the integer at a pointer.
#[track_caller]
pub(crate) fn bump(root: &mut Json, pointer: &str, by: i64) {
    match at(root, pointer) {
        Json::Int(value) => *value += by,
        other => panic!("{pointer} is {}, not an integer", other.kind()),
    }
}

/// Changes the first hexadecimal digit of the hash at a pointer.
#[track_caller]
pub(crate) fn rehash(root: &mut Json, pointer: &str) {
    match at(root, pointer) {
        Json::Str(hash) => {
            let digit = if hash.starts_with('0') { "1" } else { "0" };
            hash.replace_range(..1, digit);
        }
        other => panic!("{pointer} is {}, not a hash", other.kind()),
    }
}

/// Parses a text that is known to be good.
#[track_caller]
pub(crate) fn parse(text: &str) -> Json {
    Document::parse("test.json", text.to_owned())
        .unwrap_or_else(|error| panic!("{error} in {text:.200}"))
        .root()
        .clone()
}

/// Every pointer of a tree, the root's first.
pub(crate) fn pointers(root: &Json) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut open = vec![(String::new(), root)];
    while let Some((pointer, value)) = open.pop() {
        let children: Vec<(String, &Json)> = match value {
            Json::Array(items) => {
                items.iter().enumerate().map(|(at, item)| (format!("{pointer}/{at}"), item)).collect()
            }
            Json::Object(members) => members
                .iter()
                .map(|(name, member)| (format!("{pointer}/{}", recount::package::json::pointer_token(name)), member))
                .collect(),
            _ => Vec::new(),
        };
        found.extend(children.iter().map(|(pointer, _)| pointer.clone()));
        open.extend(children);
    }
    found
}
