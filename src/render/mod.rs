//! A report as bytes: one function, one file per format, exactly one document per run.
//!
//! Nothing here computes, exits or knows where the bytes go. What comes from a package is untrusted: every format shows
//! control characters, line breaks and invisible or direction-changing characters as escapes ([`escape`]). The output
//! depends on the report and the [`Style`] alone: no clock, no environment, no path that the report does not hold.

mod attestation;
mod brief;
mod campaign;
mod comparison;
mod divergence;
pub mod escape;
pub mod explain;
pub mod html;
mod json;
mod junit;
mod markdown;
mod measured;
mod page;
mod predict;
mod refit;
mod sarif;
mod selftest;
mod skeleton;
mod studied;
pub mod table;
mod text;
pub mod uri;
mod words;
mod wrap;

use std::io::{self, Write};

use clap::ValueEnum;

use crate::audit::Report;

pub use attestation::{Attested, Settings, attestation};
pub use brief::brief;
pub use campaign::campaign;
pub use comparison::{DiffView, diff};
pub use divergence::{CompareView, compare};
pub use explain::{explain, list};
pub use measured::measured;
pub use predict::{PredictView, predict};
pub use refit::{RefitView, TableFormat, refit};
pub use selftest::selftest;
pub use skeleton::{SkeletonView, skeleton};
pub use studied::studied;
pub use table::Table;

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// For a person on a terminal
    #[default]
    Text,
    /// `recount-report-v1`, see docs/schema/recount-report-v1.json
    Json,
    /// For a comment on a pull request
    Markdown,
    /// JUnit XML, for test dashboards
    Junit,
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

/// How much a text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Verbosity {
    /// The verdicts, and what could not be looked at.
    Quiet,
    /// Every code with its first places.
    #[default]
    Normal,
    /// Every place, what each check proves, and why each code matters.
    Verbose,
}

/// How text looks. Only the text format has a look; the others are the same for every style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether to write colour sequences.
    pub color: bool,
    /// How much to say.
    pub verbosity: Verbosity,
    /// Columns to fill; below 40 it is taken as 40.
    pub width: usize,
}

impl Default for Style {
    fn default() -> Self {
        Self { color: false, verbosity: Verbosity::Normal, width: 80 }
    }
}

/// Writes the report as one document. The only errors are those of `out`.
pub fn render(report: &Report, format: Format, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut buffered = io::BufWriter::new(out);
    match format {
        Format::Text => text::write(report, style, &mut buffered),
        Format::Json => json::write(report, &mut buffered),
        Format::Markdown => markdown::write(report, &mut buffered),
        Format::Junit => junit::write(report, &mut buffered),
        Format::Sarif => sarif::write(report, &mut buffered),
    }?;
    buffered.flush()
}
