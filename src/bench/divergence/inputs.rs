//! The bytes that every engine consumes: generated from a seed ([`crate::divergence::generated`]) or read from files.

use std::path::{Path, PathBuf};

use super::{MAX_POINTS, Shape};
use crate::divergence::generated::{normal, uniform};
use crate::package::divergence::input_sha256;
use crate::package::npy::{NpyError, Tensor};

/// Largest file of an array that is read, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// Most values that generated arrays may have together: 4 GiB.
const MAX_GENERATED: usize = 1 << 30;

/// What one output resolution adds to the input.
#[derive(Debug, Clone, PartialEq)]
pub struct Geometry {
    /// Rows and columns of the output.
    pub resolution: usize,
    /// Where each point samples: [N, R, R, 2], the column first, from -1 to 1 over the input.
    pub grid: Tensor,
    /// The incoming gradient: [N, C, R, R].
    pub grad_output: Tensor,
}

impl Geometry {
    /// Points of one plane of the output.
    pub fn points(&self) -> usize {
        self.resolution * self.resolution
    }
}

/// All arrays of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Inputs {
    /// Shape of the input.
    pub shape: Shape,
    /// The input itself: it has no influence on its own gradient, but the operation takes it.
    pub input: Tensor,
    /// One for each resolution.
    pub geometries: Vec<Geometry>,
    /// The seed; `None` for arrays that were read.
    pub seed: Option<u64>,
}

/// Why there are no inputs.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// A file cannot be read.
    #[error("{path} cannot be read")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not an array of binary32.
    #[error("{path}: {source}")]
    Format {
        /// The file.
        path: PathBuf,
        /// Why.
        source: NpyError,
    },
    /// An array has another shape than the others ask for.
    #[error("{path} has shape {found:?} where {expected} is needed")]
    Shape {
        /// The file.
        path: PathBuf,
        /// What is needed.
        expected: String,
        /// What it has.
        found: Vec<usize>,
    },
    /// An array holds a value whose differences would be no numbers.
    #[error("{path} holds a value that is not finite, at position {position}")]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// From 0, in memory order.
        position: usize,
    },
    /// Generated arrays that no memory holds.
    #[error("the inputs would have more than 2^30 values; ask for a smaller --input-shape or smaller --resolutions")]
    Size,
    /// A resolution without points, or with more than the counters hold.
    #[error("output resolution {resolution} is not from 1 to 5792")]
    Resolution {
        /// The resolution.
        resolution: usize,
    },
}

/// File name of the input, without `.npy`.
pub const INPUT: &str = "input";

/// File name of a resolution's grid, without `.npy`.
pub fn grid_name(resolution: usize) -> String {
    format!("grid-{resolution}")
}

/// File name of a resolution's incoming gradient, without `.npy`.
pub fn grad_output_name(resolution: usize) -> String {
    format!("grad-output-{resolution}")
}

impl Inputs {
    /// Generates all arrays.
    ///
    /// # Errors
    /// A resolution out of range, or arrays beyond 4 GiB together.
    pub fn generate(shape: Shape, resolutions: &[usize], seed: u64) -> Result<Self, InputError> {
        resolutions.iter().try_for_each(|&resolution| check_resolution(resolution))?;
        // Before anything is allocated: memory that is not there aborts the process.
        generated_values(shape, resolutions).filter(|&values| values <= MAX_GENERATED).ok_or(InputError::Size)?;
        let geometry = |&resolution: &usize| {
            let (grid, gradient) = shapes(shape, resolution);
            let grid_values = uniform(seed, &grid_name(resolution), grid.iter().product());
            let gradient_values = normal(seed, &grad_output_name(resolution), gradient.iter().product());
            Geometry {
                resolution,
                grid: Tensor { shape: grid.to_vec(), values: grid_values },
                grad_output: Tensor { shape: gradient.to_vec(), values: gradient_values },
            }
        };
        let geometries = resolutions.iter().map(geometry).collect();
        let values = normal(seed, INPUT, shape.coordinates());
        Ok(Self { shape, input: Tensor { shape: shape.extents().to_vec(), values }, geometries, seed: Some(seed) })
    }

    /// Reads `input.npy`, `grid-R.npy` and `grad-output-R.npy` from a folder.
    ///
    /// # Errors
    /// A file that is missing, of another type or shape, or that holds NaN or infinity; a resolution out of range.
    pub fn read(folder: &Path, resolutions: &[usize]) -> Result<Self, InputError> {
        let (path, input) = read(folder, INPUT)?;
        let shape = Shape::from_extents(&input.shape).ok_or_else(|| InputError::Shape {
            path,
            expected: "[N, C, H, W] without zeros, and not beyond 2^31 values,".to_owned(),
            found: input.shape.clone(),
        })?;
        let geometry = |&resolution: &usize| {
            check_resolution(resolution)?;
            let (grid, gradient) = shapes(shape, resolution);
            let array = |name: String, expected: &[usize]| {
                let (path, tensor) = read(folder, &name)?;
                if tensor.shape != expected {
                    let expected = format!("{expected:?}");
                    return Err(InputError::Shape { path, expected, found: tensor.shape });
                }
                Ok(tensor)
            };
            let grid = array(grid_name(resolution), &grid)?;
            let grad_output = array(grad_output_name(resolution), &gradient)?;
            Ok(Geometry { resolution, grid, grad_output })
        };
        let geometries = resolutions.iter().map(geometry).collect::<Result<_, _>>()?;
        Ok(Self { shape, input, geometries, seed: None })
    }

    /// Every array with its name, in the order of the protocol.
    pub fn arrays(&self) -> Vec<(String, &Tensor)> {
        let mut arrays = vec![(INPUT.to_owned(), &self.input)];
        for geometry in &self.geometries {
            arrays.push((grid_name(geometry.resolution), &geometry.grid));
            arrays.push((grad_output_name(geometry.resolution), &geometry.grad_output));
        }
        arrays
    }

    /// SHA-256 of every array's values as little-endian bytes.
    pub fn hashes(&self) -> Vec<(String, String)> {
        self.arrays().into_iter().map(|(name, tensor)| (name, input_sha256(tensor))).collect()
    }
}

/// Values as little-endian bytes.
pub fn values_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// How many values all generated arrays have; `None` beyond what a count holds.
fn generated_values(shape: Shape, resolutions: &[usize]) -> Option<usize> {
    let each_point = shape.planes().checked_add(shape.images.checked_mul(2)?)?;
    resolutions.iter().try_fold(shape.coordinates(), |sum, &resolution| {
        sum.checked_add(each_point.checked_mul(resolution.checked_mul(resolution)?)?)
    })
}

fn check_resolution(resolution: usize) -> Result<(), InputError> {
    let points = resolution.checked_mul(resolution);
    match points {
        Some(1..MAX_POINTS) => Ok(()),
        _ => Err(InputError::Resolution { resolution }),
    }
}

/// Shapes of the grid and of the incoming gradient.
fn shapes(shape: Shape, resolution: usize) -> ([usize; 4], [usize; 4]) {
    ([shape.images, resolution, resolution, 2], [shape.images, shape.channels, resolution, resolution])
}

fn read(folder: &Path, name: &str) -> Result<(PathBuf, Tensor), InputError> {
    let path = folder.join(format!("{name}.npy"));
    let failed = |source| InputError::Read { path: path.clone(), source };
    let metadata = std::fs::metadata(&path).map_err(failed)?;
    if !metadata.is_file() || metadata.len() > MAX_FILE_BYTES {
        return Err(failed(std::io::Error::other("it is not a file of at most 1 GiB")));
    }
    let bytes = std::fs::read(&path).map_err(failed)?;
    let tensor = Tensor::read(&bytes).map_err(|source| InputError::Format { path: path.clone(), source })?;
    match tensor.values.iter().position(|value| !value.is_finite()) {
        Some(position) => Err(InputError::NotFinite { path, position }),
        None => Ok((path, tensor)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_depend_on_seed_and_name_only() {
        let all = Inputs::generate(Shape::PROTOCOL, &[16, 32], 42).unwrap();
        let one = Inputs::generate(Shape::PROTOCOL, &[32], 42).unwrap();
        assert_eq!(all.geometries[1], one.geometries[0]);
        assert_eq!(all.input, one.input);
        assert_ne!(all.input, Inputs::generate(Shape::PROTOCOL, &[], 43).unwrap().input);
        assert_eq!(all.hashes().len(), 5);
    }

    #[test]
    fn the_published_seed_gives_the_documented_bytes() {
        let hashes = Inputs::generate(Shape::PROTOCOL, &[16], 42).unwrap().hashes();
        let shown: Vec<_> = hashes.iter().map(|(name, hash)| format!("{name} {}", &hash[..16])).collect();
        assert_eq!(shown, ["input 4a816bbba6a9b90a", "grid-16 48e38a41463c3589", "grad-output-16 593e09dc7410fa5b"]);
    }

    #[test]
    fn values_are_distributed_as_documented() {
        let inputs = Inputs::generate(Shape { images: 1, channels: 1, height: 200, width: 200 }, &[200], 1).unwrap();
        let values: Vec<_> = inputs.input.values.iter().map(|&value| f64::from(value)).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64;
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
        let grid = &inputs.geometries[0].grid.values;
        assert!(grid.iter().all(|value| value.abs() < 1.1));
        let outside = grid.iter().filter(|value| value.abs() > 1.0).count() as f64 / grid.len() as f64;
        assert!((outside - 0.1 / 1.1).abs() < 0.01, "{outside}");
    }

    #[test]
    fn resolutions_out_of_range_are_refused() {
        assert!(matches!(Inputs::generate(Shape::PROTOCOL, &[0], 1), Err(InputError::Resolution { resolution: 0 })));
        assert!(Inputs::generate(Shape::PROTOCOL, &[5793], 1).is_err());
    }
}
