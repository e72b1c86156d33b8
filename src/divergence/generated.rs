//! Inputs that follow from a seed, so that whoever knows the seed can make them again.
//!
//! Values depend on the seed, the array's name and their number only, and on no mathematical library, so that they are the
//! same bytes everywhere. The key of an array is the first eight bytes, little-endian, of the SHA-256 of
//! `recount-divergence-inputs-v1/SEED/NAME`; its random words are SplitMix64's, the i-th (from 1) being the mix of
//! `key + i * 0x9E3779B97F4A7C15`.
//! - [`normal`], for `input` and `grad-output-R`: three words for a value, cut into twelve integers of 16 bits; their sum,
//!   plus 6, less 6 * 65536, divided by 65536: twelve uniform numbers less six, nearly a standard normal number, exact in
//!   binary32.
//! - [`uniform`], for `grid-R`: one word for a value; with u its upper 24 bits, `((2u + 1) / 2^24 - 1) * 1.1`, rounded to
//!   binary32: uniform in (-1.1, 1.1), so that some points fall outside and the padding takes part.

use crate::package::digest::digest;

/// Name of the generator in protocols.
pub const GENERATOR: &str = "recount-divergence-inputs-v1";

/// Half of the grid's range.
const GRID_BOUND: f64 = 1.1;

/// `count` nearly normal values of the array `name`.
pub fn normal(seed: u64, name: &str, count: usize) -> Vec<f32> {
    let mut words = words(key(seed, name));
    let one = |_| {
        let sum: u64 =
            words.by_ref().take(3).map(|word| (0..4).map(|at| (word >> (16 * at)) & 0xffff).sum::<u64>()).sum();
        (sum as f32 + 6.0 - 6.0 * 65536.0) / 65536.0
    };
    (0..count).map(one).collect()
}

/// `count` uniform values of the array `name`.
pub fn uniform(seed: u64, name: &str, count: usize) -> Vec<f32> {
    let one = |word: u64| {
        let upper = (word >> 40) as f64;
        (((2.0 * upper + 1.0) / f64::from(1 << 24) - 1.0) * GRID_BOUND) as f32
    };
    words(key(seed, name)).take(count).map(one).collect()
}

fn key(seed: u64, name: &str) -> u64 {
    let digest = digest(format!("{GENERATOR}/{seed}/{name}").as_bytes());
    let first = u64::from_str_radix(&digest.sha256[..16], 16).unwrap_or(0);
    first.swap_bytes()
}

/// SplitMix64.
fn words(key: u64) -> impl Iterator<Item = u64> {
    (1_u64..).map(move |at| {
        let mut word = key.wrapping_add(at.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    })
}
