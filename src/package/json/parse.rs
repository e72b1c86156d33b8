//! From text to [`Json`], refusing what a strict reader must.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::fmt;
use std::io;
use std::iter::Peekable;
use std::vec::IntoIter;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::address::Addresses;
use super::doubtful::Doubtful;
use super::guard::Guard;
use super::{Floats, Json, KnownFloats, locate, pointer_token};
use crate::package::limits::{MAX_JSON_FLOATS, MAX_JSON_VALUES};

/// Why a text is not acceptable JSON, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// The text breaks the grammar, is nested too deep, or holds a number beyond binary64.
    #[error("line {line}, column {column}: {reason}")]
    Syntax {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong, in words.
        reason: String,
    },
    /// A member name stands twice in one object.
    #[error("line {line}, column {column}: the member {pointer} appears twice")]
    DuplicateKey {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// Pointer of the member that is repeated.
        pointer: String,
    },
    /// An integer needs more than 64 bits.
    #[error("line {line}, column {column}: the integer at {pointer} does not fit 64 bits")]
    LargeInteger {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// Pointer of the integer.
        pointer: String,
    },
}

impl JsonError {
    /// Line and column of the error, both from 1.
    pub fn position(&self) -> (usize, usize) {
        match self {
            JsonError::Syntax { line, column, .. }
            | JsonError::DuplicateKey { line, column, .. }
            | JsonError::LargeInteger { line, column, .. } => (*line, *column),
        }
    }
}

/// 2^63: from here on a whole float may have been an integer literal that serde_json rounded.
const ROUNDED_INTEGERS_FROM: f64 = 9_223_372_036_854_775_808.0;

/// What a document that is read in a stream is made of, beside the reader.
#[derive(Debug)]
pub struct StreamOptions<'o> {
    /// Arrays of nothing but floats that have at least so many are packed, where they are a member of such a name.
    pub packed_from: usize,
    /// Whether members of a name are long lists of measurements. What reads others need not expect them packed.
    pub is_long: fn(&str) -> bool,
    /// Called with each object that was read: may put a list of floats in terms of another.
    pub shrink: fn(&mut [(String, Json)]),
    /// Lists that other files of the package have.
    pub known: &'o KnownFloats,
}

pub(super) fn stream(reader: &mut dyn io::Read, options: &StreamOptions<'_>) -> Result<Json, JsonError> {
    let state = State { stream: Some(options), ..State::default() };
    let mut guard = Guard::new(reader);
    let mut reader = serde_json::Deserializer::from_reader(io::BufReader::with_capacity(BUFFER_BYTES, &mut guard));
    let tree = Seed(&state).deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    let root = tree.map_err(|error| {
        // Of the byte that was read last; 0 where that ended a line.
        let (line, column) = (error.line().max(1), error.column().max(1));
        state.error(&error, (line, column))
    })?;
    drop(reader);
    match guard.doubtful() {
        None => Ok(root),
        Some(Doubtful { position: (line, column), is_zero }) => {
            let reason = match is_zero {
                true => "the integer -0, which a file as large as this one may not have; write 0 or -0.0",
                false => "the integer does not fit 64 bits",
            };
            Err(JsonError::Syntax { line, column, reason: reason.to_owned() })
        }
    }
}

/// Bytes that are read at a time in a stream.
const BUFFER_BYTES: usize = 256 << 10;

pub(super) fn parse(text: &str) -> Result<Json, JsonError> {
    let state = State::default();
    let mut reader = serde_json::Deserializer::from_str(text);
    let tree = Seed(&state).deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    let mut root = match tree {
        Ok(root) => root,
        Err(error) => return Err(state.error(&error, position(text, &error))),
    };
    if state.may_be_rounded.get()
        && let Some((offset, before)) = locate::large_integer(text)
    {
        let (line, column) = super::line_column(text, offset);
        let integer = nth(&root, &mut { before });
        let pointer = integer.and_then(|integer| Addresses::of(&root).pointer(&root, integer)).unwrap_or_default();
        return Err(JsonError::LargeInteger { line, column, pointer });
    }
    if state.negative_zero.get() {
        let mut zeros = locate::negative_zeros(text).into_iter().peekable();
        make_integers(&mut root, &mut 0, &mut zeros);
    }
    Ok(root)
}

/// Makes integers of the values with these numbers in the order of the text: `-0`, which `serde_json` reads as a float.
fn make_integers(value: &mut Json, at: &mut usize, zeros: &mut Peekable<IntoIter<usize>>) {
    if zeros.next_if_eq(at).is_some() {
        *value = Json::Int(0);
    }
    *at += 1;
    match value {
        Json::Array(items) => items.iter_mut().for_each(|item| make_integers(item, at, zeros)),
        Json::Object(members) => members.iter_mut().for_each(|(_, member)| make_integers(member, at, zeros)),
        _ => {}
    }
}

/// The value that so many others precede in the order of the text.
fn nth<'j>(value: &'j Json, before: &mut usize) -> Option<&'j Json> {
    if *before == 0 {
        return Some(value);
    }
    *before -= 1;
    match value {
        Json::Array(items) => items.iter().find_map(|item| nth(item, before)),
        Json::Object(members) => members.iter().find_map(|(_, member)| nth(member, before)),
        _ => None,
    }
}

/// Where `serde_json` stopped: it counts bytes, and 0 before the first byte of a line; people count characters from 1.
fn position(text: &str, error: &serde_json::Error) -> (usize, usize) {
    let lines_before = error.line().saturating_sub(1);
    let start: usize = text.split_inclusive('\n').take(lines_before).map(str::len).sum();
    // Before the first byte of a line it has read the line break last; that is what is wrong, unless the text ends there.
    let is_break = error.column() == 0 && !error.is_eof();
    let offset = if is_break { start.saturating_sub(1) } else { start + error.column().saturating_sub(1) };
    super::line_column(text, offset)
}

/// What the visitors share: where they are, and what they saw on the way.
#[derive(Default)]
struct State<'o> {
    stream: Option<&'o StreamOptions<'o>>,
    path: RefCell<Vec<Step>>,
    duplicate: RefCell<Option<String>>,
    may_be_rounded: Cell<bool>,
    negative_zero: Cell<bool>,
    values: Cell<usize>,
    /// Floats among the values that are packed.
    packed: Cell<usize>,
}

enum Step {
    Name(String),
    Index(usize),
}

impl State<'_> {
    fn error(&self, error: &serde_json::Error, (line, column): (usize, usize)) -> JsonError {
        if let Some(pointer) = self.duplicate.take() {
            return JsonError::DuplicateKey { line, column, pointer };
        }
        let message = error.to_string();
        let reason = message.split(" at line ").next().unwrap_or(&message).to_owned();
        JsonError::Syntax { line, column, reason }
    }

    /// Counts values that take the memory of a tree's.
    fn count<E: de::Error>(&self, more: usize) -> Result<(), E> {
        let values = self.values.get() + more;
        if values > MAX_JSON_VALUES {
            return Err(de::Error::custom(format_args!("more than {MAX_JSON_VALUES} values")));
        }
        self.values.set(values);
        Ok(())
    }

    /// Counts a float that is going to be packed.
    fn pack<E: de::Error>(&self) -> Result<(), E> {
        self.values.set(self.values.get().saturating_sub(1));
        self.packed.set(self.packed.get() + 1);
        if self.packed.get() > MAX_JSON_FLOATS {
            return Err(de::Error::custom(format_args!("more than {MAX_JSON_FLOATS} floats in long lists")));
        }
        Ok(())
    }

    /// Whether the value that is being read is a list of measurements by its name.
    fn is_long(&self, options: &StreamOptions<'_>) -> bool {
        matches!(self.path.borrow().last(), Some(Step::Name(name)) if (options.is_long)(name))
    }

    /// Floats that are not packed after all.
    fn unpacked<E: de::Error>(&self, floats: Vec<f64>) -> Result<Json, E> {
        self.packed.set(self.packed.get().saturating_sub(floats.len()));
        self.count(floats.len())?;
        Ok(Json::Array(floats.into_iter().map(Json::Float).collect()))
    }

    /// The array of these floats, packed if it is long and read in a stream.
    fn floats<E: de::Error>(&self, floats: Vec<f64>) -> Result<Json, E> {
        match self.stream {
            Some(options) if floats.len() >= options.packed_from && self.is_long(options) => {
                Ok(Json::Floats(options.known.shared(Floats::pack(floats))))
            }
            _ => self.unpacked(floats),
        }
    }

    fn pointer(&self, last: &str) -> String {
        let mut pointer = String::new();
        for step in self.path.borrow().iter() {
            pointer.push('/');
            match step {
                Step::Name(name) => pointer.push_str(&pointer_token(name)),
                Step::Index(at) => pointer.push_str(&at.to_string()),
            }
        }
        format!("{pointer}/{}", pointer_token(last))
    }
}

#[derive(Clone, Copy)]
struct Seed<'s>(&'s State<'s>);

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        self.0.count(1)?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        if value.abs() >= ROUNDED_INTEGERS_FROM {
            self.0.may_be_rounded.set(true);
        }
        if value == 0.0 && value.is_sign_negative() {
            self.0.negative_zero.set(true);
        }
        Ok(Json::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::Str(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut array = Vec::new();
        // Floats at the beginning, or nothing but floats: never as values, where they may be packed.
        let mut floats = Vec::new();
        let is_stream = self.0.stream.is_some();
        loop {
            self.0.path.borrow_mut().push(Step::Index(array.len() + floats.len()));
            let Some(item) = items.next_element_seed(self)? else { break };
            self.0.path.borrow_mut().pop();
            match item {
                Json::Float(value) if is_stream && array.is_empty() => {
                    self.0.pack()?;
                    floats.push(value);
                }
                item => {
                    if let Json::Array(first) = self.0.unpacked(std::mem::take(&mut floats))? {
                        array.extend(first);
                    }
                    array.push(item);
                }
            }
        }
        self.0.path.borrow_mut().pop();
        if floats.is_empty() { Ok(Json::Array(array)) } else { self.0.floats(floats) }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut members: Vec<(String, Json)> = Vec::new();
        let mut seen = HashSet::new();
        while let Some(name) = entries.next_key::<String>()? {
            // A scan is quicker than hashing for the small objects that make up nearly every file.
            let repeated = if members.len() < 16 {
                members.iter().any(|(earlier, _)| *earlier == name)
            } else {
                if seen.is_empty() {
                    seen.extend(members.iter().map(|(earlier, _)| earlier.clone()));
                }
                !seen.insert(name.clone())
            };
            if repeated {
                self.0.duplicate.replace(Some(self.0.pointer(&name)));
                return Err(de::Error::custom("duplicate member"));
            }
            self.0.path.borrow_mut().push(Step::Name(name));
            let value = entries.next_value_seed(self)?;
            if let Some(Step::Name(name)) = self.0.path.borrow_mut().pop() {
                members.push((name, value));
            }
        }
        if let Some(options) = self.0.stream {
            (options.shrink)(&mut members);
        }
        Ok(Json::Object(members))
    }
}
