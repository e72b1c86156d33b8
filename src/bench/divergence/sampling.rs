//! The operation's arithmetic: bilinear sampling, zeros padding, `align_corners=False`. Pure.

use super::Shape;
use super::inputs::Geometry;

/// Where one coordinate of a grid falls along an axis, in PyTorch's arithmetic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Axis {
    /// The unnormalised coordinate, in cells.
    pub(crate) at: f32,
    /// The lower corner; saturated, and 0 for NaN, as a conversion on a GPU gives.
    pub(crate) cell: i32,
}

impl Axis {
    /// `((x + 1) * extent - 1) / 2`, with the product and the subtraction rounded once as compilers contract them.
    pub(crate) fn new(coordinate: f32, extent: usize) -> Self {
        let at = (coordinate + 1.0).mul_add(extent as f32, -1.0) * 0.5;
        Self { at, cell: at.floor() as i32 }
    }

    /// Weights of the lower and the upper corner.
    pub(crate) fn weights(self) -> [f32; 2] {
        [self.cell.wrapping_add(1) as f32 - self.at, self.at - self.cell as f32]
    }
}

/// Calls `add(coordinate within the plane, weight)` for each corner within the plane: upper left, upper right, lower left,
/// lower right.
pub(crate) fn corners(
    shape: Shape,
    cells: [i32; 2],
    x_weights: [f32; 2],
    y_weights: [f32; 2],
    mut add: impl FnMut(usize, f32),
) {
    for (down, y_weight) in y_weights.into_iter().enumerate() {
        for (right, x_weight) in x_weights.into_iter().enumerate() {
            let column = i64::from(cells[0]) + right as i64;
            let row = i64::from(cells[1]) + down as i64;
            // The upper neighbour of the largest cell wraps around on a GPU; it is outside either way.
            if let (Ok(column), Ok(row)) = (usize::try_from(column), usize::try_from(row))
                && column < shape.width
                && row < shape.height
            {
                add(row * shape.width + column, x_weight * y_weight);
            }
        }
    }
}

/// The points of one plane: position on the grid, and incoming gradient.
pub(crate) fn points<'g>(
    shape: Shape,
    geometry: &'g Geometry,
    plane: usize,
) -> impl Iterator<Item = ([f32; 2], f32)> + 'g {
    let count = geometry.points();
    let image = plane / shape.channels;
    let grid = geometry.grid.values[image * count * 2..(image + 1) * count * 2].as_chunks::<2>().0;
    let gradient = &geometry.grad_output.values[plane * count..(plane + 1) * count];
    grid.iter().copied().zip(gradient.iter().copied())
}

/// The input gradient as the atomic kernel would give it if its additions came in the order of the points.
pub fn sequential(shape: Shape, geometry: &Geometry) -> Vec<f32> {
    let mut result = vec![0.0_f32; shape.coordinates()];
    for (plane, sums) in result.chunks_exact_mut(shape.area()).enumerate() {
        for ([x, y], gradient) in points(shape, geometry, plane) {
            let (x, y) = (Axis::new(x, shape.width), Axis::new(y, shape.height));
            corners(shape, [x.cell, y.cell], x.weights(), y.weights(), |at, weight| sums[at] += weight * gradient);
        }
    }
    result
}

/// The input gradient of the same binary32 inputs with coordinates, weights, products and sums in binary64.
pub fn reference(shape: Shape, geometry: &Geometry) -> Vec<f64> {
    let mut result = vec![0.0_f64; shape.coordinates()];
    for (plane, sums) in result.chunks_exact_mut(shape.area()).enumerate() {
        for ([x, y], gradient) in points(shape, geometry, plane) {
            let at = |coordinate: f32, extent: usize| ((f64::from(coordinate) + 1.0) * extent as f64 - 1.0) / 2.0;
            let (x, y) = (at(x, shape.width), at(y, shape.height));
            for row in [y.floor(), y.floor() + 1.0] {
                for column in [x.floor(), x.floor() + 1.0] {
                    let inside = |value: f64, extent: usize| value >= 0.0 && value < extent as f64;
                    if inside(column, shape.width) && inside(row, shape.height) {
                        let weight = (1.0 - (x - column).abs()) * (1.0 - (y - row).abs());
                        sums[row as usize * shape.width + column as usize] += weight * f64::from(gradient);
                    }
                }
            }
        }
    }
    result
}

/// How far a gradient is from the reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deviation {
    /// Norm of the difference over the norm of the reference; zero where both are zero.
    pub relative: f64,
    /// Largest difference of one coordinate.
    pub largest: f64,
}

/// Compares a gradient with its reference.
pub fn deviation(result: &[f32], reference: &[f64]) -> Deviation {
    let (mut square, mut norm, mut largest) = (0.0, 0.0, 0.0_f64);
    for (&result, &reference) in result.iter().zip(reference) {
        let difference = f64::from(result) - reference;
        square += difference * difference;
        norm += reference * reference;
        largest = largest.max(difference.abs());
    }
    let relative = if square == 0.0 { 0.0 } else { (square / norm).sqrt() };
    Deviation { relative, largest }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::divergence::inputs::Inputs;

    #[test]
    fn the_sequential_gradient_is_near_the_reference() {
        let inputs = Inputs::generate(Shape { images: 2, channels: 3, height: 9, width: 14 }, &[24], 7).unwrap();
        let geometry = &inputs.geometries[0];
        let deviation = deviation(&sequential(inputs.shape, geometry), &reference(inputs.shape, geometry));
        assert!(deviation.relative > 0.0 && deviation.relative < 1e-6, "{deviation:?}");
    }

    #[test]
    fn a_point_in_the_middle_of_a_cell_gives_all_to_it_and_one_outside_gives_nothing() {
        let shape = Shape { images: 1, channels: 1, height: 2, width: 2 };
        let mut inputs = Inputs::generate(shape, &[1], 1).unwrap();
        let geometry = &mut inputs.geometries[0];
        geometry.grad_output.values = vec![3.0];
        geometry.grid.values = vec![0.5, -0.5];
        assert_eq!(sequential(shape, geometry), [0.0, 3.0, 0.0, 0.0]);
        for outside in [f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30, 2.5, -2.5] {
            geometry.grid.values = vec![outside, 0.5];
            assert_eq!(sequential(shape, geometry), [0.0; 4]);
        }
    }
}
