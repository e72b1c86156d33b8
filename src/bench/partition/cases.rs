//! What is run: the published inventory, the held-out one, and own ones.

mod own;

use crate::fit::geometry::Geometry;
use crate::package::json::{Json, object};
use crate::package::partition::{CaseLabel, Operation, Storage};
pub use own::{CasesError, read};

/// The seed of the published inventory, its day; the default of own cases.
pub const DEFAULT_SEED: u64 = 20_261_003;

/// Most rows, and most columns, of a case: the limit that every reader of case records has, so that products of two sizes
/// and a byte count stay within 64 bits.
pub const MAX_EXTENT: u64 = 1 << 28;

/// Largest input of a case in bytes: 1 GiB, which host and device hold several times over.
pub const MAX_INPUT_BYTES: u64 = 1 << 30;

/// Most rows per program. A program reduces its rows one after the other or side by side; more than 64 is no tile.
pub const MAX_BLOCK: u64 = 64;

/// How a case's inputs are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// Large terms that cancel, for sums.
    Cancellation,
    /// Values that a careless maximum gets wrong.
    Adversarial,
}

impl Pattern {
    /// The name in case records.
    pub fn name(self) -> &'static str {
        match self {
            Pattern::Cancellation => "cancellation",
            Pattern::Adversarial => "adversarial",
        }
    }

    /// The pattern that belongs to an operation. The other one would prove nothing or overflow.
    pub fn of(operation: Operation) -> Self {
        match operation {
            Operation::Sum => Pattern::Cancellation,
            Operation::Max => Pattern::Adversarial,
        }
    }
}

/// A case to run: one operation at one shape, storage type and original number of rows per program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseSpec {
    /// Unique in a package, and the name of a folder.
    pub id: String,
    /// What is computed.
    pub operation: Operation,
    /// How values are stored.
    pub storage: Storage,
    /// R, N, B and W.
    pub geometry: Geometry,
    /// How the inputs are made.
    pub pattern: Pattern,
    /// From what.
    pub seed: u64,
}

impl CaseSpec {
    /// A case with the usual id, pattern, padded width and seed. The sizes are taken as they are: [`read`] is what
    /// checks those that come from outside.
    pub fn new(operation: Operation, rows: u64, columns: u64, storage: Storage, block: u64) -> Self {
        Self {
            id: usual_id(operation, rows, columns, storage, block),
            operation,
            storage,
            geometry: Geometry { rows, columns, block, width: columns.next_power_of_two() },
            pattern: Pattern::of(operation),
            seed: DEFAULT_SEED,
        }
    }

    /// The case as `cases.json` and `validation.json` have it.
    pub fn definition(&self) -> Json {
        let Geometry { rows, columns, block, width } = self.geometry;
        object([
            ("id", Json::from(self.id.as_str())),
            ("operation", Json::from(self.operation.name())),
            ("dimensions", Json::from(vec![rows, columns])),
            ("tile", Json::from(vec![block, width, 1])),
            ("precision", Json::from(self.storage.name())),
            ("pattern", Json::from(self.pattern.name())),
            ("seed", Json::from(self.seed)),
        ])
    }

    /// As people name it: `reduce_sum 17x1024 fp16 B4`.
    pub fn label(&self) -> CaseLabel {
        let Geometry { rows, columns, block, .. } = self.geometry;
        CaseLabel { operation: self.operation, rows, columns, storage: self.storage, block }
    }
}

/// The id that the published inventory gives such a case: `partition-sum-17x1024-fp16-br4`.
fn usual_id(operation: Operation, rows: u64, columns: u64, storage: Storage, block: u64) -> String {
    let operation = operation.name().trim_start_matches("reduce_");
    format!("partition-{operation}-{rows}x{columns}-{}-br{block}", storage.name())
}

/// R, N, storage and B of the published inventory: `cases.json` of the package program-partition of 2026-10-03.
const PUBLISHED: [(u64, u64, Storage, u64); 8] = [
    (17, 1024, Storage::Fp16, 4),
    (65, 2048, Storage::Fp16, 8),
    (128, 2048, Storage::Bf16, 8),
    (65, 512, Storage::Fp32, 8),
    (1024, 512, Storage::Fp16, 4),
    (37, 257, Storage::Fp32, 4),
    (3, 8191, Storage::Bf16, 4),
    (256, 128, Storage::Bf16, 8),
];

/// R, N, storage and B of the further geometries: none of them is among those that the published model was fitted to.
const HELD_OUT: [(u64, u64, Storage, u64); 6] = [
    (31, 1024, Storage::Fp16, 8),
    (97, 4096, Storage::Bf16, 4),
    (511, 256, Storage::Fp32, 4),
    (11, 3073, Storage::Fp16, 4),
    (257, 128, Storage::Bf16, 8),
    (9, 8192, Storage::Fp32, 8),
];

/// The sixteen published cases in the published order: SUM and MAX of each geometry.
pub fn published() -> Vec<CaseSpec> {
    inventory(&PUBLISHED)
}

/// Twelve further cases, to which a model that was fitted to the published ones is applied.
pub fn held_out() -> Vec<CaseSpec> {
    inventory(&HELD_OUT)
}

fn inventory(geometries: &[(u64, u64, Storage, u64)]) -> Vec<CaseSpec> {
    let both = geometries.iter().flat_map(|geometry| [(Operation::Sum, geometry), (Operation::Max, geometry)]);
    both.map(|(operation, &(rows, columns, storage, block))| CaseSpec::new(operation, rows, columns, storage, block))
        .collect()
}

/// The content of `cases.json`.
pub fn document(description: &str, cases: &[CaseSpec]) -> Json {
    object([
        ("schema", Json::Int(1)),
        ("description", Json::from(description)),
        ("cases", Json::Array(cases.iter().map(CaseSpec::definition).collect())),
    ])
}
