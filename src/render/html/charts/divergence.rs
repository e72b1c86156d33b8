//! Drift and divergence against the output's resolution: one small panel for each device, both arms in each.

use std::io;

use plotters::style::text_anchor::HPos;

use super::axis::Axis;
use super::canvas::{Entry, Frame, Ink, Shape, UNIT, WIDTH, header, picture};
use super::letters::fitted;
use super::{Chart, name_of, short};
use crate::report::figures::{CurvePoint, DeviceCurves, DivergenceFigures};

/// Height of one small panel.
const PANEL: i32 = 212;

/// Characters of a device's key that fit above its panel.
const KEY: usize = 28;

/// One figure of a point.
type Value = fn(&CurvePoint) -> f64;

/// Both charts.
pub(super) fn curves(figures: &DivergenceFigures) -> io::Result<Vec<Chart>> {
    let devices = &figures.devices;
    if devices.iter().all(|device| device.points.is_empty()) {
        return Ok(Vec::new());
    }
    let drift: Value = |point| point.drift;
    let divergence: Value = |point| point.divergence;
    let count = |exponent: i32| format!("{}", 2_f64.powi(exponent));
    let both = [
        chart(devices, "drift-coordinates", "Drifting coordinates", "coordinates", drift, &count)?,
        chart(devices, "divergence", "Largest divergence of a pair", "absolute difference", divergence, &power)?,
    ];
    Ok(both.into())
}

fn chart(
    devices: &[DeviceCurves],
    name: &str,
    title: &str,
    unit: &str,
    value: Value,
    label: &dyn Fn(i32) -> String,
) -> io::Result<Chart> {
    let points = || devices.iter().flat_map(|device| &device.points);
    let legend: Vec<Entry> = vec![
        (Shape::Dot, Ink::First, "idle".to_owned()),
        (Shape::OpenSquare, Ink::Second, "background-matmul (dashed)".to_owned()),
    ];
    let columns = if devices.len() > 1 { 2 } else { 1 };
    let rows = devices.len().div_ceil(columns) as i32;
    let height = header(&legend) + rows * PANEL + 8;
    let width = WIDTH / columns as i32;
    let elements = picture(height, title, &legend, |canvas| {
        for (index, device) in devices.iter().enumerate() {
            let (column, row) = ((index % columns) as i32, (index / columns) as i32);
            let top = canvas.top + row * PANEL;
            let frame = Frame {
                x: (column * width, (column + 1) * width),
                y: (top + 22, top + PANEL),
                left: 58,
                row_lines: true,
            };
            let x = Axis::powers(points().map(|point| point.resolution), false, |exponent| {
                format!("{}", 2_f64.powi(exponent))
            });
            let y = Axis::powers(points().map(value), true, label);
            let (low, _) = x.ends();
            let (_, high) = y.ends();
            let panel = canvas.panel(frame, x, y, ("output, pixels a side", unit))?;
            let corner = panel.at(low, high);
            // Up to the next panel, or to the edge.
            let key = fitted(&name_of(&device.key, KEY), (column + 1) * width - corner.0 / UNIT - 4);
            canvas.text(&key, (corner.0, corner.1 - 8 * UNIT), HPos::Left)?;
            for (background, shape, ink, line) in
                [(false, Shape::Dot, Ink::First, Ink::First), (true, Shape::OpenSquare, Ink::Second, Ink::SecondDashed)]
            {
                let arm = device.points.iter().filter(|point| point.background == background);
                let places: Vec<_> = arm.map(|point| panel.at(point.resolution, value(point))).collect();
                if places.len() > 1 {
                    canvas.line(&places, line, 3)?;
                }
                let radius = if background { 4.2 } else { 3.0 };
                places.iter().try_for_each(|at| canvas.mark(shape, *at, radius, ink))?;
            }
        }
        Ok(())
    })?;
    let spoken = devices.iter().map(|device| {
        let arm = |background: bool| {
            let arm = device.points.iter().filter(|point| point.background == background);
            let figures: Vec<_> = arm.map(|point| format!("{} at {}", short(value(point)), point.resolution)).collect();
            if figures.is_empty() { "nothing".to_owned() } else { figures.join(", ") }
        };
        format!("{}: idle {}; background-matmul {}.", name_of(&device.key, KEY), arm(false), arm(true))
    });
    Ok(Chart {
        name: name.to_owned(),
        title: title.to_owned(),
        description: spoken.collect::<Vec<_>>().join(" "),
        reading:
            "Both axes are logarithmic; faint lines are powers of two. Zero has a place of its own at the bottom: \
                  all pairs are equal, bit for bit."
                .to_owned(),
        elements,
        height,
    })
}

/// A power of two as people write it.
fn power(exponent: i32) -> String {
    let raised = |character: char| match character {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => digit.to_digit(10).and_then(|digit| char::from_u32(0x2070 + digit)).unwrap_or(digit),
    };
    format!("2{}", exponent.to_string().chars().map(raised).collect::<String>())
}
