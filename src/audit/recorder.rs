//! How a check writes down what it compared.

use std::fmt::Display;

use super::catalogue::{Code, Family, Severity};
use super::finding::{Distance, Finding, Place};
use super::quote::{names_secret, quoted, quoted_value, shortened};
use super::report::{CheckReport, Outcome, Tally};
use crate::package::json::{Document, Json, Members, Series, python_float};

/// Findings of one code that a family lists; a package chooses how many there are.
const LISTED_FINDINGS: usize = 1000;

/// Collects one check family's findings and counts its comparisons.
#[derive(Debug)]
pub struct Recorder {
    family: Family,
    tolerance: f64,
    tally: Tally,
    findings: Vec<Finding>,
    /// For each code how many findings there are, listed or not.
    counts: Vec<usize>,
    /// Whether the finding written down last is listed.
    last_is_listed: bool,
    notes: Vec<String>,
}

impl Recorder {
    /// A recorder for one family; `tolerance` is the relative difference that floats may have where rounding may differ.
    pub fn new(family: Family, tolerance: f64) -> Self {
        Self {
            family,
            tolerance,
            tally: Tally::default(),
            findings: Vec::new(),
            counts: vec![0; Code::ALL.len()],
            last_is_listed: false,
            notes: Vec::new(),
        }
    }

    /// The relative tolerance for floats.
    pub fn tolerance(&self) -> f64 {
        self.tolerance
    }

    /// Writes down a finding at any place of any file.
    pub fn report(&mut self, code: Code, file: &str, place: Place, expected: impl Display, found: impl Display) {
        if !self.count(code) {
            return;
        }
        let (expected, found) = (expected.to_string(), found.to_string());
        let mut quotes = match code {
            // The reader named the identity, not the package; and what is unredacted comes masked.
            Code::SignerUnknown | Code::Unredacted => [shortened(&expected), shortened(&found)],
            _ if place.pointer.as_deref().is_some_and(holds_secret) => {
                [&expected, &found].map(|text| format!("${{SECRET}} ({} characters)", text.chars().count()))
            }
            _ => [quoted(&expected), quoted(&found)],
        };
        if quotes[0] == quotes[1] && expected != found {
            quotes[1].push_str(" (another one)");
        }
        let [expected, found] = quotes;
        self.findings.push(Finding {
            code,
            severity: code.severity(),
            file: file.to_owned(),
            place,
            expected,
            found,
            distance: None,
            advice: code.advice().to_owned(),
        });
    }

    /// Writes down a finding at a value of a JSON document.
    pub fn report_at(
        &mut self,
        code: Code,
        document: &Document,
        at: &Json,
        expected: impl Display,
        found: impl Display,
    ) {
        let is_listed = self.counts[code as usize] < LISTED_FINDINGS;
        let pointer = if is_listed { document.pointer_of(at).unwrap_or_default() } else { String::new() };
        self.report(code, document.name(), Place::pointer(pointer), expected, found);
    }

    /// Counts a finding; says whether it is to be listed.
    fn count(&mut self, code: Code) -> bool {
        self.tally.wrong += 1;
        self.counts[code as usize] += 1;
        self.last_is_listed = self.counts[code as usize] <= LISTED_FINDINGS;
        self.last_is_listed
    }

    /// Counts one comparison that held exactly.
    pub fn held(&mut self) {
        self.tally.exact += 1;
    }

    /// Counts `count` comparisons that held exactly.
    pub fn held_many(&mut self, count: u64) {
        self.tally.exact += count;
    }

    /// Counts one comparison that held as closely as the rounding of printed numbers allows.
    pub fn held_within_rounding(&mut self) {
        self.tally.within_tolerance += 1;
    }

    /// One condition on a value of a document: counted if it holds, else reported. Gives back whether it held.
    pub fn require(
        &mut self,
        holds: bool,
        code: Code,
        document: &Document,
        at: &Json,
        expected: impl Display,
        found: impl Display,
    ) -> bool {
        if holds {
            self.held();
        } else {
            self.report_at(code, document, at, expected, found);
        }
        holds
    }

    /// A recorded value against what it must equal: same kind, and floats to the last bit.
    pub fn equal(&mut self, code: Code, document: &Document, found: &Json, expected: &Json) -> bool {
        let same = same_value(found, expected);
        if same {
            self.held();
        } else {
            self.report_at(code, document, found, show(expected), show(found));
            self.add_distance(expected, found);
        }
        same
    }

    /// A recorded float against a recomputed one, to the last bit.
    pub fn equal_float(&mut self, code: Code, document: &Document, at: &Json, expected: f64) -> bool {
        self.equal(code, document, at, &Json::Float(expected))
    }

    /// A recorded float against a recomputed one, within the tolerance relative to `scale` (the magnitude that the
    /// rounding errors of the recomputation are relative to; at least that of the numbers themselves).
    pub fn close(&mut self, code: Code, document: &Document, at: &Json, expected: f64, scale: f64) -> bool {
        let Json::Float(found) = *at else {
            self.report_at(code, document, at, python_float(expected), show(at));
            return false;
        };
        match self.closeness(found, expected, scale) {
            Some(true) => self.held(),
            Some(false) => self.tally.within_tolerance += 1,
            None => {
                self.report_at(code, document, at, python_float(expected), python_float(found));
                self.add_distance(&Json::Float(expected), at);
                return false;
            }
        }
        true
    }

    /// One condition on an item of a list, as [`Recorder::require`]; what was found is the item.
    pub fn require_item(
        &mut self,
        holds: bool,
        code: Code,
        document: &Document,
        (series, index): (Series<'_>, usize),
        expected: impl Display,
    ) {
        if holds {
            self.held();
        } else {
            self.report_item(code, document, (series, index), expected);
        }
    }

    /// An item of a list against what it must equal, as [`Recorder::equal`].
    pub fn equal_item(
        &mut self,
        code: Code,
        document: &Document,
        (series, index): (Series<'_>, usize),
        expected: &Json,
    ) {
        let Some(found) = series.get(index) else { return };
        if same_value(&found, expected) {
            self.held();
        } else {
            self.report_item(code, document, (series, index), show(expected));
            self.add_distance(expected, &found);
        }
    }

    /// An item of a list against a float, as [`Recorder::close`].
    pub fn close_item(
        &mut self,
        code: Code,
        document: &Document,
        (series, index): (Series<'_>, usize),
        expected: f64,
        scale: f64,
    ) {
        let found = series.get(index);
        match found.as_deref() {
            Some(Json::Float(found)) => match self.closeness(*found, expected, scale) {
                Some(true) => self.held(),
                Some(false) => self.tally.within_tolerance += 1,
                None => {
                    self.report_item(code, document, (series, index), python_float(expected));
                    self.add_distance(&Json::Float(expected), &Json::Float(*found));
                }
            },
            _ => self.report_item(code, document, (series, index), python_float(expected)),
        }
    }

    fn report_item(
        &mut self,
        code: Code,
        document: &Document,
        (series, index): (Series<'_>, usize),
        expected: impl Display,
    ) {
        let is_listed = self.counts[code as usize] < LISTED_FINDINGS;
        let pointer =
            if is_listed { document.pointer_of_item(series, index).unwrap_or_default() } else { String::new() };
        let found = series.get(index);
        self.report(
            code,
            document.name(),
            Place::pointer(pointer),
            expected,
            show(found.as_deref().unwrap_or(&Json::Null)),
        );
    }

    /// Whether two floats are equal to the last bit, or only within the tolerance.
    fn closeness(&self, found: f64, expected: f64, scale: f64) -> Option<bool> {
        if found.to_bits() == expected.to_bits() {
            return Some(true);
        }
        let scale = scale.abs().max(found.abs()).max(expected.abs());
        approx::abs_diff_eq!(found, expected, epsilon = self.tolerance * scale).then_some(false)
    }

    /// Adds the distance of two floats to the finding written last.
    pub fn add_distance(&mut self, expected: &Json, found: &Json) {
        if let (Some(expected), Some(found), Some(finding)) =
            (expected.as_f64(), found.as_f64(), self.findings.last_mut())
            && self.last_is_listed
        {
            finding.distance = Distance::between(expected, found);
        }
    }

    /// Says something that is not a finding.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Takes over everything that another recorder of the same family wrote down.
    pub fn absorb(&mut self, other: Recorder) {
        self.tally += other.tally;
        let mut listed = self.counts.clone();
        for finding in other.findings {
            listed[finding.code as usize] += 1;
            if listed[finding.code as usize] <= LISTED_FINDINGS {
                self.findings.push(finding);
            }
        }
        self.counts.iter_mut().zip(other.counts).for_each(|(count, more)| *count += more);
        self.notes.extend(other.notes);
    }

    /// Changes the places of everything that was written down.
    pub fn move_places(&mut self, change: &mut dyn FnMut(&mut Place)) {
        self.findings.iter_mut().for_each(|finding| change(&mut finding.place));
    }

    /// Whether no error was written down so far.
    pub fn clean(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity == Severity::Warning)
    }

    /// The family's result: failed on any error, not run where nothing was compared.
    pub fn finish(mut self) -> CheckReport {
        self.say_what_is_not_listed();
        sort(&mut self.findings);
        let outcome = if !self.clean() {
            Outcome::Failed
        } else if self.tally.total() == 0 {
            Outcome::NotRun("nothing to compare".to_owned())
        } else {
            Outcome::Passed
        };
        CheckReport { family: self.family, outcome, tally: self.tally, findings: self.findings, notes: self.notes }
    }

    /// One more finding for each code of which not all are listed; it stands for those that the tally counts already.
    fn say_what_is_not_listed(&mut self) {
        for (code, count) in Code::ALL.iter().zip(&self.counts) {
            if *count > LISTED_FINDINGS {
                let last = self.findings.iter().rfind(|finding| finding.code == *code);
                let file = last.map_or_else(|| ".".to_owned(), |finding| finding.file.clone());
                self.findings.push(Finding {
                    code: *code,
                    severity: code.severity(),
                    file,
                    place: Place::whole_file(),
                    expected: "no such finding".to_owned(),
                    found: format!("{} more, which are counted and not listed", count - LISTED_FINDINGS),
                    distance: None,
                    advice: code.advice().to_owned(),
                });
            }
        }
    }

    /// The family's result where it could not be run; findings written down so far are kept.
    pub fn not_run(self, reason: impl Into<String>) -> CheckReport {
        let mut report = self.finish();
        if report.outcome != Outcome::Failed {
            report.outcome = Outcome::NotRun(reason.into());
        }
        report
    }
}

/// Sorts findings by file, place and code.
pub(super) fn sort(findings: &mut [Finding]) {
    let key = |finding: &Finding| (finding.place.line, finding.place.column, finding.code.name());
    findings.sort_by(|left, right| left.file.cmp(&right.file).then_with(|| key(left).cmp(&key(right))));
}

/// Equality of values as recorded: an integer is not a float, and floats are compared by their bits. Objects are equal
/// whatever the order of their members.
pub fn same_value(left: &Json, right: &Json) -> bool {
    match (left, right) {
        (Json::Float(left), Json::Float(right)) => left.to_bits() == right.to_bits(),
        (Json::Array(left), Json::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same_value(left, right))
        }
        (Json::Floats(floats), Json::Array(items)) | (Json::Array(items), Json::Floats(floats)) => {
            floats.len() == items.len()
                && floats.iter().zip(items).all(|(float, item)| same_value(&Json::Float(float), item))
        }
        (Json::Object(left), Json::Object(members)) => {
            let right = Members::of(right);
            left.len() == members.len()
                && left.iter().all(|(name, value)| right.get(name).is_some_and(|other| same_value(value, other)))
        }
        _ => left == right,
    }
}

/// A value as it is shown in a finding; written only when it is displayed.
pub fn show(value: &Json) -> impl Display + '_ {
    struct Shown<'v>(&'v Json);
    impl Display for Shown<'_> {
        fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str(&quoted_value(self.0))
        }
    }
    Shown(value)
}

/// Whether a pointer ends in the name of a member that holds a secret.
fn holds_secret(pointer: &str) -> bool {
    names_secret(&pointer.rsplit('/').next().unwrap_or_default().replace("~1", "/").replace("~0", "~"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_values_are_quoted_without_what_is_private() {
        let mut recorder = Recorder::new(Family::Integrity, 0.0);
        let mut quotes = |pointer: &str, expected: &str, found: &str| {
            recorder.report(Code::JsonSyntax, "a.json", Place::pointer(pointer), expected, found);
            let finding = recorder.findings.last().cloned();
            finding.map(|finding| (finding.expected, finding.found))
        };
        let pair = |left: &str, right: &str| Some((left.to_owned(), right.to_owned()));
        assert_eq!(quotes("/a", "one", "two"), pair("one", "two"));
        let (left, right) = ("/home/alice/x", "/home/bob/x");
        assert_eq!(quotes("/a", left, right), pair("${USER_HOME}/x", "${USER_HOME}/x (another one)"));
        assert_eq!(quotes("/a", left, left), pair("${USER_HOME}/x", "${USER_HOME}/x"));
        let hidden = pair("${SECRET} (7 characters)", "${SECRET} (6 characters)");
        assert_eq!(quotes("/env/api_key", "hunter2", "hunter"), hidden);
    }
}
