//! Where inputs come from: what a protocol says of their generator agrees, and inputs that can be made again have the recorded
//! hashes.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::inputs::{INPUT, shape_of};
use crate::audit::{Code, Recorder, show};
use crate::divergence::generated::{GENERATOR, normal, uniform};
use crate::package::divergence::{Protocol, RawResults, tensor_sha256};
use crate::package::json::Json;
use crate::package::limits::MAX_GENERATED_VALUES;

/// How the names of this program's generators begin, whatever their version.
const FAMILY: &str = "recount-divergence-inputs-";

/// Inputs that are made again; a run has two for each resolution, and one more.
const MAX_INPUTS: usize = 4096;

/// Which inputs are made again.
#[derive(Debug)]
pub(super) struct Plan<'d> {
    seed: u64,
    /// Names with their numbers of values.
    inputs: Vec<(&'d str, usize)>,
    /// Whether some are not.
    pub(super) left_out: bool,
}

/// The inputs that are made again: those of the measured resolutions first, so that no others take their place.
///
/// # Errors
/// Why none are, in words.
pub(super) fn plan<'d>(results: &[(&str, RawResults<'d>)]) -> Result<Plan<'d>, String> {
    let protocols = || results.iter().map(|(_, results)| &results.protocol);
    let usable = |protocol: &&Protocol<'_>| protocol.generator == Some(GENERATOR) && protocol.seed.is_some();
    let protocol = protocols().find(usable).or_else(|| protocols().next()).ok_or("there are no results")?;
    let seed = match (protocol.generator, protocol.seed) {
        (Some(GENERATOR), Some(seed)) => seed,
        (Some(GENERATOR), None) => return Err(format!("the seed of {GENERATOR} is not recorded")),
        (Some(other), _) => return Err(format!("the generator {} is not known", show(&Json::from(other)))),
        (None, _) => return Err("the protocol names no generator".to_owned()),
    };
    let shape = protocol.input_shape.as_deref().ok_or("the shape of the input is not recorded")?;
    let resolutions: HashSet<u64> = protocols().filter_map(|one| one.resolutions.as_ref()).flatten().copied().collect();
    let is_measured = |name: &str| {
        let side = name.strip_prefix("grad-output-").or_else(|| name.strip_prefix("grid-"));
        let side = side.and_then(|side| side.parse().ok().filter(|number: &u64| number.to_string() == side));
        name == INPUT || side.is_some_and(|side| resolutions.contains(&side))
    };
    let conditions = results.iter().flat_map(|(_, results)| &results.conditions);
    let names: BTreeSet<&str> = conditions.flat_map(|one| one.input_hashes).map(|(name, _)| name.as_str()).collect();
    let sized = names.into_iter().filter_map(|name| {
        let count = shape_of(name, shape)?.iter().try_fold(1_u64, |count, &extent| count.checked_mul(extent));
        Some((!is_measured(name), count.unwrap_or(u64::MAX), name))
    });
    let mut sized: Vec<_> = sized.collect();
    sized.sort_unstable();
    let mut plan = Plan { seed, inputs: Vec::new(), left_out: false };
    let mut values_left = MAX_GENERATED_VALUES;
    for (_, count, name) in sized {
        match usize::try_from(count).ok().filter(|&count| count <= values_left && plan.inputs.len() < MAX_INPUTS) {
            Some(count) => {
                values_left -= count;
                plan.inputs.push((name, count));
            }
            None => plan.left_out = true,
        }
    }
    Ok(plan)
}

/// Checks what the protocols say of the generator, and the hashes of the inputs that can be made again.
pub(super) fn check(results: &[(&str, RawResults<'_>)], recorder: &mut Recorder) {
    for (folder, results) in results {
        check_words(folder, results, recorder);
    }
    let plan = match plan(results) {
        Ok(plan) => plan,
        Err(reason) => {
            recorder.note(format!(
                "the inputs were not made again: {reason}; their hashes are compared with each other and with the tensors \
                 that are here"
            ));
            return;
        }
    };
    if plan.left_out {
        recorder.note(format!(
            "the inputs are more than {MAX_INPUTS} or have more than {MAX_GENERATED_VALUES} values: not all of them were \
             made again from the seed"
        ));
    }
    let seed = plan.seed;
    let make = |name: &str, count| {
        tensor_sha256(&if name.starts_with("grid-") { uniform(seed, name, count) } else { normal(seed, name, count) })
    };
    let made: HashMap<&str, String> = plan.inputs.iter().map(|&(name, count)| (name, make(name, count))).collect();
    // Hashes of other results are the same or found to differ; only names that those before lack are left.
    let mut compared: HashSet<&str> = HashSet::new();
    for (_, results) in results {
        let hashes = results.conditions.iter().flat_map(|condition| condition.input_hashes);
        let hashes: Vec<_> = hashes.filter(|(name, _)| !compared.contains(name.as_str())).collect();
        for (name, at) in &hashes {
            let (Some(hash), Some(expected)) = (at.as_str(), made.get(name.as_str())) else { continue };
            let holds = hash == expected;
            let expected = format_args!("{expected}, as {GENERATOR} makes {name} from seed {seed}");
            recorder.require(holds, Code::InputHash, results.document, at, expected, hash);
        }
        compared.extend(hashes.into_iter().map(|(name, _)| name.as_str()));
    }
}

/// A generator that is known has a seed, and the words about the inputs name the same generator and seed as its members.
fn check_words(folder: &str, results: &RawResults<'_>, recorder: &mut Recorder) {
    let (document, protocol) = (results.document, &results.protocol);
    let at = |name: &str| protocol.at.get(name).unwrap_or(protocol.at);
    let shown =
        |name: &str| protocol.at.get(name).map_or("nothing".to_owned(), |value| format!("{} ({folder})", show(value)));
    // A seed of another type is said to be one where it is read.
    let is_there = protocol.at.get("seed").is_some_and(|seed| *seed != Json::Null);
    if protocol.generator == Some(GENERATOR) && !is_there {
        let expected = format_args!("the seed of {GENERATOR}");
        recorder.report_at(Code::MalformedField, document, at("seed"), expected, shown("seed"));
    }
    let Some(text) = protocol.inputs else { return };
    let named: Vec<_> = words(text).filter(|word| word.starts_with(FAMILY)).collect();
    if let Some(name) = named.first() {
        let holds = protocol.generator.is_some_and(|generator| named.contains(&generator));
        let expected = format_args!("{name}, as inputs says");
        recorder.require(holds, Code::DivergenceProtocol, document, at("generator"), expected, shown("generator"));
    }
    let seeds = stated_seeds(text);
    if let (Some(first), Some(seed)) = (seeds.first(), protocol.seed) {
        let expected = format_args!("{first}, as inputs says");
        let holds = seeds.contains(&i128::from(seed));
        recorder.require(holds, Code::DivergenceProtocol, document, at("seed"), expected, shown("seed"));
    }
}

/// Words, with the signs that names and numbers have in them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|character: char| !(character.is_alphanumeric() || matches!(character, '-' | '_' | '.')));
    parts.map(|word| word.trim_end_matches(['.', '-'])).filter(|word| !word.is_empty())
}

/// The whole numbers that a text calls a seed: `seed 42`, `seed: 42`, `seed of 42`.
fn stated_seeds(text: &str) -> Vec<i128> {
    let lower = text.to_lowercase();
    let mut parts = lower.split("seed");
    let mut is_word = parts.next().is_some_and(|before| !before.ends_with(char::is_alphanumeric));
    let mut seeds = Vec::new();
    for part in parts {
        let spaced = part.trim_start_matches([' ', '=', ':']);
        let linked = ["of ", "is ", "was "].into_iter().find_map(|link| spaced.strip_prefix(link)).unwrap_or(spaced);
        if let Some(number) = words(linked).next().filter(|word| is_word && part != spaced && linked.starts_with(word))
        {
            seeds.extend(number.parse::<i128>());
        }
        is_word = !part.ends_with(char::is_alphanumeric);
    }
    seeds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_whole_numbers_that_are_called_one() {
        for (text, seeds) in [
            ("generated once (recount-divergence-inputs-v1, seed 42); the same bytes", &[42][..]),
            ("Seed: 7, seed=-8.", &[7, -8]),
            ("a seed of 9", &[9]),
            ("seeded with 3, reseed 5, a random seed, 4 times; seed4 and the seed", &[]),
            ("read from 12 files", &[]),
        ] {
            assert_eq!(stated_seeds(text), seeds, "{text}");
        }
    }
}
