//! The charts of a report, each one SVG picture with a title and a description in words.
//!
//! `partition`, `fit` and `divergence` say what is drawn; `canvas` and `axis` how, through plotters, and
//! `letters` how much room texts need.

mod axis;
mod canvas;
mod divergence;
mod fit;
mod letters;
mod partition;

use std::io;

use crate::render::escape::{html, visible};
use crate::report::figures::Figures;

/// One picture.
#[derive(Debug, Clone)]
pub struct Chart {
    /// Short name without spaces, for files and references.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// The main figures in words, for who cannot see it.
    pub description: String,
    /// How to read it.
    pub reading: String,
    /// The elements, with classes of the style sheet for colours.
    pub elements: String,
    /// Height in pixels.
    pub height: i32,
}

/// Colours of the charts, light and dark.
pub const STYLE: &str = include_str!("ink.css");

/// Width of every chart in pixels.
pub const WIDTH: i32 = canvas::WIDTH;

/// All charts of a package. The only errors are those of drawing.
pub fn charts(figures: &Figures) -> io::Result<Vec<Chart>> {
    let mut charts = Vec::new();
    match figures {
        Figures::None => {}
        Figures::Partition(figures) => {
            charts.extend(partition::medians(&figures.cases)?);
            if let Some(Ok(model)) = &figures.model {
                charts.extend(fit::ratios(model)?);
                charts.extend(fit::predictions(model)?);
                charts.extend(fit::residuals(model)?);
            }
            charts.extend(partition::drift(&figures.cases)?);
        }
        Figures::Divergence(figures) => charts.extend(divergence::curves(figures)?),
    }
    Ok(charts)
}

impl Chart {
    /// The picture for a page that has [`STYLE`]; `id` is used once in it.
    pub fn inline(&self, id: &str) -> String {
        let (width, height) = (canvas::UNIT * WIDTH, canvas::UNIT * self.height);
        self.svg(id, &format!("viewBox=\"0 0 {width} {height}\""), "")
    }

    /// The picture as a file of its own.
    pub fn standalone(&self) -> String {
        let (width, height) = (canvas::UNIT * WIDTH, canvas::UNIT * self.height);
        let place = format!(
            "xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{}\" viewBox=\"0 0 {width} {height}\"",
            self.height
        );
        let paper = "<rect class=\"f11\" width=\"100%\" height=\"100%\"/>\n";
        self.svg(&self.name, &place, &format!("<style>{STYLE}</style>\n{paper}"))
    }

    fn svg(&self, id: &str, place: &str, before: &str) -> String {
        let (title, description) = (html(&self.title), html(&self.description));
        format!(
            "<svg class=\"chart\" role=\"img\" aria-labelledby=\"{id}-title {id}-desc\" {place}>\n\
             <title id=\"{id}-title\">{title}</title>\n<desc id=\"{id}-desc\">{description}</desc>\n\
             {before}{}</svg>\n",
            self.elements
        )
    }
}

/// A number with four significant digits.
fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let decimals = (3.0 - value.abs().log10().floor()).clamp(0.0, 9.0) as usize;
    if (1e-4..1e7).contains(&value.abs()) { format!("{value:.decimals$}") } else { format!("{value:.3e}") }
}

/// A name from a package, harmless and no longer than `most` characters.
fn name_of(name: &str, most: usize) -> String {
    let shown = visible(name);
    if shown.chars().count() <= most {
        return shown.into_owned();
    }
    shown.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// A difference in percent, with its sign.
fn percent(share: f64) -> String {
    format!("{:+.2}\u{a0}%", share * 100.0)
}

/// Smallest and largest with what `name` calls them; `None` without items.
fn extremes<T>(items: &[T], value: impl Fn(&T) -> f64) -> Option<(&T, &T)> {
    let by = |left: &&T, right: &&T| value(left).total_cmp(&value(right));
    Some((items.iter().min_by(by)?, items.iter().max_by(by)?))
}

/// `Title`, or `Title (2 of 3)`.
fn part(title: &str, index: usize, count: usize) -> String {
    if count > 1 { format!("{title} ({} of {count})", index + 1) } else { title.to_owned() }
}

/// `name`, or `name-2`.
fn part_name(name: &str, index: usize) -> String {
    if index > 0 { format!("{name}-{}", index + 1) } else { name.to_owned() }
}
