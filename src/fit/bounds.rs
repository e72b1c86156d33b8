//! The nonnegative fit when every observation is only known to within a radius: all models that the procedure may choose.
//!
//! For a fixed subset of active features the coefficients are linear in the observations, so their range over a box of
//! observations is exact: the value at the centre, plus and minus the radii times the map's magnitudes. Which subset is
//! optimal may change within the box; a subset is left out only where an optimality condition (also linear) fails in all
//! of the box. The union over the other subsets holds every model that the box allows. It may hold others where columns
//! depend on each other, because several subsets then fit equally well and the tie rule is not applied.

use super::design::{Design, norm};
use super::double_double::DoubleDouble;
use super::interval::Interval;
use super::lstsq::Orthogonal;
use super::nnls::{self, NEGATIVE_TOLERANCE, Row, SubsetOutcome, TIE_TOLERANCE};
use super::{FitError, MAX_FEATURES, active_columns};

/// What binary64 may lose in a linear map, relative to the sum of its terms' magnitudes: the unit roundoff times a
/// condition number of the scaled columns of up to 1e5. Radii of half a unit in the fourth digit are 1e5 times larger.
const SLACK: f64 = 1e-10;

/// All models that observations within their radii may lead to.
#[derive(Debug, Clone)]
pub struct Bounds {
    observed: Vec<f64>,
    radii: Vec<f64>,
    models: Vec<Linear>,
}

/// One subset's coefficients as linear maps of the observations.
#[derive(Debug, Clone)]
struct Linear {
    /// Per feature: what each observation contributes to its coefficient; `None` where the feature is not active.
    maps: Vec<Option<Vec<f64>>>,
}

/// A subset that may be the chosen one.
#[derive(Debug, Clone, Copy)]
pub struct Model<'b> {
    bounds: &'b Bounds,
    linear: &'b Linear,
}

impl Bounds {
    /// Fits `rows`, whose observations may be off by up to `radii`.
    ///
    /// # Errors
    /// As [`nnls::fit`].
    pub fn of(rows: &[&Row], radii: &[f64]) -> Result<Self, FitError> {
        let fit = nnls::fit_of(rows)?;
        let design = Design::of(rows, MAX_FEATURES)?;
        let observed = rows.iter().map(|row| row.observed).collect();
        let mut bounds = Self { observed, radii: radii.to_vec(), models: Vec::new() };
        for subset in &fit.subsets {
            if matches!(subset.outcome, SubsetOutcome::RankDeficient { .. }) {
                continue;
            }
            let linear = Linear::of(&design, subset.mask)?;
            if bounds.possible(&design, &linear) {
                bounds.models.push(linear);
            }
        }
        // The fit at the centre chose one of them.
        if bounds.models.is_empty() { Err(FitError::NoConvergence) } else { Ok(bounds) }
    }

    /// The subsets that may be chosen.
    pub fn models(&self) -> impl Iterator<Item = Model<'_>> {
        self.models.iter().map(|linear| Model { bounds: self, linear })
    }

    /// What the coefficient of a feature may be.
    pub fn coefficient(&self, feature: usize) -> Interval {
        let mut unit = vec![0.0; feature + 1];
        unit[feature] = 1.0;
        let range = self.range(&unit);
        Interval { low: range.low.max(0.0), high: range.high.max(0.0) }
    }

    /// What the prediction for `features` may be, over all subsets.
    pub fn range(&self, features: &[f64]) -> Interval {
        let ranges = self.models().map(|model| model.range(features));
        ranges.reduce(Interval::hull).unwrap_or(Interval::point(0.0))
    }

    /// Whether the subset meets its optimality conditions anywhere in the box, taken one by one.
    fn possible(&self, design: &Design, linear: &Linear) -> bool {
        let model = Model { bounds: self, linear };
        let scaled: Vec<Interval> = (0..design.scales.len())
            .map(|feature| {
                let mut vector = vec![0.0; design.scales.len()];
                vector[feature] = design.scales[feature];
                model.range(&vector)
            })
            .collect();
        let largest = scaled.iter().fold(1.0_f64, |largest, range| largest.max(range.magnitude().high));
        // A subset whose squared error is within the tie tolerance of the best is preferred if it has fewer features, and
        // each of eight subsets may be preferred to the one before. Adding column a to a subset with gradient g would save
        // g^2 / |a|^2.
        let reach = norm(&design.right) + self.radii.iter().sum::<f64>();
        let tie = (8.0 * TIE_TOLERANCE * (reach * reach).max(1.0)).sqrt();
        linear.maps.iter().zip(&scaled).zip(&design.columns).all(|((map, range), column)| match map {
            Some(_) => range.high >= -NEGATIVE_TOLERANCE * largest,
            None => self.gradient(design, linear, column).high >= -tie * norm(column),
        })
    }

    /// Half the gradient of the weighted squared error by the scaled coefficient of an inactive column.
    fn gradient(&self, design: &Design, linear: &Linear, column: &[f64]) -> Interval {
        let mut terms = Vec::new();
        for ((map, other), scale) in linear.maps.iter().zip(&design.columns).zip(&design.scales) {
            if let Some(map) = map {
                let across: f64 = column.iter().zip(other).map(|(left, right)| left * right).sum();
                terms.push((across * scale, map.as_slice()));
            }
        }
        let direct: Vec<f64> =
            column.iter().zip(&design.weights).map(|(value, weight)| value * weight.sqrt()).collect();
        terms.push((-1.0, &direct));
        self.spread(&terms)
    }

    /// The range of a sum of linear maps of the observations.
    fn spread(&self, terms: &[(f64, &[f64])]) -> Interval {
        let (mut centre, mut radius, mut magnitude) = (0.0, 0.0, 0.0);
        for (at, (observed, half)) in self.observed.iter().zip(&self.radii).enumerate() {
            let parts = terms.iter().filter_map(|(factor, map)| Some(factor * map.get(at)?));
            let (sum, size) = parts.fold((0.0, 0.0), |(sum, size), part: f64| (sum + part, size + part.abs()));
            centre += sum * observed;
            radius += sum.abs() * half;
            magnitude += size * observed.abs();
        }
        let radius = radius + SLACK * magnitude;
        Interval { low: centre - radius, high: centre + radius }
    }
}

impl Model<'_> {
    /// What the sum of `vector` times the coefficients may be. It is exactly 0 where only inactive features have weight.
    pub fn range(&self, vector: &[f64]) -> Interval {
        let active = self.linear.maps.iter().zip(vector);
        let terms: Vec<_> = active
            .filter_map(|(map, &factor)| Some((factor, map.as_deref()?)))
            .filter(|(factor, _)| *factor != 0.0)
            .collect();
        self.bounds.spread(&terms)
    }
}

impl Linear {
    fn of(design: &Design, mask: u32) -> Result<Self, FitError> {
        let active = active_columns(mask, design.scales.len());
        let mut maps = vec![None; design.scales.len()];
        if active.is_empty() {
            return Ok(Self { maps });
        }
        let columns: Vec<Vec<DoubleDouble>> = active
            .iter()
            .map(|&column| design.columns[column].iter().map(|&value| DoubleDouble::from(value)).collect())
            .collect();
        let orthogonal = Orthogonal::of(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        let inverse = orthogonal.pseudo_inverse();
        for (row, &column) in inverse.iter().zip(&active) {
            let scale = design.scales[column];
            let weighted = row
                .iter()
                .zip(&design.weights)
                .map(|(value, weight)| value.rounded() * weight.sqrt() / scale)
                .collect();
            maps[column] = Some(weighted);
        }
        Ok(Self { maps })
    }
}
