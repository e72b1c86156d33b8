//! Which of the deterministic kernel's routes a problem takes. The routes give the same bits; they differ in speed only.
//! Pure.
//!
//! The numbers come from a search over block counts and sizes on an H200, see `docs/divergence.md`.

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
    /// One block for each plane; everything stays in shared memory.
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

/// Most points of a plane that one block takes alone, faster than several that have to meet.
const MAX_BLOCK_POINTS: usize = 4096;

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

/// The route for planes of `area` coordinates and `points` points.
pub fn choose(limits: &Limits, planes: usize, area: usize, points: usize) -> Route {
    if shared_bytes(area) + STATIC_SHARED_BYTES > limits.shared_bytes {
        return Route::Global;
    }
    if points <= MAX_BLOCK_POINTS {
        let (threads, points_per_thread) = if points <= 512 {
            (points.next_multiple_of(32), 1)
        } else if points <= 1024 {
            (points.div_ceil(2).next_multiple_of(32), 2)
        } else {
            (points.div_ceil(4).next_multiple_of(32), 4)
        };
        return Route::Block { threads, points_per_thread };
    }
    let wanted = GRID_BLOCKS.1 as f64 * (points as f64 / GRID_BLOCKS.0 as f64).sqrt();
    let most = if limits.cooperative { limits.processors / planes } else { 1 };
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
        let route = |resolution: usize| choose(&H200, 3, 1024, resolution * resolution);
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
                for area in [1, 7, 1024, 5000, 28_000, 100_000] {
                    for points in [1, 100, 513, 4096, 4097, 1 << 20, (1 << 25) - 1] {
                        match choose(&limits, planes, area, points) {
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
                            Route::Global => assert!(shared_bytes(area) + STATIC_SHARED_BYTES > shared),
                        }
                    }
                }
            }
        }
    }
}
