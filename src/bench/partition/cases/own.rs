//! Own cases from a file, and what is wrong with it.

use std::collections::HashMap;

use super::{CaseSpec, MAX_BLOCK, MAX_EXTENT, MAX_INPUT_BYTES};
use crate::package::json::{Document, Json, JsonError, canonical, pointer_token};
use crate::package::name::{check_name, portable_key};
use crate::package::partition::{Operation, Storage};

/// Why a list of own cases is refused.
#[derive(Debug, thiserror::Error)]
pub enum CasesError {
    /// Not UTF-8.
    #[error("{file}: expected UTF-8 text, found other bytes at offset {offset}; save it as UTF-8")]
    Encoding {
        /// The file as the user named it.
        file: String,
        /// The first byte that is none.
        offset: usize,
    },
    /// Not JSON.
    #[error("{file}: expected JSON in the form of cases.json, found an error at {source}")]
    Json {
        /// The file as the user named it.
        file: String,
        /// What and where.
        source: JsonError,
    },
    /// A value that no case can have.
    #[error("{file} at {pointer}: expected {expected}, found {found}; {advice}")]
    Value {
        /// The file as the user named it.
        file: String,
        /// JSON pointer of the value or, where it is missing, of what lacks it; `the top` for the document itself.
        pointer: String,
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
        /// What to do.
        advice: &'static str,
    },
}

/// Reads own cases in the form of `cases.json`. `operation`, `dimensions` and `precision` are needed, and `tile` or
/// `rows_per_program`; `id`, `pattern` and `seed` have the usual values where they are left out. `file` is only a name for
/// errors; the caller bounds how much is read.
///
/// # Errors
/// Text that is not JSON, an unknown member, a value out of range, two cases with one id, no case at all.
pub fn read(file: &str, bytes: &[u8]) -> Result<Vec<CaseSpec>, CasesError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| CasesError::Encoding { file: file.to_owned(), offset: error.valid_up_to() })?;
    let document =
        Document::parse(file, text.to_owned()).map_err(|source| CasesError::Json { file: file.to_owned(), source })?;
    let top = Place { file, pointer: String::new(), value: document.root() };
    if !matches!(top.value.get("schema"), None | Some(Json::Int(1))) {
        return Err(top.member("schema").refuse("1", "write the cases in the form of schema 1"));
    }
    let cases = top.member("cases");
    let items = cases.value.as_array().unwrap_or_default();
    if items.is_empty() {
        return Err(cases.refuse("an array with at least one case", "list the cases to run"));
    }
    let mut seen = HashMap::new();
    let mut specs = Vec::with_capacity(items.len());
    for (at, value) in items.iter().enumerate() {
        let place = Place { file, pointer: format!("/cases/{at}"), value };
        let spec = place.case()?;
        // Ids name folders, and two names may be one folder on a system that ignores case.
        if let Some(earlier) = seen.insert(portable_key(&spec.id), at) {
            let expected = format!("an id other than that of /cases/{earlier}");
            let found = format!("{:?}", spec.id);
            return Err(place.wrong("/id", expected, found, "give every case an id of its own"));
        }
        specs.push(spec);
    }
    Ok(specs)
}

/// What a case may have.
const MEMBERS: [&str; 8] =
    ["id", "operation", "dimensions", "tile", "rows_per_program", "precision", "pattern", "seed"];

/// A value of the document and where it stands.
struct Place<'d> {
    file: &'d str,
    pointer: String,
    value: &'d Json,
}

impl<'d> Place<'d> {
    /// A member; null where there is none.
    fn member(&self, name: &str) -> Self {
        let pointer = format!("{}/{}", self.pointer, pointer_token(name));
        Self { file: self.file, pointer, value: self.value.get(name).unwrap_or(&Json::Null) }
    }

    fn wrong(
        &self,
        below: &str,
        expected: impl Into<String>,
        found: impl Into<String>,
        advice: &'static str,
    ) -> CasesError {
        let pointer = match format!("{}{below}", self.pointer) {
            pointer if pointer.is_empty() => "the top".to_owned(),
            pointer => pointer,
        };
        CasesError::Value {
            file: self.file.to_owned(),
            pointer,
            expected: expected.into(),
            found: found.into(),
            advice,
        }
    }

    fn refuse(&self, expected: impl Into<String>, advice: &'static str) -> CasesError {
        let found = match self.value {
            Json::Null => "nothing".to_owned(),
            Json::Object(_) => "an object".to_owned(),
            Json::Array(items) if items.len() > 4 => format!("an array of {} values", items.len()),
            // A text may be of any length.
            value => canonical(value).chars().take(80).collect(),
        };
        self.wrong("", expected, found, advice)
    }

    fn case(&self) -> Result<CaseSpec, CasesError> {
        let Some(members) = self.value.as_object() else {
            return Err(self.refuse("an object", "write each case as an object, as in cases.json"));
        };
        if let Some((name, _)) = members.iter().find(|(name, _)| !MEMBERS.contains(&name.as_str())) {
            let found = format!("the member {name:?}").chars().take(80).collect::<String>();
            let expected = format!("no members but {}", MEMBERS.join(", "));
            return Err(self.wrong("", expected, found, "correct its name or remove it"));
        }
        let operation = self.named("operation", Operation::from_name, "reduce_sum or reduce_max")?;
        let storage = self.named("precision", Storage::from_name, "fp16, bf16 or fp32")?;
        let [rows, columns] = self.dimensions(storage)?;
        let block = self.block(columns)?;
        let mut spec = CaseSpec::new(operation, rows, columns, storage, block);
        let pattern = self.member("pattern");
        if !matches!(pattern.value, Json::Null) && pattern.value.as_str() != Some(spec.pattern.name()) {
            let expected = format!("{} for {}", spec.pattern.name(), operation.name());
            return Err(pattern.refuse(expected, "leave it out to get the pattern of the operation"));
        }
        let seed = self.member("seed");
        if !matches!(seed.value, Json::Null) {
            let advice = "leave it out to get the seed of the published cases";
            spec.seed = seed.value.as_u64().ok_or_else(|| seed.refuse("an integer from 0 to 2^64 - 1", advice))?;
        }
        let id = self.member("id");
        if !matches!(id.value, Json::Null) {
            let is_folder = |id: &&str| check_name(id).is_ok() && !id.contains('/');
            let advice = "use letters, digits and dashes; it becomes the name of a folder";
            let text = id.value.as_str().filter(is_folder);
            spec.id = text.ok_or_else(|| id.refuse("a name that is a folder on every system", advice))?.to_owned();
        }
        Ok(spec)
    }

    fn named<T>(&self, member: &str, from_name: fn(&str) -> Option<T>, names: &str) -> Result<T, CasesError> {
        let place = self.member(member);
        let known = place.value.as_str().and_then(from_name);
        known.ok_or_else(|| place.refuse(names, "name one of these"))
    }

    fn dimensions(&self, storage: Storage) -> Result<[u64; 2], CasesError> {
        let place = self.member("dimensions");
        let expected = "[rows, columns], each from 1 to 2^28";
        let in_range = |sizes: &[u64; 2]| sizes.iter().all(|size| (1..=MAX_EXTENT).contains(size));
        let advice = "give the extents of the input";
        let sizes = place.counts().and_then(|sizes| <[u64; 2]>::try_from(sizes).ok()).filter(in_range);
        let [rows, columns] = sizes.ok_or_else(|| place.refuse(expected, advice))?;
        let bytes = rows * columns * storage.bytes();
        if bytes > MAX_INPUT_BYTES {
            let found = format!("{rows}x{columns} {}, {bytes} bytes", storage.name());
            let expected = format!("an input of at most {MAX_INPUT_BYTES} bytes");
            return Err(place.wrong("", expected, found, "use fewer rows or columns"));
        }
        Ok([rows, columns])
    }

    /// B, from the tile, or from `rows_per_program`, or from both where they agree.
    fn block(&self, columns: u64) -> Result<u64, CasesError> {
        let (tile, alone) = (self.member("tile"), self.member("rows_per_program"));
        let expected = format!("rows per program from 1 to {MAX_BLOCK}");
        let advice = "4 and 8 are the published ones";
        let width = columns.next_power_of_two();
        let from_tile = match tile.counts().as_deref() {
            None if matches!(tile.value, Json::Null) => None,
            Some(&[block, _, _]) if !(1..=MAX_BLOCK).contains(&block) => return Err(tile.refuse(expected, advice)),
            Some(&[block, found, 1]) if found == width => Some(block),
            _ => {
                let expected = format!("[rows per program, {width}, 1]: the least power of two that holds a row");
                return Err(tile.refuse(expected, "correct it, or give rows_per_program instead"));
            }
        };
        if matches!(alone.value, Json::Null) {
            let advice = "give tile or rows_per_program";
            return from_tile.ok_or_else(|| self.wrong("", "tile or rows_per_program", "neither", advice));
        }
        let block = alone.value.as_u64().filter(|block| (1..=MAX_BLOCK).contains(block));
        let block = block.ok_or_else(|| alone.refuse(expected, advice))?;
        if from_tile.is_some_and(|tile| tile != block) {
            return Err(alone.refuse("the rows per program of the tile", "give one of the two"));
        }
        Ok(block)
    }

    /// The items of an array of non-negative integers.
    fn counts(&self) -> Option<Vec<u64>> {
        self.value.as_array()?.iter().map(Json::as_u64).collect()
    }
}
