//! Typed access to a document's members that writes down what is missing or of the wrong type.

use std::cell::RefCell;

use crate::package::json::{Document, Json, Series, canonical, pointer_token};

/// A member that is missing or not of the type that the format gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where the member is, or should be.
    pub pointer: String,
    /// What the format asks for.
    pub expected: String,
    /// What there is.
    pub found: String,
}

/// Reads members of one document.
#[derive(Debug)]
pub struct Reader<'d> {
    document: &'d Document,
    problems: RefCell<Vec<Problem>>,
}

impl<'d> Reader<'d> {
    /// A reader over `document` without problems so far.
    pub fn new(document: &'d Document) -> Self {
        Self { document, problems: RefCell::default() }
    }

    /// The problems seen, in order.
    pub fn into_problems(self) -> Vec<Problem> {
        self.problems.into_inner()
    }

    /// Member `name` of an object.
    pub fn member(&self, at: &'d Json, name: &str) -> Option<&'d Json> {
        let member = at.get(name);
        if member.is_none() {
            self.problem(at, Some(name), "a value", "nothing");
        }
        member
    }

    /// A text member.
    pub fn text(&self, at: &'d Json, name: &str) -> Option<&'d str> {
        self.typed(at, name, "a string", Json::as_str)
    }

    /// A member that is a non-negative integer.
    pub fn count(&self, at: &'d Json, name: &str) -> Option<u64> {
        self.typed(at, name, "a non-negative integer", Json::as_u64)
    }

    /// A member that is a number.
    pub fn number(&self, at: &'d Json, name: &str) -> Option<f64> {
        self.typed(at, name, "a number", Json::as_f64)
    }

    /// A member that is a flag.
    pub fn flag(&self, at: &'d Json, name: &str) -> Option<bool> {
        self.typed(at, name, "a flag", Json::as_bool)
    }

    /// A member that is an array.
    pub fn array(&self, at: &'d Json, name: &str) -> Option<&'d [Json]> {
        self.typed(at, name, "an array", Json::as_array)
    }

    /// A member that is an array of numbers.
    pub fn numbers(&self, at: &'d Json, name: &str) -> Option<Series<'d>> {
        let series = self.typed(at, name, "an array", Series::of)?;
        if !series.is_numbers() {
            self.problem(at, Some(name), "an array of numbers", "an array with other items");
            return None;
        }
        Some(series)
    }

    /// A member that is an array of non-negative integers of a given length.
    pub fn counts<const N: usize>(&self, at: &'d Json, name: &str) -> Option<[u64; N]> {
        let items = self.array(at, name)?;
        let counts: Vec<u64> = items.iter().filter_map(Json::as_u64).collect();
        let exact = counts.try_into().ok();
        if exact.is_none() || items.len() != N {
            self.problem(at, Some(name), &format!("{N} non-negative integers"), &canonical(&items.to_vec().into()));
            return None;
        }
        exact
    }

    /// Writes down that a value (or its member `name`) is not what it should be.
    pub fn problem(&self, at: &'d Json, name: Option<&str>, expected: &str, found: &str) {
        let mut pointer = self.document.pointer_of(at).unwrap_or_default();
        if let Some(name) = name {
            pointer.push('/');
            pointer.push_str(&pointer_token(name));
        }
        self.problems.borrow_mut().push(Problem { pointer, expected: expected.to_owned(), found: found.to_owned() });
    }

    fn typed<T>(&self, at: &'d Json, name: &str, expected: &str, read: impl Fn(&'d Json) -> Option<T>) -> Option<T> {
        let member = self.member(at, name)?;
        let value = read(member);
        if value.is_none() {
            self.problem(at, Some(name), expected, member.kind());
        }
        value
    }
}
