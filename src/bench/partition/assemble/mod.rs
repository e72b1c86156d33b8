//! From a [`Campaign`](super::record::Campaign) to a complete package folder in the published format.
//!
//! | module | owns |
//! |---|---|
//! | [`package`] | the folder: everything written beside its place, sealed, renamed |
//! | `validation` | `validation.json`: all runs, what failed, comparisons |
//! | `samples` | `samples.csv` |
//! | `model` | `model.json`, `provenance.json`, `proof-receipts.json` |
//! | `overlap` | `overlap.json`: the route of overlapping operations, apart from everything else |
//! | `readme` | `README.md`, generated from the data |
//! | `settings` | recorded settings as rows that a person can read |

mod model;
mod overlap;
pub mod package;
mod readme;
mod samples;
mod settings;
mod validation;

pub use package::{AssembleError, write};
