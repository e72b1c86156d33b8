//! An array's items, whether they are packed or not.

use std::borrow::Cow;

use super::Json;

/// An array of a document: values, or floats that were packed while the file was read.
#[derive(Debug, Clone, Copy)]
pub struct Series<'j>(&'j Json);

impl<'j> Series<'j> {
    /// The items of an array; `None` for other values.
    pub fn of(at: &'j Json) -> Option<Self> {
        matches!(at, Json::Array(_) | Json::Floats(_)).then_some(Self(at))
    }

    /// The array itself.
    pub fn at(self) -> &'j Json {
        self.0
    }

    /// Number of items.
    pub fn len(self) -> usize {
        match self.0 {
            Json::Array(items) => items.len(),
            Json::Floats(floats) => floats.len(),
            _ => 0,
        }
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// One item; `None` past the end.
    pub fn get(self, index: usize) -> Option<Cow<'j, Json>> {
        match self.0 {
            Json::Array(items) => items.get(index).map(Cow::Borrowed),
            Json::Floats(floats) => floats.get(index).map(|float| Cow::Owned(Json::Float(float))),
            _ => None,
        }
    }

    /// One item as a number; `None` past the end and for what is none.
    pub fn number(self, index: usize) -> Option<f64> {
        match self.0 {
            Json::Array(items) => items.get(index)?.as_f64(),
            Json::Floats(floats) => floats.get(index),
            _ => None,
        }
    }

    /// All items as numbers, NaN for those that are none.
    pub fn numbers(self) -> impl ExactSizeIterator<Item = f64> + Clone + 'j {
        (0..self.len()).map(move |index| self.number(index).unwrap_or(f64::NAN))
    }

    /// Whether every item is a number.
    pub fn is_numbers(self) -> bool {
        match self.0 {
            Json::Array(items) => items.iter().all(|item| item.as_f64().is_some()),
            _ => true,
        }
    }

    /// Whether an item is written as a float.
    pub fn is_float(self, index: usize) -> bool {
        match self.0 {
            Json::Array(items) => matches!(items.get(index), Some(Json::Float(_))),
            Json::Floats(floats) => index < floats.len(),
            _ => false,
        }
    }
}

impl PartialEq for Series<'_> {
    /// Equality of the numbers.
    fn eq(&self, other: &Self) -> bool {
        match (self.0, other.0) {
            (Json::Floats(left), Json::Floats(right)) => left == right,
            _ => self.len() == other.len() && self.numbers().eq(other.numbers()),
        }
    }
}
