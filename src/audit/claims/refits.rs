//! The model fitted to the printed medians: what coefficients, decisions and residuals the rounding leaves open.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::table::{Row, Table};
use crate::fit::bounds::{Bounds, Model};
use crate::fit::{Facts, FitError, Interval, Schedule, nnls};

/// Features of a case under each schedule, in the order of [`Schedule::ALL`].
type Features = [[f64; 3]; 3];

/// Which fit decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Policy {
    /// The fit to all cases.
    Full,
    /// For each case the fit to all other geometries.
    LeaveOneOut,
}

impl Policy {
    /// The policy of that name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        match name {
            "full-fit" => Some(Policy::Full),
            "leave-one-geometry-out" => Some(Policy::LeaveOneOut),
            _ => None,
        }
    }
}

/// All fits to one table; cases are in its order.
#[derive(Debug)]
pub(super) struct Refits {
    /// Key of each case's geometry.
    pub(super) groups: Vec<String>,
    /// The fit to all cases.
    pub(super) full: Bounds,
    /// What the full fit may select.
    selected: Vec<Vec<Schedule>>,
    /// What the fit without the case's geometry may select.
    held_selected: Vec<Vec<Schedule>>,
    /// What that fit may predict, microseconds, in the order of [`Schedule::ALL`].
    pub(super) held_predicted: Vec<[Interval; 3]>,
}

impl Refits {
    /// Fits the table's medians for a device with `processors` multiprocessors; a schedule is selected where it saves more
    /// than `fraction` of the predicted time.
    ///
    /// # Errors
    /// A geometry without features, or medians that cannot be fitted, such as those of a single geometry.
    pub(super) fn of(table: &Table, processors: u64, fraction: f64) -> Result<Self, FitError> {
        let groups: Vec<String> = table.rows.iter().map(|row| row.geometry.key()).collect();
        let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (case, group) in groups.iter().enumerate() {
            members.entry(group).or_default().push(case);
        }
        let features = table.rows.iter().map(|row| features(row, processors)).collect::<Result<Vec<_>, _>>()?;
        let mut rows = Vec::new();
        let mut half_units = Vec::new();
        for ((row, features), group) in table.rows.iter().zip(&features).zip(&groups) {
            // Labels only need to be the same for the same group.
            let label = members.get(group.as_str()).and_then(|cases| cases.first().copied()).unwrap_or_default();
            for (median, features) in row.native.iter().zip(features) {
                rows.push(nnls::Row { group: label, features: features.to_vec(), observed: median.value });
                half_units.push(median.half_unit);
            }
        }
        let without = |held: Option<usize>| {
            let kept = rows.iter().zip(&half_units).filter(|(row, _)| Some(row.group) != held);
            let (rows, half_units): (Vec<_>, Vec<_>) = kept.unzip();
            Bounds::of(&rows, &half_units)
        };
        let full = without(None)?;
        let selected = features.iter().map(|features| possible_selections(&full, features, fraction)).collect();
        let members: Vec<&Vec<usize>> = members.values().collect();
        let folds: Vec<_> = members
            .par_iter()
            .map(|cases| {
                let fold = without(cases.first().copied())?;
                let of = |&case: &usize| {
                    let features = &features[case];
                    (
                        case,
                        possible_selections(&fold, features, fraction),
                        features.map(|features| fold.range(&features)),
                    )
                };
                Ok(cases.iter().map(of).collect::<Vec<_>>())
            })
            .collect::<Result<_, FitError>>()?;
        let mut held: Vec<_> = folds.into_iter().flatten().collect();
        held.sort_by_key(|(case, ..)| *case);
        let (held_selected, held_predicted) =
            held.into_iter().map(|(_, selected, predicted)| (selected, predicted)).unzip();
        Ok(Self { groups, full, selected, held_selected, held_predicted })
    }

    /// The schedules that a policy may select for a case; more than one where rounding decides.
    pub(super) fn selections(&self, policy: Policy, case: usize) -> &[Schedule] {
        match policy {
            Policy::Full => &self.selected[case],
            Policy::LeaveOneOut => &self.held_selected[case],
        }
    }
}

fn features(row: &Row, processors: u64) -> Result<Features, FitError> {
    let [default, rows1, rows2] =
        Schedule::ALL.map(|schedule| Facts::of(row.geometry, schedule, row.label.storage.bytes(), processors));
    Ok([default?.features(), rows1?.features(), rows2?.features()])
}

/// The decisions of [`crate::fit::policy::decide`] that any model allows. Each of the rule's conditions is linear in the
/// coefficients and is asked by itself, so that no decision is missed.
fn possible_selections(fit: &Bounds, features: &Features, fraction: f64) -> Vec<Schedule> {
    let possible = |schedule: &Schedule| fit.models().any(|model| may_select(model, features, *schedule, fraction));
    Schedule::ALL.into_iter().filter(possible).collect()
}

fn may_select(model: Model<'_>, features: &Features, schedule: Schedule, fraction: f64) -> bool {
    let candidates = [Schedule::Rows1, Schedule::Rows2];
    // Score of `left` less `factor` times that of `right`.
    let difference = |left: Schedule, right: Schedule, factor: f64| {
        let (left, right) = (features[left as usize], features[right as usize]);
        model.range(&std::array::from_fn::<f64, 3, _>(|at| left[at] - factor * right[at]))
    };
    let short_of_default = |candidate: Schedule| difference(candidate, Schedule::Default, 1.0 - fraction);
    if schedule == Schedule::Default {
        return candidates.into_iter().all(|candidate| short_of_default(candidate).high >= 0.0);
    }
    let beats = |other: Schedule| {
        let lead = difference(schedule, other, 1.0).low;
        // The earlier of equals wins. Schedules with the same active features are equal in every model: exactly 0.
        if schedule < other { lead <= 0.0 } else { lead < 0.0 }
    };
    short_of_default(schedule).low < 0.0 && candidates.into_iter().filter(|other| *other != schedule).all(beats)
}
