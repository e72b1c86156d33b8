//! `recount divergence compare`.

use std::path::{Path, PathBuf};

use super::super::inputs::Inputs;
use super::super::output::Output;
use super::super::{Common, Environment, Failure, verbosity};
use crate::audit::{self, Options, SubjectKind, Verdict};
use crate::divergence::side_by_side::{Side, side_by_side};
use crate::package::divergence::{RawResults, SummaryReceipt, files, side_of_package, side_of_receipt};
use crate::render::{CompareView, Style, TableFormat, compare};

/// Arguments of `divergence compare`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A receipt or a raw package
    left: PathBuf,
    /// Another
    right: PathBuf,
    /// Form of the result
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    format: TableFormat,
    /// Write the result to a file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Shows both side by side; status 1 if something that matters differs.
///
/// # Errors
/// A path that is neither a receipt nor a raw package, or a result that cannot be written.
pub(crate) fn run(args: &Args, common: &Common, environment: &Environment) -> Result<u8, Failure> {
    let inputs = Inputs::none().and("LEFT", [&args.left]).and("RIGHT", [&args.right]);
    let output = Output::open(args.output.as_deref(), &inputs)?;
    let (left, left_verdict) = side(&args.left)?;
    let (right, right_verdict) = side(&args.right)?;
    let found = side_by_side(&left, &right);
    let verdicts = [left_verdict, right_verdict].map(|verdict| (verdict.words(), verdict == Verdict::Holds));
    let view = CompareView { left: &left, right: &right, verdicts, found: &found };
    let style = Style { color: false, verbosity: verbosity(common), width: environment.width };
    output.write(|out| compare(&view, args.format, &style, out))?;
    Ok(u8::from(!view.agrees()))
}

/// What a path holds, and whether it verifies.
fn side(path: &Path) -> Result<(Side, Verdict), Failure> {
    let name = path.display().to_string();
    let subjects = audit::subjects(path).map_err(|reason| anyhow::anyhow!("{name}: {reason}"))?.subjects;
    let [subject] = subjects.as_slice() else {
        anyhow::bail!("{name}: {} packages and receipts lie below it; name one", subjects.len());
    };
    let (report, evidence) = audit::verify_subject(subject, &name, &Options::default(), &|_| {});
    let documents = || evidence.documents.iter().filter_map(|(name, document)| Some((name, document.as_ref().ok()?)));
    let side = match report.kind {
        SubjectKind::DivergenceReceipt => {
            let (_, document) = documents().next().ok_or_else(|| anyhow::anyhow!("{name}: it cannot be read"))?;
            side_of_receipt(&name, &SummaryReceipt::read(document))
        }
        SubjectKind::Divergence => {
            let results = documents().filter(|(name, _)| files::engine_of(name).is_some());
            let results: Vec<_> = results.map(|(_, document)| RawResults::read(document)).collect();
            side_of_package(&name, &results)
        }
        other => {
            anyhow::bail!("{name}: it is neither a divergence receipt nor a divergence package but {}", other.title())
        }
    };
    Ok((side, report.verdict(false)))
}
