//! What was measured: medians with their samples, and the drift of a repeated schedule.

use std::io;

use plotters::style::text_anchor::HPos;

use super::axis::Axis;
use super::canvas::{Entry, Frame, Ink, Panel, Shape, UNIT, WIDTH, header, picture};
use super::{Chart, extremes, name_of, part, part_name, percent, short};
use crate::report::figures::{CaseTimes, TORCH, Times};

/// Cases in one chart of medians.
const MEDIANS_CASES: usize = 16;

/// Cases in one chart with one line for each.
pub(super) const ROWS: usize = 64;

/// Pixels between two series of a case.
const LANE: i32 = 12;

/// A spread above which an axis is logarithmic.
const LOG_SPREAD: f64 = 5.0;

/// Shape and colour of a series; others than the known cohorts share the last.
fn look(name: &str) -> (Shape, Ink) {
    match name {
        "default" => (Shape::Dot, Ink::First),
        "rows1" => (Shape::Triangle, Ink::Second),
        "rows2" => (Shape::Square, Ink::Third),
        "recheck" => (Shape::Ring, Ink::First),
        TORCH => (Shape::Diamond, Ink::Fourth),
        _ => (Shape::Cross, Ink::Fifth),
    }
}

/// The names of all series, in the order in which they first come.
fn series(cases: &[CaseTimes]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for times in cases.iter().flat_map(|case| &case.series) {
        if !names.contains(&times.name.as_str()) {
            names.push(&times.name);
        }
    }
    // Torch was measured beside the first cohort; it is shown last.
    names.sort_by_key(|name| *name == TORCH);
    names
}

/// Medians as marks with their samples, one lane for each series.
pub(super) fn medians(cases: &[CaseTimes]) -> io::Result<Vec<Chart>> {
    let names = series(cases);
    let values =
        || cases.iter().flat_map(|case| &case.series).flat_map(|times| times.samples.iter().chain([&times.median]));
    let (low, high) =
        values().fold((f64::INFINITY, 0.0), |(low, high), value| (f64::min(low, *value), f64::max(high, *value)));
    if names.is_empty() || low > high {
        return Ok(Vec::new());
    }
    let is_log = high / low > LOG_SPREAD;
    let axis = || if is_log { Axis::log(values().copied()) } else { Axis::linear(values().copied(), low) };
    let mut legend: Vec<Entry> = names.iter().map(|name| (look(name).0, look(name).1, legend_name(name))).collect();
    legend.push((Shape::Tick, Ink::Text, "one sample".to_owned()));
    let parts = cases.chunks(MEDIANS_CASES).count();
    let chart = |(index, cases): (usize, &[CaseTimes])| {
        let title = part("Medians and their samples", index, parts);
        let lanes = names.len() as i32;
        let plot = cases.len() as i32 * (lanes * LANE + 8);
        let height = header(&legend) + plot + 52;
        let elements = picture(height, &title, &legend, |canvas| {
            let rows = Axis::rows(cases.iter().map(|case| case.label.clone()));
            let frame = Frame { x: (0, WIDTH), y: (canvas.top, height), left: rows.room(), row_lines: false };
            let scale = if is_log { "µs per operation (logarithmic)" } else { "µs per operation" };
            let panel = canvas.panel(frame, axis(), rows, (scale, ""))?;
            for (row, case) in cases.iter().enumerate() {
                for (lane, name) in names.iter().enumerate() {
                    let Some(times) = case.series.iter().find(|times| times.name == *name) else { continue };
                    let (shape, ink) = look(name);
                    let shift = ((2 * lane as i32 - lanes + 1) * LANE * UNIT) / 2;
                    let at = |value: f64| {
                        let (x, y) = panel.at(value, row as f64);
                        (x, y + shift)
                    };
                    // Behind the median, and higher than it.
                    for sample in &times.samples {
                        canvas.mark(Shape::Tick, at(*sample), 5.2, ink)?;
                    }
                    canvas.mark(shape, at(times.median), 3.2, ink)?;
                }
                if row > 0 {
                    between(canvas, &panel, row, axis().ends())?;
                }
            }
            Ok(())
        })?;
        Ok(Chart {
            name: part_name("medians", index),
            title,
            description: cases.iter().map(|case| spoken(case, &names)).collect::<Vec<_>>().join(" "),
            reading:
                "Large marks are medians, upright lines the samples that they are the medians of; each cohort has \
                      a line of its own. Further left is faster."
                    .to_owned(),
            elements,
            height,
        })
    };
    cases.chunks(MEDIANS_CASES).enumerate().map(chart).collect()
}

fn legend_name(name: &str) -> String {
    match name {
        TORCH => "Torch".to_owned(),
        name => name_of(name, 24),
    }
}

/// A faint line above a row.
fn between(
    canvas: &super::canvas::Canvas<'_>,
    panel: &Panel<'_>,
    row: usize,
    (low, high): (f64, f64),
) -> io::Result<()> {
    let y = row as f64 - 0.5;
    canvas.line(&[panel.at(low, y), panel.at(high, y)], Ink::Grid, 2)
}

fn spoken(case: &CaseTimes, names: &[&str]) -> String {
    let figure = |name: &&str| match case.median(name) {
        Some(median) => format!("{} {}", legend_name(name), short(median)),
        None => format!("{} has no times", legend_name(name)),
    };
    let figures: Vec<_> = names.iter().map(figure).collect();
    format!("{}: {} microseconds.", case.label, figures.join(", "))
}

/// The recheck over the default, less one.
pub(super) fn drift(cases: &[CaseTimes]) -> io::Result<Vec<Chart>> {
    struct Drift<'c> {
        label: &'c str,
        share: f64,
        /// Samples of the recheck over the default's median.
        samples: Vec<f64>,
    }
    let drift = |case: &'_ CaseTimes| -> Option<(f64, Vec<f64>)> {
        let default = case.median("default")?;
        let recheck: &Times = case.series.iter().find(|times| times.name == "recheck")?;
        let over = |value: f64| value / default - 1.0;
        Some((over(recheck.median), recheck.samples.iter().map(|sample| over(*sample)).collect()))
    };
    let drifts: Vec<Drift<'_>> = cases
        .iter()
        .filter_map(|case| drift(case).map(|(share, samples)| Drift { label: &case.label, share, samples }))
        .collect();
    let Some((least, most)) = extremes(&drifts, |drift| drift.share) else { return Ok(Vec::new()) };
    let percents =
        || drifts.iter().flat_map(|drift| drift.samples.iter().chain([&drift.share])).map(|share| share * 100.0);
    let axis = || Axis::linear(percents(), 0.0);
    let description = format!(
        "Recheck over default, less one, in {} cases: from {} ({}) to {} ({}).",
        drifts.len(),
        percent(least.share),
        least.label,
        percent(most.share),
        most.label
    );
    let legend: Vec<Entry> = vec![
        (Shape::Ring, Ink::First, "median of the recheck".to_owned()),
        (Shape::Tick, Ink::Text, "one sample".to_owned()),
    ];
    let parts = drifts.chunks(ROWS).count();
    let chart = |(index, drifts): (usize, &[Drift<'_>])| {
        let title = part("Drift: recheck against default", index, parts);
        let height = header(&legend) + drifts.len() as i32 * 18 + 56;
        let elements = picture(height, &title, &legend, |canvas| {
            let rows = Axis::rows(drifts.iter().map(|drift| drift.label.to_owned()));
            let frame = Frame { x: (0, WIDTH), y: (canvas.top, height), left: rows.room(), row_lines: true };
            let panel = canvas.panel(frame, axis(), rows, ("difference from the default's median, %", ""))?;
            canvas.line(&[panel.at(0.0, -0.5), panel.at(0.0, drifts.len() as f64 - 0.5)], Ink::Axis, 3)?;
            for (row, drift) in drifts.iter().enumerate() {
                for sample in &drift.samples {
                    canvas.mark(Shape::Tick, panel.at(sample * 100.0, row as f64), 4.0, Ink::Text)?;
                }
                canvas.mark(Shape::Ring, panel.at(drift.share * 100.0, row as f64), 4.0, Ink::First)?;
            }
            Ok(())
        })?;
        Ok(Chart {
            name: part_name("drift", index),
            title,
            description: description.clone(),
            reading: "The same schedule, measured again at the end in processes of its own: how far times move by \
                      themselves."
                .to_owned(),
            elements,
            height,
        })
    };
    drifts.chunks(ROWS).enumerate().map(chart).collect()
}

/// A text above the plot at a value of the horizontal axis.
pub(super) fn above(canvas: &super::canvas::Canvas<'_>, at: (i32, i32), text: &str) -> io::Result<()> {
    canvas.text(text, (at.0, at.1 - 9 * UNIT), HPos::Center)
}
