//! The statistic that stands for a set of samples.

/// The true median: the middle sample, or the mean of the middle two for an even count. `None` without samples, with a
/// NaN among them, or where the middle two are opposite infinities.
pub fn median(samples: &[f64]) -> Option<f64> {
    if samples.iter().any(|sample| sample.is_nan()) {
        return None;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *sorted.get(middle.checked_sub(1)?)?;
    // `midpoint` is (lower + upper) / 2 to the bit wherever that sum does not overflow.
    let mean = lower.midpoint(upper);
    (!mean.is_nan()).then_some(mean)
}
