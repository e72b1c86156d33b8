//! A canvas for one chart: marks, texts, legends and panels, in colours that the page decides on.
//!
//! Plotters writes fixed colours. What is drawn here uses stand-ins, which become classes of the style sheet when the picture
//! is finished: `f3` is a fill, `s3` a stroke. Coordinates are quarters of a pixel, since plotters' are whole numbers.

use std::io;

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon, Text};
use plotters::prelude::SVGBackend;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoTextStyle, RGBColor, ShapeStyle, TRANSPARENT, TextStyle};

use super::axis::Axis;
use super::letters::{LETTERS, width};

/// Units of the picture in one pixel.
pub(super) const UNIT: i32 = 4;

/// Width of every chart in pixels: a phone shows it without scrolling.
pub(super) const WIDTH: i32 = 480;

/// Height of the title.
const TITLE: i32 = 26;

/// Height of one line of the legend.
const LEGEND_LINE: i32 = 19;

/// Width of an upright line of text.
const UPRIGHT: i32 = 16;

/// Room between two entries of the legend.
const ENTRY_GAP: i32 = 12;

/// Room to the left and to the right of a panel, in pixels.
const MARGINS: (i32, i32) = (4, 14);

/// Plotters divides sizes by this.
const PLOTTERS_SIZE: f64 = 1.24;

/// What something is drawn with; the numbers are those of the classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    Text = 1,
    Axis,
    Grid,
    First,
    Second,
    Third,
    Fourth,
    Fifth,
    /// A dashed line.
    Dashed,
    /// The second colour, as a dashed line.
    SecondDashed,
    /// What is behind everything.
    Paper,
}

impl Ink {
    const ALL: [Ink; 11] = [
        Ink::Text,
        Ink::Axis,
        Ink::Grid,
        Ink::First,
        Ink::Second,
        Ink::Third,
        Ink::Fourth,
        Ink::Fifth,
        Ink::Dashed,
        Ink::SecondDashed,
        Ink::Paper,
    ];

    fn color(self) -> RGBColor {
        RGBColor(1, 2, self as u8)
    }
}

/// The form of a mark, which says the same as its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Dot,
    Ring,
    Triangle,
    OpenTriangle,
    Square,
    OpenSquare,
    Diamond,
    Cross,
    /// A short upright line: one sample.
    Tick,
    /// A piece of a line, in legends.
    Line,
}

type Area<'b> = DrawingArea<SVGBackend<'b>, Shift>;

/// One entry of a legend.
pub(super) type Entry = (Shape, Ink, String);

/// A picture in the making.
pub(super) struct Canvas<'b> {
    root: Area<'b>,
    /// First free line below title and legend, in pixels.
    pub(super) top: i32,
}

/// Axes with a place for marks between them.
pub(super) struct Panel<'b> {
    chart: ChartContext<'static, SVGBackend<'b>, Cartesian2d<Axis, Axis>>,
}

impl Panel<'_> {
    /// Where a value lies, in units.
    pub(super) fn at(&self, x: f64, y: f64) -> (i32, i32) {
        self.chart.backend_coord(&(x, y))
    }
}

/// Where a panel lies, in pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) x: (i32, i32),
    pub(super) y: (i32, i32),
    /// Room for the labels on the left.
    pub(super) left: i32,
    /// Whether each label on the left gets a faint line.
    pub(super) row_lines: bool,
}

/// Draws one picture of a height in pixels; gives its elements without the outer `svg`.
pub(super) fn picture(
    height: i32,
    title: &str,
    legend: &[Entry],
    draw: impl FnOnce(&mut Canvas<'_>) -> io::Result<()>,
) -> io::Result<String> {
    let mut text = String::new();
    {
        let size = ((WIDTH * UNIT) as u32, (height * UNIT) as u32);
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let mut canvas = Canvas { root, top: TITLE };
        let style = style(LETTERS + 1.5, Ink::Text, HPos::Left, VPos::Top);
        canvas.text_as(title, (8 * UNIT, 6 * UNIT), &bold(style))?;
        canvas.legend(legend)?;
        draw(&mut canvas)?;
        canvas.root.present().map_err(failed)?;
    }
    Ok(in_classes(&text))
}

/// Pixels that title and legend take.
pub(super) fn header(legend: &[Entry]) -> i32 {
    TITLE + LEGEND_LINE * (places(legend).last().map_or(-1, |(_, line)| *line) + 1)
}

impl<'b> Canvas<'b> {
    /// Axes in a frame. Each axis says what it is about and in which unit.
    pub(super) fn panel(&self, frame: Frame, x: Axis, y: Axis, names: (&str, &str)) -> io::Result<Panel<'b>> {
        let (wide, high) = (frame.x.1 - frame.x.0, frame.y.1 - frame.y.0);
        let area = self.root.clone().shrink((frame.x.0 * UNIT, frame.y.0 * UNIT), (wide * UNIT, high * UNIT));
        // Labels at the ends of the axis stay within the frame.
        let (overhang_left, _) = x.overhang(wide - MARGINS.1);
        // What the axis is about stands upright beside its labels.
        let beside = if names.1.is_empty() { 0 } else { y.room() + UPRIGHT };
        let left = frame.left.max(overhang_left - MARGINS.0).max(beside);
        let right = x.overhang(wide - MARGINS.0 - left).1.max(MARGINS.1);
        let x = x.spaced(wide - MARGINS.0 - left - right);
        let guides = (x.guides.clone(), y.guides.clone(), x.ends(), y.ends());
        let (x_labels, y_labels) = (x.labels(), y.labels());
        let below = if names.0.is_empty() { 20 } else { 38 };
        let mut builder = ChartBuilder::on(&area);
        builder.margin_right(right * UNIT).margin_top(6 * UNIT).margin_left(MARGINS.0 * UNIT);
        builder.x_label_area_size(below * UNIT).y_label_area_size(left * UNIT);
        let mut chart = builder.build_cartesian_2d(x, y).map_err(failed)?;
        let label = style(LETTERS, Ink::Text, HPos::Left, VPos::Top);
        let line = |ink: Ink| ShapeStyle::from(&ink.color()).stroke_width(UNIT as u32);
        let mut mesh = chart.configure_mesh();
        mesh.light_line_style(TRANSPARENT).bold_line_style(line(Ink::Grid)).axis_style(line(Ink::Axis));
        mesh.label_style(label.clone()).axis_desc_style(label).set_all_tick_mark_size(3 * UNIT);
        mesh.x_labels(x_labels + 1).y_labels(y_labels + 1);
        if !names.1.is_empty() {
            mesh.y_desc(names.1);
        }
        if !frame.row_lines {
            mesh.disable_y_mesh();
        }
        mesh.draw().map_err(failed)?;
        let middle = (frame.x.0 + MARGINS.0 + left + frame.x.1 - right) * UNIT / 2;
        let below = style(LETTERS, Ink::Text, HPos::Center, VPos::Bottom);
        self.text_as(names.0, (within(middle, names.0, HPos::Center), frame.y.1 * UNIT), &below)?;
        let panel = Panel { chart };
        let (x_guides, y_guides, x_ends, y_ends) = guides;
        for guide in x_guides {
            self.line(&[panel.at(guide, y_ends.0), panel.at(guide, y_ends.1)], Ink::Grid, 1)?;
        }
        for guide in y_guides {
            self.line(&[panel.at(x_ends.0, guide), panel.at(x_ends.1, guide)], Ink::Grid, 1)?;
        }
        Ok(panel)
    }

    /// A line through points, `width` in half pixels.
    pub(super) fn line(&self, points: &[(i32, i32)], ink: Ink, width: u32) -> io::Result<()> {
        self.root.draw(&PathElement::new(points.to_vec(), stroke(ink, width))).map_err(failed)
    }

    /// A small text that begins, ends or is centred at a point in units, or as near to it as the picture has room.
    pub(super) fn text(&self, text: &str, at: (i32, i32), anchor: HPos) -> io::Result<()> {
        let at = (within(at.0, text, anchor), at.1);
        self.text_as(text, at, &style(LETTERS, Ink::Text, anchor, VPos::Center))
    }

    fn text_as(&self, text: &str, at: (i32, i32), style: &TextStyle<'_>) -> io::Result<()> {
        self.root.draw(&Text::new(text.to_owned(), at, style.clone())).map_err(failed)
    }

    /// A mark at a point in units; `radius` in pixels.
    pub(super) fn mark(&self, shape: Shape, at: (i32, i32), radius: f64, ink: Ink) -> io::Result<()> {
        let (x, y) = at;
        let by = |share: f64| (f64::from(UNIT) * radius * share).round() as i32;
        let round = by(1.0).max(1);
        let triangle = vec![(x, y - by(1.15)), (x + by(1.1), y + by(0.85)), (x - by(1.1), y + by(0.85))];
        let side = by(0.9);
        let square = vec![(x - side, y - side), (x + side, y - side), (x + side, y + side), (x - side, y + side)];
        let closed = |mut points: Vec<(i32, i32)>| {
            points.extend(points.first().copied());
            points.extend(points.get(1).copied());
            PathElement::new(points, stroke(ink, 3))
        };
        match shape {
            Shape::Dot => self.root.draw(&Circle::new(at, round, ShapeStyle::from(&ink.color()).filled())),
            Shape::Ring => self.root.draw(&Circle::new(at, round, stroke(ink, 3))),
            Shape::Triangle => self.root.draw(&Polygon::new(triangle, ink.color())),
            Shape::OpenTriangle => self.root.draw(&closed(triangle)),
            Shape::Square => self.root.draw(&Polygon::new(square, ink.color())),
            Shape::OpenSquare => self.root.draw(&closed(square)),
            Shape::Diamond => {
                let by = by(1.35);
                self.root.draw(&Polygon::new(vec![(x, y - by), (x + by, y), (x, y + by), (x - by, y)], ink.color()))
            }
            Shape::Cross => {
                self.line(&[(x - side, y - side), (x + side, y + side)], ink, 4)?;
                self.root.draw(&PathElement::new(vec![(x - side, y + side), (x + side, y - side)], stroke(ink, 4)))
            }
            Shape::Tick => self.root.draw(&PathElement::new(vec![(x, y - round), (x, y + round)], stroke(ink, 2))),
            Shape::Line => self.root.draw(&PathElement::new(vec![(x - by(1.6), y), (x + by(1.6), y)], stroke(ink, 3))),
        }
        .map_err(failed)
    }

    fn legend(&mut self, entries: &[Entry]) -> io::Result<()> {
        for ((shape, ink, label), (x, line)) in entries.iter().zip(places(entries)) {
            let y = (TITLE + line * LEGEND_LINE + LEGEND_LINE / 2) * UNIT;
            self.mark(*shape, ((x + 8) * UNIT, y), 4.5, *ink)?;
            self.text(label, ((x + 20) * UNIT, y), HPos::Left)?;
        }
        self.top = header(entries);
        Ok(())
    }
}

/// Left end in pixels and line of each entry of a legend.
fn places(entries: &[Entry]) -> Vec<(i32, i32)> {
    let (mut x, mut line) = (8, 0);
    let mut places = Vec::with_capacity(entries.len());
    for (_, _, label) in entries {
        let width = 20 + width(label);
        if x > 8 && x + width >= WIDTH {
            (x, line) = (8, line + 1);
        }
        places.push((x, line));
        x += width + ENTRY_GAP;
    }
    places
}

/// Where a text stands that would begin, end or be centred at `x`, so that all of it is in the picture; in units.
pub(super) fn within(x: i32, text: &str, anchor: HPos) -> i32 {
    let width = width(text) * UNIT;
    let (before, after) = match anchor {
        HPos::Left => (0, width),
        HPos::Center => (width / 2, width - width / 2),
        HPos::Right => (width, 0),
    };
    x.min(WIDTH * UNIT - UNIT - after).max(before + UNIT)
}

fn stroke(ink: Ink, width: u32) -> ShapeStyle {
    ShapeStyle::from(&ink.color()).stroke_width(width * UNIT as u32 / 2)
}

fn style(pixels: f64, ink: Ink, horizontal: HPos, vertical: VPos) -> TextStyle<'static> {
    let size = pixels * f64::from(UNIT) * PLOTTERS_SIZE;
    let mut style = ("sans-serif", size).into_text_style(&(0, 0)).pos(Pos::new(horizontal, vertical));
    style.color = ink.color().to_backend_color();
    style
}

fn bold(mut style: TextStyle<'static>) -> TextStyle<'static> {
    style.font = style.font.style(plotters::style::FontStyle::Bold);
    style
}

fn failed(error: DrawingAreaErrorKind<io::Error>) -> io::Error {
    io::Error::other(format!("a chart cannot be drawn: {error}"))
}

/// The elements without the outer `svg`, with classes instead of the stand-in colours.
fn in_classes(svg: &str) -> String {
    let inner = svg.split_once('>').map_or("", |(_, rest)| rest).trim();
    let mut text = inner.strip_suffix("</svg>").unwrap_or(inner).replace(" opacity=\"1\"", "");
    for ink in Ink::ALL {
        let RGBColor(red, green, blue) = ink.color();
        let color = format!("#{red:02X}{green:02X}{blue:02X}");
        text = text.replace(&format!("fill=\"{color}\""), &format!("class=\"f{}\"", ink as u8));
        text = text.replace(&format!("stroke=\"{color}\""), &format!("class=\"s{}\"", ink as u8));
    }
    text.replace(" stroke=\"none\" stroke-width=\"1\"", "").replace(" font-family=\"sans-serif\"", "")
}
