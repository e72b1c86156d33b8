//! The host's choice between the original entry and the appended one, from the byte spans that are actually bound. Pure.

use super::cases::CaseSpec;
use crate::package::json::{Json, object};

/// A bound view: where it begins, and its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Address of the first byte.
    pub address: u64,
    /// Size in bytes.
    pub bytes: u64,
}

impl Span {
    /// Whether two spans have no byte in common. A span that would pass the end of the address space overlaps everything.
    pub fn is_disjoint(self, other: Self) -> bool {
        match (self.address.checked_add(self.bytes), other.address.checked_add(other.bytes)) {
            (Some(end), Some(other_end)) => end <= other.address || other_end <= self.address,
            _ => false,
        }
    }
}

/// The views of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding {
    /// R rows of N values.
    pub input: Span,
    /// R values.
    pub output: Span,
}

/// Which entry is launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The original entry with its grid.
    Original,
    /// The appended entry with its grid.
    Partition,
}

/// The choice for a binding, and what it was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selection {
    /// Rows per program asked for; 0 asks for nothing.
    pub requested: u64,
    /// Whether there is an appended entry, and the bound spans hold all that it reads and writes.
    pub available: bool,
    /// Whether the bytes read and the bytes written are apart.
    pub disjoint: bool,
    /// The entry.
    pub choice: Choice,
    /// Programs of the launch that was chosen.
    pub grid: u64,
}

/// Bytes that the operation reads.
pub fn input_bytes(case: &CaseSpec) -> u64 {
    case.geometry.rows * case.geometry.columns * case.storage.bytes()
}

/// Bytes that the operation writes.
pub fn output_bytes(case: &CaseSpec) -> u64 {
    case.geometry.rows * case.storage.bytes()
}

/// Chooses. The appended entry and its grid are taken only together, and only where the spans are complete and disjoint: it
/// was added under that condition, and nothing is asked of it otherwise. What the original entry gives where an output lies
/// in its own input is not promised either; it is what ran before there was another.
pub fn select(case: &CaseSpec, requested: u64, binding: Binding) -> Selection {
    let read = Span { bytes: input_bytes(case), ..binding.input };
    let written = Span { bytes: output_bytes(case), ..binding.output };
    let complete = binding.input.bytes >= read.bytes && binding.output.bytes >= written.bytes;
    let available = requested > 0 && complete;
    let disjoint = requested > 0 && read.is_disjoint(written);
    let (choice, rows) = match available && disjoint {
        true => (Choice::Partition, requested),
        false => (Choice::Original, case.geometry.block),
    };
    Selection { requested, available, disjoint, choice, grid: case.geometry.rows.div_ceil(rows) }
}

impl Selection {
    /// The launch receipt: what the host is going to launch, and why. `entries` are the names of the original entry and of
    /// the appended one.
    pub fn receipt(&self, case: &CaseSpec, entries: (&str, &str)) -> Json {
        let asked = |value: u64| Json::from(if self.requested > 0 { value } else { 0 });
        let original_grid = case.geometry.rows.div_ceil(case.geometry.block);
        let grid = case.geometry.rows.div_ceil(self.requested.max(1));
        let entry = match self.choice {
            Choice::Original => entries.0,
            Choice::Partition => entries.1,
        };
        object([
            ("stage", Json::Int(0)),
            ("rows_requested", Json::from(self.requested)),
            ("available", Json::Bool(self.available)),
            ("input_slot", Json::Int(0)),
            ("output_slot", asked(1)),
            ("input_bytes", asked(input_bytes(case))),
            ("output_bytes", asked(output_bytes(case))),
            ("original_rows", asked(case.geometry.block)),
            ("grid_x", asked(grid)),
            ("original_grid_x", asked(original_grid)),
            ("static_ranges_disjoint", Json::Bool(self.disjoint)),
            ("original_grid", Json::from(vec![original_grid, 1, 1])),
            ("expected_selected_grid", Json::from(vec![self.grid, 1, 1])),
            ("expected_selected_entry", Json::from(entry)),
        ])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::package::partition::{Operation, Storage};

    fn case() -> CaseSpec {
        CaseSpec::new(Operation::Sum, 17, 100, Storage::Fp16, 4)
    }

    fn at(address: u64, bytes: u64) -> Span {
        Span { address, bytes }
    }

    #[test]
    fn complete_and_disjoint_spans_take_the_appended_entry_with_its_grid() {
        let (input, output) = (at(1024, 3400), at(8192, 34));
        let chosen = |requested, input, output| {
            let selection = select(&case(), requested, Binding { input, output });
            (selection.choice, selection.grid)
        };
        assert_eq!(chosen(0, input, output), (Choice::Original, 5));
        assert_eq!(chosen(1, input, output), (Choice::Partition, 17));
        assert_eq!(chosen(2, input, output), (Choice::Partition, 9));
        assert_eq!(chosen(4, input, output), (Choice::Partition, 5));
        // Incomplete.
        assert_eq!(chosen(1, at(1024, 3399), output), (Choice::Original, 5));
        assert_eq!(chosen(1, input, at(8192, 33)), (Choice::Original, 5));
        // The output's first byte is the input's last, and next to it.
        assert_eq!(chosen(1, input, at(1024 + 3399, 34)), (Choice::Original, 5));
        assert_eq!(chosen(1, input, at(1024 + 3400, 34)), (Choice::Partition, 17));
        assert_eq!(chosen(2, input, at(1024 - 33, 34)), (Choice::Original, 5));
        assert_eq!(chosen(2, input, at(1024 - 34, 34)), (Choice::Partition, 9));
        // A view may be larger than what is read: only what is read counts.
        assert_eq!(chosen(1, at(1024, 10_000), at(8192, 34)), (Choice::Partition, 17));
        assert_eq!(chosen(1, at(u64::MAX - 10, 3400), output), (Choice::Original, 5));
    }

    proptest! {
        #[test]
        fn disjoint_means_no_byte_in_common(a in 0_u64..60, b in 0_u64..60, n in 1_u64..30, m in 1_u64..30) {
            let (left, right) = (at(a, n), at(b, m));
            let common = (a..a + n).any(|byte| (b..b + m).contains(&byte));
            prop_assert_eq!(left.is_disjoint(right), !common);
            prop_assert_eq!(left.is_disjoint(right), right.is_disjoint(left));
        }
    }
}
