//! The folder that a run leaves: written beside its place, renamed into it when everything is there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::engine::{Engine, Kind};
use super::inputs::Inputs;
use super::results::{self, Keep, RESULTS, write_json, write_tensor};
use super::runner::{Outcome, Plan};
use super::{Arm, Shape, timing};
use crate::package::npy::Tensor;
use crate::package::partial::{PartialFolder, PlaceError, Vacancy};
use crate::seal::{SealError, receipts_text, write_receipts};

/// Why there is no package.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// Its place is taken, or the folder around it cannot be written to.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// Something cannot be written.
    #[error("{path} cannot be written")]
    Write {
        /// What.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The folder cannot be sealed.
    #[error("the package cannot be sealed")]
    Seal(#[from] SealError),
}

/// A package being written.
#[derive(Debug)]
pub struct Partial {
    folder: PartialFolder,
    path: PathBuf,
    keep: Keep,
    shape: Shape,
    with_inputs: bool,
}

impl Partial {
    /// A new folder beside `path`, which must not exist.
    ///
    /// # Errors
    /// The place is taken, or its parent cannot be written to.
    pub fn create(path: &Path, keep: Keep, shape: Shape, with_inputs: bool) -> Result<Self, PackageError> {
        let folder = PartialFolder::beside(path, Vacancy::Nothing)?;
        Ok(Self { folder, path: path.to_owned(), keep, shape, with_inputs })
    }

    /// Keeps the gradients of a measurement, if they are to be kept.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn keep(&self, engine: Kind, arm: Arm, resolution: usize, gradients: &[f32]) -> io::Result<()> {
        if !self.keep.keeps(resolution) {
            return Ok(());
        }
        let folder = self.folder.path().join(engine.name()).join("gradients");
        fs::create_dir_all(&folder)?;
        let trials = gradients.len() / self.shape.coordinates();
        let shape = [trials].into_iter().chain(self.shape.extents()).collect();
        let tensor = Tensor { shape, values: gradients.to_vec() };
        write_tensor(&folder.join(format!("{}-{resolution}.npy", arm.name())), &tensor)
    }

    /// Writes everything else, seals the folder and puts it in its place.
    ///
    /// # Errors
    /// Something cannot be written; where only the last step failed, the finished folder stays and the error names it.
    pub fn finish(
        mut self,
        engines: &[Box<dyn Engine>],
        inputs: &Inputs,
        plan: &Plan,
        outcome: &Outcome,
    ) -> Result<(), PackageError> {
        let root = self.folder.path();
        let failed = |source| PackageError::Write { path: self.path.clone(), source };
        if self.with_inputs {
            let folder = root.join("inputs");
            fs::create_dir(&folder).map_err(failed)?;
            for (name, tensor) in inputs.arrays() {
                write_tensor(&folder.join(format!("{name}.npy")), tensor).map_err(failed)?;
            }
        }
        for measured in &outcome.measured {
            let engine = &engines[measured.engine];
            let folder = root.join(engine.kind().name());
            fs::create_dir_all(&folder).map_err(failed)?;
            let document = results::document(engine.as_ref(), inputs, plan, &self.keep, measured);
            write_json(&folder.join(RESULTS), &document).map_err(failed)?;
        }
        write_json(&root.join("accuracy.json"), &results::accuracy(engines, outcome)).map_err(failed)?;
        if let Some(protocol) = plan.timing.filter(|_| !outcome.timings.is_empty()) {
            write_json(&root.join("timing.json"), &timing::document(&outcome.timings, protocol)).map_err(failed)?;
        }
        write_receipts(root, &receipts_text(root, &globset::GlobSet::empty())?)?;
        self.folder.finish().map_err(|source| {
            let kept = self.folder.keep();
            let source = io::Error::new(source.kind(), format!("{source}; the package is in {}", kept.display()));
            PackageError::Write { path: self.path, source }
        })
    }
}
