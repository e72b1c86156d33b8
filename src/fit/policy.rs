//! The decision rule: which schedule a set of predicted times selects.

use super::{FitError, Schedule};

/// What the rule decided for one case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decision {
    /// The schedule to run.
    pub selected: Schedule,
    /// The scores decided on, in the order of [`Schedule::ALL`].
    pub scores: [f64; 3],
    /// Score of the selected schedule over that of the default; exactly 1 where the default is kept.
    pub predicted_ratio: f64,
    /// Whether another schedule than the default was selected.
    pub improves: bool,
}

/// Decides by `scores` (predicted microseconds, in the order of [`Schedule::ALL`]): the lowest wins, the earlier of
/// equals. It is selected only if its score over the default's is below `1 - improvement_fraction`, so that a predicted
/// saving of exactly that fraction keeps the default.
///
/// # Errors
/// A score that is not finite and positive, or a fraction outside [0, 1).
pub fn decide(scores: [f64; 3], improvement_fraction: f64) -> Result<Decision, FitError> {
    if !(0.0..1.0).contains(&improvement_fraction) {
        return Err(FitError::ImprovementFraction(improvement_fraction));
    }
    for (schedule, score) in Schedule::ALL.into_iter().zip(scores) {
        if !(score.is_finite() && score > 0.0) {
            return Err(FitError::Score { schedule: schedule.name(), score });
        }
    }
    let [default, ..] = scores;
    let mut winner = (Schedule::Default, default);
    for (schedule, score) in Schedule::ALL.into_iter().zip(scores) {
        if score < winner.1 {
            winner = (schedule, score);
        }
    }
    let ratio = winner.1 / default;
    Ok(if ratio < 1.0 - improvement_fraction {
        Decision { selected: winner.0, scores, predicted_ratio: ratio, improves: true }
    } else {
        Decision { selected: Schedule::Default, scores, predicted_ratio: 1.0, improves: false }
    })
}
