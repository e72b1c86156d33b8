//! What an audit found out, before any format: per package the checks with their outcomes, and the verdict.

use serde::Serialize;

use super::catalogue::{Family, Severity};
use super::finding::Finding;

/// The answer to one run of `verify`, over all paths asked for.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// One entry for each package or receipt found, in the order of the paths given.
    pub subjects: Vec<SubjectReport>,
    /// What could not be looked at at all (a path that does not exist, a folder without packages).
    pub errors: Vec<RequestError>,
    /// Whether warnings and checks that could not be run count as failures.
    pub strict: bool,
}

/// A path that could not be verified at all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RequestError {
    /// The path as it was given.
    pub path: String,
    /// Why, and what to do.
    pub reason: String,
}

/// What is known about one package.
#[derive(Debug, Clone, Serialize)]
pub struct SubjectReport {
    /// The path as it was given or found.
    pub path: String,
    /// What kind of evidence it is.
    pub kind: SubjectKind,
    /// SHA-256 of `receipts.json` itself: a reader may keep it as an anchor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipts_sha256: Option<String>,
    /// The checks, in the order of [`Family`].
    pub checks: Vec<CheckReport>,
    /// Counts and figures derived from the data (cases, samples, executions ...).
    pub facts: Vec<Fact>,
    /// What a pass does not prove.
    pub limits: Vec<String>,
}

/// The kinds of evidence that are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SubjectKind {
    /// A program-partition benchmark package.
    Partition,
    /// Printed medians and the claims made from them.
    Claims,
    /// Raw results of a divergence run.
    Divergence,
    /// A divergence receipt: one file, which no receipts.json binds.
    DivergenceReceipt,
    /// Receipts over files of no known kind: only their integrity is checked.
    Files,
}

impl SubjectKind {
    /// The kind in words.
    pub fn title(self) -> &'static str {
        match self {
            SubjectKind::Partition => "partition package",
            SubjectKind::Claims => "claims over printed medians",
            SubjectKind::Divergence => "divergence package",
            SubjectKind::DivergenceReceipt => "divergence receipt",
            SubjectKind::Files => "files with receipts",
        }
    }
}

/// A derived quantity that a reader wants to see, such as the number of samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fact {
    /// Short name, such as `native executions`.
    pub name: String,
    /// The value as text.
    pub value: String,
}

/// One check family's result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckReport {
    /// Which family.
    pub family: Family,
    /// What came of it.
    pub outcome: Outcome,
    /// How much was compared.
    pub tally: Tally,
    /// What did not hold; sorted by file and place.
    pub findings: Vec<Finding>,
    /// What is worth saying besides (an absence that was allowed, the largest distance seen).
    pub notes: Vec<String>,
}

/// The three ways a check can end. `NotRun` is never a pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "result", content = "reason")]
pub enum Outcome {
    /// Everything that was compared holds (there may be warnings).
    Passed,
    /// At least one error.
    Failed,
    /// The check could not be made, and why.
    NotRun(String),
}

/// How many values a check compared, and how well they agreed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Tally {
    /// Equal to the last bit, or equal as text, integer, flag or hash.
    pub exact: u64,
    /// Floats that differ, but by no more than the tolerance.
    pub within_tolerance: u64,
    /// Compared and found wrong.
    pub wrong: u64,
}

impl Tally {
    /// Everything compared.
    pub fn total(self) -> u64 {
        self.exact + self.within_tolerance + self.wrong
    }
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.exact += other.exact;
        self.within_tolerance += other.within_tolerance;
        self.wrong += other.wrong;
    }
}

/// The answer in one word. The order is that of precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Everything that was checked holds, and something was.
    Holds,
    /// Something does not hold.
    DoesNotHold,
    /// The request could not be carried out.
    CouldNotVerify,
}

impl Verdict {
    /// The process's exit status: 0, 1 or 2.
    pub fn exit_code(self) -> u8 {
        match self {
            Verdict::Holds => 0,
            Verdict::DoesNotHold => 1,
            Verdict::CouldNotVerify => 2,
        }
    }

    /// The verdict in words.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Holds => "everything checked holds",
            Verdict::DoesNotHold => "something does not hold",
            Verdict::CouldNotVerify => "could not be verified",
        }
    }
}

impl Report {
    /// The verdict over all subjects: the worst of them, and "could not verify" where there is none.
    pub fn verdict(&self) -> Verdict {
        if !self.errors.is_empty() || self.subjects.is_empty() {
            return Verdict::CouldNotVerify;
        }
        self.subjects.iter().map(|subject| subject.verdict(self.strict)).max().unwrap_or(Verdict::CouldNotVerify)
    }

    /// All findings with the path of their subject.
    pub fn findings(&self) -> impl Iterator<Item = (&SubjectReport, &Finding)> {
        self.subjects.iter().flat_map(|subject| subject.findings().map(move |finding| (subject, finding)))
    }
}

impl SubjectReport {
    /// This subject's own verdict. Where nothing was compared, nothing holds.
    pub fn verdict(&self, strict: bool) -> Verdict {
        let fails = |finding: &Finding| match finding.severity {
            Severity::Unsupported => Verdict::CouldNotVerify,
            Severity::Error => Verdict::DoesNotHold,
            Severity::Warning if strict => Verdict::DoesNotHold,
            Severity::Warning => Verdict::Holds,
        };
        let nothing_compared = self.tally().total() == 0;
        let not_run =
            self.checks.iter().any(|check| matches!(check.outcome, Outcome::NotRun(_)) && self.asks_for(check));
        let floor = if nothing_compared || (strict && not_run) { Verdict::DoesNotHold } else { Verdict::Holds };
        self.findings().map(fails).fold(floor, Verdict::max)
    }

    /// Whether a check could have been run on evidence of this kind. A single file has no receipts.json to be compared with;
    /// strictness asks that nothing is left out, and there nothing was.
    pub fn asks_for(&self, check: &CheckReport) -> bool {
        (self.kind, check.family) != (SubjectKind::DivergenceReceipt, Family::Integrity)
    }

    /// All findings of all checks.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.checks.iter().flat_map(|check| &check.findings)
    }

    /// Everything compared in all checks.
    pub fn tally(&self) -> Tally {
        let mut sum = Tally::default();
        for check in &self.checks {
            sum += check.tally;
        }
        sum
    }
}
