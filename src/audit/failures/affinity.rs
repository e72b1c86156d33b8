//! Sets of processors as records of processes write them.

use crate::audit::{Code, Recorder, show};
use crate::package::json::{Document, Json};

/// Hexadecimal digits of each group but the first, where a set is written in groups.
const GROUP: usize = 8;

/// A set of processors: hexadecimal digits, as many as there need be, the most significant first and none of them a zero before
/// all others.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mask(Vec<u8>);

impl Mask {
    /// Reads a number, or digits after `0x`, in groups or not. `None` for any other notation: without `0x`, digits may be a
    /// set, a number or the list of its processors.
    pub(super) fn read(at: &Json) -> Option<Self> {
        let digits = match at.as_str() {
            None => format!("{:x}", at.as_u64()?),
            Some(text) => {
                let text = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
                let mut groups = text.split(',');
                let first = groups.next().filter(|first| !first.is_empty())?;
                let rest: Vec<&str> = groups.collect();
                let is_grouped = rest.is_empty() || first.len() <= GROUP;
                (is_grouped && rest.iter().all(|group| group.len() == GROUP))
                    .then(|| first.to_owned() + &rest.concat())?
            }
        };
        let digits: Option<Vec<u8>> = digits.chars().map(|digit| Some(digit.to_digit(16)? as u8)).collect();
        Some(Self(digits?.into_iter().skip_while(|&digit| digit == 0).collect()))
    }

    /// Whether it has processors, and all of them are in the other. Both have none where a system does not tell.
    pub(super) fn is_part_of(&self, other: &Self) -> bool {
        let all_in = self.0.len() <= other.0.len()
            && self.0.iter().rev().zip(other.0.iter().rev()).all(|(own, other)| own & !other == 0);
        all_in && self.0.is_empty() == other.0.is_empty()
    }
}

impl std::fmt::Display for Mask {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("0x")?;
        self.0.iter().try_for_each(|digit| write!(formatter, "{digit:x}"))
    }
}

/// Two records of a system's processors are of the same ones, where both are understood.
pub(super) fn same_processors(document: &Document, found: &Json, expected: &Json, recorder: &mut Recorder) {
    if let (Some(own), Some(other)) = (Mask::read(found), Mask::read(expected)) {
        recorder.require(own == other, Code::FailureRecord, document, found, show(expected), show(found));
    }
}
