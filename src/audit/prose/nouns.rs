//! The noun that an integer counts, and the words between the two.

use super::tokens::{Kind, Token};
use super::words::{Word, Words, word};

/// What a noun counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Noun {
    Cases,
    Samples,
    Executions,
    Runs,
    Observations,
    Retests,
    Groups,
    Cohorts,
    Processors,
    Regressions,
    Operations,
    Subsets,
}

fn noun(lower: &str) -> Option<Noun> {
    Some(match lower {
        "case" | "cases" => Noun::Cases,
        "sample" | "samples" => Noun::Samples,
        "execution" | "executions" => Noun::Executions,
        "run" | "runs" | "timing" | "timings" | "measurement" | "measurements" | "median" | "medians" => Noun::Runs,
        "observation" | "observations" => Noun::Observations,
        "retry" | "retries" | "retest" | "retests" => Noun::Retests,
        "group" | "groups" | "geometry" | "geometries" | "fold" | "folds" => Noun::Groups,
        "cohort" | "cohorts" => Noun::Cohorts,
        "sm" | "sms" | "multiprocessor" | "multiprocessors" => Noun::Processors,
        "regression" | "regressions" => Noun::Regressions,
        "operation" | "operations" => Noun::Operations,
        "subset" | "subsets" => Noun::Subsets,
        _ => return None,
    })
}

/// Adjectives that leave what is counted whole.
fn is_neutral(lower: &str) -> bool {
    matches!(
        lower,
        "raw"
            | "retained"
            | "recorded"
            | "timed"
            | "measured"
            | "published"
            | "benchmark"
            | "graph"
            | "adaptive"
            | "total"
            | "main"
            | "initial"
            | "successful"
            | "training"
            | "observed"
            | "selected"
            | "distinct"
            | "event"
            | "streaming"
            | "nonnegative"
            | "active"
            | "geometry"
            | "partition"
            | "geometric"
            | "separate"
            | "independent"
            | "later"
            | "all"
            | "policy"
    )
}

/// The words between a number and its noun.
#[derive(Debug, Default)]
pub(super) struct Qualifiers {
    pub words: Words,
    pub is_main: bool,
    pub is_later: bool,
    pub count: usize,
    /// `14 of 16 cases`: the number is a part.
    pub is_part: bool,
    /// `7 folds agree`: a verb behind the noun may be true of a part only.
    pub has_verb: bool,
    /// `2 cases per geometry`: the number is not of the whole package.
    pub is_per: bool,
    /// `16-case benchmark`: the number is of the whole package.
    pub is_whole: bool,
    /// `two samples were slow`: a verb that says something of these alone, or `of` what they are a part.
    pub is_predicate: bool,
    /// `14 cases with FP16`: only some are meant.
    pub is_narrowed: bool,
}

/// The noun behind the number at `at`, over adjectives that are understood; any other word ends the search.
pub(super) fn qualified_noun(tokens: &[Token], at: usize, text: &str) -> Option<(Noun, Qualifiers)> {
    /// Words between a number and its noun.
    const REACH: usize = 10;
    let mut qualifiers = Qualifiers::default();
    // Behind `and 15` words are about the other number; only the noun is shared.
    let mut is_foreign = false;
    for (index, token) in tokens.iter().enumerate().skip(at + 1).take(REACH) {
        let lower = match &token.kind {
            Kind::Mark('-' | '+' | '*' | '\u{2011}') => continue,
            Kind::Number(_) if matches!(tokens[index - 1].kind, Kind::Mark('+')) => continue,
            Kind::Number(_) if is_foreign || qualifiers.is_part => continue,
            Kind::Word => text[token.start..token.end].to_ascii_lowercase(),
            _ => return None,
        };
        let is_operations = noun(&lower) == Some(Noun::Operations);
        if let Some(noun) = noun(&lower) {
            let next =
                |step: usize| tokens.get(index + step).map(|token| text[token.start..token.end].to_ascii_lowercase());
            // Elsewhere operations may be anything.
            let per_graph = || {
                let scope = next(2).unwrap_or_default();
                next(1).as_deref() == Some("per")
                    && matches!(scope.as_str(), "graph" | "replay" | "capture" | "launch" | "batch")
            };
            // `retry timings`, `sample medians`: the last noun counts.
            let is_adjective = next(1).is_some_and(|next| self::noun(&next).is_some());
            if is_adjective {
                note_word(&mut qualifiers, &lower, is_foreign);
                continue;
            }
            let behind = next(1).filter(|_| matches!(tokens[index + 1].kind, Kind::Word)).unwrap_or_default();
            let is_compound = index == at + 2 && matches!(tokens[at + 1].kind, Kind::Mark('-' | '\u{2011}'));
            qualifiers.has_verb = !(is_compound || behind.is_empty() || is_joining(&behind));
            qualifiers.is_whole = is_compound && noun == Noun::Cases && names_whole(tokens, index + 1, text);
            let is_participle = behind.ends_with("ing");
            qualifiers.is_predicate = (qualifiers.has_verb && !is_participle)
                || matches!(behind.as_str(), "of" | "are" | "is" | "was" | "were");
            // What all have in common narrows nothing: `3 geometries with the same weight`.
            let is_shared = || matches!(next(2).as_deref(), Some("the" | "equal" | "one" | "its" | "their"));
            qualifiers.is_narrowed = match behind.as_str() {
                "with" => !is_shared(),
                "of" | "in" | "where" | "whose" | "that" | "at" | "which" | "among" | "on" => true,
                _ => false,
            };
            qualifiers.is_per = matches!(behind.as_str(), "per" | "each" | "every")
                || matches!(next(2).as_deref(), Some("each" | "every"));
            return (!is_operations || per_graph()).then_some((noun, qualifiers));
        }
        let is_number_next = matches!(tokens.get(index + 1).map(|token| &token.kind), Some(Kind::Number(_)));
        match lower.as_str() {
            "and" | "plus" if is_number_next => is_foreign = true,
            "of" if index == at + 1 => qualifiers.is_part = true,
            "the" | "all" if qualifiers.is_part => {}
            "main" | "initial" => note_main(&mut qualifiers, is_foreign),
            "later" | "separate" | "independent" | "rescue" => {
                qualifiers.is_later |= !is_foreign;
                qualifiers.count += usize::from(!is_foreign);
            }
            _ => {
                let is_known = note_word(&mut qualifiers, &lower, is_foreign);
                if !is_known && !is_neutral(&lower) {
                    return None;
                }
                qualifiers.count += usize::from(!is_foreign);
            }
        }
    }
    None
}

/// Whether a compound such as `16-case`, whose noun ends before `from`, is of the package: `default cohort`, `benchmark`.
fn names_whole(tokens: &[Token], from: usize, text: &str) -> bool {
    for token in tokens.iter().skip(from).take(3) {
        let lower = text[token.start..token.end].to_ascii_lowercase();
        match lower.as_str() {
            "cohort" | "cohorts" | "benchmark" | "inventory" | "suite" | "package" | "study" | "experiment"
            | "calibration" => {
                return true;
            }
            "default" | "rows1" | "rows2" | "recheck" | "native" | "original" | "partition" => {}
            _ => return false,
        }
    }
    false
}

/// Words that may stand behind a noun without saying anything about what it counts.
fn is_joining(lower: &str) -> bool {
    matches!(
        lower,
        "and"
            | "or"
            | "plus"
            | "x"
            | "with"
            | "in"
            | "per"
            | "of"
            | "from"
            | "for"
            | "at"
            | "across"
            | "over"
            | "total"
            | "on"
            | "by"
            | "to"
            | "are"
            | "were"
            | "is"
            | "was"
            | "as"
            | "each"
    )
}

fn note_main(qualifiers: &mut Qualifiers, is_foreign: bool) {
    if !is_foreign {
        qualifiers.is_main = true;
        qualifiers.count += 1;
    }
}

/// Takes a route or cohort into account; whether it was one.
fn note_word(qualifiers: &mut Qualifiers, lower: &str, is_foreign: bool) -> bool {
    let Some(word) = word(lower).filter(|word| {
        [Word::Native, Word::Torch, Word::Rows1, Word::Rows2, Word::Default, Word::Recheck, Word::Retry].contains(word)
    }) else {
        return false;
    };
    if !is_foreign {
        qualifiers.words.add(word);
    }
    true
}
