//! Run-to-run divergence of one computation: pairs of trials compared bit for bit, and their summary. Pure.

pub mod pairs;

pub use pairs::{Pair, Summary, all_pairs, compare, pair_count, summarize};
