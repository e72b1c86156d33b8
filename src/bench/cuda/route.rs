//! Which of the deterministic kernel's routes a problem takes. The routes give the same bits; they differ in speed only.
//! Pure.
//!
//! The numbers come from a search over block counts and sizes on an H200, see `docs/deterministic-kernel.md`.

use crate::bench::divergence::Shape;
use crate::bench::divergence::fixed_point::MAX_POINTS_PER_ROUND;

/// What a device offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Multiprocessors.
    pub processors: usize,
    /// Shared memory of one block, in bytes.
    pub shared_bytes: usize,
    /// Whether all blocks of a launch can be made resident at once.
    pub cooperative: bool,
}

/// A route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// Four blocks for each plane, one for each parity of column and row; everything stays in shared memory.
    Block {
        /// Threads of a block.
        threads: usize,
        /// Points of a thread: 1, 2, 4 or 6.
        points_per_thread: usize,
    },
    /// Several blocks for each plane, which meet in global memory.
    Grid {
        /// Blocks of a plane.
        blocks: usize,
        /// Threads of a block.
        threads: usize,
        /// Points of a thread in one round: 1, 2, 4 or 6.
        points_per_thread: usize,
    },
    /// Counters in global memory: planes that do not fit a block's shared memory.
    Global,
}

/// Largest block.
const MAX_THREADS: usize = 1024;

/// Blocks of this size leave the scheduler room; larger ones only where they save a round.
const PREFERRED_THREADS: usize = 768;

/// Points that a thread can hold in registers: the kernels that exist.
const POINTS_PER_THREAD: [usize; 4] = [1, 2, 4, 6];

/// Most points of a plane that its four blocks take without others that they would have to meet.
const MAX_BLOCK_POINTS: usize = 6144;

/// Points of a plane at which this many blocks were fastest; their number grows with the square root of the points,
/// because a block saves time on its points and costs time where blocks meet.
const GRID_BLOCKS: (usize, usize) = (16_384, 11);

/// Shared memory that a kernel uses besides the counters, in bytes, rounded up.
const STATIC_SHARED_BYTES: usize = 2048;

/// Bytes of counters and flags of a plane in shared memory.
pub fn shared_bytes(area: usize) -> usize {
    4 * (2 * area + flag_words(area))
}

/// 32-bit words of flags of a plane: four bits for each coordinate.
pub fn flag_words(area: usize) -> usize {
    area.div_ceil(8)
}

/// 64-bit words of a plane's workspace in the route over several blocks.
pub fn workspace_words(area: usize, blocks: usize) -> usize {
    area + blocks + flag_words(area).div_ceil(2) + 1
}

/// Coordinates that one of the four blocks of a plane owns, rounded up.
pub fn quarter(shape: Shape) -> usize {
    shape.width.div_ceil(2) * shape.height.div_ceil(2)
}

/// The route for a shape and as many points of each plane.
pub fn choose(limits: &Limits, shape: Shape, points: usize) -> Route {
    let fits = |area: usize| shared_bytes(area) + STATIC_SHARED_BYTES <= limits.shared_bytes;
    if points <= MAX_BLOCK_POINTS && fits(quarter(shape)) {
        let (threads, points_per_thread) = if points <= 512 {
            (points.next_multiple_of(32), 1)
        } else if points <= 1024 {
            (points.div_ceil(2).next_multiple_of(32), 2)
        } else if points <= 4096 {
            (points.div_ceil(4).next_multiple_of(32), 4)
        } else {
            (points.div_ceil(6).next_multiple_of(32), 6)
        };
        return Route::Block { threads, points_per_thread };
    }
    if !fits(shape.area()) {
        return Route::Global;
    }
    let wanted = GRID_BLOCKS.1 as f64 * (points as f64 / GRID_BLOCKS.0 as f64).sqrt();
    let most = if limits.cooperative { limits.processors / shape.planes() } else { 1 };
    let blocks = (wanted.round() as usize).clamp(1, most.max(1));
    let slice = points.div_ceil(blocks);
    let needed = |points_per_thread: usize| slice.div_ceil(points_per_thread).next_multiple_of(32);
    let preferred = POINTS_PER_THREAD.into_iter().find(|&each| needed(each) <= PREFERRED_THREADS);
    let points_per_thread = preferred.unwrap_or(POINTS_PER_THREAD[POINTS_PER_THREAD.len() - 1]);
    Route::Grid { blocks, threads: needed(points_per_thread).min(MAX_THREADS), points_per_thread }
}

const _: () = assert!(MAX_THREADS * POINTS_PER_THREAD[POINTS_PER_THREAD.len() - 1] <= MAX_POINTS_PER_ROUND);

#[cfg(test)]
mod tests {
    use super::*;

    const H200: Limits = Limits { processors: 132, shared_bytes: 232_448, cooperative: true };

    fn grid(blocks: usize, threads: usize, points_per_thread: usize) -> Route {
        Route::Grid { blocks, threads, points_per_thread }
    }

    #[test]
    fn the_protocols_sizes_take_the_shapes_that_were_fastest() {
        let route = |resolution: usize| choose(&H200, Shape::PROTOCOL, resolution * resolution);
        assert_eq!(route(16), Route::Block { threads: 256, points_per_thread: 1 });
        assert_eq!(route(32), Route::Block { threads: 512, points_per_thread: 2 });
        assert_eq!(route(64), Route::Block { threads: 1024, points_per_thread: 4 });
        assert_eq!(route(128), grid(11, 768, 2));
        assert_eq!(route(256), grid(22, 768, 4));
        assert_eq!(route(512), grid(44, 1024, 6));
    }

    #[test]
    fn every_route_covers_its_points_and_fits_the_device() {
        for (limits, shared) in
            [(H200, 232_448), (Limits { processors: 40, shared_bytes: 65_536, cooperative: false }, 65_536)]
        {
            for planes in [1, 3, 64, 1000] {
                for (height, width) in [(1, 1), (7, 1), (32, 32), (50, 100), (28_000, 1), (1000, 100)] {
                    let shape = Shape { images: planes, channels: 1, height, width };
                    for points in [1, 100, 513, 4096, 4097, 6144, 6145, 1 << 20, (1 << 25) - 1] {
                        match choose(&limits, shape, points) {
                            Route::Block { threads, points_per_thread } => {
                                assert!(threads <= 1024 && threads % 32 == 0 && threads * points_per_thread >= points);
                            }
                            Route::Grid { blocks, threads, points_per_thread } => {
                                assert!(
                                    threads <= 1024
                                        && threads % 32 == 0
                                        && POINTS_PER_THREAD.contains(&points_per_thread)
                                );
                                assert!(blocks == 1 || (limits.cooperative && blocks * planes <= limits.processors));
                            }
                            Route::Global => assert!(shared_bytes(shape.area()) + STATIC_SHARED_BYTES > shared),
                        }
                    }
                }
            }
        }
    }
}
