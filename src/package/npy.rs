//! NumPy's `.npy` files (format 1.0) of binary32 values, the form in which tensors are kept.

use std::io::{self, Write};

/// The first bytes of every `.npy` file.
const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Header and data start at multiples of this many bytes.
const ALIGNMENT: usize = 64;

/// A tensor in row-major order.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// Extents, the slowest first.
    pub shape: Vec<usize>,
    /// The values; as many as the product of the extents.
    pub values: Vec<f32>,
}

/// Why bytes are not a tensor that is understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NpyError {
    /// Not the format, or not version 1.0 of it.
    #[error("it is not a version 1.0 .npy file")]
    Magic,
    /// The header says something else than little-endian binary32 in row-major order.
    #[error("its header is not {{'descr': '<f4', 'fortran_order': False, 'shape': (...)}}")]
    Header,
    /// More or fewer bytes than the shape asks for.
    #[error("it has {found} bytes of data where its shape asks for {expected}")]
    Length {
        /// Bytes asked for.
        expected: usize,
        /// Bytes found.
        found: usize,
    },
}

impl Tensor {
    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// Another format, element type or order, or a length that contradicts the shape.
    pub fn read(bytes: &[u8]) -> Result<Self, NpyError> {
        let rest = bytes.strip_prefix(MAGIC).and_then(|rest| rest.strip_prefix(&[1, 0])).ok_or(NpyError::Magic)?;
        let (length, rest) = rest.split_first_chunk::<2>().ok_or(NpyError::Magic)?;
        let length = usize::from(u16::from_le_bytes(*length));
        let (header, data) = rest.split_at_checked(length).ok_or(NpyError::Header)?;
        let shape = std::str::from_utf8(header).ok().and_then(parse_header).ok_or(NpyError::Header)?;
        let count = shape.iter().try_fold(1_usize, |count, &extent| count.checked_mul(extent));
        let expected = count.and_then(|count| count.checked_mul(4)).ok_or(NpyError::Header)?;
        if data.len() != expected {
            return Err(NpyError::Length { expected, found: data.len() });
        }
        let values = data.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        Ok(Self { shape, values })
    }

    /// Writes the tensor as NumPy itself would.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let extents: Vec<_> = self.shape.iter().map(usize::to_string).collect();
        let shape = if let [extent] = extents.as_slice() { format!("{extent},") } else { extents.join(", ") };
        let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({shape}), }}");
        let unpadded = MAGIC.len() + 4 + header.len() + 1;
        header.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(ALIGNMENT) - unpadded));
        header.push('\n');
        let length =
            u16::try_from(header.len()).map_err(|_| io::Error::other("too many dimensions for a .npy header"))?;
        out.write_all(MAGIC)?;
        out.write_all(&[1, 0])?;
        out.write_all(&length.to_le_bytes())?;
        out.write_all(header.as_bytes())?;
        let data: Vec<u8> = self.values.iter().flat_map(|value| value.to_le_bytes()).collect();
        out.write_all(&data)
    }
}

/// The shape in a header that says little-endian binary32 in row-major order, in any order of its three entries.
fn parse_header(header: &str) -> Option<Vec<usize>> {
    let body = header.trim_end().strip_prefix('{')?.strip_suffix('}')?;
    let (before, rest) = body.split_once("'shape': (")?;
    let (extents, after) = rest.split_once(')')?;
    let others = format!("{before}{after}");
    let mut others: Vec<_> = others.split(',').map(str::trim).filter(|entry| !entry.is_empty()).collect();
    others.sort_unstable();
    if others != ["'descr': '<f4'", "'fortran_order': False"] {
        return None;
    }
    let extents = extents.strip_suffix(',').unwrap_or(extents).trim();
    if extents.is_empty() {
        return Some(Vec::new());
    }
    extents.split(',').map(|extent| extent.trim().parse().ok()).collect()
}
