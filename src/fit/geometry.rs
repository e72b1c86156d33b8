//! Geometries, schedules, and the facts and features that follow from them.
//!
//! All facts are integers derived from `[R,N,B,W]`, the schedule, the element size and the number of streaming
//! multiprocessors; nothing here is measured.

use std::fmt;

use super::FitError;

/// A reduction's shape, `[R,N,B,W]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Geometry {
    /// R: rows, each reduced to one value.
    pub rows: u64,
    /// N: columns, the elements of a row.
    pub columns: u64,
    /// B: rows per program before any repartition.
    pub block: u64,
    /// W: padded width of a row, a power of two that is at least N.
    pub width: u64,
}

impl Geometry {
    /// The group's name: the canonical JSON of `[R,N,B,W]`, without spaces.
    pub fn key(&self) -> String {
        format!("[{},{},{},{}]", self.rows, self.columns, self.block, self.width)
    }
}

/// How the rows are handed to programs. The order is the one in which ties are decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Schedule {
    /// B rows per program, as compiled.
    Default,
    /// One row per program.
    Rows1,
    /// Two rows per program.
    Rows2,
}

impl Schedule {
    /// Every schedule, in the order of observations, scores and ties.
    pub const ALL: [Schedule; 3] = [Schedule::Default, Schedule::Rows1, Schedule::Rows2];

    /// The name in the published files.
    pub const fn name(self) -> &'static str {
        match self {
            Schedule::Default => "default",
            Schedule::Rows1 => "rows1",
            Schedule::Rows2 => "rows2",
        }
    }

    /// The schedule of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|schedule| schedule.name() == name)
    }

    /// Rows per program that are asked for; 0 asks for nothing and keeps B.
    pub const fn requested(self) -> u64 {
        match self {
            Schedule::Default => 0,
            Schedule::Rows1 => 1,
            Schedule::Rows2 => 2,
        }
    }

    /// b: rows per program in effect.
    pub const fn rows_per_program(self, geometry: &Geometry) -> u64 {
        match self {
            Schedule::Default => geometry.block,
            Schedule::Rows1 | Schedule::Rows2 => self.requested(),
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// What a geometry and a schedule imply, under the names of the published files. Extents count rows or elements, sizes
/// are in bytes. b is the rows per program, P the programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// P = ceil(R / b).
    pub programs: u64,
    /// b.
    pub independent_extent: u64,
    /// Programs all of whose b rows exist: floor(R / b).
    pub full_programs: u64,
    /// Rows of the last, partial program; 0 where R is a multiple of b.
    pub tail_valid_extent: u64,
    /// W.
    pub contribution_extent: u64,
    /// N.
    pub logical_contribution_extent: u64,
    /// Rows including those that only pad the last program: P * b.
    pub padded_independent: u64,
    /// Elements that one program reduces, padding included: b * W.
    pub collective_input_per_program: u64,
    /// The same over all programs: P * b * W.
    pub collective_input_total: u64,
    /// Input that exists: R * N elements.
    pub valid_input_bytes: u64,
    /// Output that exists: R elements.
    pub valid_output_bytes: u64,
    /// One program's tile in the storage type: b * W elements.
    pub input_snapshot_bytes: u64,
    /// The tile widened to FP32.
    pub fp32_source_bytes: u64,
    /// One program's results in FP32.
    pub fp32_result_bytes: u64,
    /// One program's results in the storage type.
    pub output_value_bytes: u64,
    /// No program needs to check its row bounds: no tail.
    pub independent_bounds_elidable: bool,
    /// No program needs to check its column bounds: N = W.
    pub contribution_bounds_elidable: bool,
    /// Rounds in which the multiprocessors take one program each: ceil(P / SMs).
    pub logical_batches: u64,
    /// Elements one multiprocessor reduces over all its rounds: batches * b * W.
    pub demand: u64,
}

impl Facts {
    /// Derives the facts for elements of `storage_bytes` bytes on a device with `sm_count` multiprocessors.
    ///
    /// # Errors
    /// [`FitError::Zero`] for a dimension, element size or multiprocessor count of zero, [`FitError::Overflow`] for a
    /// fact beyond 64 bits.
    pub fn of(geometry: Geometry, schedule: Schedule, storage_bytes: u64, sm_count: u64) -> Result<Self, FitError> {
        let Geometry { rows, columns, block, width } = geometry;
        let sizes = [
            ("the number of rows", rows),
            ("the number of columns", columns),
            ("the block", block),
            ("the width", width),
            ("the element size", storage_bytes),
            ("the number of multiprocessors", sm_count),
        ];
        if let Some(&(what, _)) = sizes.iter().find(|&&(_, size)| size == 0) {
            return Err(FitError::Zero { what });
        }
        let extent = schedule.rows_per_program(&geometry);
        let programs = rows.div_ceil(extent);
        let tile = product("the tile", &[extent, width])?;
        let tail = rows % extent;
        let batches = programs.div_ceil(sm_count);
        Ok(Self {
            programs,
            independent_extent: extent,
            full_programs: rows / extent,
            tail_valid_extent: tail,
            contribution_extent: width,
            logical_contribution_extent: columns,
            padded_independent: product("the padded rows", &[programs, extent])?,
            collective_input_per_program: tile,
            collective_input_total: product("the collective input", &[programs, tile])?,
            valid_input_bytes: product("the input size", &[rows, columns, storage_bytes])?,
            valid_output_bytes: product("the output size", &[rows, storage_bytes])?,
            input_snapshot_bytes: product("the tile size", &[tile, storage_bytes])?,
            fp32_source_bytes: product("the FP32 tile size", &[tile, 4])?,
            fp32_result_bytes: product("the FP32 result size", &[extent, 4])?,
            output_value_bytes: product("the result size", &[extent, storage_bytes])?,
            independent_bounds_elidable: tail == 0,
            contribution_bounds_elidable: columns == width,
            logical_batches: batches,
            demand: product("the demand", &[batches, tile])?,
        })
    }

    /// The model's features `[1, P, demand]`. Counts above 2^53 are rounded to binary64.
    pub fn features(&self) -> [f64; 3] {
        [1.0, self.programs as f64, self.demand as f64]
    }
}

fn product(what: &'static str, factors: &[u64]) -> Result<u64, FitError> {
    factors.iter().try_fold(1_u64, |product, &factor| product.checked_mul(factor)).ok_or(FitError::Overflow { what })
}
