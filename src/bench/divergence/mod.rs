//! The grid-sample divergence protocol: the input gradient of bilinear `grid_sample`, computed again and again on the same
//! bytes, and compared bit for bit.
//!
//! | module | owns |
//! |---|---|
//! | [`inputs`] | the bytes that every engine consumes: generated from a seed, or read |
//! | [`engine`] | what an engine is, and opening one |
//! | [`cpu`] | the control: one thread, one order |
//! | [`torch`] | the real operation, through a Python interpreter |
//! | [`sampling`] | the operation's arithmetic, and its float64 reference |
//! | [`fixed_point`] | the deterministic kernel's arithmetic, on the host |
//! | [`runner`] | the protocol: warm-up, trials, pairs, arms |
//! | [`timing`] | microseconds of one operation |
//! | [`results`] | the content of a package's files |
//! | [`package`] | the folder that a run leaves |

pub mod cpu;
pub mod engine;
pub mod fixed_point;
pub mod inputs;
pub mod package;
pub mod results;
pub mod runner;
pub mod sampling;
pub mod timing;
pub mod torch;

pub use crate::package::divergence::Arm;

/// Extents of the operation's input: images, channels, rows, columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// N.
    pub images: usize,
    /// C.
    pub channels: usize,
    /// H.
    pub height: usize,
    /// W.
    pub width: usize,
}

/// Coordinates of one plane, and points of one output, stay below this: their counters are 64 bits wide, their indexes 32.
pub const MAX_POINTS: usize = 1 << 25;

impl Shape {
    /// The shape of the published protocol.
    pub const PROTOCOL: Self = Self { images: 1, channels: 3, height: 32, width: 32 };

    /// From extents as a tensor has them; `None` unless there are four, all positive, and the plane below [`MAX_POINTS`].
    pub fn from_extents(extents: &[usize]) -> Option<Self> {
        let &[images, channels, height, width] = extents else { return None };
        let area = height.checked_mul(width).filter(|area| (1..MAX_POINTS).contains(area))?;
        let total = images.checked_mul(channels)?.checked_mul(area)?;
        (1..=1 << 31).contains(&total).then_some(Self { images, channels, height, width })
    }

    /// As a tensor has them.
    pub fn extents(&self) -> [usize; 4] {
        [self.images, self.channels, self.height, self.width]
    }

    /// Coordinates of one plane.
    pub fn area(&self) -> usize {
        self.height * self.width
    }

    /// Images times channels.
    pub fn planes(&self) -> usize {
        self.images * self.channels
    }

    /// Coordinates of the gradient.
    pub fn coordinates(&self) -> usize {
        self.planes() * self.area()
    }
}
