//! The words that several formats share: outcomes, counts, places, distances, verdicts.

use crate::audit::{CheckReport, Distance, Finding, Outcome, Report, Severity, SubjectReport, Tally, Verdict};

use super::escape::visible;

/// Above this many steps the exact number says no more than its magnitude.
const EXACT_ULP: u64 = 999_999;

/// How something ended, with a symbol for it. The words say the same, so that nothing depends on symbol or colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Good,
    Warned,
    Bad,
    NotRun,
}

impl Mark {
    pub(super) fn of_check(check: &CheckReport) -> Self {
        match check.outcome {
            Outcome::Failed => Mark::Bad,
            Outcome::NotRun(_) => Mark::NotRun,
            Outcome::Passed if check.findings.is_empty() => Mark::Good,
            Outcome::Passed => Mark::Warned,
        }
    }

    pub(super) fn of_verdict(verdict: Verdict) -> Self {
        if verdict == Verdict::Holds { Mark::Good } else { Mark::Bad }
    }

    pub(super) fn of_severity(severity: Severity) -> Self {
        if severity == Severity::Warning { Mark::Warned } else { Mark::Bad }
    }

    pub(super) fn symbol(self) -> &'static str {
        match self {
            Mark::Good => "✓",
            Mark::Warned => "!",
            Mark::Bad => "✗",
            Mark::NotRun => "-",
        }
    }

    /// A check's outcome in words.
    pub(super) fn outcome(self) -> &'static str {
        match self {
            Mark::Good => "passed",
            Mark::Warned => "passed with warnings",
            Mark::Bad => "failed",
            Mark::NotRun => "not run",
        }
    }
}

/// `1 place`, `2 places`.
pub(super) fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The two counts, never added up: equal to the last bit is another statement than equal within tolerance.
pub(super) fn tally(tally: Tally) -> String {
    format!("{} bit-exact, {} within tolerance", tally.exact, tally.within_tolerance)
}

/// File, line and column, as far as they are known.
pub(super) fn position(finding: &Finding) -> String {
    let mut position = match finding.file.as_str() {
        "." | "" => "the package itself".to_owned(),
        file => visible(file).into_owned(),
    };
    for number in [finding.place.line, finding.place.line.and(finding.place.column)].into_iter().flatten() {
        position.push_str(&format!(":{number}"));
    }
    position
}

/// The value within the file: its JSON pointer, or the name of its column; `None` for the file as a whole.
pub(super) fn value_name(finding: &Finding) -> Option<String> {
    let pointer = finding.place.pointer.as_deref().filter(|pointer| !pointer.is_empty());
    let field = finding.place.field.as_deref().filter(|field| !field.is_empty());
    match (pointer, field) {
        (Some(pointer), Some(field)) => Some(format!("{} {}", visible(pointer), visible(field))),
        (Some(name), None) | (None, Some(name)) => Some(visible(name).into_owned()),
        (None, None) => None,
    }
}

/// Position and value in one.
pub(super) fn place(finding: &Finding) -> String {
    match value_name(finding) {
        Some(name) => format!("{} {name}", position(finding)),
        None => position(finding),
    }
}

/// How far two floats are apart: `3 ulp, 2.2e-16 relative`.
pub(super) fn apart(distance: Distance) -> String {
    let ulp = match distance.ulp {
        ulp if ulp > EXACT_ULP => format!("{:.1e}", ulp as f64),
        ulp => ulp.to_string(),
    };
    if distance.relative == 0.0 {
        format!("{ulp} ulp, 0 relative")
    } else {
        format!("{ulp} ulp, {:.1e} relative", distance.relative)
    }
}

/// A value of a finding; the empty one has a word too.
pub(super) fn shown(value: &str) -> String {
    if value.is_empty() { "(empty)".to_owned() } else { visible(value).into_owned() }
}

/// `2 errors, 1 warning`, by level from the worst; empty where there is no finding.
pub(super) fn levels<'a>(findings: impl Iterator<Item = &'a Finding>) -> String {
    let mut counts = [0; 3];
    for finding in findings {
        match finding.severity {
            Severity::Error => counts[0] += 1,
            Severity::Unsupported => counts[1] += 1,
            Severity::Warning => counts[2] += 1,
        }
    }
    let [errors, unsupported, warnings] = counts;
    let mut parts = Vec::new();
    if errors > 0 {
        parts.push(plural(errors, "error"));
    }
    if unsupported > 0 {
        parts.push(format!("{unsupported} unsupported"));
    }
    if warnings > 0 {
        parts.push(plural(warnings, "warning"));
    }
    parts.join(", ")
}

/// The verdict over everything, and with how many warnings it holds all the same.
pub(super) fn headline(report: &Report) -> String {
    with_warnings(report.verdict(), report.subjects.iter().flat_map(SubjectReport::findings))
}

/// The subject's verdict, and with how many warnings it holds all the same.
pub(super) fn subject_headline(subject: &SubjectReport, strict: bool) -> String {
    with_warnings(subject.verdict(strict), subject.findings())
}

fn with_warnings<'a>(verdict: Verdict, findings: impl Iterator<Item = &'a Finding>) -> String {
    match findings.filter(|finding| finding.severity == Severity::Warning).count() {
        warnings if warnings > 0 && verdict == Verdict::Holds => {
            format!("{}, with {}", verdict.words(), plural(warnings, "warning"))
        }
        _ => verdict.words().to_owned(),
    }
}

/// The subject's verdict with its reason where no finding is one, its counts, and the checks that were not run.
pub(super) fn subject_verdict(subject: &SubjectReport, strict: bool) -> String {
    let verdict = subject.verdict(strict);
    let not_run: Vec<_> = subject.checks.iter().filter(|check| matches!(check.outcome, Outcome::NotRun(_))).collect();
    let run = subject.checks.len() - not_run.len();
    let mut text = if verdict == Verdict::Holds && run < not_run.len() {
        format!("only {run} of {} checks could be run, and nothing contradicts them", subject.checks.len())
    } else {
        verdict.words().to_owned()
    };
    if subject.tally().total() == 0 {
        text.push_str(", as nothing was compared");
    } else if verdict == Verdict::DoesNotHold && subject.findings().all(|found| found.severity == Severity::Warning) {
        // Without an error it is strictness that fails.
        let warned = subject.findings().next().is_some().then_some("warnings");
        let left_out = not_run.iter().any(|check| subject.asks_for(check)).then_some("checks that were not run");
        let reasons: Vec<_> = [warned, left_out].into_iter().flatten().collect();
        text.push_str(&format!(", as {} fail under --strict", reasons.join(" and ")));
    }
    let levels = levels(subject.findings());
    if !levels.is_empty() {
        text.push_str(&format!(" ({levels})"));
    }
    text.push_str(&format!("; {}", tally(subject.tally())));
    if !not_run.is_empty() {
        let names: Vec<_> = not_run.iter().map(|check| check.family.name()).collect();
        text.push_str(&format!("; {} not run ({})", plural(not_run.len(), "check"), names.join(", ")));
    }
    text
}

/// The verdict over everything, with the counts of subjects and of values.
pub(super) fn report_verdict(report: &Report) -> String {
    let verdict = headline(report);
    if report.subjects.is_empty() {
        let reason = if report.errors.is_empty() { "nothing was asked for".to_owned() } else { failures(report) };
        return format!("{verdict}; {reason}");
    }
    let holding = report.subjects.iter().filter(|subject| subject.verdict(report.strict) == Verdict::Holds).count();
    let mut total = Tally::default();
    for subject in &report.subjects {
        total += subject.tally();
    }
    let subjects = plural(report.subjects.len(), "subject");
    let verb = if holding == 1 { "holds" } else { "hold" };
    let mut text = format!("{verdict}; {holding} of {subjects} {verb}; {}", tally(total));
    if !report.errors.is_empty() {
        text.push_str(&format!("; {}", failures(report)));
    }
    text
}

fn failures(report: &Report) -> String {
    format!("{} could not be looked at", plural(report.errors.len(), "path"))
}

/// A finding on lines of its own, for formats that hold plain text; `indent` begins each line after the first.
pub(super) fn push_finding(text: &mut String, finding: &Finding, indent: &str) {
    let level = finding.severity.name();
    text.push_str(&format!("{level} {}: {}\n", finding.code.name(), finding.code.rule().title));
    text.push_str(&format!("{indent}{}\n", place(finding)));
    text.push_str(&format!("{indent}expected {}\n", shown(&finding.expected)));
    text.push_str(&format!("{indent}found    {}\n", shown(&finding.found)));
    if let Some(distance) = finding.distance {
        text.push_str(&format!("{indent}apart    {}\n", apart(distance)));
    }
    text.push_str(&format!("{indent}advice   {}\n", shown(&finding.advice)));
}

/// Facts as a reader says them: counts as `567 samples`, anything else as `name = value`.
pub(super) fn facts(subject: &SubjectReport) -> Vec<String> {
    let word = |fact: &crate::audit::Fact| {
        let counted = !fact.value.is_empty() && fact.value.bytes().all(|byte| byte.is_ascii_digit());
        if counted {
            format!("{} {}", fact.value, visible(&fact.name))
        } else {
            format!("{} = {}", visible(&fact.name), shown(&fact.value))
        }
    };
    subject.facts.iter().map(word).collect()
}

/// The lists of limits without repetition, each with the subjects it belongs to.
pub(super) fn limits(report: &Report) -> Vec<(Vec<&SubjectReport>, &[String])> {
    let mut lists: Vec<(Vec<&SubjectReport>, &[String])> = Vec::new();
    for subject in report.subjects.iter().filter(|subject| !subject.limits.is_empty()) {
        match lists.iter_mut().find(|(_, limits)| *limits == subject.limits) {
            Some((subjects, _)) => subjects.push(subject),
            None => lists.push((vec![subject], &subject.limits)),
        }
    }
    lists
}
