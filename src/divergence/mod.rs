//! Run-to-run divergence of one computation: pairs of trials compared bit for bit, their summary, which summaries are
//! possible at all, and two summaries side by side. Pure.

pub mod feasibility;
pub mod generated;
pub mod pairs;
pub mod printed;
pub mod side_by_side;

pub use feasibility::{EqualPairs, counts_of_rate, off_lattice};
pub use pairs::{Pair, Summary, all_pairs, compare, pair_count, summarize};
pub use printed::Printed;
