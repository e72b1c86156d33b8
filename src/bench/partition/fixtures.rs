//! Inputs from a seed, and what must come out.
//!
//! The generator is written down here and depends on nothing: the same case gives the same bytes for ever, so that
//! hashes of fixtures can be compared between packages. Each row has a stream of its own, so that no row repeats another.

mod adversarial;
mod cancellation;
mod stream;

use super::cases::CaseSpec;
use super::{oracle, storage};
use crate::package::partition::{Operation, Storage};
use stream::Stream;

/// A case's input and what every output must be.
#[derive(Debug, Clone, PartialEq)]
pub struct Fixture {
    /// R rows of N stored values, little-endian.
    pub input: Vec<u8>,
    /// R results in binary64, of the input as it is stored; NaN where the output must be one.
    pub expected: Vec<f64>,
    /// By how much each output, as stored, may differ from what is expected.
    pub bound: Vec<f64>,
}

/// The fixture of a case. What is generated follows from the operation: [`Pattern::of`](super::cases::Pattern::of) names
/// it. All inputs and all right outputs are finite, and no right output is a zero.
pub fn generate(spec: &CaseSpec) -> Fixture {
    build(spec, |storage, stream, row, values| match spec.operation {
        Operation::Sum => cancellation::fill(storage, stream, row, values),
        Operation::Max => adversarial::fill(storage, stream, row, values),
    })
}

/// The same with NaN of both signs in two rows of three, at the first, the last or any column, alone or in all: rows with
/// a NaN must give NaN, the others what they give without. For tests of the kernels; a benchmark's outputs are finite.
pub fn generate_with_nan(spec: &CaseSpec) -> Fixture {
    build(spec, |storage, stream, row, values| {
        match spec.operation {
            Operation::Sum => cancellation::fill(storage, stream, row, values),
            Operation::Max => adversarial::fill(storage, stream, row, values),
        }
        let nan = f32::NAN.copysign(if row % 2 == 0 { 1.0 } else { -1.0 });
        let place = match row % 6 {
            0 => 0,
            1 => values.len() - 1,
            3 => stream.below(values.len()),
            4 => return values.fill(nan),
            _ => return,
        };
        values[place] = nan;
    })
}

fn build(spec: &CaseSpec, fill: impl Fn(Storage, &mut Stream, usize, &mut [f32])) -> Fixture {
    let (rows, columns) = (extent(spec.geometry.rows), extent(spec.geometry.columns));
    let mut fixture =
        Fixture { input: Vec::new(), expected: Vec::with_capacity(rows), bound: Vec::with_capacity(rows) };
    let mut values = vec![0.0; columns];
    for row in 0..rows {
        fill(spec.storage, &mut Stream::of_row(spec.seed, row), row, &mut values);
        // The oracle must see what the kernels will: values as they are stored.
        values.iter_mut().for_each(|value| *value = storage::round(spec.storage, *value));
        storage::encode_into(spec.storage, &values, &mut fixture.input);
        let reference = oracle::row(spec.operation, spec.storage, &values);
        fixture.expected.push(reference.value);
        fixture.bound.push(reference.bound);
    }
    fixture
}

/// Extents of a case that was read or made here are from 1 to 2^28.
fn extent(size: u64) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX).max(1)
}
