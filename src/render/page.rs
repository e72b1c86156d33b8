//! Titles, sentences and tables as text or as Markdown, figures as both show them, and members that several JSON forms have.

use std::io::{self, Write};

use super::wrap::wrap;
use super::{Style, Table, TableFormat, escape};
use crate::fit::metrics::Metrics;
use crate::package::json::{Json, object};
use crate::package::partition::Device;

/// Names of the model's coefficients.
pub(super) const COEFFICIENTS: [&str; 3] = ["a0", "aP", "aD"];

/// Text or Markdown in the making.
pub(super) struct Page {
    markdown: bool,
    width: usize,
    text: String,
}

impl Page {
    /// An empty page; `format` is not JSON.
    pub(super) fn new(format: TableFormat, style: &Style) -> Self {
        Self { markdown: format == TableFormat::Markdown, width: style.width, text: String::new() }
    }

    /// The beginning of a section.
    pub(super) fn title(&mut self, title: &str) {
        let title = if self.markdown { format!("## {}", escape::markdown(title)) } else { escape::lines(title) };
        self.text.push_str(&format!("\n{title}\n"));
        if self.markdown {
            self.text.push('\n');
        }
    }

    /// A sentence on a line of its own, in Markdown a paragraph.
    pub(super) fn line(&mut self, line: &str) {
        let line = if self.markdown { escape::markdown(line) + "\n" } else { escape::lines(line) };
        self.text.push_str(&line);
        self.text.push('\n');
    }

    /// Sentences, in text broken at the width; what begins with spaces keeps them on its further lines, too.
    pub(super) fn prose(&mut self, text: &str) {
        if self.markdown {
            return self.line(text);
        }
        let visible = escape::visible(text);
        let words = visible.trim_start_matches(' ');
        let indent = visible.len() - words.len();
        for line in wrap(words, self.width.saturating_sub(indent)) {
            self.text.push_str(&format!("{:indent$}{line}\n", ""));
        }
    }

    /// A table under its title.
    pub(super) fn table(&mut self, title: &str, table: Table) {
        self.title(title);
        self.text.push_str(&if self.markdown { table.markdown() } else { table.plain(self.width) });
        if !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    /// Lines of a difference under their title.
    pub(super) fn block(&mut self, title: &str, block: &str) {
        self.title(title);
        let block = escape::lines(block);
        let block = if self.markdown { format!("```diff\n{}\n```\n", block.trim_end()) } else { block };
        self.text.push_str(&block);
    }

    /// Writes the page. The only errors are those of `out`.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.text.trim_start_matches('\n').as_bytes())
    }
}

/// Six significant digits.
pub(super) fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if (1e-3..1e7).contains(&value.abs()) {
        let digits = 5 - libm::log10(value.abs()).floor() as i32;
        format!("{value:.*}", usize::try_from(digits).unwrap_or(0))
    } else {
        format!("{value:.5e}")
    }
}

/// A fraction in percent, with its sign.
pub(super) fn percent(fraction: f64) -> String {
    format!("{:+.2} %", 100.0 * fraction)
}

/// A device as members; `null` for what is not recorded.
pub(super) fn device_json(device: &Device) -> Json {
    let text = |text: &Option<String>| text.as_deref().map_or(Json::Null, Json::from);
    object([
        ("name", text(&device.name)),
        ("compute_capability", text(&device.compute_capability)),
        ("sm_count", device.sm_count.map_or(Json::Null, Json::from)),
    ])
}

/// Metrics under the names of the published files.
pub(super) fn metrics_json(metrics: &Metrics) -> Json {
    let over_five_percent = metrics.selected_regressions_over_five_percent;
    object([
        ("cases", Json::from(metrics.cases)),
        ("groups", Json::from(metrics.groups)),
        ("selected", Json::from(metrics.selected)),
        ("selected_regressions", Json::from(metrics.selected_regressions)),
        ("selected_regressions_over_five_percent", Json::from(over_five_percent)),
        ("worst_policy_ratio", Json::Float(metrics.worst_policy_ratio)),
        ("geometry_equal_weight_policy_geomean", Json::Float(metrics.geometry_equal_weight_policy_geomean)),
    ])
}
