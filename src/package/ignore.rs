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

/// One glob; `*` stays within a folder, `**` does not.
///
/// # Errors
/// The glob cannot be understood.
pub fn glob(text: &str) -> Result<Glob, globset::Error> {
    GlobBuilder::new(text).literal_separator(true).build()
}

/// The globs of the file: one a line; empty lines and those that begin with `#` say nothing.
///
/// # Errors
/// The first line that cannot be understood.
pub fn parse(bytes: &[u8]) -> Result<GlobSet, IgnoreError> {
    let mut set = GlobSetBuilder::new();
    for (at, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let failed = |reason: String| IgnoreError { line: at + 1, reason };
        let line = std::str::from_utf8(line).map_err(|_| failed("it is not UTF-8 text".to_owned()))?.trim();
        if !line.is_empty() && !line.starts_with('#') {
            set.add(glob(line).map_err(|error| failed(error.to_string()))?);
        }
    }
    set.build().map_err(|error| IgnoreError { line: 1, reason: error.to_string() })
}
