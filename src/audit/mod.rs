//! Verification: findings, reports, the catalogue of codes, and the checks (one file per family).
//!
//! A check compares and writes down; it does not print, exit or read options. A new check is one file here plus its rows in
//! [`catalogue`].

pub mod catalogue;
mod claims;
mod compare;
mod completeness;
mod discover;
mod divergence;
pub mod evidence;
mod exactness;
mod failures;
pub mod finding;
mod integrity;
mod malformed;
mod model;
mod opened;
mod overlap;
mod proofs;
mod prose;
mod quote;
mod recorder;
pub mod report;
mod samples;
mod signature;
mod streamed;
mod timing;
mod undeclared;
mod unredacted;
mod verify;

pub use catalogue::{CATALOGUE, Code, Family, Rule, Severity};
use compare::{compare, compare_within};
pub use discover::{Found, Subject, packages, subjects};
pub use evidence::{Evidence, Options, PartitionEvidence};
pub use finding::{Distance, Finding, Place};
pub use integrity::{CLAIMS, MEDIANS};
pub use model::{check as check_model, recorded_model};
pub use opened::{OpenedPartition, open_partition, spoils_refit, verify_partition};
pub use recorder::{Recorder, same_value, show};
pub use report::{CheckReport, Fact, Outcome, Report, RequestError, SubjectKind, SubjectReport, Tally, Verdict};
pub use verify::{verify, verify_subject};

use crate::package::json::Document;
use crate::package::partition::Problem;

/// Writes down what a reader of `document` could not read.
fn report_problems(recorder: &mut Recorder, document: &Document, problems: Vec<Problem>) {
    for problem in problems {
        let place = Place::pointer(problem.pointer);
        recorder.report(Code::MalformedField, document.name(), place, problem.expected, problem.found);
    }
}
