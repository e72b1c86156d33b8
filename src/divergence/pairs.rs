//! All pairs of trials: where their bits differ, and by how much.

use rayon::prelude::*;

/// Two trials compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Coordinates whose bits differ.
    pub drift: u64,
    /// Largest absolute difference over those coordinates, computed in binary32; zero without drift, and zero where the
    /// only differences are between the two zeros. NaN if a difference is NaN.
    pub divergence: f32,
}

/// What is published of all pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Largest drift of any pair.
    pub max_drift: u64,
    /// Largest divergence of any pair; NaN if one is.
    pub max_divergence: f32,
    /// Pairs without drift.
    pub equal_pairs: u64,
    /// All pairs.
    pub pairs: u64,
}

impl Summary {
    /// Equal pairs in percent; 100 where there are no pairs to differ.
    pub fn match_rate(&self) -> f64 {
        if self.pairs == 0 { 100.0 } else { 100.0 * self.equal_pairs as f64 / self.pairs as f64 }
    }
}

/// Compares two trials of one shape. Bits decide: equal NaNs agree, 0.0 and -0.0 do not. Of trials of different length the
/// surplus coordinates of the longer one count as drift.
pub fn compare(left: &[f32], right: &[f32]) -> Pair {
    pulp::Arch::new().dispatch(Comparison { left, right })
}

/// Coordinates whose count of differences cannot overflow a lane of 32 bits.
const BLOCK: usize = 1 << 16;

/// A comparison that is compiled once for each width of vectors; a closure might not be inlined into that code.
struct Comparison<'t> {
    left: &'t [f32],
    right: &'t [f32],
}

impl pulp::NullaryFnOnce for Comparison<'_> {
    type Output = Pair;

    /// Written so that it becomes vector code: no branches, and maxima of bits instead of floats. Magnitudes order as their
    /// bits do, a NaN's above all others.
    #[inline(always)]
    fn call(self) -> Pair {
        let Self { left, right } = self;
        let mut drift = left.len().abs_diff(right.len()) as u64;
        let mut largest = 0;
        for (left, right) in left.chunks(BLOCK).zip(right.chunks(BLOCK)) {
            let mut differing = 0_u32;
            let mut bits = 0_u32;
            for (&left, &right) in left.iter().zip(right) {
                let differs = u32::from(left.to_bits() != right.to_bits());
                differing += differs;
                bits = bits.max((left - right).abs().to_bits() & differs.wrapping_neg());
            }
            drift += u64::from(differing);
            largest = largest.max(bits);
        }
        Pair { drift, divergence: f32::from_bits(largest) }
    }
}

/// The larger of two magnitudes; a NaN wins, as it does in the protocol's own maximum.
fn larger(left: f32, right: f32) -> f32 {
    if left.is_nan() || right <= left { left } else { right }
}

/// Number of pairs of `trials` trials.
pub fn pair_count(trials: u64) -> u64 {
    trials * trials.saturating_sub(1) / 2
}

/// Trials that are compared with each later trial while that is in the nearest cache.
const TILE: usize = 8;

/// All pairs in combination order: (0,1), (0,2) ... (1,2) ...
pub fn all_pairs(trials: &[&[f32]]) -> Vec<Pair> {
    let architecture = pulp::Arch::new();
    let firsts: Vec<usize> = (0..trials.len()).step_by(TILE).collect();
    let tiles = firsts.into_par_iter().map(|start| {
        let tile = start..trials.len().min(start + TILE);
        let mut rows: Vec<Vec<Pair>> = tile.clone().map(|first| Vec::with_capacity(trials.len() - first)).collect();
        for second in start + 1..trials.len() {
            for (row, first) in rows.iter_mut().zip(tile.clone()).filter(|(_, first)| *first < second) {
                row.push(architecture.dispatch(Comparison { left: trials[first], right: trials[second] }));
            }
        }
        rows
    });
    tiles.flatten_iter().flatten_iter().collect()
}

/// Summarises pairs.
pub fn summarize(pairs: &[Pair]) -> Summary {
    Summary {
        max_drift: pairs.iter().map(|pair| pair.drift).max().unwrap_or(0),
        max_divergence: pairs.iter().map(|pair| pair.divergence).fold(0.0, larger),
        equal_pairs: pairs.iter().filter(|pair| pair.drift == 0).count() as u64,
        pairs: pairs.len() as u64,
    }
}
