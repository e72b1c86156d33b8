//! What the process's surroundings say, read once.

use std::io::IsTerminal;

use clap::ValueEnum;

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The surroundings of the process.
#[derive(Debug, Clone)]
pub struct Environment {
    /// Whether standard output gets colour.
    pub color: bool,
    /// Whether standard error is a terminal, where progress may be shown.
    pub progress: bool,
    /// Columns of text.
    pub width: usize,
}

impl Environment {
    /// Looks at the terminal, `NO_COLOR`, `TERM` and `COLUMNS`.
    pub fn read(choice: ColorChoice) -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        let color = match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => std::io::stdout().is_terminal() && !refused,
        };
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let width = columns.filter(|columns| (40..=400).contains(columns)).unwrap_or(100);
        Self { color, progress: std::io::stderr().is_terminal(), width }
    }
}
