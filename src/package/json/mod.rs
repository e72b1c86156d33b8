//! Strict JSON: a tree that keeps member order and the difference between integers and floats, and that remembers
//! where in the file each value stands.
//!
//! `serde_json` does the reading (correctly rounded floats, a nesting limit, positions in syntax errors). Refused on top
//! of the grammar: a member name twice in one object, and an integer that does not fit 64 bits, which would silently
//! become a rounded float.

mod address;
mod canonical;
mod doubtful;
mod floats;
mod guard;
mod locate;
mod members;
mod parse;
mod series;

use address::Addresses;
pub use canonical::{canonical, compact, indented, python_float, whole_number};
pub use floats::{Floats, KnownFloats};
pub use members::Members;
pub use parse::{JsonError, StreamOptions};
pub use series::Series;

use std::collections::HashMap;
use std::io;
use std::sync::OnceLock;

/// A JSON value. Integers and floats are different things here, as they are to the producer of the published files.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer literal within `i64`.
    Int(i64),
    /// An integer literal above `i64::MAX`.
    Large(u64),
    /// A literal with a fraction or an exponent, rounded to the nearest binary64.
    Float(f64),
    /// A string, unescaped.
    Str(String),
    /// An array.
    Array(Vec<Json>),
    /// A long array of nothing but floats, where a file is read in a stream; see [`Document::stream`].
    Floats(Floats),
    /// An object, members in the order of the file.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// The member `name` of an object; `None` for other values and absent members.
    pub fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The value behind a path of member names, one after the other.
    pub fn path(&self, names: &[&str]) -> Option<&Json> {
        names.iter().try_fold(self, |value, name| value.get(name))
    }

    /// The value at a JSON pointer (RFC 6901); `""` is the value itself.
    pub fn pointer(&self, pointer: &str) -> Option<&Json> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(self, |value, token| match value {
            Json::Array(items) => items.get(usize::try_from(whole_number(token)?).ok()?),
            _ => value.get(&token.replace("~1", "/").replace("~0", "~")),
        })
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a flag.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Json::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    /// A number as binary64; integers above 2^53 are rounded.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Json::Int(value) => Some(*value as f64),
            Json::Large(value) => Some(*value as f64),
            Json::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// A non-negative integer.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Json::Int(value) => u64::try_from(*value).ok(),
            Json::Large(value) => Some(*value),
            _ => None,
        }
    }

    /// The items of an array; `None` for [`Json::Floats`], which [`Series`] reads.
    pub fn as_array(&self) -> Option<&[Json]> {
        match self {
            Json::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The members of an object.
    pub fn as_object(&self) -> Option<&[(String, Json)]> {
        match self {
            Json::Object(members) => Some(members),
            _ => None,
        }
    }

    /// What kind of value this is, as a person would say it.
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "a flag",
            Json::Int(_) | Json::Large(_) => "an integer",
            Json::Float(_) => "a float",
            Json::Str(_) => "a string",
            Json::Array(_) | Json::Floats(_) => "an array",
            Json::Object(_) => "an object",
        }
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Json::Str(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Json::Str(text)
    }
}

impl From<bool> for Json {
    fn from(flag: bool) -> Self {
        Json::Bool(flag)
    }
}

impl From<f64> for Json {
    fn from(value: f64) -> Self {
        Json::Float(value)
    }
}

impl From<u64> for Json {
    fn from(value: u64) -> Self {
        i64::try_from(value).map_or(Json::Large(value), Json::Int)
    }
}

impl From<usize> for Json {
    fn from(value: usize) -> Self {
        Json::from(value as u64)
    }
}

impl<T: Into<Json>> From<Vec<T>> for Json {
    fn from(items: Vec<T>) -> Self {
        Json::Array(items.into_iter().map(Into::into).collect())
    }
}

/// An object from `(name, value)` pairs, in that order.
pub fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// A parsed JSON file of a package.
///
/// Values are handed around as plain `&Json`; [`Document::pointer_of`] finds out where one stands by its address, so that
/// no check has to carry paths around.
#[derive(Debug)]
pub struct Document {
    name: String,
    text: String,
    root: Json,
    /// Made when the first finding asks.
    addresses: OnceLock<Addresses>,
}

impl Document {
    /// Parses the text of the file `name` (relative to the package, with `/`).
    ///
    /// # Errors
    /// Syntax, nesting beyond the limit, a duplicate member, a number that binary64 or 64 bits cannot hold, more values
    /// than the limit.
    pub fn parse(name: &str, text: String) -> Result<Self, JsonError> {
        let root = parse::parse(&text)?;
        Ok(Self { name: name.to_owned(), text, root, addresses: OnceLock::new() })
    }

    /// Parses the file `name` while it is read, without its text being kept: for files that are large because of long lists
    /// of floats, which take 4 or 8 bytes each, and none at all where `options` finds them in another list. What else the
    /// document says is as after [`Document::parse`], but positions are not known and `text` is empty.
    ///
    /// # Errors
    /// As [`Document::parse`]; what the reader reports, in words; text that is not UTF-8; strings or numbers beyond the limits;
    /// and the integer `-0`, which is 0 in a text that is kept.
    pub fn stream(name: &str, reader: &mut dyn io::Read, options: &StreamOptions<'_>) -> Result<Self, JsonError> {
        let root = parse::stream(reader, options)?;
        Ok(Self { name: name.to_owned(), text: String::new(), root, addresses: OnceLock::new() })
    }

    /// The file's name within its package.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file's text; empty where it was not kept.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The top value.
    pub fn root(&self) -> &Json {
        &self.root
    }

    /// The JSON pointer of a value of this very document (found by address, not by equality). Where it is longer than
    /// [`MAX_POINTER_BYTES`](crate::package::limits::MAX_POINTER_BYTES), that of the innermost value around it whose pointer
    /// is not.
    pub fn pointer_of(&self, value: &Json) -> Option<String> {
        self.addresses.get_or_init(|| Addresses::of(&self.root)).pointer(&self.root, value)
    }

    /// The JSON pointer of one item of a list of this document, as [`Document::pointer_of`] gives it.
    pub fn pointer_of_item(&self, series: Series<'_>, index: usize) -> Option<String> {
        match series.at().as_array().and_then(|items| items.get(index)) {
            Some(item) => self.pointer_of(item),
            None => self.pointer_of(series.at()).map(|list| format!("{list}/{index}")),
        }
    }

    /// Where each value begins in the text, in the order of the text: an array or object before what it holds.
    pub fn offsets(&self) -> Vec<usize> {
        locate::offsets(&self.text)
    }

    /// Line and column (both from 1, columns in characters) of the value at each pointer or, where a member is missing, of
    /// what lacks it. One walk over the text; pointers that lead nowhere are left out, and all where there is no text.
    pub fn positions<'p>(&self, pointers: impl Iterator<Item = &'p str> + Clone) -> HashMap<&'p str, (usize, usize)> {
        if self.text.is_empty() {
            return HashMap::new();
        }
        let with_parents = pointers.clone().flat_map(|pointer| [Some(pointer), parent(pointer)]).flatten();
        let mut positions = locate::positions(&self.text, with_parents);
        for pointer in pointers {
            if let Some(&position) = parent(pointer).and_then(|parent| positions.get(parent)) {
                positions.entry(pointer).or_insert(position);
            }
        }
        positions
    }

    /// The position of one value, as [`Document::positions`] gives it.
    pub fn position(&self, pointer: &str) -> Option<(usize, usize)> {
        self.positions(std::iter::once(pointer)).remove(pointer)
    }
}

fn parent(pointer: &str) -> Option<&str> {
    pointer.rfind('/').map(|at| &pointer[..at])
}

/// Line and column (both from 1, columns in characters) of a byte offset; an offset past the end is the end.
pub fn line_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
    let column = 1 + String::from_utf8_lossy(&before[line_start..]).chars().count();
    (line, column)
}

/// `name` as one reference token of a JSON pointer.
pub fn pointer_token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
