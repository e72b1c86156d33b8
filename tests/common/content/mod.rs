//! The content of a small, complete and valid partition package, made from a seed.
//!
//! Four cases over three geometries stand for everything the published package has: both operations, all three storage
//! types, rows that fill no program, a width beyond the columns, errors that are not zero, and a Torch process that failed.

mod failure;
mod files;
mod runs;
pub(crate) mod variants;

use std::collections::BTreeMap;

use recount::package::digest::digest;
use recount::package::json::Json;

/// Multiprocessors of the device.
pub(crate) const SM_COUNT: u64 = 6;

/// Operations in one graph.
pub(crate) const BATCH: u64 = 100;

/// What can be chosen about a package.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Recipe {
    /// Timed spans of each run.
    pub(crate) samples: usize,
    /// Seed of everything that varies.
    pub(crate) seed: u64,
    /// Most replays of one span.
    pub(crate) replay_cap: u64,
    /// Another number gives the same cases other times.
    pub(crate) noise: u64,
    /// How long the native kernels take, in percent of what they usually take.
    pub(crate) native_percent: u64,
    /// How often the cases are there: copies have more rows, and no failure.
    pub(crate) copies: u64,
    /// Whether all clocks count whole nanoseconds in binary64, as those of a CPU backend do.
    pub(crate) nanoseconds: bool,
}

impl Default for Recipe {
    fn default() -> Self {
        Self {
            samples: 7,
            seed: 20_261_003,
            replay_cap: 65_536,
            noise: 0,
            native_percent: 100,
            copies: 1,
            nanoseconds: false,
        }
    }
}

/// What everything else in the package is derived from.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) cases: Json,
    pub(crate) device: Json,
    pub(crate) validation: Json,
}

/// One case's definition.
#[derive(Debug, Clone)]
pub(super) struct CaseSpec {
    pub(super) operation: &'static str,
    pub(super) rows: u64,
    pub(super) columns: u64,
    pub(super) block: u64,
    pub(super) precision: &'static str,
    /// Largest error against the oracle; the original entry and the partition entry round alike only where it is zero.
    pub(super) error: f64,
    pub(super) torch_failed: bool,
}

/// The cases. The first two share a geometry, with a tail of rows and columns that are no power of two.
pub(super) const CASES: [CaseSpec; 4] = [
    CaseSpec {
        operation: "sum",
        rows: 10,
        columns: 300,
        block: 4,
        precision: "fp16",
        error: 0.000_976_562_5,
        torch_failed: false,
    },
    CaseSpec { operation: "max", rows: 10, columns: 300, block: 4, precision: "fp32", error: 0.0, torch_failed: false },
    CaseSpec { operation: "sum", rows: 64, columns: 256, block: 8, precision: "bf16", error: 0.0, torch_failed: true },
    CaseSpec {
        operation: "max",
        rows: 200,
        columns: 128,
        block: 4,
        precision: "fp32",
        error: 0.0,
        torch_failed: false,
    },
];

/// The cases of a recipe.
pub(super) fn cases(recipe: &Recipe) -> Vec<CaseSpec> {
    let copy = |copy: u64| {
        CASES.into_iter().map(move |case| CaseSpec {
            rows: case.rows + 16 * copy,
            torch_failed: case.torch_failed && copy == 0,
            ..case
        })
    };
    (0..recipe.copies).flat_map(copy).collect()
}

/// The cohorts with the rows per program that they ask for.
pub(super) const COHORTS: [(&str, u64); 4] = [("default", 0), ("rows1", 1), ("rows2", 2), ("recheck", 0)];

impl CaseSpec {
    pub(super) fn id(&self) -> String {
        format!("demo-{}-{}x{}-{}-br{}", self.operation, self.rows, self.columns, self.precision, self.block)
    }

    pub(super) fn width(&self) -> u64 {
        self.columns.next_power_of_two()
    }

    pub(super) fn bytes(&self) -> u64 {
        if self.precision == "fp32" { 4 } else { 2 }
    }

    pub(super) fn extension(&self) -> &'static str {
        match self.precision {
            "fp16" => "f16",
            "bf16" => "bf16",
            _ => "f32",
        }
    }

    pub(super) fn dtype(&self) -> &'static str {
        match self.precision {
            "fp16" => "float16",
            "bf16" => "bfloat16",
            _ => "float32",
        }
    }

    pub(super) fn pattern(&self) -> &'static str {
        if self.operation == "sum" { "cancellation" } else { "adversarial" }
    }

    /// The case as cases.json and validation.json describe it.
    pub(super) fn definition(&self, seed: u64) -> Json {
        obj! {
            "id": self.id(),
            "operation": format!("reduce_{}", self.operation),
            "dimensions": vec![self.rows, self.columns],
            "tile": vec![self.block, self.width(), 1],
            "precision": self.precision,
            "pattern": self.pattern(),
            "seed": seed,
        }
    }
}

/// Some hash that belongs to `what`.
pub(super) fn hash(what: &str) -> String {
    digest(what.as_bytes()).sha256
}

/// The receipt of a file outside the package.
pub(super) fn receipt(path: &str) -> Json {
    let bytes = 1000 + path.len() as u64;
    obj! { "path": path, "sha256": hash(path), "bytes": bytes }
}

/// All files but the receipts.
pub(crate) fn files(recipe: &Recipe) -> BTreeMap<&'static str, Vec<u8>> {
    files::all(recipe, &|_| {})
}

/// All files but the receipts, derived after a change of the data.
pub(crate) fn files_of(recipe: &Recipe, edit: &dyn Fn(&mut Parts)) -> BTreeMap<&'static str, Vec<u8>> {
    files::all(recipe, edit)
}
