//! The `protocol` of receipts and of raw results.

use super::Arm;
use super::environment::nullable_name;
use crate::package::json::Json;
use crate::package::limits::MAX_EXTENT;
use crate::package::partition::Reader;

/// Members of a protocol that define what was measured. They must be the same everywhere.
pub const DEFINING: [&str; 10] = [
    "operation",
    "input_shape",
    "output_resolutions",
    "trials_per_resolution",
    "pairs_per_resolution",
    "total_coordinates",
    "comparison",
    "arms",
    "seed",
    "generator",
];

/// Members that describe in words; each may be left out.
const WORDS: [&str; 3] = ["inputs", "warmup", "synchronization"];

/// A protocol as far as checks need it.
#[derive(Debug, Clone)]
pub struct Protocol<'d> {
    /// The object.
    pub at: &'d Json,
    /// What was computed.
    pub operation: Option<&'d str>,
    /// Extents of the input, and of its gradient.
    pub input_shape: Option<Vec<u64>>,
    /// Height and width of each output.
    pub resolutions: Option<Vec<u64>>,
    /// Trials at each resolution.
    pub trials: Option<u64>,
    /// Pairs at each resolution.
    pub pairs: Option<u64>,
    /// Values of one gradient.
    pub coordinates: Option<u64>,
    /// How trials were compared.
    pub comparison: Option<&'d str>,
    /// Names of the arms.
    pub arms: Option<Vec<&'d str>>,
    /// Where the inputs come from, in words.
    pub inputs: Option<&'d str>,
    /// What made the inputs; `None` where they were given, too.
    pub generator: Option<&'d str>,
    /// The generator's seed; `None` where inputs were given, too.
    pub seed: Option<u64>,
}

impl<'d> Protocol<'d> {
    /// Reads the object at `at`.
    pub fn read(at: &'d Json, reader: &Reader<'d>) -> Self {
        for name in WORDS.into_iter().filter(|name| at.get(name).is_some()) {
            reader.text(at, name);
        }
        Self {
            at,
            operation: reader.text(at, "operation"),
            input_shape: positive(at, "input_shape", reader),
            resolutions: positive(at, "output_resolutions", reader),
            trials: reader.count(at, "trials_per_resolution"),
            pairs: reader.count(at, "pairs_per_resolution"),
            coordinates: reader.count(at, "total_coordinates"),
            comparison: reader.text(at, "comparison"),
            arms: texts(at, "arms", reader),
            inputs: at.get("inputs").and_then(Json::as_str),
            generator: at.get("generator").and_then(|_| nullable_name(at, "generator", reader)),
            seed: at.get("seed").and_then(|seed| read_seed(at, seed, reader)),
        }
    }

    /// The arms that are known, in the order of [`Arm::ALL`]; all of them where the protocol names none that can be read.
    pub fn known_arms(&self) -> Vec<Arm> {
        let declared = |arm: &Arm| self.arms.as_ref().is_none_or(|arms| arms.contains(&arm.name()));
        Arm::ALL.into_iter().filter(declared).collect()
    }

    /// The product of the input's extents; `None` where it is unknown or does not fit.
    pub fn shape_product(&self) -> Option<u64> {
        self.input_shape.as_ref()?.iter().try_fold(1_u64, |product, &extent| product.checked_mul(extent))
    }
}

/// A seed. Another number or a text that looks like one makes no inputs, so that nothing could be held against them.
fn read_seed<'d>(at: &'d Json, seed: &Json, reader: &Reader<'d>) -> Option<u64> {
    let number = seed.as_u64();
    if number.is_none() && *seed != Json::Null {
        let expected = "an integer from 0 to 2^64 - 1, or null where the inputs were given";
        reader.problem(at, Some("seed"), expected, &crate::package::json::canonical(seed));
    }
    number
}

/// An array member of positive integers, at least one.
pub(super) fn positive<'d>(at: &'d Json, name: &str, reader: &Reader<'d>) -> Option<Vec<u64>> {
    let items = reader.array(at, name)?;
    let numbers: Vec<u64> =
        items.iter().filter_map(Json::as_u64).filter(|number| (1..=MAX_EXTENT).contains(number)).collect();
    if numbers.len() != items.len() || items.is_empty() {
        let found = crate::package::json::canonical(&items.to_vec().into());
        reader.problem(at, Some(name), "positive integers", &found);
        return None;
    }
    Some(numbers)
}

fn texts<'d>(at: &'d Json, name: &str, reader: &Reader<'d>) -> Option<Vec<&'d str>> {
    let items = reader.array(at, name)?;
    let texts: Vec<_> = items.iter().filter_map(Json::as_str).collect();
    if texts.len() != items.len() {
        reader.problem(at, Some(name), "an array of strings", "an array with other items");
        return None;
    }
    Some(texts)
}
