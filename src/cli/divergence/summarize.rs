//! `recount divergence summarize`.

use std::path::{Path, PathBuf};

use super::super::inputs::Inputs;
use super::super::output::Output;
use super::super::{Common, Failure};
use crate::audit::{self, Evidence, Options, Subject, SubjectKind, SubjectReport, Verdict};
use crate::package::divergence::{RawResults, Source, files, receipt_text, summarize};

/// Arguments of `divergence summarize`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Raw packages, or folders with packages below them
    #[arg(required = true, value_name = "PACKAGE")]
    packages: Vec<PathBuf>,
    /// The receipt to write; - is standard output
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Date of the measurement, such as 2026-07-18
    #[arg(long, value_name = "DATE", value_parser = date)]
    date: Option<String>,
    /// Where the figures come from, in words; otherwise the packages are named with the hashes of their receipts
    #[arg(long, value_name = "TEXT")]
    source: Option<String>,
}

/// A day of the Gregorian calendar, as `YYYY-MM-DD`.
fn date(text: &str) -> Result<String, String> {
    let wrong = || "a day such as 2026-07-18 is needed".to_owned();
    let digits = |part: &str, length: usize| {
        let all = part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
        all.then(|| part.parse::<u32>().ok()).flatten()
    };
    let parts: Vec<_> = text.split('-').collect();
    let &[year, month, day] = parts.as_slice() else { return Err(wrong()) };
    let (Some(year), Some(month), Some(day)) = (digits(year, 4), digits(month, 2), digits(day, 2)) else {
        return Err(wrong());
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(leap),
        _ => return Err(wrong()),
    };
    if (1..=days).contains(&day) { Ok(text.to_owned()) } else { Err(wrong()) }
}

/// One package that verifies.
struct Package {
    name: String,
    report: SubjectReport,
    evidence: Evidence,
}

/// Merges packages that verify into one receipt.
///
/// # Errors
/// A package that cannot be read, does not verify or is incomplete; packages with different protocols or inputs; a file that
/// cannot be written.
pub(crate) fn run(args: &Args, common: &Common) -> Result<u8, Failure> {
    let output = Output::open(Some(&args.out), &Inputs::none().and("PACKAGE", &args.packages))?;
    let mut packages = Vec::new();
    for path in &args.packages {
        let folders = audit::packages(path).map_err(|reason| anyhow::anyhow!("{}: {reason}", path.display()))?;
        for folder in folders {
            packages.push(verified(&folder)?);
        }
    }
    let mut results = Vec::new();
    for package in &packages {
        for (name, document) in &package.evidence.documents {
            let (Some(engine), Ok(document)) = (files::engine_of(name), document) else { continue };
            results.push((format!("{} ({engine})", package.name), RawResults::read(document)));
        }
    }
    let sources: Vec<_> = results.iter().map(|(label, results)| Source { label: label.clone(), results }).collect();
    let source = args.source.clone().unwrap_or_else(|| named(&packages));
    let receipt = summarize(&sources, args.date.as_deref(), &source).map_err(|reason| anyhow::anyhow!(reason))?;
    let to_file = !output.is_stdout();
    output.write(|out| out.write_all(receipt_text(&receipt).as_bytes()))?;
    if to_file && !common.quiet {
        let devices = results.len();
        let plural = if devices == 1 { "" } else { "s" };
        let said = format!("{} written: {devices} device{plural} or engine{plural}\n", args.out.display());
        Output::Stdout.write(|out| out.write_all(crate::render::escape::lines(&said).as_bytes()))?;
    }
    Ok(0)
}

/// Verifies a package and keeps what was verified.
fn verified(folder: &Path) -> Result<Package, Failure> {
    let name = folder.display().to_string();
    let subject = Subject::Package(folder.to_owned());
    let (report, evidence) = audit::verify_subject(&subject, &name, &Options::default(), &|_| {});
    if report.kind != SubjectKind::Divergence {
        anyhow::bail!("{name}: it is not a divergence package but {}", report.kind.title());
    }
    if report.verdict(false) != Verdict::Holds {
        let first = report.findings().find(|finding| finding.severity != audit::Severity::Warning);
        let first = first.map_or(String::new(), |finding| format!(" ({} in {})", finding.code.name(), finding.file));
        anyhow::bail!("{name}: it does not verify{first}; `recount verify` says more");
    }
    Ok(Package { name, report, evidence })
}

/// The packages by folder name and hash of receipts.
fn named(packages: &[Package]) -> String {
    let name = |package: &Package| {
        let path = Path::new(&package.name);
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let folder = path.file_name().map_or("package".to_owned(), |name| name.to_string_lossy().into_owned());
        let hash = package.report.receipts_sha256.as_deref().unwrap_or("unknown");
        format!("{folder} (SHA-256 of receipts.json {hash})")
    };
    format!("summarized by recount from {}", packages.iter().map(name).collect::<Vec<_>>().join("; "))
}
