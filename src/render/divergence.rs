//! Two divergence receipts or packages side by side, as tables (text, Markdown) or as one JSON document.

use std::io::{self, Write};

use super::{Style, Table, TableFormat, Verbosity, escape};
use crate::divergence::side_by_side::{Cell, DeviceFigures, Difference, Row, Side, SideBySide};
use crate::package::divergence::{DIVERGENCE_DIGITS, significant};
use crate::package::json::{Json, indented, object, python_float};

/// Name and version of the JSON form, see docs/schema/recount-divergence-compare-v1.json.
const SCHEMA: &str = "recount-divergence-compare-v1";

/// What the sides are called in tables.
const SIDES: [&str; 2] = ["A", "B"];

/// Everything that `divergence compare` shows.
pub struct CompareView<'c> {
    /// The left side.
    pub left: &'c Side,
    /// The right side.
    pub right: &'c Side,
    /// Whether each of them verified, in the words of its verdict.
    pub verdicts: [(&'c str, bool); 2],
    /// The comparison.
    pub found: &'c SideBySide,
}

impl CompareView<'_> {
    /// Whether both verified, something was compared, and nothing that matters differs.
    pub fn agrees(&self) -> bool {
        self.found.agrees() && self.verdicts.iter().all(|(_, holds)| *holds)
    }

    fn result(&self) -> String {
        let mattering = self.found.mattering();
        let rows = self.found.rows.len();
        if let Some((at, _)) = self.verdicts.iter().enumerate().find(|(_, (_, holds))| !holds) {
            let label = [self.left, self.right][at].label.as_str();
            return format!("{label} does not verify; what it says cannot be relied on");
        }
        match (rows, mattering) {
            (0, _) => "nothing could be compared: no device of one side is like one of the other".to_owned(),
            (_, 0) => format!("nothing that matters differs; {rows} figures compared"),
            (_, 1) => format!("1 difference matters; {rows} figures compared"),
            _ => format!("{mattering} differences matter; {rows} figures compared"),
        }
    }
}

/// Writes a comparison. The only errors are those of `out`.
pub fn compare(view: &CompareView<'_>, format: TableFormat, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    if format == TableFormat::Json {
        return out.write_all((indented(&json(view)) + "\n").as_bytes());
    }
    let markdown = format == TableFormat::Markdown;
    let mut text = String::new();
    let title = |text: &mut String, title: &str| {
        let title = if markdown { format!("## {}\n", escape::markdown(title)) } else { escape::lines(title) };
        text.push_str(&format!("\n{title}\n"));
    };
    let table = |text: &mut String, table: &Table| {
        text.push_str(&if markdown { table.markdown() } else { table.plain(style.width) });
    };
    let line = |text: &mut String, line: &str| {
        // Two lines of Markdown are one paragraph unless they are items.
        text.push_str(&if markdown { format!("- {}\n", escape::markdown(line)) } else { escape::lines(line) + "\n" });
    };
    if style.verbosity > Verbosity::Quiet {
        title(&mut text, "Environment");
        for (name, side) in SIDES.iter().zip([view.left, view.right]) {
            line(&mut text, &format!("{name} is {}", side.label));
        }
        text.push('\n');
        table(&mut text, &environment(view));
        if !view.found.differences.is_empty() {
            title(&mut text, "Differences of protocol, environment and probe");
            table(&mut text, &differences(&view.found.differences));
        }
        for (name, figures) in figures(view) {
            title(&mut text, &name);
            table(&mut text, &figures);
        }
        for (name, alone) in SIDES.iter().zip([&view.found.only_left, &view.found.only_right]) {
            if !alone.is_empty() {
                text.push('\n');
                line(&mut text, &format!("only in {name}: {}", alone.join(", ")));
            }
        }
    }
    title(&mut text, "Result");
    line(&mut text, &view.result());
    let vary =
        "Drift, match rate and the size of a divergence vary from run to run; zero against more than zero does not.";
    line(&mut text, vary);
    out.write_all((text.trim().to_owned() + "\n").as_bytes())
}

fn environment(view: &CompareView<'_>) -> Table {
    let mut table = Table::new(["in", "key", "device", "capability", "PyTorch", "CUDA", "cuDNN"]);
    for (name, side) in SIDES.iter().zip([view.left, view.right]) {
        for device in &side.devices {
            let mut cells = vec![(*name).to_owned(), device.key.clone()];
            cells.extend(device.environment.iter().map(|(_, value)| value.clone()));
            table.row(cells);
        }
    }
    table
}

fn differences(differences: &[Difference]) -> Table {
    let mut table = Table::new(["what", "A", "B", "matters", "why"]);
    for one in differences {
        let matters = if one.matters { "yes" } else { "no" };
        table.row([one.what.as_str(), &one.left, &one.right, matters, one.why]);
    }
    table
}

/// The figures of each pair of devices, in a table of its own with its title.
fn figures(view: &CompareView<'_>) -> Vec<(String, Table)> {
    let mut tables: Vec<(String, Table)> = Vec::new();
    for row in &view.found.rows {
        let title = format!("{} in A, {} in B", row.left_key, row.right_key);
        if tables.last().is_none_or(|(last, _)| *last != title) {
            let columns = ["arm", "output", "drift A", "B", "divergence A", "B", "match % A", "B", "matters"];
            tables.push((title, Table::new(columns)));
        }
        let Some((_, table)) = tables.last_mut() else { continue };
        let (left, right) = (&row.left, &row.right);
        table.row([
            left.arm.to_owned(),
            left.resolution.to_string(),
            left.drift.to_string(),
            right.drift.to_string(),
            divergence(left),
            divergence(right),
            format!("{:.1}", left.rate),
            format!("{:.1}", right.rate),
            if row.matters { "yes" } else { "no" }.to_owned(),
        ]);
    }
    tables
}

/// A divergence as receipts print it.
fn divergence(cell: &Cell) -> String {
    python_float(significant(cell.divergence, DIVERGENCE_DIGITS))
}

fn json(view: &CompareView<'_>) -> Json {
    let difference = |one: &Difference| {
        object([
            ("what", Json::from(one.what.as_str())),
            ("left", Json::from(one.left.as_str())),
            ("right", Json::from(one.right.as_str())),
            ("matters", Json::from(one.matters)),
            ("why", Json::from(one.why)),
        ])
    };
    let cell = |key: &str, cell: &Cell| {
        object([
            ("device", Json::from(key)),
            ("max_drift_coords", Json::from(cell.drift)),
            ("max_div", Json::from(cell.divergence)),
            ("pairwise_match_rate", Json::from(cell.rate)),
        ])
    };
    let row = |row: &Row| {
        object([
            ("arm", Json::from(row.left.arm)),
            ("resolution", Json::from(row.left.resolution)),
            ("left", cell(&row.left_key, &row.left)),
            ("right", cell(&row.right_key, &row.right)),
            ("matters", Json::from(row.matters)),
        ])
    };
    let texts = |texts: &[String]| Json::Array(texts.iter().map(|text| Json::from(text.as_str())).collect());
    object([
        ("schema", Json::from(SCHEMA)),
        ("left", side(view.left, view.verdicts[0])),
        ("right", side(view.right, view.verdicts[1])),
        ("differences", Json::Array(view.found.differences.iter().map(difference).collect())),
        ("figures", Json::Array(view.found.rows.iter().map(row).collect())),
        ("only_left", texts(&view.found.only_left)),
        ("only_right", texts(&view.found.only_right)),
        ("mattering", Json::from(view.found.mattering())),
        ("agrees", Json::from(view.agrees())),
        ("result", Json::from(view.result())),
    ])
}

fn side(side: &Side, (verdict, holds): (&str, bool)) -> Json {
    let device = |device: &DeviceFigures| {
        let environment = device.environment.iter();
        let environment = environment.map(|(name, value)| ((*name).to_owned(), Json::from(value.as_str())));
        object([("key", Json::from(device.key.as_str())), ("environment", Json::Object(environment.collect()))])
    };
    object([
        ("path", Json::from(side.label.as_str())),
        ("verdict", Json::from(verdict)),
        ("verifies", Json::from(holds)),
        ("devices", Json::Array(side.devices.iter().map(device).collect())),
    ])
}
