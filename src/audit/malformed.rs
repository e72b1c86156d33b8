//! Fields that are missing or of the wrong type: found by every check that needs them, reported once.

use std::collections::HashSet;

use super::{CheckReport, Code, Family, Outcome, Severity};

/// Moves the findings of malformed fields to the family that they belong to, each once. A check that has no other error has
/// not failed, but has not been made as a whole either.
pub(super) fn gather(checks: &mut [CheckReport]) {
    let home = Code::MalformedField.rule().family;
    let mut seen = HashSet::new();
    let mut gathered = Vec::new();
    for check in checks.iter_mut() {
        let (malformed, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut check.findings).into_iter().partition(|finding| finding.code == Code::MalformedField);
        check.findings = others;
        if malformed.is_empty() {
            continue;
        }
        check.tally.wrong = check.tally.wrong.saturating_sub(malformed.len() as u64);
        let has_errors = check.findings.iter().any(|finding| finding.severity != Severity::Warning);
        if check.family != home && !has_errors {
            let first = &malformed[0];
            let place = first.place.pointer.as_deref().unwrap_or_default();
            check.outcome = Outcome::NotRun(format!("{} {place} is malformed, see {}", first.file, home.name()));
        }
        gathered
            .extend(malformed.into_iter().filter(|finding| seen.insert((finding.file.clone(), finding.place.clone()))));
    }
    if let Some(check) = checks.iter_mut().find(|check| check.family == home && !gathered.is_empty()) {
        check.tally.wrong += gathered.len() as u64;
        check.findings.append(&mut gathered);
        check.outcome = Outcome::Failed;
    }
}

/// Adds what was found later to an earlier check of the same family.
pub(super) fn absorb(checks: &mut [CheckReport], family: Family, other: CheckReport) {
    let Some(check) = checks.iter_mut().find(|check| check.family == family) else { return };
    check.tally += other.tally;
    check.findings.extend(other.findings);
    check.notes.extend(other.notes);
    if other.outcome == Outcome::Failed {
        check.outcome = Outcome::Failed;
    }
}
