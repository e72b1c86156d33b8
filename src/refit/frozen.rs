//! A model as it was published, read to be applied and never fitted: every part that a prediction needs is checked first.

use super::IMPROVEMENT_FRACTION;
use super::document::{SCHEMA, feature_names, formula, profile_id};
use crate::fit::Schedule;
use crate::package::json::{Document, Json, canonical};
use crate::package::partition::Device;

/// Longest value that a message repeats, in characters.
const SHOWN_CHARACTERS: usize = 120;

/// A published model that can be applied.
#[derive(Debug, Clone, PartialEq)]
pub struct FrozenModel {
    /// SHA-256 of the profile's canonical JSON, which the model records and the profile has.
    pub profile_id: String,
    /// a0, aP and aD in microseconds per feature; finite and not negative.
    pub coefficients: [f64; 3],
    /// The number of multiprocessors that features are counted with, on whatever device; at least 1.
    pub processor_reference: u64,
    /// The device that the model was fitted for.
    pub device: Device,
    /// Keys `[R,N,B,W]` of the geometries that the model was fitted on, sorted as text. They stand beside the profile, so
    /// that its id does not cover them.
    pub training_groups: Vec<String>,
}

/// Why a model cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place} {pointer}: expected {expected}, found {found}; {advice}")]
pub struct ModelProblem {
    /// The file, with line and column where they are known.
    pub place: String,
    /// JSON pointer within it.
    pub pointer: String,
    /// What a model has there.
    pub expected: String,
    /// What this one has.
    pub found: String,
    /// What to do.
    pub advice: &'static str,
}

const UNKNOWN: &str = "this program applies no other kind of model; use the program that wrote it";
const DAMAGED: &str = "take the model from its publisher again, or write one with `recount refit --model-out`";
const CHANGED: &str = "profile or id was changed after the fit; take the model from its publisher again";

impl FrozenModel {
    /// Reads `model.json` in the published schema. Only what a prediction needs is looked at: the profile, its id, and the
    /// geometries that were trained on.
    ///
    /// # Errors
    /// The first part that is missing or not what a model has: schema, feature names, formula, policy, coefficients,
    /// training geometries, profile id, in this order.
    pub fn read(document: &Document) -> Result<Self, ModelProblem> {
        let source = Source { document };
        source.constant("/schema", &Json::from(SCHEMA), UNKNOWN)?;
        source.constant("/profile/schema", &Json::from(SCHEMA), UNKNOWN)?;
        source.constant("/profile/feature_names", &feature_names(), UNKNOWN)?;
        let processor_reference = source.read(
            "/profile/fixed_policy/processor_reference",
            "a positive number of multiprocessors",
            |value| value.as_u64().filter(|&count| count > 0),
        )?;
        source.constant("/profile/formula", &Json::from(formula(processor_reference)), UNKNOWN)?;
        let fraction = Json::Float(IMPROVEMENT_FRACTION);
        source.constant("/profile/fixed_policy/improvement_fraction", &fraction, UNKNOWN)?;
        let candidates = Json::from(Schedule::ALL.map(Schedule::requested).to_vec());
        source.constant("/profile/fixed_policy/candidates", &candidates, UNKNOWN)?;
        let coefficients = source.coefficients("/profile/coefficients")?;
        let trained = source.coefficients("/full_training_model/coefficients")?;
        if coefficients.map(f64::to_bits) != trained.map(f64::to_bits) {
            let expected = format!("the profile's coefficients, {}", shown(&Json::from(coefficients.to_vec())));
            return Err(source.problem("/full_training_model/coefficients", &expected, CHANGED));
        }
        let device = source.read("/profile/device_declared_identity", "an object", |value| {
            value.as_object().map(|_| Device::read(value))
        })?;
        let mut training_groups = source.read(
            "/full_training_model/training_groups",
            "the geometries that the model was fitted on, at least one text [R,N,B,W]",
            |value| {
                let groups = value.as_array().filter(|groups| !groups.is_empty())?;
                groups.iter().map(|group| group.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
            },
        )?;
        training_groups.sort();
        training_groups.dedup();
        let profile = source.read("/profile", "an object", Some)?;
        let id = profile_id(profile);
        source.constant("/profile_id", &Json::from(id.as_str()), CHANGED)?;
        Ok(Self { profile_id: id, coefficients, processor_reference, device, training_groups })
    }

    /// Whether the model was fitted on this geometry, so that its cases are not held out.
    pub fn is_trained_on(&self, group: &str) -> bool {
        self.training_groups.binary_search_by(|other| other.as_str().cmp(group)).is_ok()
    }
}

/// Reads values and says what is wrong with them.
struct Source<'d> {
    document: &'d Document,
}

impl<'d> Source<'d> {
    /// The value at `pointer`, as `read` takes it.
    fn read<T>(
        &self,
        pointer: &str,
        expected: &str,
        read: impl FnOnce(&'d Json) -> Option<T>,
    ) -> Result<T, ModelProblem> {
        let value = self.document.root().pointer(pointer).and_then(read);
        value.ok_or_else(|| self.problem(pointer, expected, DAMAGED))
    }

    /// The value at `pointer` is this one.
    fn constant(&self, pointer: &str, expected: &Json, advice: &'static str) -> Result<(), ModelProblem> {
        match self.document.root().pointer(pointer) {
            Some(value) if canonical(value) == canonical(expected) => Ok(()),
            None => Err(self.problem(pointer, &shown(expected), DAMAGED)),
            Some(_) => Err(self.problem(pointer, &shown(expected), advice)),
        }
    }

    /// Three coefficients that are finite and not negative.
    fn coefficients(&self, pointer: &str) -> Result<[f64; 3], ModelProblem> {
        let items = self.read(pointer, "an array of three coefficients", Json::as_array)?;
        let coefficients: Vec<f64> = items.iter().filter_map(Json::as_f64).collect();
        let Ok(coefficients) = <[f64; 3]>::try_from(coefficients) else {
            return Err(self.problem(pointer, "three numbers, one for each feature", DAMAGED));
        };
        if items.len() != coefficients.len() {
            return Err(self.problem(pointer, "three numbers, one for each feature", DAMAGED));
        }
        match coefficients.iter().position(|value| !(value.is_finite() && *value >= 0.0)) {
            Some(at) => {
                Err(self.problem(&format!("{pointer}/{at}"), "a finite coefficient that is not negative", DAMAGED))
            }
            None => Ok(coefficients),
        }
    }

    fn problem(&self, pointer: &str, expected: &str, advice: &'static str) -> ModelProblem {
        let found = self.document.root().pointer(pointer).map_or_else(|| "nothing".to_owned(), shown);
        let position = self.document.position(pointer).map(|(line, column)| format!(":{line}:{column}"));
        let place = format!("{}{}", self.document.name(), position.unwrap_or_default());
        ModelProblem { place, pointer: pointer.to_owned(), expected: expected.to_owned(), found, advice }
    }
}

/// A value as a message shows it: numbers and texts as JSON, larger things by their beginning.
fn shown(value: &Json) -> String {
    let text = canonical(value);
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{} ({}...)", value.kind(), &text[..end]),
        None => text,
    }
}
