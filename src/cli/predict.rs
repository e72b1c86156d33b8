//! `recount predict`.

use std::path::{Path, PathBuf};

use super::{Common, Environment, Failure, inputs::Inputs, packages, verbosity};
use crate::audit::evidence::DEFAULT_TOLERANCE;
use crate::audit::{self, Options};
use crate::package::partition::{Device, files};
use crate::package::receipts::RECEIPTS;
use crate::package::single::read_document;
use crate::refit::{self, FrozenModel};
use crate::render::{PredictView, Style, predict};

/// Arguments of `predict`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A model.json, or the folder of a package that has one
    model: PathBuf,
    /// The folder of the package to apply it to
    package: PathBuf,
    /// Fail (status 1) if a selected schedule ran slower than the default
    #[arg(long)]
    deny_regressions: bool,
    #[command(flatten)]
    shown: packages::PackageArgs,
}

/// Applies the model as it is, and shows what it would have selected and what came of that.
///
/// What is wrong with the package (and with the model's, where it lies in one) goes to standard error and gives status 1.
/// A regression is a result and gives status 0, unless regressions are denied.
///
/// # Errors
/// A model or a package that cannot be read or used, or a result that cannot be written.
pub(super) fn run(args: &Args, common: &Common, environment: &Environment) -> Result<u8, Failure> {
    let inputs = Inputs::none().and("MODEL", [&args.model]).and("PACKAGE", [&args.package]);
    let output = args.shown.output(&inputs)?;
    let options = args.shown.options(DEFAULT_TOLERANCE)?;
    let (model_name, name) = (args.model.display().to_string(), args.package.display().to_string());
    let (model, model_sound) = read_model(&args.model, &model_name, &options)?;
    let opened = packages::open(&args.package, &name, &options)?;
    let package = audit::PartitionEvidence::read(&opened.evidence);
    let package_sound = packages::report(&name, &opened.findings(&package, &options));
    let in_package = |reason: String| anyhow::anyhow!("{name}: {reason}");
    let validation = package.validation().map_err(in_package)?;
    let device = Device::read(opened.evidence.document(files::DEVICE).map_err(in_package)?.root());
    let prediction = refit::predict(&model, validation).map_err(|error| in_package(error.to_string()))?;
    let view = PredictView {
        model_name: &model_name,
        package: &name,
        model: &model,
        device: &device,
        prediction: &prediction,
        sound: model_sound && package_sound,
    };
    let style = Style { color: false, verbosity: verbosity(common), width: environment.width };
    output.write(|out| predict(&view, args.shown.format, &style, out))?;
    let denied = args.deny_regressions && !prediction.regressions().is_empty();
    Ok(u8::from(!view.sound || denied))
}

/// The model, and whether the package that it lies in holds, where it lies in one.
fn read_model(path: &Path, name: &str, options: &Options) -> Result<(FrozenModel, bool), Failure> {
    let failed = |reason: String| anyhow::anyhow!("{name}: {reason}");
    if path.is_dir() || path.file_name().is_some_and(|file| file == RECEIPTS) {
        let opened = packages::open(path, name, options)?;
        let package = audit::PartitionEvidence::read(&opened.evidence);
        let sound = packages::report(name, &opened.findings(&package, options));
        let document = opened.evidence.document(files::MODEL).map_err(failed)?;
        let model = FrozenModel::read(document).map_err(|problem| failed(problem.to_string()))?;
        return Ok((model, sound));
    }
    let document = read_document(path).map_err(failed)?;
    let model = FrozenModel::read(&document).map_err(|problem| anyhow::anyhow!("{problem}"))?;
    Ok((model, true))
}
