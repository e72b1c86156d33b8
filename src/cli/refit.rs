//! `recount refit`.

use std::io::Write;
use std::path::PathBuf;

use super::{Common, Environment, Failure, inputs::Inputs, output::Output, packages, verbosity};
use crate::audit;
use crate::package::json::compact;
use crate::refit::{document, exact_models, readable_diff};
use crate::render::{RefitView, Style, brief, refit};

/// Lines of a difference that are shown.
const DIFF_LINES: usize = 200;

/// Arguments of `refit`.
#[derive(Debug, clap::Args)]
#[command(mut_arg("format", |arg| arg.help("Form of the result; only `verify` has junit and sarif, too")))]
pub(super) struct Args {
    /// The package's folder
    package: PathBuf,
    /// Also solve every fit in exact rational arithmetic, and give each recorded coefficient's distance in ulp
    #[arg(long)]
    exact: bool,
    /// Show how the recorded model differs from the refit, beyond the tolerance
    #[arg(long)]
    diff: bool,
    /// Write the refitted model.json, in the published schema
    #[arg(long, value_name = "FILE")]
    model_out: Option<PathBuf>,
    #[command(flatten)]
    shown: packages::PackageArgs,
    /// Largest relative difference of recomputed floats
    #[arg(long, value_name = "REL", default_value_t = audit::evidence::DEFAULT_TOLERANCE, value_parser = super::verify::tolerance)]
    tolerance: f64,
}

/// Fits the package's model again, shows it, and compares it with the recorded one.
///
/// What is wrong with the package itself goes to standard error, and an agreeing model does not make up for it.
///
/// # Errors
/// A package that cannot be read or fitted, or a file that cannot be written.
pub(super) fn run(args: &Args, common: &Common, environment: &Environment) -> Result<u8, Failure> {
    let inputs = Inputs::none().and("PACKAGE", [&args.package]);
    let output = args.shown.output(&inputs)?;
    let model_output = args.model_out.as_deref().map(|path| Output::open_model(path, &inputs)).transpose()?;
    if model_output.as_ref().is_some_and(|model_output| output.is_same(model_output)) {
        anyhow::bail!("--output and --model-out would write to the same place");
    }
    let options = args.shown.options(args.tolerance)?;
    let name = args.package.display().to_string();
    let opened =
        audit::open_partition(&args.package, &options).map_err(|reason| anyhow::anyhow!("{name}: {reason}"))?;
    let evidence = &opened.evidence;
    let package = audit::PartitionEvidence::read(evidence);
    let findings = opened.findings(&package, &options);
    // Diagnostics: where standard error is closed, the exit status still tells.
    let _ = brief(&findings, &mut std::io::stderr().lock());
    let refitted = package.refit();
    let agreement = audit::check_model(&package, &refitted, &options);
    let refitted = refitted.as_ref().map_err(|reason| anyhow::anyhow!("{name}: {reason}"))?;
    let recorded = audit::recorded_model(evidence).map_err(|reason| anyhow::anyhow!("{name}: {reason}"))?;
    let exact =
        if args.exact { Some(exact_models(&refitted.refit.observations, &refitted.refit.groups)?) } else { None };
    let diff = match (args.diff, recorded) {
        (true, Some(recorded)) => Some(readable_diff(recorded, &refitted.document, args.tolerance, DIFF_LINES)),
        (true, None) => anyhow::bail!("{name}: --diff needs a recorded model.json"),
        _ => None,
    };
    let view = RefitView {
        package: &name,
        refit: &refitted.refit,
        document: &refitted.document,
        recorded,
        sm_count: refitted.sm_count,
        exact: exact.as_ref(),
        agreement: recorded.map(|_| &agreement),
        diff: diff.as_deref(),
    };
    let style = Style { color: false, verbosity: verbosity(common), width: environment.width };
    output.write(|out| refit(&view, args.shown.format, &style, out))?;
    if let Some(model_output) = model_output {
        let model = document::complete(refitted.document.clone(), recorded);
        model_output.write(|out| out.write_all((compact(&model) + "\n").as_bytes()))?;
    }
    let agrees = recorded.is_none() || agreement.findings.is_empty();
    let sound = !findings.iter().any(audit::spoils_refit);
    if agrees && !sound {
        let _ = writeln!(std::io::stderr(), "the package itself does not hold, whatever its model says");
    }
    Ok(if agrees && sound { 0 } else { 1 })
}
