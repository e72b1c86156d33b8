//! `.recountignore`: which files of a folder its author does not publish.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

/// Name of the file in a package's root.
pub const IGNORE: &str = ".recountignore";

/// A line that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{IGNORE}, line {line}: {reason}; a line is a glob such as `notes/*` or `**/*.log`, or a comment after #")]
pub struct IgnoreError {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// Why a glob is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    /// It cannot be understood.
    #[error("{0}")]
    Syntax(#[from] globset::Error),
    /// It has a form that means something to version control, and would match no file here.
    #[error("{form} matches no file: globs are of whole names of files, from the package's folder on; {instead}")]
    Form {
        /// What it begins or ends with.
        form: &'static str,
        /// What may be meant.
        instead: String,
    },
}

/// One glob of names of files; `*` stays within a folder, `**` does not.
///
/// # Errors
/// The glob cannot be understood, or is none of names of files.
pub fn glob(text: &str) -> Result<Glob, GlobError> {
    let rest = text.trim_start_matches("./").trim_start_matches('/');
    let form = |form, instead| Err(GlobError::Form { form, instead });
    if text.starts_with('!') {
        return form("what begins with !", "nothing can be taken back; name what is left out".to_owned());
    }
    if text.ends_with('/') {
        return form("what ends with /", format!("write {rest}**"));
    }
    if rest.len() != text.len() {
        return form("what begins with / or ./", format!("write {rest}"));
    }
    Ok(GlobBuilder::new(text).literal_separator(true).build()?)
}

/// The globs of the file: one a line; empty lines and those that begin with `#` say nothing, nor does a byte order mark.
///
/// # Errors
/// The first line that cannot be understood.
pub fn parse(bytes: &[u8]) -> Result<GlobSet, IgnoreError> {
    let mut set = GlobSetBuilder::new();
    let text = std::str::from_utf8(bytes).map_err(|error| IgnoreError {
        line: 1 + bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count(),
        reason: "it is not UTF-8 text".to_owned(),
    })?;
    for (line, text) in lines(text) {
        set.add(glob(text).map_err(|error| IgnoreError { line, reason: error.to_string() })?);
    }
    set.build().map_err(|error| IgnoreError { line: 1, reason: error.to_string() })
}

/// The lines of the file that are globs, each with its number, from 1.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let numbered = text.split('\n').enumerate().map(|(at, line)| (at + 1, line.trim()));
    numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}
