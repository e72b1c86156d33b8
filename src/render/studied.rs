//! A report with its medians as Markdown, for a comment on a pull request.

use std::io::{self, Write};

use super::escape::{code_span, visible};
use super::table::{Cell, Table, code};
use super::{html, markdown};
use crate::audit::Report;
use crate::report::figures::Figures;

/// Most rows of one table of medians.
const MOST_ROWS: usize = 64;

/// Writes verdict, checks and findings, then the medians of each package. The only errors are those of `out`.
pub fn studied(report: &Report, figures: &[Figures], out: &mut dyn Write) -> io::Result<()> {
    let mut buffered = io::BufWriter::new(out);
    markdown::write(report, &mut buffered)?;
    for (subject, figures) in report.subjects.iter().zip(figures) {
        let Some((heads, rows)) = html::numbers::table(figures) else { continue };
        let mut table = Table::new(heads.iter().map(|head| visible(head).into_owned()));
        for row in rows.iter().take(MOST_ROWS) {
            let cells = row.iter().enumerate().map(|(column, cell)| -> Cell {
                if column == 0 { code(cell.as_str()) } else { cell.as_str().into() }
            });
            table.row(cells.collect::<Vec<_>>());
        }
        let title = html::numbers::title(figures);
        writeln!(buffered, "\n<details><summary>{title}</summary>\n\n{}\n", code_span(&subject.path))?;
        writeln!(buffered, "{}", table.markdown())?;
        if rows.len() > MOST_ROWS {
            writeln!(buffered, "and {} rows more\n", rows.len() - MOST_ROWS)?;
        }
        writeln!(buffered, "</details>")?;
    }
    buffered.flush()
}
