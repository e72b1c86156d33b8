//! Members of the script's answer, which is input like any other: each is of its type, or an error names it.

use super::RouteError;
use crate::package::json::{Json, canonical, pointer_token};
use crate::package::name::check_name;
use crate::package::receipts::is_sha256;

/// How much of a wrong value an error shows.
const MAX_SHOWN: usize = 80;

/// An object of the answer and where it stands.
pub(super) struct Fields<'j> {
    pointer: String,
    at: &'j Json,
}

impl<'j> Fields<'j> {
    pub(super) fn top(at: &'j Json) -> Self {
        Self { pointer: String::new(), at }
    }

    /// An object within this one.
    pub(super) fn below(&self, name: &str) -> Result<Self, RouteError> {
        let at = self.want(name, "an object", |value| value.as_object().is_some())?;
        Ok(Self { pointer: self.pointer_of(name), at })
    }

    /// The objects of an array.
    pub(super) fn items(&self, name: &str) -> Result<Vec<Self>, RouteError> {
        let is_list =
            |value: &Json| value.as_array().is_some_and(|items| items.iter().all(|item| item.as_object().is_some()));
        let items = self.want(name, "an array of objects", is_list)?.as_array().unwrap_or_default();
        let pointer = self.pointer_of(name);
        Ok(items.iter().enumerate().map(|(at, item)| Self { pointer: format!("{pointer}/{at}"), at: item }).collect())
    }

    pub(super) fn text(&self, name: &str) -> Result<Json, RouteError> {
        self.want(name, "a string", |value| value.as_str().is_some()).cloned()
    }

    pub(super) fn text_or_null(&self, name: &str) -> Result<Json, RouteError> {
        self.want(name, "a string or null", |value| matches!(value, Json::Str(_) | Json::Null)).cloned()
    }

    pub(super) fn flag(&self, name: &str) -> Result<Json, RouteError> {
        self.want(name, "a flag", |value| value.as_bool().is_some()).cloned()
    }

    pub(super) fn count(&self, name: &str) -> Result<Json, RouteError> {
        self.want(name, "a non-negative integer", |value| value.as_u64().is_some()).cloned()
    }

    pub(super) fn count_or_null(&self, name: &str) -> Result<Json, RouteError> {
        let is_count = |value: &Json| matches!(value, Json::Null) || value.as_u64().is_some();
        self.want(name, "a non-negative integer or null", is_count).cloned()
    }

    /// A time, an error or a bound.
    pub(super) fn time(&self, name: &str) -> Result<Json, RouteError> {
        self.want(name, "a number that is not negative", is_time).cloned()
    }

    /// `{"samples": [...], "p50": ...}`
    pub(super) fn samples(&self) -> Result<Json, RouteError> {
        let is_list =
            |value: &Json| value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(is_time));
        let samples = self.want("samples", "an array of numbers that are not negative", is_list)?.clone();
        Ok(crate::package::json::object([("samples", samples), ("p50", self.time("p50")?)]))
    }

    /// Objects of integers by the names of what counts.
    pub(super) fn counters(&self, name: &str) -> Result<Json, RouteError> {
        let is_counts = |(_, value): &(String, Json)| {
            value.as_object().is_some_and(|counts| counts.iter().all(|(_, count)| count.as_u64().is_some()))
        };
        let are_counts = |value: &Json| value.as_object().is_some_and(|groups| groups.iter().all(is_counts));
        self.want(name, "objects of counts", are_counts).cloned()
    }

    /// The name of a file within the folder of the answer.
    pub(super) fn path(&self, name: &str) -> Result<&'j str, RouteError> {
        let is_name = |value: &Json| value.as_str().is_some_and(|path| check_name(path).is_ok());
        Ok(self.want(name, "a relative, normalised path", is_name)?.as_str().unwrap_or_default())
    }

    pub(super) fn sha256(&self, name: &str) -> Result<Json, RouteError> {
        self.want(name, "a SHA-256", |value| value.as_str().is_some_and(is_sha256)).cloned()
    }

    fn want(
        &self,
        name: &str,
        expected: &'static str,
        is_right: impl Fn(&Json) -> bool,
    ) -> Result<&'j Json, RouteError> {
        let found = self.at.get(name);
        found.filter(|value| is_right(value)).ok_or_else(|| RouteError::Member {
            pointer: self.pointer_of(name),
            expected,
            found: found.map_or_else(|| "nothing".to_owned(), show),
        })
    }

    fn pointer_of(&self, name: &str) -> String {
        format!("{}/{}", self.pointer, pointer_token(name))
    }
}

fn is_time(value: &Json) -> bool {
    value.as_f64().is_some_and(|time| time.is_finite() && time >= 0.0)
}

/// The beginning of a value.
fn show(value: &Json) -> String {
    canonical(value).chars().take(MAX_SHOWN).collect()
}
