//! `recount` counts published performance evidence again.
//!
//! It takes a package of benchmark evidence (raw samples, a fitted model, hash receipts, provenance), recomputes everything
//! that can be recomputed, and says what holds, what does not, and exactly where.
//!
//! | module | owns |
//! |---|---|
//! | [`package`] | what is on disk: safe names, bytes, line endings, hashes, JSON, CSV, typed records |
//! | [`fit`] | numbers: features, weights, nonnegative least squares in binary64 and in rationals, folds, policy |
//! | [`divergence`] | pairs of trials compared bit for bit, which summaries are possible, two of them side by side |
//! | [`refit`] | a package's model, fitted again in the published schema; a frozen one, applied |
//! | [`comparison`] | two partition packages side by side |
//! | [`audit`] | findings, the catalogue of their codes, reports, and the checks |
//! | [`mod@bench`] | running things again on this machine: engines, protocols, kernels |
//! | [`seal`] | writing receipts |
//! | [`selftest`] | forged copies of a package: what the checks catch |
//! | [`mod@report`] | the numbers behind a report's pictures |
//! | [`render`] | reports, refits, predictions and comparisons as text, JSON, Markdown, JUnit, SARIF, HTML |
//! | [`cli`] | the command line |
//!
//! Arrows between them point up in this list only: [`fit`] and [`package`] know nothing of findings, [`audit`] nothing of
//! formats. Computation never prints, printing never computes.
//!
//! # Example
//!
//! Verifying a package and looking at what does not hold:
//!
//! ```
//! use recount::audit::{self, Code, Options, Verdict};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! std::fs::write(folder.path().join("notes.txt"), "measured on a quiet machine\n")?;
//! let receipts = recount::seal::receipts_text(folder.path(), &globset::GlobSet::empty())?;
//! recount::seal::write_receipts(folder.path(), &receipts)?;
//!
//! let options = Options::default();
//! let report = audit::verify(folder.path(), "example", &options, &|_| {});
//! assert_eq!(report.verdict(false), Verdict::Holds);
//!
//! std::fs::write(folder.path().join("notes.txt"), "measured on a busy machine\n")?;
//! let report = audit::verify(folder.path(), "example", &options, &|_| {});
//! let findings: Vec<_> = report.findings().collect();
//! assert_eq!(findings[0].code, Code::HashMismatch);
//! assert_eq!(findings[0].file, "notes.txt");
//! # Ok(())
//! # }
//! ```

pub mod audit;
pub mod bench;
pub mod cli;
pub mod comparison;
pub mod divergence;
pub mod fit;
pub mod package;
pub mod refit;
pub mod render;
pub mod report;
pub mod seal;
pub mod selftest;
