//! Numbers in sentences: which figures the words around one name, and whether it is one of them.
//!
//! Words of a number's own clause bind it: it must be a figure that they name. Words elsewhere in the sentence only offer
//! figures. Where nothing binds a number, any figure that it equals at its precision explains it.

use super::candidates::Context;
use super::counts::Expected;
use super::elsewhere::is_foreign_unit;
use super::figures::Figures;
use super::markdown::Text;
use super::printed::{Printed, Unit};
use super::tokens::{Kind, Token, sentences};
use super::words::{PartialLabel, Words, word};
use crate::audit::Code;

/// Cases that a sentence may name by shapes; where more match, none is meant in particular.
const MAX_NAMED_CASES: usize = 64;

/// Cases of one shape that are looked at.
const MAX_ALIKE: usize = 1024;

/// What came of one number.
#[derive(Debug, PartialEq)]
pub(super) enum Judgement {
    /// It agrees with the data.
    Held,
    /// Nothing is claimed about the data.
    Silent,
    /// It does not hold, and what should stand there.
    Wrong(Code, String),
}

/// One judged number (or name, or status) of a text.
#[derive(Debug)]
pub(super) struct Judged {
    /// First byte in the text.
    pub at: usize,
    /// What is printed.
    pub found: String,
    /// What came of it.
    pub judgement: Judgement,
}

/// Judges the numbers of a text, at most `limit` of them.
pub(super) fn judge(text: &Text, figures: &Figures<'_, '_>, limit: usize) -> Vec<Judged> {
    let mut judged = Vec::new();
    for tokens in sentences(text) {
        if judged.len() >= limit {
            break;
        }
        let sentence = Sentence::read(&tokens, text, figures);
        for (at, token) in tokens.iter().enumerate() {
            let judgement = match &token.kind {
                Kind::Number(printed) => sentence.number(at, printed),
                Kind::Hex => sentence.hexadecimal(at),
                Kind::Shape(rows, columns) => sentence.shape(at, (*rows, *columns)),
                Kind::Word => sentence.word(at),
                Kind::Mark(_) => continue,
            };
            if judgement != Judgement::Silent {
                let found = sentence.shown(at);
                judged.push(Judged { at: token.start, found: found.to_owned(), judgement });
            }
        }
    }
    judged
}

/// The words and cases of one clause.
#[derive(Debug, Default)]
struct Clause {
    words: Words,
    cases: Vec<usize>,
}

/// A sentence, and what its words are.
pub(super) struct Sentence<'s, 'v, 'd> {
    /// Its tokens.
    pub tokens: &'s [Token],
    /// The text that they are cut from.
    pub source: &'s Text,
    /// What the data says.
    pub figures: &'s Figures<'v, 'd>,
    clauses: Vec<Clause>,
    /// The notions of all its words.
    pub words: Words,
    /// The cases that it names.
    pub cases: Vec<usize>,
}

impl<'s, 'v, 'd> Sentence<'s, 'v, 'd> {
    fn read(tokens: &'s [Token], source: &'s Text, figures: &'s Figures<'v, 'd>) -> Self {
        let mut clauses: Vec<Clause> = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            clauses.resize_with(clauses.len().max(token.clause + 1), Clause::default);
            let clause = &mut clauses[token.clause];
            match token.kind {
                Kind::Word => {
                    let lower = source.text[token.start..token.end].to_ascii_lowercase();
                    word(&lower).into_iter().for_each(|word| clause.words.add(word));
                }
                Kind::Shape(rows, columns) => {
                    let label = PartialLabel::around(tokens, at, &source.text);
                    let alike = figures.by_shape.get(&(rows, columns)).into_iter().flatten().take(MAX_ALIKE);
                    let named = alike.copied().filter(|&case| label.allows(&figures.cases[case].label));
                    clause.cases.extend(named.take(MAX_NAMED_CASES + 1));
                }
                _ => {}
            }
        }
        let words = clauses.iter().fold(Words::default(), |all, clause| all.with(clause.words));
        let mut cases: Vec<usize> = clauses.iter().flat_map(|clause| clause.cases.iter().copied()).collect();
        cases.sort_unstable();
        cases.dedup();
        if cases.len() > MAX_NAMED_CASES {
            cases.clear();
            clauses.iter_mut().for_each(|clause| clause.cases.clear());
        }
        Self { tokens, source, figures, clauses, words, cases }
    }

    /// The token at `at`.
    pub(super) fn text(&self, at: usize) -> &'s str {
        &self.source.text[self.tokens[at].start..self.tokens[at].end]
    }

    /// The token `steps` before `at`, in lower case; empty where there is none.
    pub(super) fn before(&self, at: usize, steps: usize) -> String {
        at.checked_sub(steps).map(|index| self.text(index).to_ascii_lowercase()).unwrap_or_default()
    }

    /// The token `steps` behind `at`, in lower case; empty where there is none.
    pub(super) fn after(&self, at: usize, steps: usize) -> String {
        if at + steps < self.tokens.len() { self.text(at + steps).to_ascii_lowercase() } else { String::new() }
    }

    fn number(&self, at: usize, printed: &Printed) -> Judgement {
        if self.is_heading_number(at) {
            return Judgement::Silent;
        }
        if let Some(judgement) = self.named_value(at, printed).or_else(|| self.rounds(at, printed)) {
            return judgement;
        }
        if printed.is_integer() && printed.unit == Unit::Plain {
            return self.count(at, printed);
        }
        if self.is_version(at, printed) {
            return Judgement::Silent;
        }
        let Clause { words, cases } = &self.clauses[self.tokens[at].clause];
        let is_row = self.source.is_row;
        let context = Context { own: *words, nearby: self.words, own_cases: cases, cases: &self.cases, is_row };
        let candidates = context.candidates(printed, self.figures);
        let mut named = candidates.binding.iter().chain(&candidates.offered);
        if named.any(|figure| figure.matches(printed)) {
            return Judgement::Held;
        }
        // The rule's own bound is stated, not merely kept: `more than 5% lower predicted score`.
        let is_rule =
            candidates.states_rule && matches!(self.after(at, 1).as_str(), "lower" | "less" | "better" | "smaller");
        if (self.is_bound(at) && !is_rule) || (printed.is_integer() && self.is_approximate(at)) {
            return Judgement::Silent;
        }
        // `in 90% of the runs`, `100%`: a share of something that no figure is.
        let is_share = printed.unit == Unit::Percent
            && (self.after(at, 1) == "of" || (printed.is_integer() && [0.0, 100.0].contains(&printed.value)));
        let is_foreign = printed.unit == Unit::Plain && is_foreign_unit(&self.after(at, 1));
        let binding = if is_share || is_foreign || self.is_absent() || self.is_of_another_quantity(printed) {
            &[]
        } else {
            candidates.binding.as_slice()
        };
        let comparable = binding.iter().filter(|figure| figure.unit.scale_to(printed.unit).is_some());
        let nearest = comparable.min_by(|left, right| {
            let ((near, signed), (other, other_signed)) = (left.distance(printed), right.distance(printed));
            near.total_cmp(&other).then(signed.total_cmp(&other_signed))
        });
        if let Some(nearest) = nearest {
            return Judgement::Wrong(Code::ProseClaim, nearest.expected(printed));
        }
        // Round numbers are not measured.
        if printed.decimals == 0 || is_foreign {
            Judgement::Silent
        } else if self.figures.trace(printed) {
            Judgement::Held
        } else {
            Judgement::Wrong(Code::ProseUntraced, "a number that follows from the data".to_owned())
        }
    }

    /// A value that its name stands directly before: a coefficient, a version of CUDA, a compute capability.
    fn named_value(&self, at: usize, printed: &Printed) -> Option<Judgement> {
        if !matches!(printed.unit, Unit::Plain | Unit::Us) {
            return None;
        }
        let device = &self.figures.device;
        let assigned = usize::from(matches!(self.before(at, 1).as_str(), "=" | ":" | "is" | "\u{2248}"));
        let name = at.checked_sub(1 + assigned).map(|index| self.text(index))?;
        if assigned > 0
            && let Some((_, figure)) = self.figures.coefficients.iter().find(|(known, _)| known == name)
        {
            // The first coefficient is a time; the others have units of their own.
            return Some(claim(printed.agrees(figure.value, figure.slack), || figure.expected(printed)));
        }
        if printed.unit != Unit::Plain {
            return None;
        }
        let lower = name.to_ascii_lowercase();
        let named = |holds: bool, expected: String| {
            if !holds && self.is_elsewhere() { Judgement::Silent } else { claim(holds, || expected) }
        };
        if lower == "capability"
            && let Some(capability) = device.capability
        {
            let value = if printed.is_integer() { capability as f64 } else { capability as f64 / 10.0 };
            return Some(named(printed.agrees(value, 0.0), format!("{} (compute capability)", printed.like(value))));
        }
        if lower == "sm_count"
            && let Some(processors) = device.processors
        {
            let value = processors as f64;
            return Some(named(printed.agrees(value, 0.0), format!("{} (multiprocessors)", printed.like(value))));
        }
        // The toolkit has a version of its own, which no record states.
        let is_toolkit =
            ["toolkit", "runtime", "sdk", "libraries", "build", "wheels"].contains(&self.after(at, 1).as_str());
        if lower == "cuda"
            && !is_toolkit
            && printed.decimals == 1
            && let Some(version) = device.cuda_version
        {
            let value = (version / 1000) as f64 + (version % 1000 / 10) as f64 / 10.0;
            let is_known = printed.agrees(value, 0.0) || self.is_in_identity(at);
            return Some(named(is_known, format!("{} (CUDA driver version)", printed.like(value))));
        }
        None
    }

    fn is_in_identity(&self, at: usize) -> bool {
        let parts = |text: &'v str| text.split(|part: char| !part.is_ascii_digit() && part != '.');
        self.figures.device.identity.iter().any(|text| parts(text).any(|part| part == self.text(at)))
    }

    fn count(&self, at: usize, printed: &Printed) -> Judgement {
        if printed.value < 0.0 || printed.value > 1e15 {
            return Judgement::Silent;
        }
        let value = printed.value as u64;
        if let Some(judgement) = self.small_count(at, value) {
            return judgement;
        }
        let Some(expected) = self.expected_count(at, value) else { return Judgement::Silent };
        if expected.values.contains(&value) {
            return Judgement::Held;
        }
        if !expected.is_claim || self.is_no_statement(at) || self.counts_another(at, &expected) {
            return Judgement::Silent;
        }
        if expected.is_whole {
            return self.stated(false, || expected.nearest(value));
        }
        Judgement::Wrong(Code::ProseClaim, expected.nearest(value))
    }

    /// What the data counts of the noun behind `at`.
    pub(super) fn expected_count(&self, at: usize, value: u64) -> Option<Expected> {
        let words = (self.clauses[self.tokens[at].clause].words, self.words);
        let processors = self.figures.device.processors;
        self.figures.counts.expected(value, self.tokens, at, &self.source.text, words, processors)
    }

    /// Whether a count is denied, limits something or is not meant exactly.
    pub(super) fn is_no_statement(&self, at: usize) -> bool {
        let is_denied = matches!(self.before(at, 1).as_str(), "not" | "no" | "than" | "unlike");
        is_denied || self.is_bound(at) || self.is_approximate(at)
    }

    /// Whether the number limits something rather than stating it: `at most 1 %`, `< 0.5`.
    fn is_bound(&self, at: usize) -> bool {
        let last = self.before(at, 1);
        matches!(
            last.as_str(),
            "<" | ">"
                | "\u{2264}"
                | "\u{2265}"
                | "\u{b1}"
                | "below"
                | "under"
                | "within"
                | "over"
                | "above"
                | "than"
                | "most"
                | "least"
                | "exceed"
                | "exceeds"
                | "exceeded"
                | "exceeding"
                | "beyond"
                | "until"
        ) || (last == "to" && self.before(at, 2) == "up")
            || (last == "a" && matches!(self.before(at, 2).as_str(), "below" | "under" | "within" | "over" | "than"))
    }

    fn is_approximate(&self, at: usize) -> bool {
        matches!(
            self.before(at, 1).as_str(),
            "~" | "\u{2248}"
                | "about"
                | "around"
                | "roughly"
                | "nearly"
                | "almost"
                | "approximately"
                | "circa"
                | "some"
        )
    }

    /// `2.1 Results` as a heading, `section 2.1`.
    fn is_heading_number(&self, at: usize) -> bool {
        (self.source.is_heading && at == 0)
            || matches!(
                self.before(at, 1).as_str(),
                "\u{a7}" | "section" | "table" | "figure" | "fig" | "chapter" | "equation"
            )
    }

    /// A bare decimal behind a proper name: `Python 3.12`.
    fn is_version(&self, at: usize, printed: &Printed) -> bool {
        if printed.unit != Unit::Plain || printed.is_signed || printed.exponent.is_some() || printed.decimals > 3 {
            return false;
        }
        let Some(index) = at.checked_sub(1).filter(|&index| self.tokens[index].kind == Kind::Word) else {
            return false;
        };
        let name = self.text(index);
        let lower = name.to_ascii_lowercase();
        if matches!(lower.as_str(), "version" | "release" | "driver" | "v" | "python" | "toolkit" | "cuda") {
            return true;
        }
        // A sentence's first word has a capital too, and Torch has times here.
        let is_name = name.chars().any(char::is_uppercase) && index > 0 && word(&lower).is_none();
        is_name || (lower == "torch" && self.cases.is_empty()) || lower == "pytorch"
    }
}

pub(super) fn claim(holds: bool, expected: impl FnOnce() -> String) -> Judgement {
    if holds { Judgement::Held } else { Judgement::Wrong(Code::ProseClaim, expected()) }
}
