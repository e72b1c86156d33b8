//! `recount diff`.

use std::path::{Path, PathBuf};

use super::{Common, Environment, Failure, inputs::Inputs, packages, verbosity};
use crate::audit::evidence::DEFAULT_TOLERANCE;
use crate::audit::{self, Evidence, Options, PartitionEvidence};
use crate::comparison::{ModelFigures, ModelSource, Side, compare};
use crate::fit::spread::LEVEL;
use crate::package::partition::{Validation, files};
use crate::render::{DiffView, Style, diff};

/// Arguments of `diff`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The folder of a partition package
    old: PathBuf,
    /// The folder of another; ratios are NEW over OLD
    new: PathBuf,
    #[command(flatten)]
    shown: packages::PackageArgs,
}

/// Shows what differs. Differences are results and give status 0.
///
/// Both packages are verified in full; what is found goes to standard error, and status 1 says that one of them does not
/// hold (a file that is not there and that nothing here needs fails neither).
///
/// # Errors
/// Packages that cannot be read or have no case in common, or a result that cannot be written.
pub(super) fn run(args: &Args, common: &Common, environment: &Environment) -> Result<u8, Failure> {
    let output = args.shown.output(&Inputs::none().and("OLD", [&args.old]).and("NEW", [&args.new]))?;
    let options = args.shown.options(DEFAULT_TOLERANCE)?;
    let names = [&args.old, &args.new].map(|path| path.display().to_string());
    let (old, old_sound) = read(&args.old, &names[0], &options)?;
    let (new, new_sound) = read(&args.new, &names[1], &options)?;
    let packages = [PartitionEvidence::read(&old), PartitionEvidence::read(&new)];
    let sides = [side(&packages[0], &names[0])?, side(&packages[1], &names[1])?];
    let found = compare(&sides[0], &sides[1], LEVEL)?;
    let view = DiffView { names: [&names[0], &names[1]], sound: [old_sound, new_sound], found: &found };
    let style = Style { color: false, verbosity: verbosity(common), width: environment.width };
    output.write(|out| diff(&view, args.shown.format, &style, out))?;
    Ok(u8::from(!(old_sound && new_sound)))
}

/// A package's contents, and whether it holds.
fn read(path: &Path, name: &str, options: &Options) -> Result<(Evidence, bool), Failure> {
    let (evidence, findings) =
        audit::verify_partition(path, options).map_err(|reason| anyhow::anyhow!("{name}: {reason}"))?;
    Ok((evidence, packages::report(name, &findings)))
}

/// What is compared of a package.
fn side<'s, 'd>(package: &'s PartitionEvidence<'d>, name: &str) -> Result<Side<'s, 'd>, Failure> {
    let failed = |reason: String| anyhow::anyhow!("{name}: {reason}");
    let validation: &Validation<'d> = package.validation().map_err(failed)?;
    let device = package.evidence.document(files::DEVICE).map_err(failed)?.root();
    let model = audit::recorded_model(package.evidence).and_then(|recorded| match recorded {
        Some(recorded) => ModelFigures::read(recorded, ModelSource::Recorded),
        None => ModelFigures::read(&package.refit()?.document, ModelSource::Refitted),
    });
    Ok(Side { validation, device, model })
}
