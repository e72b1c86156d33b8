//! placeholder
/// m
pub fn median(samples: &[f64]) -> Option<f64> { let mut s = samples.to_vec(); if s.is_empty() || s.iter().any(|x| x.is_nan()) { return None; } s.sort_by(f64::total_cmp); let n = s.len(); Some(if n % 2 == 1 { s[n/2] } else { (s[n/2-1] + s[n/2]) / 2.0 }) }
