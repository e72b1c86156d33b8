//! Integers that a README may print with the noun they count: `567 retained raw samples`, `16-case`, `24 SMs`.

use super::super::evidence::Refitted;
use super::nouns::{Noun, Qualifiers, qualified_noun};
use super::tokens::Token;
use super::words::{Word, Words};
use crate::fit::Schedule;
use crate::package::partition::{DEFAULT, RETEST, Route, Validation};

/// How many runs and samples one cohort has on one route.
#[derive(Debug)]
struct CohortCount {
    cohort: String,
    route: Route,
    runs: u64,
    samples: u64,
}

/// Everything that is counted.
#[derive(Debug, Default)]
pub(super) struct Counts {
    cases: u64,
    cohorts: u64,
    retests: u64,
    failed_cases: u64,
    observations: u64,
    groups: Option<u64>,
    /// Cases that keep the default or take another schedule, by folds and by the full fit.
    decided: Vec<u64>,
    /// Cases that take each schedule, in the order of all schedules.
    taken: [Vec<u64>; 3],
    regressions: Vec<u64>,
    features: Option<usize>,
    per_run: Vec<u64>,
    batches: Vec<u64>,
    by_cohort: Vec<CohortCount>,
}

/// What an integer with a noun should have been.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Expected {
    /// What is counted.
    pub noun: Noun,
    /// Each value that would do.
    pub values: Vec<u64>,
    /// What is counted, in words.
    pub what: &'static str,
    /// Whether another value contradicts the data; else it may count a part.
    pub is_claim: bool,
    /// Whether it is said of the whole package: `16-case benchmark`.
    pub is_whole: bool,
    /// Whether nothing between number and noun narrows what is counted.
    pub is_plain: bool,
    /// Whether something is said of these alone: `two samples were slow`.
    pub is_predicate: bool,
}

impl Counts {
    /// Counts what the data holds.
    pub(super) fn of(validation: &Validation<'_>, refitted: Option<&Refitted<'_, '_>>) -> Self {
        let mut counts =
            Self { cases: validation.cases.len() as u64, cohorts: validation.cohorts.len() as u64, ..Self::default() };
        for record in &validation.cases {
            counts.retests += u64::from(record.retest.is_some());
            counts.failed_cases += u64::from(record.runs.iter().any(|run| run.case_status == "failed"));
        }
        for (_, run, route, timing) in validation.timed() {
            let samples = timing.samples.len() as u64;
            note(&mut counts.per_run, samples);
            let known = counts.by_cohort.iter_mut().find(|count| count.cohort == run.cohort && count.route == route);
            match known {
                Some(count) => {
                    count.runs += 1;
                    count.samples += samples;
                }
                None => {
                    counts.by_cohort.push(CohortCount { cohort: run.cohort.to_owned(), route, runs: 1, samples });
                }
            }
            let sampling = |name: &str| run.routes()[route as usize].1.at?.path(&["sampling", name])?.as_u64();
            if let (Some(operations), Some(replays)) =
                (sampling("operations_per_sample"), sampling("replays_per_sample").filter(|&replays| replays > 0))
            {
                note(&mut counts.batches, operations / replays);
            }
        }
        if let Some(Refitted { refit, .. }) = refitted {
            counts.observations = refit.observations.len() as u64;
            counts.groups = Some(refit.groups.len() as u64);
            counts.features = Some(refit.full.fit.coefficients.len());
            let folds: Vec<_> = refit.folds.iter().flat_map(|fold| &fold.evaluated.decisions).collect();
            let full: Vec<_> = refit.full.decisions.iter().collect();
            for decisions in [folds, full] {
                let with = |schedule| decisions.iter().filter(|one| one.decision.selected == schedule).count() as u64;
                for (schedule, taken) in Schedule::ALL.into_iter().zip(&mut counts.taken) {
                    note(&mut counts.decided, with(schedule));
                    note(taken, with(schedule));
                }
                note(&mut counts.decided, counts.cases.saturating_sub(with(Schedule::Default)));
            }
            for metrics in [&refit.summary, &refit.full.metrics] {
                note(&mut counts.regressions, metrics.selected_regressions);
                note(&mut counts.regressions, metrics.selected_regressions_over_five_percent);
            }
        }
        counts
    }

    /// What the integer at `at` of a sentence should have been, if a noun behind it says what it counts. `clause` are the
    /// words of its clause.
    pub(super) fn expected(
        &self,
        value: u64,
        tokens: &[Token],
        at: usize,
        text: &str,
        (clause, sentence): (Words, Words),
        processors: Option<u64>,
    ) -> Option<Expected> {
        let (noun, qualifiers) = qualified_noun(tokens, at, text)?;
        let of_all = at > 0 && {
            let before = text[tokens[at - 1].start..tokens[at - 1].end].to_ascii_lowercase();
            matches!(before.as_str(), "all" | "total" | "of" | "the")
        };
        let word_before = |steps: usize| {
            let token = at.checked_sub(steps).map(|index| &tokens[index]);
            token.map(|token| text[token.start..token.end].to_ascii_lowercase()).unwrap_or_default()
        };
        let whole = |values, what| Expected {
            noun,
            values,
            what,
            is_claim: true,
            is_whole: true,
            is_plain: true,
            is_predicate: false,
        };
        let is_whole_package = qualifiers.is_whole
            && matches!(
                word_before(1).as_str(),
                "the" | "this" | "our" | "original" | "same" | "full" | "whole" | "complete" | "entire" | "frozen"
            );
        if is_whole_package {
            return Some(whole(vec![self.cases], "cases"));
        }
        let is_selection = noun == Noun::Cases && !qualifiers.is_part && !qualifiers.is_per && !qualifiers.is_narrowed;
        let is_selection = is_selection
            && sentence.any(&[Word::Select])
            && !clause.any(&[Word::Compare, Word::Improve])
            && matches!(word_before(1).as_str(), "for" | "in");
        if is_selection
            && let Some(taken) = taken_by(&word_before(2)).map(|schedule| &self.taken[schedule])
            && !taken.is_empty()
        {
            return Some(whole(taken.clone(), "cases that take this schedule"));
        }
        let mut values = Vec::new();
        let what = match noun {
            Noun::Processors => {
                values.extend(processors);
                "multiprocessors"
            }
            Noun::Operations => {
                values.extend(&self.batches);
                "operations in a graph"
            }
            Noun::Cases => {
                if !qualifiers.is_part {
                    values.push(self.cases);
                }
                if clause.any(&[Word::Select, Word::Rows1, Word::Rows2, Word::Default]) || qualifiers.is_part {
                    values.extend(&self.decided);
                }
                if sentence.any(&[Word::Fail]) {
                    let initial_torch = self.runs(|count| count.route == Route::Torch && count.cohort == DEFAULT);
                    values.extend([self.failed_cases, self.cases.saturating_sub(self.failed_cases)]);
                    values.extend([initial_torch, self.cases.saturating_sub(initial_torch)]);
                }
                "cases"
            }
            Noun::Groups => {
                values.extend(self.groups);
                "geometries"
            }
            Noun::Cohorts => {
                values.extend([self.cohorts, self.cohorts + u64::from(self.retests > 0)]);
                "cohorts"
            }
            Noun::Retests => {
                values.extend([self.retests, self.runs(|count| count.cohort == RETEST)]);
                "retests"
            }
            Noun::Regressions => {
                values.extend(&self.regressions);
                "regressions among the selected"
            }
            Noun::Subsets => {
                values.extend(self.features.and_then(|features| 1_u64.checked_shl(u32::try_from(features).ok()?)));
                "subsets of the features"
            }
            Noun::Samples => {
                self.scoped(&qualifiers, |count| count.samples, &mut values);
                values.extend(&self.per_run);
                "samples"
            }
            Noun::Executions | Noun::Runs => {
                self.scoped(&qualifiers, |count| count.runs, &mut values);
                "executions with times"
            }
            Noun::Observations => {
                values.push(self.observations);
                if qualifiers.words.any(&[Word::Native, Word::Torch]) {
                    self.scoped(&qualifiers, |count| count.runs, &mut values);
                }
                "observations"
            }
        };
        values.retain(|&value| value > 0 || noun == Noun::Regressions || noun == Noun::Cases);
        let largest = values.iter().max().copied()?;
        // A small bare number (`3 samples`) may count a part that nothing names.
        let is_large = value > largest || (value.saturating_mul(2) > largest && !qualifiers.has_verb);
        let is_whole = of_all || qualifiers.count > 0 || is_large;
        let is_claim = match noun {
            Noun::Processors | Noun::Operations => true,
            Noun::Runs => {
                qualifiers.words.any(&[Word::Native, Word::Torch]) && !qualifiers.is_per && !qualifiers.is_part
            }
            Noun::Regressions => qualifiers.count > 0,
            Noun::Retests => false,
            Noun::Cases => {
                let is_judged = clause.any(&[Word::Compare, Word::Improve]);
                is_whole && !(is_judged || qualifiers.is_per || qualifiers.is_part)
            }
            Noun::Samples => is_whole && !qualifiers.is_part,
            // `all 3 rescue cohorts` are not all.
            Noun::Cohorts if qualifiers.is_later || qualifiers.words != Words::default() => false,
            // `all 6 geometries with a gain` are some.
            Noun::Cohorts | Noun::Groups if qualifiers.is_narrowed => false,
            Noun::Groups if clause.any(&[Word::Select, Word::Rows1, Word::Rows2]) => false,
            _ => is_whole && !qualifiers.is_per && !qualifiers.is_part,
        };
        let is_plain = qualifiers.count == 0;
        let is_predicate = qualifiers.is_predicate;
        Some(Expected { noun, values, what, is_claim, is_whole: false, is_plain, is_predicate })
    }

    fn runs(&self, wanted: impl Fn(&CohortCount) -> bool) -> u64 {
        self.by_cohort.iter().filter(|count| wanted(count)).map(|count| count.runs).sum()
    }

    /// Sums over the routes and cohorts that the qualifiers leave.
    fn scoped(&self, qualifiers: &Qualifiers, of: impl Fn(&CohortCount) -> u64, values: &mut Vec<u64>) {
        let routes = [(Word::Native, Route::Native), (Word::Torch, Route::Torch)];
        let named = routes.iter().find(|(word, _)| qualifiers.words.any(&[*word])).map(|&(_, route)| route);
        let sum = |wanted: &dyn Fn(&str) -> bool| {
            let counts = self.by_cohort.iter().filter(|count| named.is_none_or(|route| route == count.route));
            counts.filter(|count| wanted(&count.cohort)).map(&of).sum::<u64>()
        };
        let main = |cohort: &str| cohort != RETEST;
        let cohorts = [
            (Word::Default, DEFAULT),
            (Word::Rows1, Schedule::Rows1.name()),
            (Word::Rows2, Schedule::Rows2.name()),
            (Word::Recheck, crate::package::partition::RECHECK),
            (Word::Retry, RETEST),
        ];
        let is_named = cohorts.iter().any(|(word, _)| qualifiers.words.any(&[*word]));
        for (word, cohort) in cohorts {
            if qualifiers.words.any(&[word]) || (!is_named && !qualifiers.is_main && named.is_some()) {
                values.push(sum(&|other| other == cohort));
            }
        }
        if qualifiers.is_later {
            values.push(sum(&|other| other == RETEST));
        }
        if qualifiers.is_main || !is_named {
            values.push(sum(&main));
        }
        if qualifiers.is_main {
            values.push(sum(&|other| other == DEFAULT));
        } else if !is_named {
            values.push(sum(&|_| true));
        }
    }
}

/// The index of the schedule that a word names.
fn taken_by(lower: &str) -> Option<usize> {
    let lower = if matches!(lower, "defaults" | "original") { "default" } else { lower };
    Schedule::ALL.iter().position(|schedule| schedule.name() == lower)
}

/// Adds a value that is not there yet.
fn note(values: &mut Vec<u64>, value: u64) {
    if !values.contains(&value) {
        values.push(value);
    }
}
