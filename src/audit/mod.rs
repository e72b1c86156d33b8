//! Verification: findings, reports, the catalogue of codes, and the checks (one file per family).
//!
//! A check compares and writes down; it does not print, exit or read options. A new check is one file here plus its rows in
//! [`catalogue`].

pub mod catalogue;
pub mod finding;
mod recorder;
pub mod report;

pub use catalogue::{CATALOGUE, Code, Family, Rule, Severity};
pub use finding::{Distance, Finding, Place};
pub use recorder::{Recorder, same_value, show};
pub use report::{CheckReport, Fact, Outcome, Report, RequestError, SubjectKind, SubjectReport, Tally, Verdict};
