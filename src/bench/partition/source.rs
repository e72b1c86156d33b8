//! The kernel's source for a case: definitions, the kernel, the original entry; and the partition entry, appended, so that
//! the original source stays a prefix byte for byte.

use super::cases::CaseSpec;
use crate::package::partition::{Operation, Storage};

/// The kernel.
pub const KERNEL: &str = include_str!("../../kernels/row_reduce.cu");

/// Name of the original entry.
pub const ORIGINAL: &str = "reduce_rows";

/// Name of the appended entry.
pub const PARTITION: &str = "reduce_rows_partition";

/// Name of the original entry with a delay before its store, which sources for overlapping operations have: it shows whether
/// stores keep their order.
pub const LATE: &str = "reduce_rows_late";

/// The delay, in cycles: many times what an operation takes.
const LATE_CYCLES: u32 = 20_000;

/// Rows per program that a partition entry may have.
pub const PARTITION_ROWS: [u64; 3] = [1, 2, 4];

/// Threads of a row: all numbers that the kernel takes.
pub const GROUPS: [u32; 9] = [4, 8, 16, 32, 64, 128, 256, 512, 1024];

/// Threads of a warp.
const WARP: u32 = 32;

/// Largest block.
const MAX_THREADS: u64 = 1024;

/// Vectors of 16 bytes that a thread reads where nothing was measured: enough loads in flight, few steps of combining.
const VECTORS_PER_THREAD: u64 = 4;

/// Threads of a block beyond which it is not filled where nothing was measured.
const PREFERRED_THREADS: u64 = 512;

/// An entry: how many rows a program reduces, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Rows of a program.
    pub rows: u64,
    /// Threads of a row.
    pub group: u32,
}

impl Entry {
    /// An entry with as many threads as fit the case, by rule.
    pub fn by_rule(case: &CaseSpec, rows: u64) -> Self {
        let vectors = vectors(case);
        let enough = GROUPS.into_iter().find(|&group| u64::from(group) * VECTORS_PER_THREAD >= vectors);
        let mut group = enough.unwrap_or(GROUPS[GROUPS.len() - 1]);
        while group > GROUPS[0] && u64::from(group) * rows > PREFERRED_THREADS {
            group /= 2;
        }
        // A warp costs the same with idle lanes.
        if rows == 1 && group < 32 && vectors > 16 {
            group = 32;
        }
        Self { rows, group }
    }

    /// Entries that are worth a try for a case: the one by rule first, then those with half, twice and four times as many
    /// threads for a row. In stream order a search over all numbers on an H200 found none further off that was faster by
    /// more than two parts in a hundred.
    pub fn candidates(case: &CaseSpec, rows: u64, order: Order) -> Vec<Self> {
        let vectors = vectors(case);
        let first = Self::by_rule(case, rows);
        let near = |group: u32| [group * 2, group / 2, group / 4].contains(&first.group);
        let useful = |group: u32| {
            let each = vectors.div_ceil(u64::from(group));
            let fits = u64::from(Self { rows, group }.threads(order)) <= MAX_THREADS;
            each <= 16
                && u64::from(group) <= vectors.next_power_of_two()
                && u64::from(group) * rows <= MAX_THREADS
                && fits
        };
        let others = GROUPS.into_iter().filter(|&group| near(group) && useful(group));
        std::iter::once(first.group).chain(others).map(|group| Self { rows, group }).collect()
    }

    /// Threads of a block: those of all rows that are reduced at once, in whole warps, and a warp to spare where operations
    /// overlap.
    pub fn threads(self, order: Order) -> u32 {
        let fitting = MAX_THREADS / u64::from(self.group);
        let at_once = self.rows.min(fitting) as u32;
        let spare = if order == Order::Overlap { WARP } else { 0 };
        (at_once * self.group).next_multiple_of(WARP) + spare
    }
}

/// Vectors of 16 bytes in a row, rounded up.
fn vectors(case: &CaseSpec) -> u64 {
    (case.geometry.columns * case.storage.bytes()).div_ceil(16)
}

/// Which operations a source is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// In stream order, one after the other.
    Stream,
    /// Overlapping under programmatic dependent launch.
    Overlap,
}

/// A source: what is compiled, and where the appended entry begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// All of it.
    pub text: String,
    /// Bytes of the original source, a prefix.
    pub original_bytes: usize,
}

impl Source {
    /// The source of a case. `aligned` says that the input begins at a multiple of 16 bytes; `partition` asks for the
    /// appended entry.
    pub fn new(case: &CaseSpec, aligned: bool, order: Order, original: Entry, partition: Option<Entry>) -> Self {
        let storage = match case.storage {
            Storage::Fp16 => 0,
            Storage::Bf16 => 1,
            Storage::Fp32 => 2,
        };
        let geometry = case.geometry;
        let rows_aligned = aligned && (geometry.columns * case.storage.bytes()).is_multiple_of(16);
        let mut text = format!(
            "#define STORAGE {storage}\n#define MAXIMUM {}\n#define ROWS {}u\n#define COLUMNS {}\n#define ALIGNED {}\n\n{KERNEL}",
            i32::from(case.operation == Operation::Max),
            geometry.rows,
            geometry.columns,
            i32::from(rows_aligned),
        );
        if order == Order::Overlap {
            text.push_str(&entry(LATE, original, order, &format!(", true, true, {LATE_CYCLES}")));
        }
        let arguments = if order == Order::Overlap { ", true" } else { "" };
        text.push_str(&entry(ORIGINAL, original, order, arguments));
        let original_bytes = text.len();
        if let Some(partition) = partition {
            text.push_str(&entry(PARTITION, partition, order, arguments));
        }
        Self { text, original_bytes }
    }

    /// The prefix that the original source is.
    pub fn original(&self) -> &str {
        self.text.get(..self.original_bytes).unwrap_or(&self.text)
    }

    /// What was appended.
    pub fn suffix(&self) -> &str {
        self.text.get(self.original_bytes..).unwrap_or_default()
    }
}

fn entry(name: &str, entry: Entry, order: Order, arguments: &str) -> String {
    let Entry { rows, group } = entry;
    format!(
        "\nextern \"C\" __global__ void __launch_bounds__({}) {name}(const storage* __restrict__ input, storage* output) {{\n    \
         reduce<{rows}, {group}{arguments}>(input, output);\n}}\n",
        entry.threads(order)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::partition::cases;

    #[test]
    fn the_original_source_is_a_prefix_whatever_is_appended() {
        for case in cases::published().iter().chain(&cases::held_out()) {
            let original = Entry::by_rule(case, case.geometry.block);
            let alone = Source::new(case, true, Order::Stream, original, None);
            assert_eq!((alone.original(), alone.suffix()), (alone.text.as_str(), ""));
            for rows in PARTITION_ROWS {
                let with = Source::new(case, true, Order::Stream, original, Some(Entry::by_rule(case, rows)));
                assert!(with.text.starts_with(&alone.text));
                assert_eq!(with.original(), alone.text);
                assert!(with.suffix().contains(PARTITION) && !with.original().contains(PARTITION));
            }
        }
    }

    #[test]
    fn blocks_fit_and_hold_their_rows() {
        for case in cases::published().iter().chain(&cases::held_out()) {
            for rows in [1, 2, 3, 4, 8, 64] {
                for order in [Order::Stream, Order::Overlap] {
                    for entry in Entry::candidates(case, rows, order) {
                        let threads = entry.threads(order);
                        assert!((32..=1024).contains(&threads) && threads % 32 == 0, "{entry:?}");
                        assert!(GROUPS.contains(&entry.group));
                    }
                }
            }
        }
    }
}
