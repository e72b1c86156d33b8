//! Claims: numbers that a document states are recomputed from the medians that it prints.
//!
//! A printed median stands for all numbers that round to it, and so does a printed claim. The claim is consistent where the
//! values that the medians allow and those that the claim stands for have one in common; there is no other tolerance.
//! `claims.json` lists the claims, `medians.csv` is the table; [`quantities`] knows what can be claimed.

mod arguments;
mod claim;
mod decimal;
mod quantities;
mod refits;
mod table;

use std::collections::HashSet;

use self::claim::{Checked, Claim, Malformed, text};
use self::quantities::Subject;
use self::refits::{Policy, Refits};
use self::table::Table;
use super::evidence::{Evidence, Options};
use super::integrity::{CLAIMS, MEDIANS};
use super::{CheckReport, Code, Fact, Family, Place, Recorder, show};
use crate::fit::{Interval, Schedule};
use crate::package::json::{Document, Json};

/// Most digits after the point that a bound is shown with.
const MAX_SHOWN_DECIMALS: i32 = 17;

/// Runs the family.
pub(super) fn check(evidence: &Evidence, options: &Options) -> CheckReport {
    let mut recorder = Recorder::new(Family::Claims, options.tolerance);
    let document = match evidence.document(CLAIMS) {
        Ok(document) => document,
        Err(reason) => return recorder.not_run(reason),
    };
    let rule = rule(document, &mut recorder);
    let claims = claims(document, &mut recorder);
    let table = match evidence.text(MEDIANS) {
        Ok(bytes) => Table::read(bytes),
        Err(reason) if options.allow_absent.is_match(MEDIANS) => return recorder.not_run(reason),
        Err(reason) => {
            recorder.report(Code::ClaimMalformed, CLAIMS, Place::pointer("/medians"), "a table of medians", reason);
            return recorder.finish();
        }
    };
    for problem in &table.problems {
        let place = match problem.field {
            Some(field) => Place::cell(problem.line, field),
            None => Place { line: Some(problem.line), ..Place::default() },
        };
        recorder.report(Code::ClaimMalformed, MEDIANS, place, &problem.expected, &problem.found);
    }
    let Some(rule) = rule.filter(|_| table.problems.is_empty()) else {
        recorder.note("no claim was recomputed: the table, or what the fit is told, could not be read");
        return recorder.finish();
    };
    let refits = Refits::of(&table, rule.processors, rule.improvement_fraction);
    let subject = Subject { table: &table, refits };
    check_selections(&subject, &mut recorder);
    let mut held = 0;
    let mut not_derivable = Vec::new();
    for (entry, claim) in &claims {
        match claim {
            Claim::NotDerivable(id) => not_derivable.push(*id),
            Claim::Checked(claim) => held += u32::from(check_claim(document, &subject, entry, claim, &mut recorder)),
        }
    }
    recorder.note(format!("{held} claims can follow from the printed medians"));
    if !not_derivable.is_empty() {
        let (number, ids) = (not_derivable.len(), not_derivable.join(", "));
        recorder.note(format!("{number} claims need more than medians and were not checked: {ids}"));
    }
    recorder.finish()
}

/// Counts of claims and cases.
pub(super) fn facts(evidence: &Evidence) -> Vec<Fact> {
    let fact = |name: &str, value: usize| Fact { name: name.to_owned(), value: value.to_string() };
    let mut facts = Vec::new();
    if let Ok(document) = evidence.document(CLAIMS) {
        let entries = document.root().get("claims").and_then(Json::as_array).unwrap_or_default();
        let claims: Vec<_> = entries.iter().filter_map(|entry| Claim::read(entry).ok()).collect();
        let checked = claims.iter().filter(|claim| matches!(claim, Claim::Checked(_))).count();
        facts.push(fact("claims checked", checked));
        facts.push(fact("claims not derivable", claims.len() - checked));
    }
    if let Ok(bytes) = evidence.text(MEDIANS) {
        facts.push(fact("cases", Table::read(bytes).rows.len()));
    }
    facts
}

/// What the model and the policy are told besides medians.
struct Rule {
    /// Multiprocessors of the device.
    processors: u64,
    /// Predicted saving above which a schedule is selected.
    improvement_fraction: f64,
}

/// Reads the rule, and checks what the document says of its table.
fn rule(document: &Document, recorder: &mut Recorder) -> Option<Rule> {
    let root = document.root();
    for (name, expected) in [("medians", MEDIANS), ("unit", "us")] {
        match text(root, name) {
            Ok(found) if found == expected => {}
            Ok(found) => recorder.report(Code::ClaimMalformed, CLAIMS, pointer(name), expected, found),
            Err(malformed) => report(document, malformed, recorder),
        }
    }
    let processors = root.get("processors").and_then(Json::as_u64).filter(|&processors| processors > 0);
    let fraction = root.get("improvement_fraction").and_then(Json::as_f64).filter(|value| (0.0..1.0).contains(value));
    for (name, expected, is_read) in [
        ("processors", "a positive integer", processors.is_some()),
        ("improvement_fraction", "a number from 0 up to below 1", fraction.is_some()),
    ] {
        if !is_read {
            let found = root.get(name).map_or("nothing".to_owned(), |value| show(value).to_string());
            recorder.report(Code::ClaimMalformed, CLAIMS, pointer(name), expected, found);
        }
    }
    Some(Rule { processors: processors?, improvement_fraction: fraction? })
}

fn pointer(name: &str) -> Place {
    Place::pointer(format!("/{name}"))
}

/// The entries that can be read.
fn claims<'d>(document: &'d Document, recorder: &mut Recorder) -> Vec<(&'d Json, Claim<'d>)> {
    let entries = document.root().get("claims").and_then(Json::as_array).unwrap_or_default();
    if entries.is_empty() {
        let found = document.root().get("claims").map_or("nothing", Json::kind);
        recorder.report(Code::ClaimMalformed, CLAIMS, pointer("claims"), "an array of claims, not empty", found);
    }
    let mut ids = HashSet::new();
    let mut claims = Vec::new();
    for entry in entries {
        match Claim::read(entry) {
            Ok(claim) if ids.insert(claim.id()) => claims.push((entry, claim)),
            Ok(claim) => report(document, Malformed::new(entry, "an id of its own", claim.id()), recorder),
            Err(malformed) => report(document, malformed, recorder),
        }
    }
    claims
}

fn report(document: &Document, malformed: Malformed<'_>, recorder: &mut Recorder) {
    recorder.report_at(Code::ClaimMalformed, document, malformed.at, malformed.expected, malformed.found);
}

/// The selection column against what the fits without each case's geometry decide.
fn check_selections(subject: &Subject<'_>, recorder: &mut Recorder) {
    let refits = match &subject.refits {
        Ok(refits) => refits,
        Err(error) => {
            let expected = "medians that the model can be fitted to, without any one geometry";
            recorder.report(Code::ClaimMalformed, MEDIANS, Place::whole_file(), expected, error);
            return;
        }
    };
    for (case, row) in subject.table.rows.iter().enumerate() {
        let possible = refits.selections(Policy::LeaveOneOut, case);
        if possible.contains(&row.selection) {
            recorder.held();
        } else {
            let names: Vec<_> = possible.iter().copied().map(Schedule::name).collect();
            let expected = format!("{}, as the fit to the other geometries decides", names.join(" or "));
            let place = Place::cell(row.line, "selection");
            recorder.report(Code::ClaimInconsistent, MEDIANS, place, expected, row.selection);
        }
    }
}

/// Recomputes one claim. Gives back whether it holds.
fn check_claim(
    document: &Document,
    subject: &Subject<'_>,
    entry: &Json,
    claim: &Checked<'_>,
    recorder: &mut Recorder,
) -> bool {
    let stands_for = if claim.exact { claim.printed.exact() } else { claim.printed.rounding() };
    let unit = if claim.kind.is_count() { String::new() } else { format!(" {}", claim.kind.unit) };
    let expected = match (claim.kind.evaluate)(subject, &claim.arguments) {
        Ok(Some(allowed)) if allowed.intersection(stands_for).is_some() => {
            if claim.kind.is_count() {
                recorder.held()
            } else {
                recorder.held_within_rounding()
            }
            return true;
        }
        Ok(Some(allowed)) => format!("{}{unit}", shown(allowed)),
        Ok(None) => "the extreme at another case or schedule".to_owned(),
        Err(refusal) => {
            report(document, Malformed::of(entry, refusal), recorder);
            return false;
        }
    };
    let found = format!("{}{unit} ({})", claim.text, claim.id);
    recorder.report_at(Code::ClaimInconsistent, document, claim.at, expected, found);
    false
}

/// An interval for people: two digits of its width, rounded outwards.
fn shown(allowed: Interval) -> String {
    let Interval { low, high } = allowed;
    if low == high {
        return format!("{low}");
    }
    if low.fract() == 0.0 && high.fract() == 0.0 {
        return format!("{low} to {high}");
    }
    let digits = 1 - libm::log10(high - low).floor() as i32;
    let decimals = digits.clamp(0, MAX_SHOWN_DECIMALS);
    let unit = 10_f64.powi(decimals);
    let decimals = decimals.unsigned_abs() as usize;
    format!("{:.decimals$} to {:.decimals$}", (low * unit).floor() / unit, (high * unit).ceil() / unit)
}
