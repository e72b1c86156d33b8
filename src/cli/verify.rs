//! `recount verify`.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};

use super::inputs::Inputs;
use super::output::{Output, place, real};
use super::{Common, Environment, Failure, glob_set, verbosity};
use crate::audit::{self, Options, Report, RequestError, Subject};
use crate::package::limits::STREAMED_BYTES;
use crate::package::signature::moment::Moment;
use crate::render::{Attested, Format, Settings, Style, attestation, render};

/// Arguments of `verify`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Package folders, divergence receipts, or folders with any of them below
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Write the report to a file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the result to a file as an in-toto Statement about the files of one package, whatever the verdict; an older
    /// file is removed first
    #[arg(long, value_name = "FILE")]
    attest: Option<PathBuf>,
    /// Let warnings fail, and checks that could not be run
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    checks: Checks,
    #[command(flatten)]
    signature: super::signers::SignerArgs,
}

/// How packages are checked; shared with `selftest`.
#[derive(Debug, clap::Args)]
pub(super) struct Checks {
    /// Accept the absence of declared files that match (repeatable), such as 'code/*'
    #[arg(long, value_name = "GLOB")]
    allow_absent: Vec<String>,
    /// Fail unless receipts.json itself (or the single receipt) has this SHA-256, known from elsewhere
    #[arg(long, value_name = "SHA256", value_parser = sha256)]
    expect_receipts: Option<String>,
    /// Size in bytes from which files of measurements are read in a stream, without their text being kept
    #[arg(long, hide = true, value_name = "BYTES", default_value_t = STREAMED_BYTES)]
    stream_from: u64,
    /// Largest relative difference of recomputed floats
    #[arg(long, value_name = "REL", default_value_t = crate::audit::evidence::DEFAULT_TOLERANCE, value_parser = tolerance)]
    tolerance: f64,
}

impl Checks {
    /// The options for the checks.
    ///
    /// # Errors
    /// A glob that cannot be understood.
    pub(super) fn options(&self) -> Result<Options, Failure> {
        Ok(Options {
            tolerance: self.tolerance,
            allow_absent: glob_set("--allow-absent", &self.allow_absent)?,
            expect_receipts: self.expect_receipts.clone(),
            signers: None,
            streamed_from: self.stream_from,
        })
    }
}

impl Args {
    /// The options as a statement repeats them.
    fn settings<'a>(&'a self, options: &'a Options) -> Settings<'a> {
        let signers = options.signers.as_ref();
        Settings {
            strict: self.strict,
            tolerance: options.tolerance,
            allow_absent: &self.checks.allow_absent,
            expect_receipts: options.expect_receipts.as_deref(),
            signer: signers.and_then(|signers| signers.identity.as_deref()),
            signature_namespace: signers.map(|signers| signers.namespace.as_str()),
            signed_at: signers.filter(|signers| signers.at_is_stated).map(|signers| Moment::written(signers.at)),
            stream_from: (options.streamed_from != STREAMED_BYTES).then_some(options.streamed_from),
            allowed_signers_sha256: signers.map(|signers| signers.allowed.sha256.as_str()),
        }
    }
}

/// Verifies all packages that the paths stand for and writes one report.
///
/// # Errors
/// Arguments that contradict each other, or a report that cannot be written.
pub(super) fn run(args: &Args, common: &Common, environment: &Environment) -> Result<u8, Failure> {
    let mut report = Report { subjects: Vec::new(), errors: Vec::new(), strict: args.strict };
    let subjects = subjects(&args.paths, &mut report);
    // Before anything else that can fail: whatever ends this run, an older statement must not look like its result.
    let inputs = Inputs::none().and("PATH", &args.paths).and("--allowed-signers", args.signature.file());
    let statement = args.attest.as_deref().map(|path| open_statement(path, &subjects, &inputs)).transpose()?;
    let options = Options { signers: args.signature.signers()?, ..args.checks.options()? };
    let output = Output::open(args.output.as_deref(), &inputs)?;
    if statement.as_ref().is_some_and(|statement| statement.is_same(&output)) {
        anyhow::bail!("--attest and the report cannot go to the same place");
    }
    expect_one(&options, &subjects)?;
    let looked_at = subjects.len() + report.errors.len();
    if statement.is_some() && (looked_at != 1 || args.paths.len() != 1) {
        anyhow::bail!("--attest is about one package or receipt, but the paths stand for {looked_at}; name one");
    }
    let progress = progress_bar(environment);
    let mut judged = None;
    for subject in &subjects {
        let name = subject.path().display().to_string();
        progress.set_message(name.clone());
        let (subject, evidence) = audit::verify_subject(subject, &name, &options, &|bytes| progress.inc(bytes));
        report.subjects.push(subject);
        judged = statement.is_some().then_some(evidence);
    }
    progress.finish_and_clear();
    let style = Style {
        color: environment.color && output.is_stdout(),
        verbosity: verbosity(common),
        width: environment.width,
    };
    output.write(|out| render(&report, args.format, &style, out))?;
    if let (Some(statement), [subject], Some(evidence)) = (statement, report.subjects.as_slice(), &judged) {
        if evidence.digests.is_empty() {
            anyhow::bail!("{}: no file could be read, so there is nothing that --attest could be about", subject.path);
        }
        let attested = Attested { report: subject, evidence, settings: args.settings(&options) };
        statement.write(|out| attestation(&attested, out))?;
    }
    Ok(report.verdict().exit_code())
}

/// The place of the statement, without what an earlier run left there.
///
/// # Errors
/// It cannot be written to, or what lies there is evidence or an input: that is neither removed nor replaced.
fn open_statement(path: &Path, subjects: &[Subject], inputs: &Inputs) -> Result<Output, Failure> {
    let shown = path.display();
    // Both where a link would be replaced and where it leads to.
    let places = [place(path), real(path)];
    for folder in subjects.iter().filter(|subject| matches!(subject, Subject::Package(_))).map(Subject::path) {
        let real = real(folder);
        if places.iter().any(|place| place.starts_with(&real)) {
            anyhow::bail!(
                "--attest {shown} lies in the package {}, where it would be a file without a receipt; name a place outside",
                folder.display()
            );
        }
    }
    if let Some(input) = inputs.replaced_by(path) {
        anyhow::bail!("--attest {shown} would replace {input}; name another place");
    }
    if !is_statement_or_empty(path) {
        anyhow::bail!("--attest {shown} is a file that is no statement, and would be removed; name another place");
    }
    Output::open_cleared(path, inputs)
}

/// Whether what lies at a place, if anything does, is a result of an earlier run, or nothing that could be missed.
fn is_statement_or_empty(path: &Path) -> bool {
    /// A statement says what it is within its first bytes.
    const BEGINNING: u64 = 4 << 10;
    let Some(file) = fs::File::open(path).ok().filter(|file| file.metadata().is_ok_and(|metadata| metadata.is_file()))
    else {
        return true;
    };
    let mut beginning = Vec::new();
    let read = file.take(BEGINNING).read_to_end(&mut beginning).is_ok();
    let says = String::from_utf8_lossy(&beginning).contains("https://in-toto.io/Statement/");
    read && (beginning.is_empty() || says)
}

/// Everything that the paths stand for, once; what cannot be looked at is an error of the report.
pub(super) fn subjects(paths: &[PathBuf], report: &mut Report) -> Vec<Subject> {
    let mut subjects = Vec::new();
    for path in paths {
        match audit::subjects(path) {
            Ok(found) => {
                subjects.extend(found.subjects);
                report.errors.extend(found.skipped);
            }
            Err(reason) => report.errors.push(RequestError { path: path.display().to_string(), reason }),
        }
    }
    // The same package may be named twice, by itself and by a folder above it.
    let mut seen = std::collections::HashSet::new();
    let real = |subject: &Subject| subject.path().canonicalize().unwrap_or_else(|_| subject.path().to_owned());
    subjects.retain(|subject| seen.insert(real(subject)));
    subjects
}

/// One hash can only be that of one package.
///
/// # Errors
/// A hash is expected of several subjects, or of none.
pub(super) fn expect_one(options: &Options, subjects: &[Subject]) -> Result<(), Failure> {
    if options.expect_receipts.is_some() && subjects.len() != 1 {
        anyhow::bail!("--expect-receipts is about one package or receipt, but the paths stand for {}", subjects.len());
    }
    Ok(())
}

/// A bar of bytes hashed on a terminal, nothing elsewhere.
pub(super) fn progress_bar(environment: &Environment) -> ProgressBar {
    if !environment.progress {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} {bytes} hashed ({bytes_per_sec})  {wide_msg}");
    ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
}

fn sha256(text: &str) -> Result<String, String> {
    let text = text.to_ascii_lowercase();
    if crate::package::receipts::is_sha256(&text) {
        Ok(text)
    } else {
        Err("a SHA-256 has 64 hexadecimal digits".to_owned())
    }
}

pub(super) fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..1.0).contains(&value) => Ok(value),
        _ => Err("a number from 0 up to below 1".to_owned()),
    }
}
