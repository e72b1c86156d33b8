//! A case: one operation at one shape, storage type and original number of rows per program.

use super::reader::Reader;
use crate::fit::geometry::Geometry;
use crate::package::json::Json;

/// The reduction of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Row sums.
    Sum,
    /// Row maxima.
    Max,
}

impl Operation {
    /// The name in the published files.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Sum => "reduce_sum",
            Operation::Max => "reduce_max",
        }
    }

    /// The kind number in realization texts.
    pub fn kind(self) -> u64 {
        match self {
            Operation::Sum => 0,
            Operation::Max => 2,
        }
    }

    /// The operation with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Operation::Sum, Operation::Max].into_iter().find(|operation| operation.name() == name)
    }
}

/// The storage type of inputs and outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// IEEE 754 binary16.
    Fp16,
    /// bfloat16.
    Bf16,
    /// IEEE 754 binary32.
    Fp32,
}

impl Storage {
    /// The name in case records.
    pub fn name(self) -> &'static str {
        match self {
            Storage::Fp16 => "fp16",
            Storage::Bf16 => "bf16",
            Storage::Fp32 => "fp32",
        }
    }

    /// The name in manifests.
    pub fn dtype(self) -> &'static str {
        match self {
            Storage::Fp16 => "float16",
            Storage::Bf16 => "bfloat16",
            Storage::Fp32 => "float32",
        }
    }

    /// The extension of files that hold such values.
    pub fn extension(self) -> &'static str {
        match self {
            Storage::Fp16 => "f16",
            Storage::Bf16 => "bf16",
            Storage::Fp32 => "f32",
        }
    }

    /// Bytes of one value.
    pub fn bytes(self) -> u64 {
        match self {
            Storage::Fp16 | Storage::Bf16 => 2,
            Storage::Fp32 => 4,
        }
    }

    /// The storage type with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Storage::Fp16, Storage::Bf16, Storage::Fp32].into_iter().find(|storage| storage.name() == name)
    }
}

/// A case as recorded.
#[derive(Debug, Clone)]
pub struct Case<'d> {
    /// The record.
    pub at: &'d Json,
    /// Its id, unique in the package.
    pub id: &'d str,
    /// What is computed.
    pub operation: Operation,
    /// How values are stored.
    pub storage: Storage,
    /// R, N, B and W.
    pub geometry: Geometry,
    /// Name of the fixture generator.
    pub pattern: &'d str,
    /// Seed of the fixture generator.
    pub seed: u64,
}

impl<'d> Case<'d> {
    /// Reads a case record; `None` (and problems in the reader) where it is not one.
    pub fn read(reader: &Reader<'d>, at: &'d Json) -> Option<Self> {
        let operation = reader.text(at, "operation")?;
        let precision = reader.text(at, "precision")?;
        let [rows, columns] = reader.counts::<2>(at, "dimensions")?;
        let [block, width, _] = reader.counts::<3>(at, "tile")?;
        let Some(operation) = Operation::from_name(operation) else {
            reader.problem(at, Some("operation"), "reduce_sum or reduce_max", operation);
            return None;
        };
        let Some(storage) = Storage::from_name(precision) else {
            reader.problem(at, Some("precision"), "fp16, bf16 or fp32", precision);
            return None;
        };
        // Small enough for every product of two of them with a byte size to stay within 64 bits.
        let sizes = [rows, columns, block, width];
        if sizes.iter().any(|&size| size == 0 || size > 1 << 28) {
            reader.problem(at, None, "dimensions and tile from 1 to 2^28", &format!("{sizes:?}"));
            return None;
        }
        Some(Self {
            at,
            id: reader.text(at, "id")?,
            operation,
            storage,
            geometry: Geometry { rows, columns, block, width },
            pattern: reader.text(at, "pattern")?,
            seed: reader.count(at, "seed")?,
        })
    }

    /// The tile's third entry, which the geometry does not have.
    pub fn tile_depth(&self) -> Option<u64> {
        self.at.get("tile")?.as_array()?.get(2)?.as_u64()
    }
}
