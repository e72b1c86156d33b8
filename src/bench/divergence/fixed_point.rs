//! The deterministic kernel's arithmetic on the host, to the bit: what `kernels/grid_sample_deterministic.cu` computes,
//! whatever the schedule. Pure.
//!
//! Contributions become integers of a quantum that follows from the plane's largest finite gradient; integers add up to the
//! same sum in any order. Why no counter overflows, how NaN and infinity pass through, and why the fraction within a cell
//! is computed again: see the kernel's head.

use super::Shape;
use super::inputs::Geometry;
use super::sampling::{Axis, corners, points};

/// Bits of a contribution's upper part, relative to the power of two above the plane's maximum.
const HI_BITS: i32 = 18;

/// Bits of its lower part.
const LO_BITS: i32 = 19;

/// Points that a block may add to its 32-bit counters before it empties them.
pub const MAX_POINTS_PER_ROUND: usize = 8191;

/// Adding this rounds to an integer, to even on ties, and leaves it in the low bits.
const MAGIC: f32 = 12_582_912.0;

/// The gradient's NaN: CUDA's.
const NAN: u32 = 0x7fff_ffff;

/// Largest scale of one multiplication; the product of both may lie beyond FP32.
const MAX_FIRST_EXPONENT: i32 = 120;

/// Sticky flags of one coordinate.
#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    nan: bool,
    plus: bool,
    minus: bool,
}

/// The scale of one plane.
#[derive(Debug, Clone, Copy)]
struct Scale {
    first: f32,
    second: f32,
    /// Exponent of the quantum.
    exponent: i32,
}

impl Scale {
    fn new(largest: f32) -> Self {
        let biased = (largest.to_bits() >> 23) as i32;
        let above = biased.max(1) - 126;
        let up = HI_BITS - above;
        let first = up.min(MAX_FIRST_EXPONENT);
        Self { first: power(first), second: power(up - first), exponent: above - HI_BITS - LO_BITS }
    }
}

/// 2^`exponent`, which must be that of a normal number.
fn power(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}

/// The two parts of a contribution.
fn split(weight: f32, scaled: f32) -> (i32, i32) {
    let integer = |rounded: f32| rounded.to_bits() as i32 - MAGIC.to_bits() as i32;
    let rounded = weight.mul_add(scaled, MAGIC);
    let rest = weight.mul_add(scaled, -(rounded - MAGIC));
    (integer(rounded), integer(rest.mul_add((1 << LO_BITS) as f32, MAGIC)))
}

/// Weights of both corners along one axis: PyTorch's zeros, and elsewhere strictly between 0 and 1, rounded once.
fn weights(coordinate: f32, axis: Axis, extent: usize) -> [f32; 2] {
    let half = 0.5 * extent as f32;
    let lower = axis.at.floor();
    let fraction = coordinate.mul_add(half, (half - 0.5) - lower).clamp(f32::EPSILON / 2.0, 1.0 - f32::EPSILON / 2.0);
    let upper = if axis.at == lower { 0.0 } else { fraction };
    [1.0 - upper, upper]
}

fn finish(sum: i64, flags: Flags, exponent: i32) -> f32 {
    match flags {
        Flags { nan: true, .. } | Flags { plus: true, minus: true, .. } => f32::from_bits(NAN),
        Flags { plus: true, .. } => f32::INFINITY,
        Flags { minus: true, .. } => f32::NEG_INFINITY,
        _ => {
            let quantum = f64::from_bits(((exponent + 1023) as u64) << 52);
            (sum as f64 * quantum) as f32 + 0.0
        }
    }
}

/// The input gradient, with the bits that the kernel gives on every device and every schedule.
pub fn gradient(shape: Shape, geometry: &Geometry) -> Vec<f32> {
    let mut result = Vec::with_capacity(shape.coordinates());
    for plane in 0..shape.planes() {
        let finite =
            points(shape, geometry, plane).map(|(_, gradient)| gradient.abs()).filter(|value| value.is_finite());
        let scale = Scale::new(finite.fold(0.0, f32::max));
        let mut sums = vec![(0_i64, Flags::default()); shape.area()];
        for ([x, y], gradient) in points(shape, geometry, plane) {
            let (x_axis, y_axis) = (Axis::new(x, shape.width), Axis::new(y, shape.height));
            let nan = x_axis.at.is_nan() || y_axis.at.is_nan();
            let (x_weights, y_weights) = (weights(x, x_axis, shape.width), weights(y, y_axis, shape.height));
            let scaled = gradient * scale.first * scale.second;
            corners(shape, [x_axis.cell, y_axis.cell], x_weights, y_weights, |at, weight| {
                let (sum, flags) = &mut sums[at];
                if !nan && gradient.is_finite() {
                    let (hi, lo) = split(weight, scaled);
                    *sum += (i64::from(hi) << LO_BITS) + i64::from(lo);
                    return;
                }
                let value = if nan { f32::NAN } else { weight * gradient };
                flags.nan |= value.is_nan();
                flags.plus |= value == f32::INFINITY;
                flags.minus |= value == f32::NEG_INFINITY;
            });
        }
        result.extend(sums.into_iter().map(|(sum, flags)| finish(sum, flags, scale.exponent)));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::divergence::inputs::Inputs;
    use crate::bench::divergence::sampling::{deviation, reference, sequential};
    use crate::package::divergence::tensor_sha256;

    const SHAPES: [(Shape, usize); 4] = [
        (Shape::PROTOCOL, 64),
        (Shape { images: 2, channels: 5, height: 33, width: 17 }, 31),
        (Shape { images: 1, channels: 1, height: 1, width: 1 }, 20),
        (Shape { images: 3, channels: 2, height: 5, width: 90 }, 40),
    ];

    fn bits(values: &[f32]) -> Vec<u32> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    /// The points in another order: what another schedule would do.
    fn reversed(shape: Shape, geometry: &Geometry) -> Geometry {
        let mut other = geometry.clone();
        let count = geometry.points();
        for image in other.grid.values.chunks_exact_mut(2 * count) {
            image.reverse();
            image.as_chunks_mut::<2>().0.iter_mut().for_each(|pair| pair.reverse());
        }
        other.grad_output.values.chunks_exact_mut(count).for_each(<[f32]>::reverse);
        assert_eq!(other.grad_output.values.len(), shape.planes() * count);
        other
    }

    #[test]
    fn the_order_does_not_matter_and_the_error_is_below_that_of_additions_in_fp32() {
        for (shape, resolution) in SHAPES {
            let inputs = Inputs::generate(shape, &[resolution], 3).unwrap();
            let geometry = &inputs.geometries[0];
            let result = gradient(shape, geometry);
            let other = gradient(shape, &reversed(shape, geometry));
            assert_eq!(bits(&result), bits(&other), "{shape:?}");
            let exact = reference(shape, geometry);
            let ours = deviation(&result, &exact);
            let theirs = deviation(&sequential(shape, geometry), &exact);
            assert!(ours.relative <= theirs.relative, "{shape:?}: {ours:?} {theirs:?}");
            assert!(ours.relative < 1e-7, "{shape:?}: {ours:?}");
        }
    }

    #[test]
    fn no_part_of_a_contribution_passes_its_bound_at_either_end_of_fp32() {
        let extremes = [f32::from_bits(1), f32::from_bits(0x007f_ffff), f32::MIN_POSITIVE, 1.0, 3.4e38, f32::MAX];
        for largest in extremes {
            let scale = Scale::new(largest);
            for gradient in [largest, -largest, largest * 0.3, 0.0, -0.0, f32::from_bits(1).min(largest)] {
                for weight in [0.0, f32::from_bits(1), 1e-8, 0.3, 0.5, 1.0 - f32::EPSILON / 2.0, 1.0] {
                    let (hi, lo) = split(weight, gradient * scale.first * scale.second);
                    assert!(hi.unsigned_abs() <= 1 << HI_BITS && lo.unsigned_abs() <= 1 << (LO_BITS - 1));
                    let value = (f64::from(hi) * f64::from(1 << LO_BITS) + f64::from(lo)) * 2_f64.powi(scale.exponent);
                    let error = (value - f64::from(weight) * f64::from(gradient)).abs();
                    assert!(
                        error <= f64::from(largest.max(f32::MIN_POSITIVE)) * 2_f64.powi(-36),
                        "{weight} {gradient}"
                    );
                }
            }
        }
        let bound = MAX_POINTS_PER_ROUND as i64;
        assert!(bound << HI_BITS < 1 << 31 && bound << (LO_BITS - 1) < 1 << 31);
        let most = (super::super::MAX_POINTS as i64 - 1).checked_mul((1 << (HI_BITS + LO_BITS)) + (1 << (LO_BITS - 1)));
        assert!(most.is_some());
    }

    #[test]
    fn extreme_values_come_out_as_their_exact_sum_rounded_once() {
        for factor in [1e-42_f32, 1e-38, 1e30, 3e37] {
            let mut inputs = Inputs::generate(Shape::PROTOCOL, &[32], 5).unwrap();
            inputs.geometries[0].grad_output.values.iter_mut().for_each(|value| *value *= factor);
            let geometry = &inputs.geometries[0];
            let result = gradient(Shape::PROTOCOL, geometry);
            let exact = reference(Shape::PROTOCOL, geometry);
            for (result, exact) in result.iter().zip(&exact) {
                let allowed = exact.abs() * 3e-7 + f64::from(factor) * 2e-6 + f64::from(f32::from_bits(1));
                assert!((f64::from(*result) - exact).abs() <= allowed, "{factor}: {result} {exact}");
            }
        }
        let mut inputs = Inputs::generate(Shape::PROTOCOL, &[64], 5).unwrap();
        inputs.geometries[0].grad_output.values.fill(f32::MAX);
        assert!(gradient(Shape::PROTOCOL, &inputs.geometries[0]).contains(&f32::INFINITY));
    }

    #[test]
    fn nan_and_infinity_reach_the_coordinates_that_additions_in_fp32_give_them_to() {
        let shape = Shape { images: 1, channels: 1, height: 8, width: 8 };
        for seed in 0..50 {
            let mut inputs = Inputs::generate(shape, &[8], seed).unwrap();
            let geometry = &mut inputs.geometries[0];
            let bad = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
            for (at, value) in bad.into_iter().cycle().take(9).enumerate() {
                geometry.grad_output.values[(at * 7 + seed as usize) % 64] = value;
            }
            geometry.grid.values[5] = f32::NAN;
            geometry.grid.values[30] = f32::INFINITY;
            // In the middle of a cell: three of the four weights are zero, and zero times infinity is NaN.
            geometry.grid.values[40] = -0.125;
            geometry.grid.values[41] = 0.375;
            for (ours, theirs) in gradient(shape, geometry).iter().zip(sequential(shape, geometry)) {
                let same = if theirs.is_finite() { ours.is_finite() } else { ours.to_bits() == theirs.to_bits() };
                assert!(same || (ours.is_nan() && theirs.is_nan()), "{ours} {theirs}");
            }
        }
    }

    #[test]
    fn a_sum_that_vanishes_is_plus_zero() {
        let mut inputs = Inputs::generate(Shape::PROTOCOL, &[16], 5).unwrap();
        inputs.geometries[0].grad_output.values.fill(-0.0);
        assert!(gradient(Shape::PROTOCOL, &inputs.geometries[0]).iter().all(|value| value.to_bits() == 0));
    }

    /// SHA-256 of the gradient that the kernel gave on an NVIDIA H200 for the protocol's inputs with seed 42: the same bits
    /// in each of 30 trials, with and without background products.
    const RECORDED: [(usize, &str); 6] = [
        (16, "aa49372eea04dd5af0d4a313efa51ad0caa1fa14e712618f44924a1a0f61b270"),
        (32, "9dd89ee56d723524a6d2b11110e5347e89107c5f9160149d16adc3bacb60caf9"),
        (64, "d601a45b5250589e612a258d42d0fd9b1ddce0b73c8ed90ca04afaae05856af5"),
        (128, "84bd75c795244f761a1f3b48b5a400ea665a475b4b74fedd96eca81ecc02f9f5"),
        (256, "2a021bb7dff16816e161829e0d6c1ed3f8fd8e961735d0043f5f376e94cb4c5c"),
        (512, "3c75798d98223fa6741f3b5d7f810692da8328d79cb89eedb57d582fedbcda51"),
    ];

    #[test]
    fn the_bits_are_those_that_a_gpu_gave() {
        let resolutions = RECORDED.map(|(resolution, _)| resolution);
        let inputs = Inputs::generate(Shape::PROTOCOL, &resolutions, 42).unwrap();
        for (geometry, (resolution, recorded)) in inputs.geometries.iter().zip(RECORDED) {
            let hash = tensor_sha256(&gradient(Shape::PROTOCOL, geometry));
            assert_eq!(hash, recorded, "output {resolution}");
        }
    }
}
