//! Which rules a redaction has beside the general ones: those of this machine, and the author's own.

use std::path::PathBuf;
use std::sync::LazyLock;

use regex::Regex;

use crate::package::private::{Rules, is_placeholder, names_nobody};

/// What this machine and its user are called. Computation does not ask the system; the caller does.
#[derive(Debug, Clone, Default)]
pub struct Machine {
    /// The user's home folder.
    pub home: Option<String>,
    /// The user's name.
    pub user: Option<String>,
    /// The machine's name, alone or in its domain.
    pub host: Option<String>,
    /// The root of the work tree around the package.
    pub repository: Option<PathBuf>,
}

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
            if let Some(path) = path {
                rules.add_path(name, placeholder, path);
            }
        }
        if let Some(user) = self.user.as_deref().filter(|user| is_telling(user))
            && let Some(regex) = word(&regex::escape(user))
        {
            rules.add_name("user name", "${USER}", regex);
        }
        // By its own name and by that in its domain, whichever of them the system knows.
        let host = self.host.as_deref().map(|host| host.trim_end_matches('.'));
        let short =
            host.and_then(|host| host.split('.').next()).filter(|short| is_telling(short) && !names_device(short));
        let full = host.filter(|host| host.contains('.') && is_telling(host) && !is_loopback(host));
        if let Some(regex) = full.and_then(|full| word(&format!("(?i:{})", regex::escape(full)))) {
            rules.add_name("host name", "${HOST}", regex);
        }
        let domain = |short| word(&format!(r"(?i:{}(?:\.[a-z0-9-]*[a-z0-9])*)", regex::escape(short)));
        if let Some(regex) = short.and_then(domain) {
            rules.add_host("host name", "${HOST}", regex);
        }
        rules
    }

    /// What is not searched for, and why, beside names that name nobody.
    pub fn not_searched(&self) -> Vec<String> {
        let host = self.host.as_deref().map(|host| host.split('.').next().unwrap_or(host));
        let mut said = Vec::new();
        for (name, whose, variable) in [(host, "this machine", "HOSTNAME"), (self.user.as_deref(), "this user", "USER")]
        {
            match name {
                None => said.push(format!(
                    "the name of {whose} is unknown, so it was not searched for; set {variable}, or give a rule of your own"
                )),
                Some(name) if names_nobody(name) => {}
                Some(name) => {
                    let is_device = whose == "this machine" && names_device(name);
                    let device = is_device.then_some("is also what a device is called");
                    said.extend(device.or_else(|| why_not_telling(name)).map(|why| {
                        format!("the name of {whose} {why}, so it was not searched for; give a rule of your own")
                    }));
                }
            }
        }
        if self.home.is_none() {
            said.push("the home folder of this user is unknown, so it was not searched for; set HOME".to_owned());
        }
        said
    }
}

/// A pattern where it stands as a word.
fn word(pattern: &str) -> Option<Regex> {
    Regex::new(&format!(r"(?:^|[^\w${{-])({pattern})(?:$|[^\w}}-])")).ok()
}

/// Whether a name can be told from other words and from numbers.
fn is_telling(name: &str) -> bool {
    !names_nobody(name) && why_not_telling(name).is_none()
}

/// What keeps a name from being told from other words; a container is called by the beginning of a hash.
fn why_not_telling(name: &str) -> Option<&'static str> {
    let is_number = name.bytes().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b'-' | b'_' | b'.'));
    match name.len() {
        ..SHORTEST_NAME => Some("is too short to be told from other words"),
        _ => is_number.then_some("looks like a number or a hash"),
    }
}

/// Makers and families of devices.
const FAMILIES: &[&str] = &[
    "amd",
    "ampere",
    "blackwell",
    "cuda",
    "epyc",
    "geforce",
    "grace",
    "hopper",
    "instinct",
    "intel",
    "jetson",
    "kepler",
    "lovelace",
    "maxwell",
    "nvidia",
    "orin",
    "pascal",
    "quadro",
    "radeon",
    "rubin",
    "ryzen",
    "tesla",
    "titan",
    "turing",
    "volta",
    "xeon",
];

/// Whether machines that are called so are called after their devices: what is private in a package is not the device, whose
/// name stands in its tables and texts.
fn names_device(name: &str) -> bool {
    static MODEL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            "^(?:[0-9]{1,2}x)?(?:(?:[bhrv]|g[bh]|vr)[1-9]00|(?:gtx|rtx|rtxpro|rtxa|rx|w[67])[0-9]{2,4}|(?:mi|gfx|sm)[0-9]{2,4}|gb10\
             |a(?:2|10|16|30|40|100|800|[2456]000|[45]500)|h20|l(?:2|4|20|40)|t(?:4|[1246]00|1000|2000)|[kpm](?:4|10|20|40|60|80|100)\
             |p[2456]000|gaudi[0-9]?|tpu(?:v[0-9])?)\
             (?:ti|super|s|d|g|a|x|e|p|xtx?|ada|max-?q|sxm[0-9]?|pcie|nvl[0-9]*|[0-9]{2,3}gb|x[0-9]+|gpus?)*$",
        )
        .ok()
    });
    let lower = name.to_ascii_lowercase();
    // `rtx-4090`, `nvidia-h200`, `a100-sxm4-80gb`
    let mut words = lower.split(['-', '_']).filter(|word| !FAMILIES.contains(word)).peekable();
    words.peek().is_none() || MODEL.as_ref().is_some_and(|model| model.is_match(&words.collect::<String>()))
}

fn is_loopback(host: &str) -> bool {
    host.to_ascii_lowercase().starts_with("localhost.")
}

/// Adds the rules of a file: one a line, `PATTERN = ${PLACEHOLDER}`, each side bare or quoted as TOML quotes; `re:` before a
/// regular expression; comments after `#` at the beginning of a line.
///
/// # Errors
/// The first line that cannot be understood.
pub fn own_rules(text: &str, rules: &mut Rules) -> Result<(), RuleError> {
    for (at, line) in text.lines().enumerate() {
        let failed = |reason: &str| RuleError { line: at + 1, reason: reason.to_owned() };
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || line == "[rules]" {
            continue;
        }
        // A pattern may be the secret itself: no reason repeats any of the line.
        let (pattern, placeholder) = line.rsplit_once('=').ok_or_else(|| failed("there is no `=`"))?;
        let pattern = unquoted(pattern.trim()).ok_or_else(|| failed("the quotes around the pattern are not closed"))?;
        let placeholder =
            unquoted(placeholder.trim()).ok_or_else(|| failed("the quotes around the placeholder are not closed"))?;
        if !is_placeholder(&placeholder) {
            return Err(failed(
                "what follows the last `=` is no placeholder; it is `${`, capital letters, digits or _, `}`",
            ));
        }
        let regex = match pattern.strip_prefix("re:") {
            Some(regex) => Regex::new(regex.trim()),
            None => Regex::new(&regex::escape(&pattern)),
        };
        // The last line of such an error is its kind; the lines before show the pattern.
        let regex = regex.map_err(|error| {
            let kind =
                error.to_string().lines().last().and_then(|kind| kind.strip_prefix("error: ")).map(str::to_owned);
            failed(&kind.unwrap_or_else(|| "the regular expression cannot be used".to_owned()))
        })?;
        if regex.is_match("") {
            return Err(failed("the pattern matches nothing at all, which is everywhere"));
        }
        rules.add("own rule", &placeholder, regex);
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
