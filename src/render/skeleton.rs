//! What a package has and lacks, for its author.

use std::io::{self, Write};

use super::{Style, escape, words, wrap};
use crate::audit::Verdict;
use crate::seal::skeleton::{Kind, Piece, State, TODO};

/// What is known of a package in the making.
#[derive(Debug)]
pub struct SkeletonView<'a> {
    /// Its folder, as a person called it.
    pub package: &'a str,
    /// Its kind.
    pub kind: Kind,
    /// The files that were written just now.
    pub written: &'a [&'a str],
    /// All files.
    pub pieces: &'a [Piece],
    /// What `verify` says, where no file is missing.
    pub verdict: Option<Verdict>,
    /// Globs of files that may be absent.
    pub allow_absent: &'a [String],
    /// Whether this is what was asked for (`--check`), and not only what came of writing.
    pub is_check: bool,
}

/// Writes one line for each file, and what to do next. The only errors are those of `out`.
pub fn skeleton(view: &SkeletonView<'_>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let package = escape::lines(view.package);
    writeln!(out, "{package}")?;
    let longest = view.pieces.iter().map(|piece| piece.name.len()).max().unwrap_or(0);
    for piece in view.pieces {
        let state = match piece.state {
            _ if view.written.contains(&piece.name) => "written",
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
    writeln!(out)?;
    let absences = view.allow_absent.iter().map(|glob| format!(" --allow-absent '{}'", escape::visible(glob)));
    let absences: String = absences.collect();
    match view.verdict {
        Some(Verdict::Holds) => writeln!(out, "nothing is missing, and `recount verify{absences}` finds nothing wrong"),
        Some(_) => writeln!(out, "all files are there; `recount verify {package}{absences}` says what does not hold"),
        None => unfinished(view, &package, out),
    }
}

/// What is left to do, and how to ask again where this was not asked for.
fn unfinished(view: &SkeletonView<'_>, package: &str, out: &mut dyn Write) -> io::Result<()> {
    let count = |state: State| view.pieces.iter().filter(|piece| piece.state == state).count();
    let missing = count(State::Missing);
    if missing > 0 {
        writeln!(out, "still missing: {}", words::plural(missing, "file"))?;
    }
    if count(State::Unfinished) > 0 {
        writeln!(out, "README.md says {TODO} where there is something to write")?;
    }
    if view.is_check {
        return Ok(());
    }
    let kind = if view.kind == Kind::Divergence { " --kind divergence" } else { "" };
    writeln!(out, "`recount init --check{kind} {package}` says what is missing then")
}
