//! What every output must be, by how much it may differ, and whether it does.
//!
//! # The bound of a sum
//! A row has N stored values x_i; s is their exact sum and A = sum |x_i|. FP32 with u = 2^-24 gives t, and in whatever order
//! it adds,
//!
//! ```text
//! |t - s| <= E = (N - 1) u A
//! ```
//!
//! which is below the usual gamma A and needs no bound on N (C.-P. Jeannerod and S. M. Rump, "Improved error bounds for
//! inner products in floating-point arithmetic", SIAM J. Matrix Anal. Appl. 34, 2013). Proof by induction over the tree of
//! additions: one value has no error. Let l and r be the computed sums of n and m values with magnitudes L and R, within
//! (n-1)uL and (m-1)uR of the exact ones, and d the error of rounding l + r. Rounding to nearest has |d| <= u|l + r| (below
//! the normal range d = 0) and |d| <= min(|l|, |r|), as l and r are FP32 values themselves. What is to be shown is
//! |d| <= u(mL + nR), because (n-1)L + (m-1)R + mL + nR = (n+m-1)(L+R).
//! If R <= uL, then |d| <= |r| <= R + (m-1)uR <= uL + (m-1)uL = umL; likewise if L <= uR. Otherwise uL < R and uR < L, so that
//! |l + r| <= L + (n-1)uL + R + (m-1)uR <= L + (n-1)R + R + (m-1)L = mL + nR, and |d| <= u(mL + nR).
//!
//! Where all x_i are multiples of a power of two q, all partial sums are, too, and none exceeds A. If A <= 2^24 q, all of
//! them have at most 24 bits, every addition is exact, and E = 0.
//!
//! The oracle's own sum is compensated (A. Neumaier 1974; Algorithm 4.4, Sum2, of T. Ogita, S. M. Rump and S. Oishi,
//! "Accurate sum and dot product", SIAM J. Sci. Comput. 26, 2005, is the same with another error-free transformation;
//! their Proposition 4.5 bounds its error): with v = 2^-53 it is within O = v|s| + (Nv)^2 A / (1 - Nv)^2 of s, and exact
//! where E = 0 by the argument above. Let r be what it gives.
//!
//! Storing t as FP16 or BF16 rounds once more, by at most u_s|t| in the normal range and half the smallest subnormal h
//! below it; FP32 stores t itself. With |t| <= |r| + O + E,
//!
//! ```text
//! |output - r| <= E + O + u_s (|r| + O + E) + h/2        (FP32: E + O)
//! ```
//!
//! The bound is computed in binary64 from a compensated A; a factor of 1 + 2^-40 covers the rounding of that, and of
//! the difference that it is compared with. The fixtures keep |t| below the largest stored value.
//!
//! # The bound of a maximum
//! Zero: a maximum is one of its inputs, whatever the order.

use super::cases::CaseSpec;
use super::fixtures::Fixture;
use super::storage;
use crate::package::json::{Json, object};
use crate::package::partition::{Operation, Storage};

/// Unit roundoff of the kernels' accumulation, FP32.
const ACCUMULATION: f64 = 1.0 / (1 << 24) as f64;

/// Unit roundoff of the oracle, binary64.
const ORACLE: f64 = f64::EPSILON / 2.0;

/// What covers the rounding of the bound itself: 2^-40.
const SLACK: f64 = 1.0 / (1_u64 << 40) as f64;

/// What one output must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reference {
    /// The result in binary64; NaN where the output must be one.
    pub value: f64,
    /// By how much the output, as stored, may differ from it.
    pub bound: f64,
}

/// The reference of a row of values as they are stored. A NaN anywhere makes the output NaN.
pub fn row(operation: Operation, storage: Storage, values: &[f32]) -> Reference {
    match operation {
        Operation::Sum => sum(storage, values),
        Operation::Max => Reference { value: maximum(values), bound: 0.0 },
    }
}

/// The largest value; NaN where one is, negative infinity of no values.
fn maximum(values: &[f32]) -> f64 {
    if values.iter().any(|value| value.is_nan()) {
        return f64::NAN;
    }
    f64::from(values.iter().copied().fold(f32::NEG_INFINITY, f32::max))
}

fn sum(storage: Storage, values: &[f32]) -> Reference {
    if values.iter().any(|value| !value.is_finite()) {
        return Reference { value: values.iter().copied().map(f64::from).sum(), bound: 0.0 };
    }
    let value = compensated(values.iter().copied());
    let magnitudes = compensated(values.iter().map(|value| value.abs()));
    let additions = values.len().saturating_sub(1) as f64;
    let (accumulated, oracle) = if magnitudes <= quantum(values) / ACCUMULATION {
        (0.0, 0.0)
    } else {
        let n = values.len() as f64 * ORACLE;
        let squared = n / (1.0 - n) * (n / (1.0 - n));
        (additions * ACCUMULATION * magnitudes, ORACLE * value.abs() + squared * magnitudes)
    };
    let before_storing = accumulated + oracle;
    let stored = match storage {
        Storage::Fp32 => 0.0,
        _ => {
            let half_step = storage::smallest_subnormal(storage) / 2.0;
            storage::unit_roundoff(storage) * (value.abs() + before_storing) + half_step
        }
    };
    Reference { value, bound: (before_storing + stored) * (1.0 + SLACK) }
}

/// A. Neumaier's sum: a second number collects what each addition loses.
fn compensated(values: impl Iterator<Item = f32>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0_f64);
    for value in values.map(f64::from) {
        let next = sum + value;
        // The smaller of the two is the one that loses bits; what it lost is exact.
        lost += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    sum + lost
}

/// The largest power of two of which all values, which are finite, are multiples; infinite where all are zero.
fn quantum(values: &[f32]) -> f64 {
    let mut least = f64::INFINITY;
    for &value in values.iter().filter(|&&value| value != 0.0) {
        // Widened, every FP32 value is normal: 53 bits of significand, the first of them implied.
        let bits = f64::from(value).to_bits();
        let significand = (bits & ((1 << 52) - 1)) | (1 << 52);
        let lowest = storage::exponent(f64::from(value.abs())) - 52 + significand.trailing_zeros() as i32;
        least = least.min(storage::power_of_two(lowest));
    }
    least
}

/// How outputs compare with what is expected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// Outputs that were expected.
    pub elements: u64,
    /// Those that are wrong, or missing.
    pub failed_elements: u64,
    /// The largest |output - expected|; infinite where an output is missing or NaN and should not be.
    pub max_abs_error: f64,
    /// The largest error as part of its bound; 0 over a bound of 0 is 0, any other error over it infinite.
    pub max_error_over_bound: f64,
    /// The largest bound.
    pub max_allowed_bound: f64,
    /// No output is infinite or NaN.
    pub all_finite: bool,
}

impl Verdict {
    /// Whether all outputs are what they must be.
    pub fn holds(&self) -> bool {
        self.failed_elements == 0
    }
}

/// Compares stored outputs with what is expected. Where NaN is expected, NaN is right and has no error; an infinite output
/// never is right. Output of another length than expected is of another tensor: all its elements are wrong.
pub fn check(storage: Storage, output: &[u8], expected: &[f64], bound: &[f64]) -> Verdict {
    let complete = output.len() as u64 == expected.len() as u64 * storage.bytes() && bound.len() == expected.len();
    let found = if complete { storage::decode(storage, output) } else { vec![f32::NAN; expected.len()] };
    let mut verdict = Verdict {
        elements: expected.len() as u64,
        failed_elements: 0,
        max_abs_error: 0.0,
        max_error_over_bound: 0.0,
        max_allowed_bound: bound.iter().copied().fold(0.0, f64::max),
        all_finite: found.iter().all(|value| value.is_finite()),
    };
    // Without a bound for each element `complete` is false, and what stands in for it is NaN.
    let bounds = bound.iter().copied().chain(std::iter::repeat(0.0));
    for ((&found, &expected), bound) in found.iter().zip(expected).zip(bounds) {
        let error = match (f64::from(found) - expected).abs() {
            _ if complete && found.is_nan() && expected.is_nan() => 0.0,
            error if error.is_nan() => f64::INFINITY,
            error => error,
        };
        let over_bound = if error == 0.0 { 0.0 } else { error / bound };
        let within = error <= bound;
        verdict.failed_elements += u64::from(!within);
        verdict.max_abs_error = verdict.max_abs_error.max(error);
        verdict.max_error_over_bound = verdict.max_error_over_bound.max(over_bound);
    }
    verdict
}

/// Name of the file of expected results.
pub const EXPECTED: &str = "expected.f64";

/// Name of the file of bounds.
pub const BOUND: &str = "per_element_bound.f64";

/// Name of a tensor's file: `input0` and `output` are those of a case.
pub fn tensor_file(name: &str, storage: Storage) -> String {
    format!("{name}.{}", storage.extension())
}

/// The files of a fixture: the input, what is expected, and the bounds; all little-endian.
pub fn files(spec: &CaseSpec, fixture: &Fixture) -> Vec<(String, Vec<u8>)> {
    let bytes = |values: &[f64]| values.iter().flat_map(|value| value.to_le_bytes()).collect();
    vec![
        (tensor_file("input0", spec.storage), fixture.input.clone()),
        (EXPECTED.to_owned(), bytes(&fixture.expected)),
        (BOUND.to_owned(), bytes(&fixture.bound)),
    ]
}

/// The manifest of a case's files: what they hold and how the operation is to be done. `graph_batch` operations make one
/// graph; every view has `guard_elements` elements before and after it, which must not change.
pub fn manifest(spec: &CaseSpec, backend: &str, graph_batch: u64, guard_elements: u64) -> Json {
    let geometry = spec.geometry;
    let dtype = Json::from(spec.storage.dtype());
    let tensor = |name: &str, columns: u64| {
        [
            ("path", Json::from(tensor_file(name, spec.storage))),
            ("storage_dtype", dtype.clone()),
            ("shape", Json::from(vec![geometry.rows, columns])),
        ]
    };
    let [path, storage_dtype, shape] = tensor("input0", geometry.columns);
    object([
        ("schema", Json::Int(1)),
        ("backend", Json::from(backend)),
        ("lowering", Json::from("native")),
        ("operation", Json::from(spec.operation.name())),
        ("precision", Json::from(spec.storage.name())),
        ("seed", Json::from(spec.seed)),
        ("pattern", Json::from(spec.pattern.name())),
        ("dimensions", Json::from(vec![geometry.rows, geometry.columns])),
        ("tile", Json::from(vec![geometry.block, geometry.width, 1])),
        ("fast_math", Json::from(false)),
        ("graph_batch", Json::from(graph_batch)),
        ("algorithm", Json::from("row_reduction_fp32")),
        ("endianness", Json::from("little")),
        ("inputs", Json::Array(vec![object([("name", Json::from("input0")), path, storage_dtype, shape])])),
        ("output", object(tensor("output", 1))),
        (
            "expected",
            object([
                ("path", Json::from(EXPECTED)),
                ("bound_path", Json::from(BOUND)),
                ("storage_dtype", Json::from("float64")),
            ]),
        ),
        ("semantics", semantics(spec, guard_elements)),
        (
            "validation",
            object([
                ("reference", Json::from("host_fp64")),
                ("bound", Json::from(BOUND)),
                ("require_finite", Json::from(true)),
                ("output_guard_elements", Json::from(guard_elements)),
                ("readonly_inputs_checked", Json::from(true)),
            ]),
        ),
    ])
}

/// What a graph is, in words.
const GRAPH_CONTRACT: &str = "A graph holds graph_batch operations in stream order: each reads the same input, writes all \
of the same preallocated output, and starts after the one before has ended. A sample replays the graph several times; its \
span over replays times graph_batch is the time of one operation. The Torch route lets Torch allocate its outputs, which is \
another contract.";

fn semantics(spec: &CaseSpec, guard_elements: u64) -> Json {
    object([
        ("accumulation", Json::from("float32")),
        ("nan", Json::from("propagates")),
        ("input_quantization", Json::from("round_to_nearest_even_before_fp64_oracle")),
        ("output_rounding", Json::from("round_to_nearest_even")),
        ("logical_view_offset_elements", Json::from(guard_elements)),
        ("logical_view_offset_bytes", Json::from(guard_elements * spec.storage.bytes())),
        ("output_preallocated", Json::from(true)),
        ("graph_contract", Json::from(GRAPH_CONTRACT)),
    ])
}
