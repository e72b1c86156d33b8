//! placeholder
/// g
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Geometry {
    /// R
    pub rows: u64,
    /// N
    pub columns: u64,
    /// B
    pub block: u64,
    /// W
    pub width: u64,
}
