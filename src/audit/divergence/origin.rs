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
    let stated = stated(text);
    let Some(&(first, _)) = stated.first() else { return };
    let holds = protocol.generator.is_some_and(|generator| stated.iter().any(|&(name, _)| name == generator));
    let expected = format_args!("{first}, as inputs says");
    recorder.require(holds, Code::DivergenceProtocol, document, at("generator"), expected, shown("generator"));
    if let Some(seed) = protocol.seed {
        let holds = stated.iter().any(|&(_, stated)| stated == i128::from(seed));
        let expected = format_args!("{}, as inputs says", stated[0].1);
        recorder.require(holds, Code::DivergenceProtocol, document, at("seed"), expected, shown("seed"));
    }
}

/// The generators of this program that a text names with their seeds, as `GENERATOR, seed N`. Other words are the producer's
/// own.
fn stated(text: &str) -> Vec<(&str, i128)> {
    let is_of_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let mut stated = Vec::new();
    for (start, _) in text.match_indices(FAMILY).filter(|&(start, _)| !text[..start].ends_with(is_of_word)) {
        let from = &text[start..];
        let (name, rest) = from.split_at(from.find(|letter| !is_of_word(letter)).unwrap_or(from.len()));
        let rest = rest.strip_prefix(',').unwrap_or(rest);
        let Some(number) = rest.strip_prefix(' ').and_then(|rest| rest.trim_start().strip_prefix("seed ")) else {
            continue;
        };
        let (number, rest) = number.split_at(number.find(|letter| !is_of_word(letter)).unwrap_or(number.len()));
        // Further numbers, or the end of a range.
        let next = rest.trim_start_matches([' ', ',']);
        let goes_on = ["to ", "and ", "or ", "through "].iter().any(|word| next.starts_with(word))
            || next.starts_with(|letter: char| letter.is_ascii_digit());
        if let (Ok(seed), false) = (number.trim_end_matches('.').parse(), goes_on) {
            stated.push((name, seed));
        }
    }
    stated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generators_are_named_with_a_seed() {
        let name = GENERATOR;
        for (text, seeds) in [
            ("generated once (NAME, seed 42); the same bytes", &[42][..]),
            ("NAME seed -8. Again NAME, seed 7", &[-8, 7]),
            ("generated once; the background uses seed 7", &[]),
            ("one set of inputs per seed 1 to 3", &[]),
            ("NAME, seed 1 to 3; NAME, seed 1, 2 and 3; NAME, seed 4b; NAME, seed 0x2a", &[]),
            ("NAME-compatible code, seed 7; NAME, seeds 7; my-NAME, seed 7; NAME: seed 7", &[]),
        ] {
            let found = stated(text.replace("NAME", name).leak());
            let expected: Vec<i128> = seeds.to_vec();
            assert_eq!(found.iter().map(|&(_, seed)| seed).collect::<Vec<_>>(), expected, "{text}");
            assert!(found.iter().all(|&(found, _)| found == name), "{text}");
        }
    }
}
