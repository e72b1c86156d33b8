//! The statistic that stands for a set of samples.

/// The true median: the middle sample, or the mean of the middle two for an even count. `None` without samples, with a
/// NaN among them, or where the middle two are opposite infinities.
pub fn median(samples: &[f64]) -> Option<f64> {
    median_of(samples.iter().copied())
}

/// The same of samples that lie in no slice; they are copied once.
pub fn median_of(samples: impl Iterator<Item = f64>) -> Option<f64> {
    let mut samples: Vec<f64> = samples.collect();
    if samples.is_empty() || samples.iter().any(|sample| sample.is_nan()) {
        return None;
    }
    let middle = samples.len() / 2;
    let is_odd = samples.len() % 2 == 1;
    let (below, &mut upper, _) = samples.select_nth_unstable_by(middle, f64::total_cmp);
    if is_odd {
        return Some(upper);
    }
    let lower = below.iter().copied().max_by(f64::total_cmp)?;
    // `midpoint` is (lower + upper) / 2 to the bit wherever that sum does not overflow.
    let mean = lower.midpoint(upper);
    (!mean.is_nan()).then_some(mean)
}
