//! `kill -9` amid every command that writes: no half file stands under a final name, what is left has a name that the program
//! knows, and the command can be run again.
//!
//! Two ways to die: at random moments over the time that an undisturbed run takes, and at the first write beyond a size
//! (the system ends the process then), which hits the writing itself.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use ssh_key::LineEnding;
use ssh_key::private::{Ed25519Keypair, PrivateKey};
use tempfile::TempDir;

use super::tree::{Moments, Tree, recount, to_the_end, tree, write};
use crate::common::package::Package;

/// Random moments for each command.
const MOMENTS: usize = 50;

/// Sizes in bytes beyond which a file cannot be written.
const SIZES: [u64; 6] = [0, 1, 100, 700, 5_000, 60_000];

/// Seed of the moments; another one with `RECOUNT_SEED`.
const SEED: u64 = 20_261_130;

/// A command that writes, and the folder that it runs in.
struct Writing {
    arguments: Vec<String>,
    before: Tree,
    /// What the command leaves, and its exit status.
    after: Tree,
    status: i32,
    took: Duration,
    /// Files that may be missing: an older result that is removed at once.
    cleared: BTreeSet<String>,
    /// Whether what it made must not be there when it runs again.
    once: bool,
    /// Whether counts in `provenance.json` may differ after a second run.
    counts_aside: bool,
}

impl Writing {
    /// Runs the command undisturbed, twice: what it leaves is the same both times.
    #[track_caller]
    fn new(before: Tree, arguments: &[&str]) -> Self {
        let run = || {
            let folder = folder_of(&before);
            let (status, took) = to_the_end(&mut recount(folder.path(), arguments));
            let (after, left) = tree(folder.path());
            assert_eq!(left, Vec::<String>::new(), "an undisturbed run leaves nothing behind");
            (status, after, took)
        };
        let (status, after, _) = run();
        // The first run may have been slow: it read the program from the disk.
        let (other, again, took) = run();
        assert!(other == status && again == after, "two runs of {arguments:?} leave the same");
        assert!(status < 2, "{arguments:?} ends with {status}");
        assert!(after != before, "{arguments:?} writes something");
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        Self { arguments, before, after, status, took, cleared: BTreeSet::new(), once: false, counts_aside: false }
    }

    fn command(&self, folder: &Path) -> Command {
        recount(folder, &self.arguments.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Every file is the old one or the new one, whole.
    #[track_caller]
    fn is_whole(&self, found: &Tree, when: &str) {
        for (name, bytes) in found {
            let sound = [self.before.get(name), self.after.get(name)].contains(&Some(bytes));
            assert!(sound, "{name} is neither the old nor the new one, {when} of {:?}", self.arguments);
        }
        for name in self.before.keys().filter(|name| self.after.contains_key(*name)) {
            let there = found.contains_key(name) || self.cleared.contains(name);
            assert!(there, "{name} is gone, {when} of {:?}", self.arguments);
        }
    }

    /// A second run, undisturbed, leaves what the first would have left.
    #[track_caller]
    fn goes_on(&self, folder: &Path, when: &str) {
        let (status, _) = to_the_end(&mut self.command(folder));
        assert_eq!(status, self.status, "the second run, {when} of {:?}", self.arguments);
        let (found, _) = tree(folder);
        for (name, bytes) in &self.after {
            let aside = self.counts_aside && name.ends_with("provenance.json");
            let seen = |bytes: &Vec<u8>| if aside { without_counts(bytes) } else { bytes.clone() };
            // The receipts have the hash of the file with the counts.
            let is_bound = self.counts_aside && name.ends_with("receipts.json");
            let same = is_bound || found.get(name).map(seen) == Some(seen(bytes));
            assert!(same, "{name} after the second run, {when} of {:?}", self.arguments);
        }
        assert_eq!(found.len(), self.after.len(), "after the second run, {when} of {:?}", self.arguments);
    }

    /// Looks at a folder in which the command was killed.
    #[track_caller]
    fn judge(&self, folder: &Path, when: &str) {
        let (found, left) = tree(folder);
        self.is_whole(&found, when);
        // Where nothing has changed yet, the second run would be the undisturbed one.
        if self.once && found == self.after {
            assert_eq!(to_the_end(&mut self.command(folder)).0, 2, "{when}: a finished package is not replaced");
            assert!(tree(folder).0 == self.after, "{when}: and not touched");
        } else if found != self.before || !left.is_empty() {
            self.goes_on(folder, when);
        }
    }

    #[track_caller]
    fn survives(&self) {
        self.survives_moments(MOMENTS);
        self.survives_sizes();
    }

    #[track_caller]
    fn survives_moments(&self, moments: usize) {
        let seed = std::env::var("RECOUNT_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(SEED);
        let begin = || {
            let folder = folder_of(&self.before);
            let command = self.command(folder.path());
            (folder, command)
        };
        Moments::new(seed, self.took).kill(moments, begin, |folder, when| {
            self.judge(folder.path(), &format!("{when} of seed {seed}"));
        });
    }

    /// Ends the process at the first write beyond a size.
    #[track_caller]
    fn survives_sizes(&self) {
        if Command::new("prlimit").arg("--version").output().is_err() {
            eprintln!("skipped: prlimit is not installed (Debian: util-linux)");
            return;
        }
        let mut ended = 0;
        for size in SIZES {
            let folder = folder_of(&self.before);
            let inner = self.command(folder.path());
            let mut command = Command::new("prlimit");
            command.arg(format!("--fsize={size}")).arg("--core=0").arg(inner.get_program()).args(inner.get_args());
            command.current_dir(folder.path()).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
            let status = command.status().expect("prlimit runs");
            ended += usize::from(status.code() != Some(self.status));
            self.judge(folder.path(), &format!("at a write beyond {size} bytes"));
        }
        assert!(ended > 0, "no write of {:?} was cut short", self.arguments);
    }
}

/// Provenance without the numbers of replacements.
fn without_counts(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.split("\"count\":");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    parts.for_each(|part| kept.push_str(part.trim_start_matches(|character: char| character.is_ascii_digit())));
    kept.into_bytes()
}

fn folder_of(tree: &Tree) -> TempDir {
    let folder = tempfile::Builder::new().prefix("recount-killed-").tempdir().expect("a temporary folder");
    write(folder.path(), tree);
    folder
}

/// A folder with the valid package `package`, and what else is written beside it.
fn with_package(change: impl FnOnce(&Package), beside: &[(&str, &[u8])]) -> Tree {
    let package = Package::valid();
    change(&package);
    let (inner, _) = tree(package.path());
    let mut all: Tree = inner.into_iter().map(|(name, bytes)| (format!("package/{name}"), bytes)).collect();
    all.insert("package/".to_owned(), Vec::new());
    all.extend(beside.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())));
    all
}

/// An older result, which is not to be lost before the new one is there.
const OLD: &[u8] = b"an older result\n";

#[test]
fn verify_writes_its_report_whole() {
    for format in ["junit", "sarif", "json"] {
        let before = with_package(|_| {}, &[("report", OLD)]);
        let writing = Writing::new(before, &["verify", "package", "--format", format, "-o", "report"]);
        writing.survives_moments(if format == "junit" { MOMENTS } else { 8 });
        writing.survives_sizes();
    }
}

/// An older statement, as far as it matters: other files are not removed.
const STATEMENT: &[u8] = b"{\"_type\": \"https://in-toto.io/Statement/v1\"}";

#[test]
fn verify_attests_whole_or_not_at_all() {
    let before = with_package(|_| {}, &[("statement.json", STATEMENT), ("report", OLD)]);
    let arguments = ["verify", "package", "--attest", "statement.json", "-o", "report"];
    let mut writing = Writing::new(before, &arguments);
    writing.cleared.insert("statement.json".to_owned());
    writing.survives();
}

#[test]
fn refit_writes_model_and_result_whole() {
    let before = with_package(|_| {}, &[("model.json", OLD), ("result.json", OLD)]);
    let arguments = ["refit", "package", "--format", "json", "-o", "result.json", "--model-out", "model.json"];
    Writing::new(before, &arguments).survives();
}

#[test]
fn predict_and_diff_write_their_tables_whole() {
    let before = || with_package(|_| {}, &[("table.md", OLD)]);
    let arguments = ["predict", "package/model.json", "package", "--format", "markdown", "-o", "table.md"];
    Writing::new(before(), &arguments).survives();
    Writing::new(before(), &["diff", "package", "package", "--format", "markdown", "-o", "table.md"]).survives();
}

#[test]
fn report_writes_page_markdown_and_charts_whole() {
    let before = with_package(|_| {}, &[("page.html", OLD), ("page.md", OLD), ("charts/package-medians.svg", OLD)]);
    let arguments = ["report", "package", "--html", "page.html", "--markdown", "page.md", "--charts", "charts"];
    Writing::new(before, &arguments).survives();
}

#[test]
fn init_leaves_no_half_file() {
    Writing::new(Tree::new(), &["init", "mine", "-q"]).survives();
    let before = Tree::from([("mine/README.md".to_owned(), b"# Mine\n".to_vec())]);
    Writing::new(before, &["init", "mine", "--kind", "divergence", "-q"]).survives_sizes();
}

#[test]
fn seal_writes_receipts_whole() {
    let changed = |package: &Package| {
        package.write("notes.txt", "new since the package was sealed\n");
    };
    Writing::new(with_package(changed, &[]), &["seal", "package"]).survives();
    let mut unsealed = with_package(|_| {}, &[]);
    unsealed.remove("package/receipts.json");
    Writing::new(unsealed, &["seal", "package"]).survives_sizes();
}

#[test]
fn seal_normalizes_each_text_whole() {
    let with_crlf = |package: &Package| {
        for name in ["README.md", "samples.csv", "validation.json", "cases.json"] {
            package.edit_text(name, |text| text.replace('\n', "\r\n"));
        }
    };
    Writing::new(with_package(with_crlf, &[]), &["seal", "package", "--normalize"]).survives();
}

/// Texts with what is private, in a package with `provenance.json` and in a folder without, where the record of the bytes
/// before is a new file.
fn private_texts() -> [Writing; 2] {
    let private = |package: &Package| {
        for name in ["a.txt", "b.txt", "c.txt"] {
            package.write(name, "written in /home/somebody/measurements, sent to someone@corp.internal\n".repeat(200));
        }
    };
    let package = Package::empty();
    private(&package);
    let (inner, _) = tree(package.path());
    let without = inner.into_iter().map(|(name, bytes)| (format!("package/{name}"), bytes)).collect();
    [with_package(private, &[]), without].map(|before| Writing::new(before, &["seal", "package", "--redact"]))
}

#[test]
fn seal_redacts_each_text_whole() {
    for mut writing in private_texts() {
        writing.counts_aside = true;
        writing.survives();
    }
}

#[test]
fn seal_redacts_to_the_same_counts_when_it_is_run_again() {
    private_texts().iter().for_each(Writing::survives_sizes);
}

#[test]
fn seal_signs_whole() {
    let pair = Ed25519Keypair::from_seed(b"a key that protects nothing at a");
    let key = PrivateKey::from(pair).to_openssh(LineEnding::LF).expect("a key");
    let changed = |package: &Package| {
        package.write("notes.txt", "new since the package was sealed\n");
    };
    let before = with_package(changed, &[("key", key.as_bytes())]);
    let arguments = ["seal", "package", "--sign", "key"];
    let writing = Writing::new(before.clone(), &arguments);
    writing.survives();
    // And where an older signature is replaced.
    let folder = folder_of(&before);
    to_the_end(&mut recount(folder.path(), &arguments));
    std::fs::write(folder.path().join("package/more.txt"), "more\n").expect("a file");
    Writing::new(tree(folder.path()).0, &arguments).survives();
}

/// A raw divergence package of the engine `cpu`, with the tree around it.
fn divergence() -> Tree {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arguments =
        ["divergence", "run", "--out", "package", "--engine", "cpu", "--trials", "2", "--resolutions", "4", "-q"];
    assert_eq!(to_the_end(&mut recount(folder.path(), &arguments)).0, 0);
    tree(folder.path()).0
}

#[test]
fn divergence_summarize_writes_the_receipt_whole() {
    let mut before = divergence();
    before.insert("receipt.json".to_owned(), OLD.to_vec());
    let arguments = ["divergence", "summarize", "package", "--out", "receipt.json", "--date", "2026-11-30"];
    Writing::new(before, &arguments).survives();
}

#[test]
fn divergence_run_leaves_a_whole_package_or_none() {
    let arguments =
        ["divergence", "run", "--out", "package", "--engine", "cpu", "--trials", "6", "--resolutions", "24"];
    let mut writing = Writing::new(Tree::new(), &[&arguments[..], &["-q"]].concat());
    writing.once = true;
    writing.survives();
}

#[test]
fn man_writes_each_page_whole() {
    let before = Tree::from([("pages/recount-verify.1".to_owned(), OLD.to_vec())]);
    Writing::new(before, &["man", "--dir", "pages"]).survives();
}

#[test]
fn selftest_changes_nothing_but_its_result() {
    let before = with_package(|_| {}, &[("forged.json", OLD)]);
    let arguments = ["selftest", "package", "--mutations", "1", "--format", "json", "-o", "forged.json"];
    let writing = Writing::new(before, &arguments);
    writing.survives_moments(12);
    writing.survives_sizes();
}

#[test]
fn every_command_that_writes_is_here() {
    // Options that name a place to write to; a new one needs a test above, or in killed_bench.rs.
    // `seal` and `init` write into the folder that they are given.
    let known = ["attest", "charts", "dir", "html", "markdown", "model-out", "out", "output"];
    let mut found = BTreeSet::new();
    fn walk(command: &clap::Command, found: &mut BTreeSet<(String, String)>) {
        for argument in command.get_arguments() {
            let is_place = argument.get_long().is_some() && {
                let names = argument.get_value_names().unwrap_or_default();
                names.iter().any(|name| ["FILE", "DIR"].contains(&name.as_str()))
            };
            if is_place {
                let long = argument.get_long().unwrap_or_default().to_owned();
                found.insert((command.get_name().to_owned(), long));
            }
        }
        command.get_subcommands().filter(|inner| !inner.is_hide_set()).for_each(|inner| walk(inner, found));
    }
    walk(&recount::cli::command(), &mut found);
    let read = ["allowed-signers", "passphrase-file", "inputs", "cases"];
    let unknown: Vec<_> =
        found.iter().filter(|(_, long)| !known.contains(&long.as_str()) && !read.contains(&long.as_str())).collect();
    assert!(unknown.is_empty(), "{unknown:?} may write");
}
