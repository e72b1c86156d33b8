//! What the model says: ratios and selections, predictions against observations, residuals.

use std::io;

use plotters::style::text_anchor::HPos;

use super::axis::Axis;
use super::canvas::{Entry, Frame, Ink, Shape, UNIT, WIDTH, header, picture, within};
use super::partition::{ROWS, above};
use super::{Chart, extremes, part, part_name, percent, short};
use crate::report::figures::{Decided, ModelFigures, Predicted, SCHEDULES};

/// Shape (filled, open) and colour of the schedules.
const LOOKS: [(Shape, Shape, Ink); 3] = [
    (Shape::Dot, Shape::Ring, Ink::First),
    (Shape::Triangle, Shape::OpenTriangle, Ink::Second),
    (Shape::Square, Shape::OpenSquare, Ink::Third),
];

/// A prediction of an observation, where there is one.
type Forecast = fn(&Predicted) -> Option<f64>;

/// A predicted saving of more than this fraction selects a schedule.
const SELECTS: f64 = 0.95;

/// What stands at a ratio of one.
const DEFAULT_NAME: &str = "1 (default)";

/// What stands at [`SELECTS`].
const SAVED_NAME: &str = "0.95 (5\u{a0}% saved)";

/// Candidates over the default, the selected one marked.
pub(super) fn ratios(model: &ModelFigures) -> io::Result<Vec<Chart>> {
    let decisions = &model.decisions;
    if decisions.is_empty() {
        return Ok(Vec::new());
    }
    let axis = || Axis::linear(decisions.iter().flat_map(|one| one.ratios).chain([0.9, 1.1]), 1.0);
    let legend: Vec<Entry> = vec![
        (Shape::Triangle, Ink::Second, "rows1".to_owned()),
        (Shape::Square, Ink::Third, "rows2".to_owned()),
        (Shape::Dot, Ink::First, "default".to_owned()),
        (Shape::Ring, Ink::Text, "around: selected".to_owned()),
    ];
    let (selected, slower) = model.selected;
    let summary = format!(
        "Another schedule than the default is selected in {selected} of {} cases; {slower} of them ran slower. Selected \
         over default: {} (geometric mean, each geometry once).",
        decisions.len(),
        short(model.geometric_mean),
    );
    let parts = decisions.chunks(ROWS).count();
    let chart = |(index, decisions): (usize, &[Decided])| {
        let title = part("Candidates against the default", index, parts);
        let height = header(&legend) + decisions.len() as i32 * 20 + 74;
        let elements = picture(height, &title, &legend, |canvas| {
            let rows = Axis::rows(decisions.iter().map(|one| one.label.clone()));
            let frame = Frame { x: (0, WIDTH), y: (canvas.top + 18, height), left: rows.room(), row_lines: true };
            let panel = canvas.panel(frame, axis(), rows, ("median over the default's median (ratio)", ""))?;
            let bottom = decisions.len() as f64 - 0.5;
            canvas.line(&[panel.at(1.0, -0.5), panel.at(1.0, bottom)], Ink::Axis, 3)?;
            canvas.line(&[panel.at(SELECTS, -0.5), panel.at(SELECTS, bottom)], Ink::Dashed, 3)?;
            let (line, dashed) = (panel.at(1.0, -0.5), panel.at(SELECTS, -0.5));
            // The two stand close together; their names go to either side, and not into each other at the picture's edge.
            let (gap, default) = (6 * UNIT, within(line.0 + 4 * UNIT, DEFAULT_NAME, HPos::Left));
            let end = within(dashed.0.min(default - gap), SAVED_NAME, HPos::Right);
            canvas.text(SAVED_NAME, (end, dashed.1 - 9 * UNIT), HPos::Right)?;
            canvas.text(DEFAULT_NAME, (default.max(end + gap), line.1 - 9 * UNIT), HPos::Left)?;
            for (row, one) in decisions.iter().enumerate() {
                for (schedule, ratio) in one.ratios.iter().enumerate() {
                    let at = panel.at(*ratio, row as f64);
                    let (shape, _, ink) = LOOKS[schedule];
                    if schedule > 0 || one.selected == 0 {
                        canvas.mark(shape, at, 4.0, ink)?;
                    }
                    if one.selected == schedule {
                        canvas.mark(Shape::Ring, at, 7.5, Ink::Text)?;
                    }
                }
            }
            Ok(())
        })?;
        let spoken = decisions.iter().map(|one| {
            let [_, rows1, rows2] = one.ratios;
            let name = SCHEDULES[one.selected.min(2)];
            format!("{}: rows1 {}, rows2 {}, selected {name}.", one.label, short(rows1), short(rows2))
        });
        Ok(Chart {
            name: part_name("ratios", index),
            title,
            description: format!("{summary} {}", spoken.collect::<Vec<_>>().join(" ")),
            reading: format!(
                "Left of 1 is faster than the default. A ring marks what the model selects for a case when it has not \
                 seen its geometry; it selects what it predicts to save more than 5\u{a0}%. {summary}"
            ),
            elements,
            height,
        })
    };
    decisions.chunks(ROWS).enumerate().map(chart).collect()
}

/// Predicted against observed: the full fit above, the folds below.
pub(super) fn predictions(model: &ModelFigures) -> io::Result<Option<Chart>> {
    let points: Vec<&Predicted> = model.points.iter().filter(|point| point.observed > 0.0).collect();
    if points.is_empty() {
        return Ok(None);
    }
    let values = || {
        let all = points.iter().flat_map(|point| [Some(point.observed), Some(point.full), point.held]);
        all.flatten().filter(|value| *value > 0.0)
    };
    let legend: Vec<Entry> = SCHEDULES
        .iter()
        .zip(LOOKS)
        .map(|(name, (shape, _, ink))| (shape, ink, (*name).to_owned()))
        .chain([(Shape::Line, Ink::Dashed, "as observed".to_owned())])
        .collect();
    let title = "Predicted against observed";
    const PANEL: i32 = 318;
    let height = header(&legend) + 2 * PANEL + 8;
    let full: Forecast = |point| Some(point.full);
    let held: Forecast = |point| point.held;
    let panels: [(&str, Forecast); 2] =
        [("Full fit: all cases were seen", full), ("Folds: the geometry was held out", held)];
    let elements = picture(height, title, &legend, |canvas| {
        for (index, (name, predicted)) in panels.iter().enumerate() {
            let top = canvas.top + index as i32 * PANEL;
            let frame = Frame { x: (0, WIDTH), y: (top + 20, top + PANEL), left: 58, row_lines: true };
            let (x, y) = (Axis::log(values()), Axis::log(values()));
            let (low, high) = x.ends();
            let panel = canvas.panel(frame, x, y, ("observed median, µs (logarithmic)", "predicted, µs"))?;
            let corner = panel.at(low, high);
            canvas.text(name, (corner.0, corner.1 - 9 * UNIT), HPos::Left)?;
            canvas.line(&[panel.at(low, low), panel.at(high, high)], Ink::Dashed, 3)?;
            for point in &points {
                let Some(predicted) = predicted(point).filter(|value| *value > 0.0) else { continue };
                let (shape, _, ink) = LOOKS[point.schedule.min(2)];
                canvas.mark(shape, panel.at(point.observed, predicted), 3.8, ink)?;
            }
        }
        Ok(())
    })?;
    let spread = |name: &str, errors: Vec<f64>| {
        extremes(&errors, |error| *error).map_or_else(String::new, |(low, high)| {
            format!("{name}: predicted less observed from {} to {}.", percent(*low), percent(*high))
        })
    };
    let errors = |value: Forecast| -> Vec<f64> {
        points.iter().filter_map(|point| Some(value(point)? / point.observed - 1.0)).collect()
    };
    let coefficients: Vec<_> = model.coefficients.iter().map(|value| short(*value)).collect();
    let description = format!(
        "{} observations. Coefficients of the full fit: {}. {} {}",
        points.len(),
        coefficients.join(", "),
        spread("Full fit", errors(full)),
        spread("Folds", errors(held)),
    );
    let reading = "On the dashed line a prediction is what was observed; above it the model is too slow.".to_owned();
    Ok(Some(Chart { name: "predicted".to_owned(), title: title.to_owned(), description, reading, elements, height }))
}

/// Relative residuals, one row for each geometry.
pub(super) fn residuals(model: &ModelFigures) -> io::Result<Vec<Chart>> {
    let points: Vec<&Predicted> = model.points.iter().filter(|point| point.observed > 0.0).collect();
    let mut geometries: Vec<&str> = Vec::new();
    for point in &points {
        if !geometries.contains(&point.geometry.as_str()) {
            geometries.push(&point.geometry);
        }
    }
    if geometries.is_empty() {
        return Ok(Vec::new());
    }
    let error = |predicted: f64, point: &Predicted| (predicted / point.observed - 1.0) * 100.0;
    let values = || {
        points
            .iter()
            .flat_map(|point| [Some(point.full), point.held].into_iter().flatten().map(|one| error(one, point)))
    };
    let legend: Vec<Entry> = SCHEDULES
        .iter()
        .zip(LOOKS)
        .map(|(name, (shape, _, ink))| (shape, ink, (*name).to_owned()))
        .chain([
            (Shape::Ring, Ink::Text, "open: full fit".to_owned()),
            (Shape::Dot, Ink::Text, "filled: held out".to_owned()),
        ])
        .collect();
    let parts = geometries.chunks(ROWS).count();
    let chart = |(index, geometries): (usize, &[&str])| {
        let title = part("Residuals by geometry", index, parts);
        let height = header(&legend) + geometries.len() as i32 * 38 + 74;
        let elements = picture(height, &title, &legend, |canvas| {
            let rows = Axis::rows(geometries.iter().map(|key| (*key).to_owned()));
            let frame = Frame { x: (0, WIDTH), y: (canvas.top + 18, height), left: rows.room(), row_lines: false };
            let axis = Axis::linear(values(), 0.0);
            let ends = axis.ends();
            let panel = canvas.panel(frame, axis, rows, ("predicted less observed, % of observed", ""))?;
            let zero = panel.at(0.0, -0.5);
            canvas.line(&[zero, panel.at(0.0, geometries.len() as f64 - 0.5)], Ink::Axis, 3)?;
            above(canvas, zero, "as observed")?;
            for (row, key) in geometries.iter().enumerate() {
                for point in points.iter().filter(|point| point.geometry == *key) {
                    let (filled, open, ink) = LOOKS[point.schedule.min(2)];
                    let mark = |predicted: f64, shape: Shape, lane: i32| {
                        let (x, y) = panel.at(error(predicted, point), row as f64);
                        canvas.mark(shape, (x, y + lane * 8 * UNIT), 3.8, ink)
                    };
                    mark(point.full, open, -1)?;
                    point.held.map(|held| mark(held, filled, 1)).transpose()?;
                }
                if row > 0 {
                    let y = row as f64 - 0.5;
                    canvas.line(&[panel.at(ends.0, y), panel.at(ends.1, y)], Ink::Grid, 2)?;
                }
            }
            Ok(())
        })?;
        let spoken = geometries.iter().filter_map(|key| {
            let here: Vec<_> = points.iter().filter(|point| point.geometry == *key).collect();
            let held: Vec<f64> = here.iter().filter_map(|point| Some(point.held? / point.observed - 1.0)).collect();
            let (low, high) = extremes(&held, |error| *error)?;
            Some(format!("{key} held out: {} to {}.", percent(*low), percent(*high)))
        });
        Ok(Chart {
            name: part_name("residuals", index),
            title,
            description: format!("Predicted less observed. {}", spoken.collect::<Vec<_>>().join(" ")),
            reading: "A geometry is [rows, columns, rows per program, padded width]. The upper marks of a row are of the \
                      full fit, the lower ones of the fold that never saw the geometry. Right of 0 the model is too slow."
                .to_owned(),
            elements,
            height,
        })
    };
    geometries.chunks(ROWS).enumerate().map(chart).collect()
}
