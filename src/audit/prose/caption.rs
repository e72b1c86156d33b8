//! The unit of time that the text around a table states for it: `Times are microseconds per operation.`

use super::markdown::Text;
use super::tokens::{Kind, Token, sentences};

/// Tokens of a caption that are looked at.
const MAX_TOKENS: usize = 4096;

/// A stated unit.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Caption {
    /// What microseconds are multiplied by.
    pub factor: f64,
    /// Where it stands in the file, in bytes.
    pub at: usize,
    /// The word.
    pub word: String,
}

/// What microseconds are multiplied by to get the unit that a word names.
pub(super) fn factor(word: &str) -> Option<f64> {
    match word {
        "ns" | "nsec" | "nanosecond" | "nanoseconds" => Some(1e3),
        "us" | "\u{b5}s" | "\u{3bc}s" | "usec" | "microsecond" | "microseconds" => Some(1.0),
        "ms" | "msec" | "millisecond" | "milliseconds" => Some(1e-3),
        "s" | "sec" | "seconds" => Some(1e-6),
        _ => None,
    }
}

impl Caption {
    /// The unit that a text states for what stands in the table beside it; `None` where it states none, or several.
    pub(super) fn of(text: &Text) -> Option<Self> {
        let mut stated: Option<Self> = None;
        for sentence in sentences(text) {
            for at in 0..sentence.len().min(MAX_TOKENS) {
                let word = lower(&sentence[at], text);
                let Some(factor) = factor(&word).filter(|_| states(&sentence, at, text)) else { continue };
                if stated.as_ref().is_some_and(|stated| stated.factor != factor) {
                    return None;
                }
                stated = stated.or(Some(Self { factor, at: text.source(sentence[at].start), word }));
            }
        }
        stated
    }
}

fn lower(token: &Token, text: &Text) -> String {
    if token.kind == Kind::Word { text.text[token.start..token.end].to_lowercase() } else { String::new() }
}

fn per_operation(words: &[String], at: usize) -> bool {
    words.get(at + 1).is_some_and(|word| word == "per") && words.get(at + 2).is_some_and(|word| word.starts_with("op"))
}

/// Whether the unit at `at` is stated of the times: it begins the sentence, or follows `are`, `in` or a bracket in one on times.
fn states(sentence: &[Token], at: usize, text: &Text) -> bool {
    let words: Vec<String> = sentence.iter().map(|token| lower(token, text)).collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    let is_other = has(&[
        "warmup",
        "warm",
        "sample",
        "samples",
        "target",
        "targets",
        "throughput",
        "compiling",
        "span",
        "spans",
        "host",
        "compile",
        "compilation",
        "model",
        "modelled",
        "predicted",
        "residual",
        "residuals",
        "coefficient",
        "coefficients",
        "overhead",
        "limit",
        "timeout",
        "not",
    ]);
    if is_other {
        return false;
    }
    // What is recorded or drawn has units of its own.
    let is_of_records =
        has(&["raw", "cold", "event", "events", "recorded", "csv", "file", "files", "plot", "axis", "measured"])
            || words.iter().any(|word| word.contains("json") || word.contains("csv"));
    if is_of_records {
        return false;
    }
    let is_of_times = has(&[
        "time",
        "times",
        "timing",
        "timings",
        "median",
        "medians",
        "values",
        "numbers",
        "figures",
        "cells",
        "entries",
        "latencies",
    ]);
    // Those of a part are not those of the table.
    let is_first = |word: &String| matches!(word.as_str(), "time" | "times" | "timings" | "median" | "medians");
    let is_of_all = has(&["table", "all"]) || words.first().is_some_and(is_first) || per_operation(&words, at);
    let is_of_times = is_of_times && is_of_all;
    let before = at.checked_sub(1).map(|index| &sentence[index]);
    match before {
        None => matches!(words.get(at + 1).map_or("", String::as_str), "per" | ""),
        Some(token) => {
            let joins = match token.kind {
                Kind::Word => matches!(words[at - 1].as_str(), "are" | "is" | "in" | "as"),
                Kind::Mark(mark) => matches!(mark, '(' | '[' | ':'),
                _ => false,
            };
            joins && is_of_times
        }
    }
}
