//! `recount report`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::inputs::Inputs;
use super::output::Output;
use super::verify::{Checks, expect_one, progress_bar, subjects};
use super::{Environment, Failure};
use crate::audit::{Options, Report};
use crate::render::{html, studied};
use crate::report::{self, Studied};

/// Arguments of `report`.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("form").required(true).multiple(true).args(["html", "markdown", "charts"])))]
pub(super) struct Args {
    /// Package folders, divergence receipts, or folders with any of them below
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Write one HTML file that needs nothing else: verdict, findings, charts; '-' is standard output
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write Markdown for a comment on a pull request; '-' is standard output
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write each chart as an SVG file of its own into this folder
    #[arg(long, value_name = "DIR")]
    charts: Option<PathBuf>,
    /// Let warnings fail, and checks that could not be run
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    checks: Checks,
    #[command(flatten)]
    signature: super::signers::SignerArgs,
}

/// Verifies all packages that the paths stand for and writes what came of it.
///
/// # Errors
/// Arguments that contradict each other, or a file that cannot be written.
pub(super) fn run(args: &Args, environment: &Environment) -> Result<u8, Failure> {
    let options = Options { signers: args.signature.signers()?, ..args.checks.options()? };
    let inputs = Inputs::none().and("PATH", &args.paths).and("--allowed-signers", args.signature.file());
    let open = |path: &Option<PathBuf>| path.as_deref().map(|path| Output::open(Some(path), &inputs)).transpose();
    let (page, comment) = (open(&args.html)?, open(&args.markdown)?);
    if let (Some(page), Some(comment)) = (&page, &comment)
        && page.is_same(comment)
    {
        anyhow::bail!("--html and --markdown name the same place");
    }
    let mut report = Report { subjects: Vec::new(), errors: Vec::new(), strict: args.strict };
    let subjects = subjects(&args.paths, &mut report);
    expect_one(&options, &subjects)?;
    let progress = progress_bar(environment);
    let mut figures = Vec::new();
    for subject in &subjects {
        let name = subject.path().display().to_string();
        progress.set_message(name.clone());
        let Studied { subject, figures: one } = report::study(subject, &name, &options, &|bytes| progress.inc(bytes));
        report.subjects.push(subject);
        figures.push(one);
    }
    progress.finish_and_clear();
    let charts = match &args.charts {
        Some(folder) => open_charts(folder, &report, &figures, &inputs)?,
        None => Vec::new(),
    };
    let others = [("--html", &page), ("--markdown", &comment)];
    for (option, other) in others.into_iter().filter_map(|(option, other)| Some((option, other.as_ref()?))) {
        if charts.iter().any(|(chart, _)| chart.is_same(other)) {
            anyhow::bail!("{option} and --charts would write to the same place");
        }
    }
    for (place, picture) in charts {
        place.write(|out| out.write_all(picture.as_bytes()))?;
    }
    if let Some(page) = page {
        page.write(|out| html::page(&report, &figures, out))?;
    }
    if let Some(comment) = comment {
        comment.write(|out| studied(&report, &figures, out))?;
    }
    Ok(report.verdict().exit_code())
}

/// A place and a picture for each chart, `PACKAGE-CHART.svg`; nothing is written before every place is known to be free.
fn open_charts(
    folder: &Path,
    report: &Report,
    figures: &[report::figures::Figures],
    inputs: &Inputs,
) -> Result<Vec<(Output, String)>, Failure> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let (mut taken, mut open) = (BTreeSet::new(), Vec::new());
    for (subject, figures) in report.subjects.iter().zip(figures) {
        let charts = html::charts::charts(figures).with_context(|| subject.path.clone())?;
        let names: Vec<&str> = charts.iter().map(|chart| chart.name.as_str()).collect();
        for (chart, name) in charts.iter().zip(free_names(&file_stem(&subject.path), &names, &mut taken)) {
            open.push((Output::open(Some(&folder.join(name)), inputs)?, chart.standalone()));
        }
    }
    Ok(open)
}

/// `STEM-CHART.svg` for each chart, with a number after the stem where a package before has one of these names. File systems
/// may not tell capitals apart.
fn free_names(stem: &str, charts: &[&str], taken: &mut BTreeSet<String>) -> Vec<String> {
    let names = |stem: &str| charts.iter().map(|chart| format!("{stem}-{chart}.svg")).collect::<Vec<_>>();
    let mut free = names(stem);
    let mut number = 1_usize;
    while free.iter().any(|name| taken.contains(&name.to_lowercase())) {
        number += 1;
        free = names(&format!("{stem}-{number}"));
    }
    taken.extend(free.iter().map(|name| name.to_lowercase()));
    free
}

/// The last part of a path in characters that every system allows in names.
fn file_stem(path: &str) -> String {
    let name = Path::new(path).file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let kept: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).take(80).collect();
    if kept.is_empty() { "package".to_owned() } else { kept }
}
