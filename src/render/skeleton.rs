//! What a package has and lacks, for its author.

use std::io::{self, Write};

use super::{Style, escape, wrap};
use crate::audit::Verdict;
use crate::seal::skeleton::{Piece, State, TODO};

/// Writes one line for each file, and what to do next. The only errors are those of `out`.
pub fn skeleton(
    package: &str,
    written: &[&str],
    pieces: &[Piece],
    verdict: Option<Verdict>,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let package = escape::lines(package);
    writeln!(out, "{package}")?;
    let longest = pieces.iter().map(|piece| piece.name.len()).max().unwrap_or(0);
    for piece in pieces {
        let state = match piece.state {
            _ if written.contains(&piece.name) => "written",
            State::There => "there",
            State::Unfinished => "unfinished",
            State::Missing => "missing",
            State::Optional => "optional",
        };
        let head = format!("  {state:<10}  {:<longest$}  ", piece.name);
        let indent = head.len();
        let text = wrap::wrap(piece.about, style.width.saturating_sub(indent).max(20));
        for (at, line) in text.iter().enumerate() {
            writeln!(out, "{}{line}", if at == 0 { head.clone() } else { " ".repeat(indent) })?;
        }
    }
    let count = |state: State| pieces.iter().filter(|piece| piece.state == state).count();
    writeln!(out)?;
    match verdict {
        Some(Verdict::Holds) => writeln!(out, "nothing is missing, and `recount verify` finds nothing wrong"),
        Some(_) => writeln!(out, "all files are there; `recount verify {package}` says what does not hold"),
        None => {
            let (missing, unfinished) = (count(State::Missing), count(State::Unfinished));
            writeln!(out, "still missing: {missing} files")?;
            if unfinished > 0 {
                writeln!(out, "README.md says {TODO} where there is something to write")?;
            }
            writeln!(out, "`recount init --check {package}` says what is missing then")
        }
    }
}
