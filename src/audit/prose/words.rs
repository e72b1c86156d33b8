//! The words of a sentence that say what its numbers are.

use crate::package::partition::{CaseLabel, Operation, Storage};

use super::tokens::{Kind, Token};

/// A set of [`Word`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Words(u64);

impl Words {
    /// Whether the set has any of `words`.
    pub(super) fn any(self, words: &[Word]) -> bool {
        words.iter().any(|&word| self.0 >> word as u32 & 1 == 1)
    }

    /// Adds a word.
    pub(super) fn add(&mut self, word: Word) {
        self.0 |= 1 << word as u32;
    }

    /// Both sets together.
    pub(super) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What words are told apart. Spelling variants of one notion are one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it; `word` lists the spellings")]
pub(super) enum Word {
    Drift,
    Residual,
    Geometric,
    Mean,
    Geomean,
    OtherStatistic,
    Retry,
    Improve,
    Differ,
    Native,
    Torch,
    Rows1,
    Rows2,
    Default,
    Recheck,
    Median,
    Timed,
    Extreme,
    Score,
    Threshold,
    Select,
    Fail,
    Compare,
    Warm,
    Sample,
    Training,
    Each,
    Tolerance,
    Floating,
    Exit,
    Commit,
    Requirement,
    Overlap,
}

/// The notion that a word stands for; `lower` is in lower case.
pub(super) fn word(lower: &str) -> Option<Word> {
    Some(match lower {
        "drift" | "drifts" | "drifted" => Word::Drift,
        "residual" | "residuals" => Word::Residual,
        "geometric" => Word::Geometric,
        "geomean" | "geomeans" => Word::Geomean,
        "mean" | "means" => Word::Mean,
        "average" | "averages" | "averaged" | "rms" | "stdev" | "deviation" | "variance" | "percentile"
        | "quartile" => Word::OtherStatistic,
        "retry" | "retries" | "retried" | "retest" | "retests" | "retested" | "rerun" | "reran" => Word::Retry,
        "improvement" | "improvements" | "improve" | "improves" | "improved" | "gain" | "gains" | "saving"
        | "savings" | "saves" | "saved" | "speedup" | "speedups" => Word::Improve,
        "faster" | "slower" | "quicker" | "less" | "lower" | "higher" | "better" | "worse" | "wins" | "win"
        | "beats" | "beat" | "loses" | "within" | "regress" | "regresses" | "regressed" | "exceed" | "exceeds" => {
            Word::Compare
        }
        "differ" | "differs" | "differed" | "difference" | "differences" | "change" | "changed" | "changes"
        | "apart" => Word::Differ,
        "native" => Word::Native,
        "torch" | "pytorch" => Word::Torch,
        "rows1" => Word::Rows1,
        "rows2" => Word::Rows2,
        "default" | "defaults" | "original" => Word::Default,
        "recheck" | "rechecks" | "rechecked" => Word::Recheck,
        "median" | "medians" => Word::Median,
        "measured" | "took" | "takes" | "runs" | "ran" | "time" | "times" | "timing" => Word::Timed,
        "maximum" | "minimum" | "largest" | "smallest" | "greatest" | "worst" | "ranged" | "ranges" | "range"
        | "between" | "extreme" | "extremes" | "most" | "widest" | "highest" | "lowest" | "peak" => Word::Extreme,
        "score" | "scores" | "predicted" | "predicts" | "prediction" | "predictions" => Word::Score,
        "threshold" | "thresholds" => Word::Threshold,
        "select" | "selects" | "selected" | "selecting" | "selection" | "choose" | "chooses" | "chose" | "chosen"
        | "pick" | "picks" | "picked" | "prefer" | "prefers" | "retain" | "retains" | "retained" | "keep" | "keeps"
        | "kept" | "repartitioned" | "switch" | "switches" | "switched" => Word::Select,
        "fail" | "fails" | "failed" | "failing" | "failure" | "missing" | "passed" | "crashed" => Word::Fail,
        "warmup" | "warmups" | "warm" => Word::Warm,
        "sample" | "samples" | "span" | "spans" | "target" | "targets" | "targeting" | "targeted" => Word::Sample,
        "train" | "trains" | "training" | "trained" | "fit" | "fits" | "fitted" => Word::Training,
        "each" | "every" | "per" => Word::Each,
        "tolerance" | "tolerances" | "variation" | "variations" | "tie" | "ties" => Word::Tolerance,
        "floating" | "numerical" | "numeric" | "relative" => Word::Floating,
        "exit" | "exited" | "status" | "crash" | "returned" | "returncode" | "process" | "code" => Word::Exit,
        "commit" | "commits" | "revision" | "head" => Word::Commit,
        "require" | "requires" | "required" | "needs" | "need" | "newer" | "later" | "since" | "supports"
        | "support" | "unlike" | "untested" => Word::Requirement,
        "overlap" | "overlaps" | "overlapping" | "overlapped" => Word::Overlap,
        _ => return None,
    })
}

/// What the words around a shape such as `37x257` say about the case.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PartialLabel {
    operation: Option<Operation>,
    storage: Option<Storage>,
    block: Option<u64>,
}

impl PartialLabel {
    /// Reads the words that stand directly before and behind the shape at `at`, in any order.
    pub(super) fn around(tokens: &[Token], at: usize, text: &str) -> Self {
        Self::read(tokens, at, text).0
    }

    /// The first and the last token of the label around the shape at `at`.
    pub(super) fn span(tokens: &[Token], at: usize, text: &str) -> (usize, usize) {
        let (_, first, last) = Self::read(tokens, at, text);
        (first, last)
    }

    fn read(tokens: &[Token], at: usize, text: &str) -> (Self, usize, usize) {
        /// An operation, a storage type and a B.
        const PARTS: usize = 3;
        let mut label = Self::default();
        let mut is_part = |token: &&Token| token.kind == Kind::Word && label.take(&text[token.start..token.end]);
        let before = tokens[..at].iter().rev().take(PARTS).take_while(&mut is_part).count();
        let behind = tokens[at + 1..].iter().take(PARTS).take_while(&mut is_part).count();
        (label, at - before, at + behind)
    }

    /// Whether an operation or a storage type is named.
    pub(super) fn is_any(&self) -> bool {
        self.operation.is_some() || self.storage.is_some()
    }

    /// Takes one word if it is a part that is not known yet.
    fn take(&mut self, word: &str) -> bool {
        let lower = word.to_ascii_lowercase();
        let operation = match lower.as_str() {
            "sum" => Some(Operation::Sum),
            "max" => Some(Operation::Max),
            other => Operation::from_name(other),
        };
        let storage = Storage::from_name(&lower);
        let block = word.strip_prefix('B').and_then(|block| block.parse().ok());
        let is_new = (operation.is_some() && self.operation.is_none())
            || (storage.is_some() && self.storage.is_none())
            || (block.is_some() && self.block.is_none());
        self.operation = self.operation.or(operation);
        self.storage = self.storage.or(storage);
        self.block = self.block.or(block);
        is_new
    }

    /// Whether a case with this label is meant.
    pub(super) fn allows(&self, label: &CaseLabel) -> bool {
        self.operation.is_none_or(|operation| operation == label.operation)
            && self.storage.is_none_or(|storage| storage == label.storage)
            && self.block.is_none_or(|block| block == label.block)
    }
}
