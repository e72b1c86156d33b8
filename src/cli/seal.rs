//! `recount seal`.

mod machine;
mod unpublished;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use globset::GlobSet;
use zeroize::Zeroizing;

use super::output::Output;
use super::{Common, Environment, Failure, glob_set};
use crate::package::folder::{FileError, Folder};
use crate::package::json::Document;
use crate::package::limits::{MAX_PARSED_BYTES, MAX_SIGNATURE_BYTES};
use crate::package::receipts::{RECEIPTS, SIGNATURE, declared};
use crate::package::signature::Signature;
use crate::seal::{
    Replacement, SigningKey, abandon_copies, apply, drop_signature, enclosing_package, idle_globs, outdated, own_rules,
    plan, read_secret, receipts_text, write_receipts, write_signed,
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
    /// Sign the receipts with an OpenSSH private key: receipts.json.sig, which `ssh-keygen -Y verify -n recount` reads, too
    #[arg(long, value_name = "KEY", conflicts_with = "check")]
    sign: Option<PathBuf>,
    /// Read the key's passphrase from the first line of a file instead of asking for it on the terminal
    #[arg(long, value_name = "FILE", requires = "sign")]
    passphrase_file: Option<PathBuf>,
    /// Remove receipts.json.sig; without this or --sign, a signature that would no longer fit is a reason to change nothing
    #[arg(long, conflicts_with_all = ["check", "sign"])]
    drop_signature: bool,
    /// Rewrite texts with CRLF line endings with LF
    #[arg(long)]
    normalize: bool,
    /// Replace private paths, names, addresses and secrets in texts by placeholders; RULES is a file of more rules, one a
    /// line: PATTERN = ${PLACEHOLDER}
    #[arg(long, value_name = "RULES", num_args = 0..=1, require_equals = true)]
    redact: Option<Option<PathBuf>>,
    /// Seal a folder that lies in another package
    #[arg(long)]
    nested: bool,
}

/// The exit status of a process that an interrupt ends, as shells say it.
const INTERRUPTED: i32 = 130;

/// Writes the receipts, or compares them with those that are there; before that, rewrites what it is asked to.
///
/// # Errors
/// A folder that cannot be sealed, with every reason; a key that cannot sign; a signature that would no longer fit.
pub(super) fn run(args: &Args, common: &Common, _environment: &Environment) -> Result<u8, Failure> {
    let key = args.sign.as_deref().map(|path| unlocked(path, args.passphrase_file.as_deref())).transpose()?;
    if args.dir.is_file() {
        bail!("{} is a file; name the folder of the package", args.dir.display());
    }
    if let Some(around) = enclosing_package(&args.dir).filter(|_| !args.nested) {
        bail!(
            "{} lies in the package {}, whose receipts would have to list its files; seal that one, or give --nested",
            args.dir.display(),
            around.display()
        );
    }
    let exclude = glob_set("--exclude", &args.exclude)?;
    unpublished::check(args, &exclude)?;
    note(&idle_globs(&args.dir, &args.exclude)?);
    let path = args.dir.join(RECEIPTS);
    let before = existing(&args.dir, RECEIPTS, MAX_PARSED_BYTES)?;
    let signed = existing(&args.dir, SIGNATURE, MAX_SIGNATURE_BYTES)?;
    let rewrites = args.normalize || args.redact.is_some();
    if rewrites && signed.is_some() && !args.check && key.is_none() && !args.drop_signature {
        bail!(
            "{}: files that are rewritten would not fit the signature; nothing was changed. Sign again with --sign KEY, or \
             remove the signature with --drop-signature",
            args.dir.join(SIGNATURE).display()
        );
    }
    // A key that cannot sign is found before the first byte changes.
    if let Some(key) = &key {
        key.sign(&[])?;
    }
    // A copy of the package as it is would be left beside it.
    ctrlc::set_handler(end).context("interrupts cannot be caught")?;
    let mut said = String::new();
    rewrite(args, &exclude, &mut said)?;
    if args.check && !said.is_empty() {
        said.push_str(&format!("{} would be written for the files as they are then\n", path.display()));
        say(common, &said)?;
        return Ok(1);
    }
    let text = receipts_text(&args.dir, &exclude)?;
    let is_current = before.as_deref() == Some(text.as_bytes());
    let signature = signed.as_ref().map(|bytes| Signature::read(bytes));
    let is_stale = signature.as_ref().is_some_and(|read| !matches!(read, Ok(read) if read.covers(text.as_bytes())));
    if let Some((key, place)) = key.zip(args.sign.as_deref()) {
        unpublished::check_key(place, &text)?;
        let new = key.sign(text.as_bytes())?;
        let is_signed = matches!(&signature, Some(Ok(old)) if key.has_signed(old, text.as_bytes()));
        if is_current && is_signed {
            said.push_str(&format!("{} and its signature are up to date\n", path.display()));
        } else {
            write_signed(&args.dir, &text, &new)?;
            let dropped = no_longer_listed(before.as_deref(), &text);
            said.push_str(&format!("{} written and signed ({SIGNATURE}){dropped}\n", path.display()));
        }
    } else if args.check {
        said.push_str(&difference(&path, &text, before.as_deref().unwrap_or_default()));
        if is_stale {
            said.push_str(&format!("{SIGNATURE} does not fit; sign again with --sign KEY\n"));
        }
    } else if is_stale && !args.drop_signature {
        bail!(
            "{}: the signature was made over other receipts than those of the files as they are; nothing was written. Sign \
             again with --sign KEY, or remove the signature with --drop-signature",
            args.dir.join(SIGNATURE).display()
        );
    } else {
        if is_current {
            said.push_str(&format!("{} is up to date\n", path.display()));
        } else {
            write_receipts(&args.dir, &text)?;
            let dropped = no_longer_listed(before.as_deref(), &text);
            said.push_str(&format!("{} written{dropped}\n", path.display()));
        }
        if args.drop_signature && signed.is_some() {
            drop_signature(&args.dir)?;
            said.push_str(&format!("{} removed\n", args.dir.join(SIGNATURE).display()));
        }
    }
    say(common, &said)?;
    Ok(u8::from(args.check && (!is_current || is_stale)))
}

/// Ends the process after an interrupt.
#[expect(clippy::exit, reason = "nothing else ends work that looks at no flag, and the default would leave the copy")]
fn end() {
    abandon_copies();
    std::process::exit(INTERRUPTED);
}

fn say(common: &Common, said: &str) -> Result<(), Failure> {
    if common.quiet {
        return Ok(());
    }
    Output::Stdout.write(|out| out.write_all(crate::render::escape::lines(said).as_bytes()))
}

/// Says which files the new receipts no longer list; nothing where there are none.
fn no_longer_listed(before: Option<&[u8]>, after: &str) -> String {
    let read = |text: String| Document::parse(RECEIPTS, text).ok();
    let old = before.and_then(|bytes| String::from_utf8(bytes.to_vec()).ok()).and_then(read);
    let (Some(old), Some(new)) = (old, read(after.to_owned())) else { return String::new() };
    let new = declared(&new).unwrap_or_default();
    let kept: std::collections::HashSet<_> = new.iter().map(|(name, _)| name).collect();
    let old = declared(&old).unwrap_or_default().iter().map(|(name, _)| name.as_str());
    let gone: Vec<_> = old.filter(|name| !kept.contains(&(*name).to_owned())).collect();
    match gone.len() {
        0 => String::new(),
        count => {
            let more = if count > NAMED { ", ..." } else { "" };
            format!(": {} files; no longer listed: {}{more}", new.len(), gone[..count.min(NAMED)].join(", "))
        }
    }
}

/// Files that a line names; of more it says that there are.
const NAMED: usize = 10;

/// What `--check` says of the receipts.
fn difference(path: &Path, text: &str, before: &[u8]) -> String {
    if before == text.as_bytes() {
        return format!("{} is up to date\n", path.display());
    }
    let recorded = String::from_utf8_lossy(before);
    let diff = similar::TextDiff::from_lines(recorded.as_ref(), text);
    format!("{} would change:\n{}", path.display(), diff.unified_diff().context_radius(1))
}

/// A file of the folder as it is, if there is one. Read as anything of a package is: no link is followed, no pipe waited
/// for.
fn existing(folder: &Path, name: &str, limit: u64) -> Result<Option<Vec<u8>>, Failure> {
    match Folder::new(folder).read(name, limit) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(FileError::Absent) => Ok(None),
        Err(error) => {
            Err(error).with_context(|| format!("{} cannot be compared or replaced", folder.join(name).display()))
        }
    }
}

/// The key, ready to sign.
fn unlocked(path: &Path, passphrase_file: Option<&Path>) -> Result<SigningKey, Failure> {
    let key = SigningKey::read(path)?;
    if !key.is_encrypted() {
        return Ok(key);
    }
    let passphrase = match passphrase_file {
        Some(file) => first_line(file)?,
        None if std::io::stdin().is_terminal() => {
            let shown = crate::render::escape::visible(&path.display().to_string()).into_owned();
            rpassword::prompt_password(format!("Passphrase for {shown}: "))
                .map(Zeroizing::new)
                .with_context(|| format!("{}: the passphrase cannot be asked for", path.display()))?
        }
        None => bail!(
            "{}: the key is encrypted, and there is no terminal to ask for its passphrase; give --passphrase-file FILE",
            path.display()
        ),
    };
    Ok(key.unlock(&passphrase)?)
}

/// The first line of a file, without its ending.
fn first_line(path: &Path) -> Result<Zeroizing<String>, Failure> {
    let cannot = || format!("the passphrase cannot be read from {}", path.display());
    let bytes =
        std::fs::File::open(path).and_then(|file| read_secret(file, MAX_SIGNATURE_BYTES)).with_context(cannot)?;
    let text = std::str::from_utf8(&bytes).with_context(cannot)?;
    Ok(Zeroizing::new(text.lines().next().unwrap_or_default().to_owned()))
}

/// Normalises and redacts, where that is asked for, and says what was or would be rewritten. What is private and stays is said
/// on standard error, whatever else is said.
fn rewrite(args: &Args, exclude: &GlobSet, said: &mut String) -> Result<(), Failure> {
    let verb = if args.check { "would be" } else { "was" };
    let rules = match &args.redact {
        Some(own) => Some(rules(args, own.as_deref())?),
        None => None,
    };
    if rules.is_some() || args.normalize {
        let plan = plan(&args.dir, exclude, rules.as_ref(), args.normalize)?;
        if !args.check && !plan.is_empty() {
            apply(&args.dir, &plan)?;
        }
        for name in &plan.normalized {
            said.push_str(&format!("{name} {verb} rewritten with LF line endings\n"));
        }
        for Replacement { file, line, rule, masked, placeholder } in &plan.replacements {
            said.push_str(&format!("{file}:{line}: {rule} {masked} {verb} replaced by {placeholder}\n"));
        }
        for name in &plan.forgotten {
            said.push_str(&format!(
                "{name} is not what its redaction left: what it was before {verb} removed from provenance.json\n"
            ));
        }
        note(&plan.left);
    }
    if rules.is_none() {
        let changed = outdated(&args.dir).into_iter();
        let advice = "but provenance.json records what it was before; --redact brings that up to date";
        note(&changed.map(|name| format!("{name} is not what its redaction left, {advice}")).collect::<Vec<_>>());
    }
    Ok(())
}

fn note(lines: &[String]) {
    for line in lines {
        // Nobody can be told that nobody can be told.
        let _ = writeln!(std::io::stderr(), "{}", crate::render::escape::lines(&format!("recount: {line}")));
    }
}

/// The rules of this machine and of the file that was given.
fn rules(args: &Args, own: Option<&Path>) -> Result<crate::package::private::Rules, Failure> {
    let machine = machine::this(&args.dir);
    note(&machine.not_searched());
    let mut rules = machine.rules();
    if let Some(path) = own {
        let shown = path.display();
        let text = std::fs::read_to_string(path).with_context(|| format!("{shown}: the rules cannot be read"))?;
        own_rules(&text, &mut rules).with_context(|| shown.to_string())?;
    }
    Ok(rules)
}
