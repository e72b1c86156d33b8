//! `recount seal`.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use globset::GlobSet;

use super::{Common, Environment, Failure, glob_set, output::Output};
use crate::package::folder::{FileError, Folder, VERSION_CONTROL};
use crate::package::limits::MAX_PARSED_BYTES;
use crate::package::receipts::RECEIPTS;
use crate::seal::{
    Machine, enclosing_package, normalize::normalize, normalize::to_normalize, own_rules, receipts_text, redact,
    write_receipts,
};

/// Arguments of `seal`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The package's folder
    dir: PathBuf,
    /// Change nothing; say what would change, with status 1 if anything would
    #[arg(long)]
    check: bool,
    /// Leave out files that match (repeatable); .recountignore in the folder names more, one glob a line
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// Rewrite texts with CRLF line endings with LF
    #[arg(long)]
    normalize: bool,
    /// Replace private paths, names, addresses and secrets in texts by placeholders; RULES is a file of more rules, one a
    /// line: PATTERN = ${PLACEHOLDER}
    #[arg(long, value_name = "RULES", num_args = 0..=1)]
    redact: Option<Option<PathBuf>>,
    /// Seal a folder that lies in another package
    #[arg(long)]
    nested: bool,
}

/// Writes the receipts, or compares them with those that are there; before that, rewrites what it is asked to.
///
/// # Errors
/// A folder that cannot be sealed, with every reason.
pub(super) fn run(args: &Args, common: &Common, _environment: &Environment) -> Result<u8, Failure> {
    if let Some(around) = enclosing_package(&args.dir).filter(|_| !args.nested) {
        bail!(
            "{} lies in the package {}, whose receipts would have to list its files; seal that one, or give --nested",
            args.dir.display(),
            around.display()
        );
    }
    let exclude = glob_set("--exclude", &args.exclude)?;
    // Read as anything of a package is: no link is followed, no pipe waited for.
    let path = args.dir.join(RECEIPTS);
    let before = match Folder::new(&args.dir).read(RECEIPTS, MAX_PARSED_BYTES) {
        Ok(bytes) => bytes,
        Err(FileError::Absent) => Vec::new(),
        Err(error) => return Err(error).with_context(|| format!("{} cannot be compared or replaced", path.display())),
    };
    let mut said = String::new();
    rewrite(args, &exclude, &mut said)?;
    let rewritten = !said.is_empty();
    let changes = if args.check && rewritten {
        said.push_str(&format!("{} would be written for the files as they are then\n", path.display()));
        true
    } else {
        let text = receipts_text(&args.dir, &exclude)?;
        let changes = before != text.as_bytes();
        if !changes {
            said.push_str(&format!("{} is up to date\n", path.display()));
        } else if args.check {
            said.push_str(&format!("{} would change:\n", path.display()));
            let recorded = String::from_utf8_lossy(&before);
            let diff = similar::TextDiff::from_lines(recorded.as_ref(), text.as_str());
            said.push_str(&diff.unified_diff().context_radius(1).to_string());
        } else {
            write_receipts(&args.dir, &text)?;
            said.push_str(&format!("{} written\n", path.display()));
        }
        changes
    };
    if !common.quiet {
        Output::Stdout.write(|out| out.write_all(crate::render::escape::lines(&said).as_bytes()))?;
    }
    Ok(u8::from(args.check && changes))
}

/// Normalises and redacts, where that is asked for, and says what was or would be rewritten.
fn rewrite(args: &Args, exclude: &GlobSet, said: &mut String) -> Result<(), Failure> {
    let verb = if args.check { "would be" } else { "was" };
    // Everything that can be refused is found before the first byte changes.
    let crlf = if args.normalize { to_normalize(&args.dir, exclude)? } else { Vec::new() };
    let plan = match &args.redact {
        Some(own) => Some(redact::plan(&args.dir, exclude, &rules(args, own.as_deref())?, args.normalize)?),
        None => None,
    };
    for name in &crlf {
        if !args.check {
            normalize(&args.dir, name)?;
        }
        said.push_str(&format!("{name} {verb} rewritten with LF line endings\n"));
    }
    let Some(mut plan) = plan else { return Ok(()) };
    if !args.check && !crlf.is_empty() {
        plan = match &args.redact {
            Some(own) => redact::plan(&args.dir, exclude, &rules(args, own.as_deref())?, false)?,
            None => plan,
        };
    }
    if !args.check {
        redact::apply(&args.dir, &plan)?;
    }
    for found in &plan.replacements {
        let redact::Replacement { file, line, rule, masked, placeholder } = found;
        said.push_str(&format!("{file}:{line}: {rule} {masked} {verb} replaced by {placeholder}\n"));
    }
    if !plan.replacements.is_empty() {
        for name in &plan.passed_over {
            said.push_str(&format!("{name} is not UTF-8 and stays as it is\n"));
        }
    }
    Ok(())
}

/// The rules of this machine and of the file that was given.
fn rules(args: &Args, own: Option<&Path>) -> Result<crate::package::private::Rules, Failure> {
    let mut rules = machine(&args.dir).rules();
    if let Some(path) = own {
        let shown = path.display();
        let text = std::fs::read_to_string(path).with_context(|| format!("{shown}: the rules cannot be read"))?;
        own_rules(&text, &mut rules).with_context(|| shown.to_string())?;
    }
    Ok(rules)
}

/// What this machine and its user are called.
fn machine(folder: &Path) -> Machine {
    let variable =
        |names: &[&str]| names.iter().find_map(|name| std::env::var(name).ok()).map(|value| value.trim().to_owned());
    let host = variable(&["HOSTNAME", "COMPUTERNAME"])
        .or_else(|| Some(std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?.trim().to_owned()));
    let real = folder.canonicalize().ok();
    let repository = real.as_deref().and_then(|real| real.ancestors().find(|path| path.join(VERSION_CONTROL).exists()));
    Machine {
        home: variable(&["HOME", "USERPROFILE"]),
        user: variable(&["USER", "USERNAME"]),
        host,
        repository: repository.map(Path::to_owned),
    }
}
