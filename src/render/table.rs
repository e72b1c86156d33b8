//! A small table, as aligned text or as Markdown. Cells are untrusted text; either form shows them as that text.

use comfy_table::{Cell as PlainCell, CellAlignment, ColumnConstraint, ContentArrangement, TableStyle, Width};

use super::escape;

/// One cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    text: String,
    code: bool,
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), code: false }
    }
}

/// A cell that Markdown shows as a code span: a path, a value, anything quoted from a package.
pub fn code(text: impl Into<String>) -> Cell {
    Cell { text: text.into(), code: true }
}

/// Rows under headers. A column whose cells are all numbers (or empty, or `-`) is aligned to the right.
#[derive(Debug, Clone)]
pub struct Table {
    headers: Vec<String>,
    rows: Vec<Vec<Cell>>,
    least_widths: Vec<usize>,
}

impl Table {
    /// An empty table with these column headers.
    pub fn new<H: Into<String>>(headers: impl IntoIterator<Item = H>) -> Self {
        let headers: Vec<String> = headers.into_iter().map(Into::into).collect();
        let least_widths = vec![0; headers.len()];
        Self { headers, rows: Vec::new(), least_widths }
    }

    /// Adds a row; missing cells are empty, superfluous ones are left out.
    pub fn row<C: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = C>) -> &mut Self {
        let mut row: Vec<Cell> = cells.into_iter().map(Into::into).take(self.headers.len()).collect();
        row.resize_with(self.headers.len(), || Cell::from(""));
        self.rows.push(row);
        self
    }

    /// Gives a column a least width in aligned text, so that several tables line up.
    pub fn at_least(&mut self, column: usize, width: usize) -> &mut Self {
        if let Some(least) = self.least_widths.get_mut(column) {
            *least = width;
        }
        self
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Aligned text of at most `width` columns where the content allows it, each line with its line feed. Long cells are
    /// broken over several lines.
    pub fn plain(&self, width: usize) -> String {
        let Some(last) = self.headers.len().checked_sub(1) else { return String::new() };
        let mut table = comfy_table::Table::new();
        table.load_style(TableStyle::new());
        // Nobody's terminal is asked: the width is the caller's.
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
        table.set_header(self.headers.iter().map(|header| PlainCell::new(escape::visible(header))));
        for row in &self.rows {
            table.add_row(row.iter().map(|cell| PlainCell::new(escape::visible(&cell.text))));
        }
        for index in 0..=last {
            let right = self.is_numeric(index);
            let Some(column) = table.column_mut(index) else { continue };
            let gap = if index == last { 0 } else { 2 };
            column.set_padding((0, gap));
            column.set_cell_alignment(if right { CellAlignment::Right } else { CellAlignment::Left });
            if let Some(&least) = self.least_widths.get(index).filter(|least| **least > 0) {
                let least = u16::try_from(least).unwrap_or(u16::MAX).saturating_add(gap);
                column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least)));
            }
        }
        let mut text = String::new();
        for line in table.lines() {
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// A Markdown table, each line with its line feed.
    pub fn markdown(&self) -> String {
        if self.headers.is_empty() {
            return String::new();
        }
        let mut text = String::from("|");
        for header in &self.headers {
            text.push_str(&format!(" {} |", escape::markdown(header)));
        }
        text.push_str("\n|");
        for index in 0..self.headers.len() {
            text.push_str(if self.is_numeric(index) { " ---: |" } else { " --- |" });
        }
        text.push('\n');
        for row in &self.rows {
            text.push('|');
            for cell in row {
                text.push_str(&format!(" {} |", cell.markdown()));
            }
            text.push('\n');
        }
        text
    }

    fn is_numeric(&self, column: usize) -> bool {
        let cells = || self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.text.trim());
        cells().any(is_number) && cells().all(|text| matches!(text, "" | "-") || is_number(text))
    }
}

impl Cell {
    fn markdown(&self) -> String {
        match self.code {
            // A table ends its cell at a bar even inside a code span, unless it is escaped.
            true => escape::code_span(&self.text).replace('|', "\\|"),
            false => escape::markdown(&self.text),
        }
    }
}

/// A decimal number, perhaps with a percent sign; not `nan` or `inf`.
fn is_number(text: &str) -> bool {
    let text = text.strip_suffix('%').unwrap_or(text);
    text.bytes().any(|byte| byte.is_ascii_digit()) && text.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(["case", "us", "note"]);
        table.row(["sum", "1.25", "a|b"]).row(["maximum", "-", "`x`\u{1b}"]).row(["mean", "12.5"]);
        table
    }

    #[test]
    fn a_plain_table_aligns_numbers_to_the_right() {
        insta::assert_snapshot!(table().plain(80), @r"
        case       us  note
        sum      1.25  a|b
        maximum     -  `x`\x1b
        mean     12.5
        ");
    }

    #[test]
    fn a_markdown_table_escapes_its_cells() {
        insta::assert_snapshot!(table().markdown(), @r"
        | case | us | note |
        | --- | ---: | --- |
        | sum | 1.25 | a\|b |
        | maximum | \- | \`x\`\\x1b |
        | mean | 12.5 |  |
        ");
        assert_eq!(Table::new(["a"]).row([code("x|`y`")]).markdown(), "| a |\n| --- |\n| `` x\\|`y` `` |\n");
    }

    #[test]
    fn a_plain_table_keeps_to_its_width() {
        let mut table = Table::new(["name", "text"]);
        table.row(["first".to_owned(), "word ".repeat(40)]);
        assert!(table.plain(40).lines().all(|line| line.chars().count() <= 40));
        assert_eq!(Table::new(Vec::<String>::new()).plain(80), "");
    }
}
