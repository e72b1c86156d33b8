//! Which rules a redaction has beside the general ones: those of this machine, and the author's own.

use std::path::PathBuf;

use regex::Regex;

use crate::package::private::{Rules, is_placeholder};

/// What this machine and its user are called. Computation does not ask the system; the caller does.
#[derive(Debug, Clone, Default)]
pub struct Machine {
    /// The user's home folder.
    pub home: Option<String>,
    /// The user's name.
    pub user: Option<String>,
    /// The machine's name.
    pub host: Option<String>,
    /// The root of the work tree around the package.
    pub repository: Option<PathBuf>,
}

/// Names that so many machines and users have that they name nobody, and that texts use as words.
const GENERIC: &[&str] =
    &["root", "user", "admin", "administrator", "runner", "ubuntu", "debian", "build", "builder", "localhost", "test"];

/// Shorter names are too likely to be words.
const SHORTEST_NAME: usize = 4;

/// A rule of the author's that cannot be understood.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {reason}; a rule is PATTERN = ${{PLACEHOLDER}}, where `re:` begins a regular expression")]
pub struct RuleError {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

impl Machine {
    /// The general rules and those of this machine.
    pub fn rules(&self) -> Rules {
        let mut rules = Rules::general();
        let repository = self.repository.as_ref().and_then(|path| path.to_str());
        for (path, name, placeholder) in
            [(repository, "repository path", "${REPO}"), (self.home.as_deref(), "home folder", "${USER_HOME}")]
        {
            let path = path.map(|path| path.trim_end_matches(['/', '\\'])).filter(|path| path.len() > 1);
            let pattern = path.map(|path| format!(r"(?:^|file://|[^\w.}})$/\\-])({})(?:$|[^\w-])", literal_path(path)));
            if let Some(regex) = pattern.and_then(|pattern| Regex::new(&pattern).ok()) {
                rules.add(name, placeholder, regex, true);
            }
        }
        for (word, name, placeholder) in [(&self.host, "host name", "${HOST}"), (&self.user, "user name", "${USER}")] {
            let word = word.as_deref().filter(|word| word.len() >= SHORTEST_NAME && !GENERIC.contains(word));
            let pattern = word.map(|word| format!(r"(?:^|[^\w${{-])({})(?:$|[^\w}}-])", regex::escape(word)));
            if let Some(regex) = pattern.and_then(|pattern| Regex::new(&pattern).ok()) {
                // A member's name belongs to the format.
                rules.add(name, placeholder, regex, false);
            }
        }
        rules
    }
}

/// A path whichever way its separators are written.
fn literal_path(path: &str) -> String {
    path.split(['/', '\\']).map(regex::escape).collect::<Vec<_>>().join(r"[\\/]+")
}

/// Adds the rules of a file: one a line, `PATTERN = ${PLACEHOLDER}`, each side bare or quoted as TOML quotes; `re:` before a
/// regular expression; comments after `#` at the beginning of a line.
///
/// # Errors
/// The first line that cannot be understood.
pub fn own_rules(text: &str, rules: &mut Rules) -> Result<(), RuleError> {
    for (at, line) in text.lines().enumerate() {
        let failed = |reason: String| RuleError { line: at + 1, reason };
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || line == "[rules]" {
            continue;
        }
        let (pattern, placeholder) = line.rsplit_once('=').ok_or_else(|| failed("there is no `=`".to_owned()))?;
        let unquoted =
            |side: &str| unquoted(side.trim()).ok_or_else(|| failed(format!("{} is not closed", side.trim())));
        let (pattern, placeholder) = (unquoted(pattern)?, unquoted(placeholder)?);
        if !is_placeholder(&placeholder) {
            return Err(failed(format!(
                "{placeholder} is no placeholder; it is `${{`, capital letters, digits or _, `}}`"
            )));
        }
        let regex = match pattern.strip_prefix("re:") {
            Some(regex) => Regex::new(regex.trim()),
            None => Regex::new(&regex::escape(&pattern)),
        };
        let regex = regex.map_err(|error| failed(error.to_string().lines().last().unwrap_or_default().to_owned()))?;
        if regex.is_match("") {
            return Err(failed("the pattern matches nothing at all, which is everywhere".to_owned()));
        }
        rules.add("own rule", &placeholder, regex, true);
    }
    Ok(())
}

fn unquoted(side: &str) -> Option<String> {
    match side.chars().next() {
        Some('"') => serde_json::from_str(side).ok(),
        Some('\'') => side.strip_prefix('\'')?.strip_suffix('\'').map(str::to_owned),
        _ => Some(side.to_owned()),
    }
}
