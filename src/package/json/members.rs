//! Looking up many members of one object.

use std::collections::HashMap;

use super::Json;

/// Up to this many members a search is quicker than an index; nearly all objects are that small.
const SEARCHED_MEMBERS: usize = 32;

/// The members of an object, to be looked up one after the other. A package chooses how many there are, so that looking
/// for each of them with [`Json::get`] would let it choose a quadratic time.
#[derive(Debug)]
pub struct Members<'j> {
    object: &'j Json,
    index: Option<HashMap<&'j str, &'j Json>>,
}

impl<'j> Members<'j> {
    /// The members of `object`; none where it is another value.
    pub fn of(object: &'j Json) -> Self {
        let members = object.as_object().unwrap_or_default();
        let index = (members.len() > SEARCHED_MEMBERS)
            .then(|| members.iter().map(|(name, value)| (name.as_str(), value)).collect());
        Self { object, index }
    }

    /// The member `name`.
    pub fn get(&self, name: &str) -> Option<&'j Json> {
        match &self.index {
            Some(index) => index.get(name).copied(),
            None => self.object.get(name),
        }
    }
}
