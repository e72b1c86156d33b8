//! From a value's address in memory to its JSON pointer.
//!
//! The children of an array or object lie side by side, so one entry for each of those says for every value what it is
//! a child of and the how-manieth. No pointer is written before it is asked for.

use super::{Json, pointer_token};
use crate::package::limits::MAX_POINTER_BYTES;

/// Which memory holds the children of which value; sorted.
#[derive(Debug)]
pub(super) struct Addresses {
    holders: Vec<Holder>,
}

#[derive(Debug)]
struct Holder {
    /// Where the children begin.
    first: usize,
    /// Where they end.
    end: usize,
    /// The array or object itself; 0 is the document's root, which may be moved.
    holder: usize,
}

const ROOT: usize = 0;

impl Addresses {
    pub(super) fn of(root: &Json) -> Self {
        let mut holders = Vec::new();
        collect(root, ROOT, &mut holders);
        holders.sort_unstable_by_key(|holder| holder.first);
        holders.shrink_to_fit();
        Self { holders }
    }

    /// The pointer of `value`, a part of `root`. Where it would be too long to be shown, that of the innermost value around
    /// it whose pointer is not. `None` for a value of another document.
    pub(super) fn pointer(&self, root: &Json, value: &Json) -> Option<String> {
        let mut at = address(value);
        if at == address(root) {
            return Some(String::new());
        }
        // From the value outwards, then back along the same way.
        let mut way = Vec::new();
        while at != ROOT {
            let next = self.holders.partition_point(|holder| holder.first <= at);
            let holder = self.holders[..next].last().filter(|holder| at < holder.end)?;
            way.push(at - holder.first);
            at = holder.holder;
        }
        let mut pointer = String::new();
        let mut around = root;
        for offset in way.into_iter().rev() {
            let length = pointer.len();
            match around {
                Json::Array(items) => {
                    let index = offset / size_of::<Json>();
                    around = items.get(index)?;
                    pointer.push_str(&format!("/{index}"));
                }
                Json::Object(members) => {
                    let (name, member) = members.get(offset / size_of::<(String, Json)>())?;
                    around = member;
                    if name.len() > MAX_POINTER_BYTES {
                        break;
                    }
                    pointer.push('/');
                    pointer.push_str(&pointer_token(name));
                }
                _ => return None,
            }
            if pointer.len() > MAX_POINTER_BYTES {
                pointer.truncate(length);
                break;
            }
        }
        Some(pointer)
    }
}

fn collect(value: &Json, holder: usize, holders: &mut Vec<Holder>) {
    let (first, bytes) = match value {
        Json::Array(items) => (items.as_ptr().addr(), size_of_val(items.as_slice())),
        Json::Object(members) => (members.as_ptr().addr(), size_of_val(members.as_slice())),
        _ => return,
    };
    if bytes > 0 {
        holders.push(Holder { first, end: first + bytes, holder });
    }
    match value {
        Json::Array(items) => items.iter().for_each(|item| collect(item, address(item), holders)),
        Json::Object(members) => members.iter().for_each(|(_, member)| collect(member, address(member), holders)),
        _ => {}
    }
}

fn address(value: &Json) -> usize {
    std::ptr::from_ref(value).addr()
}
