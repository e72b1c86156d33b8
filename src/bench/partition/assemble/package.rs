//! The folder: everything is written beside its place, sealed, and renamed into it.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use globset::GlobSet;

use super::readme::{Readme, Unfitted};
use super::{model, overlap, samples, validation};
use crate::bench::partition::record::{Campaign, Receipt};
use crate::package::json::{Document, Json, JsonError, compact, object};
use crate::package::partial::{PartialFolder, PlaceError, Vacancy, write_through};
use crate::package::partition::{Validation, files};
use crate::refit::{self, Refit};
use crate::seal::{SealError, receipts_text, write_receipts};

/// Why there is no package. Nothing was written under its name, and nothing is left beside it.
#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    /// The place is taken, or the folder around it cannot be written to.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The records of a case do not fit together.
    #[error("case {case}: {problem}")]
    Record {
        /// The case.
        case: String,
        /// What is wrong.
        problem: String,
    },
    /// The campaign as a whole lacks something.
    #[error("the campaign {0}")]
    Campaign(String),
    /// A record is not of the published form.
    #[error("validation.json {pointer}: {found} instead of {expected}")]
    Form {
        /// Where it would stand.
        pointer: String,
        /// What the format asks for.
        expected: String,
        /// What there is.
        found: String,
    },
    /// A number that is not finite, which JSON cannot say.
    #[error("a number of {name} is not finite")]
    NotFinite {
        /// The file.
        name: &'static str,
    },
    /// A document that was made is none, such as one with a member twice.
    #[error("{name} could not be read back")]
    Json {
        /// The file.
        name: &'static str,
        /// What is wrong with it.
        source: JsonError,
    },
    /// The sample rows cannot be written.
    #[error("samples.csv could not be made")]
    Samples(#[from] csv::Error),
    /// A file cannot be written.
    #[error("{path} cannot be written")]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The folder cannot be sealed.
    #[error("the package cannot be sealed")]
    Seal(#[from] SealError),
}

/// Writes the package of a campaign as the folder `out`, which does not exist or is empty.
///
/// Where no model can be fitted (one geometry, or failed runs everywhere) the package has none, and its README says why.
///
/// # Errors
/// The place is taken; the campaign has no run with times, or records that do not fit together; something cannot be written.
/// Then nothing stands under the name of `out` that was not there before.
pub fn write(campaign: &Campaign, out: &Path) -> Result<(), AssembleError> {
    let mut folder = PartialFolder::beside(out, Vacancy::EmptyFolder)?;
    for (name, text) in contents(campaign)? {
        let path = folder.path().join(name);
        write_through(&path, &text).map_err(|source| AssembleError::Write { path: out.join(name), source })?;
    }
    let receipts = receipts_text(folder.path(), &GlobSet::empty())?;
    write_receipts(folder.path(), &receipts)?;
    folder.finish().map_err(|source| AssembleError::Write { path: out.to_owned(), source })
}

/// All files but the receipts, by name.
fn contents(campaign: &Campaign) -> Result<Vec<(&'static str, Vec<u8>)>, AssembleError> {
    let program = check(campaign)?;
    let document = document(files::VALIDATION, &validation::document(campaign)?)?;
    let validation_text = document.text();
    let device_text = text(files::DEVICE, &campaign.device)?;
    let runs = Validation::read(&document);
    if let Some(problem) = runs.problems.first().cloned() {
        let (pointer, expected, found) = (problem.pointer, problem.expected, problem.found);
        return Err(AssembleError::Form { pointer, expected, found });
    }
    if runs.timed().next().is_none() {
        return Err(AssembleError::Campaign("has no run with times: there is nothing to publish".to_owned()));
    }
    let device = &campaign.device;
    let sm_count = device.get("sm_count").and_then(Json::as_u64).filter(|&count| count > 0);
    let sm_count = sm_count.ok_or_else(|| AssembleError::Campaign("has a device without an sm_count".to_owned()))?;
    let observations = refit::observations(&runs, sm_count);
    let refitted = match observations {
        Ok(observations) if observations.is_empty() => Err(Unfitted::NoCase),
        Ok(observations) => Refit::new(observations).map_err(|error| Unfitted::of(&runs, &error)),
        Err(error) => Err(Unfitted::of(&runs, &error)),
    };
    let overlap = overlap::document(campaign);
    let model = refitted
        .as_ref()
        .ok()
        .map(|refit| model::document(refit, &runs, (device, sm_count), (validation_text, &device_text), program));
    let readme = Readme { campaign, validation: &runs, refit: refitted.as_ref(), sm_count, overlap: overlap.as_ref() };
    let definitions: Vec<Json> = campaign.cases.iter().map(|case| case.spec.definition()).collect();
    let cases = object([
        ("schema", Json::Int(1)),
        ("description", Json::from(campaign.description.as_str())),
        ("cases", Json::Array(definitions)),
    ]);
    let mut contents = vec![
        (".gitattributes", b"* text eol=lf\n".to_vec()),
        (files::README, readme.text().into_bytes()),
        (files::CASES, text(files::CASES, &cases)?.into_bytes()),
        (files::DEVICE, device_text.into_bytes()),
        (files::PROOF_RECEIPTS, text(files::PROOF_RECEIPTS, &model::proof_receipts(campaign))?.into_bytes()),
        (files::SAMPLES, samples::text(&runs)?),
        (files::VALIDATION, validation_text.as_bytes().to_vec()),
    ];
    if let Some(model) = model {
        let model_text = text(files::MODEL, &model)?;
        let provenance = model::provenance(&model, &model_text, validation_text, program);
        contents.push((files::PROVENANCE, text(files::PROVENANCE, &provenance)?.into_bytes()));
        contents.push((files::MODEL, model_text.into_bytes()));
    }
    if let Some(overlap) = overlap {
        contents.push((files::OVERLAP, text(files::OVERLAP, &overlap)?.into_bytes()));
    }
    Ok(contents)
}

/// What the campaign must have as a whole; gives the program's receipt.
fn check(campaign: &Campaign) -> Result<&Receipt, AssembleError> {
    let Some(program) = campaign.implementation.first() else {
        return Err(AssembleError::Campaign("has no receipt of the program that measured".to_owned()));
    };
    let mut seen = HashSet::new();
    for (name, what) in campaign
        .implementation
        .iter()
        .map(|receipt| (receipt.path.as_str(), "receipt"))
        .chain(campaign.cases.iter().map(|case| (case.spec.id.as_str(), "case")))
        .chain(campaign.cohorts.iter().map(|cohort| (cohort.name, "cohort")))
    {
        if !seen.insert((name, what)) {
            return Err(AssembleError::Campaign(format!("has the {what} {name} twice")));
        }
    }
    Ok(program)
}

/// A file's document, read back from its text: what is written must be what a reader gets.
fn document(name: &'static str, value: &Json) -> Result<Document, AssembleError> {
    if !is_finite(value) {
        return Err(AssembleError::NotFinite { name });
    }
    Document::parse(name, compact(value) + "\n").map_err(|source| AssembleError::Json { name, source })
}

/// A file's text: compact, one line, a final line feed.
fn text(name: &'static str, value: &Json) -> Result<String, AssembleError> {
    Ok(document(name, value)?.text().to_owned())
}

fn is_finite(value: &Json) -> bool {
    match value {
        Json::Float(number) => number.is_finite(),
        Json::Array(items) => items.iter().all(is_finite),
        Json::Object(members) => members.iter().all(|(_, member)| is_finite(member)),
        _ => true,
    }
}
