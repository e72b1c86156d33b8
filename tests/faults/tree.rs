//! Folders and what lies in them, byte for byte; processes that are killed on the way.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use recount::package::partial::is_partial;

/// Files by name; folders end in `/` and hold nothing.
pub(super) type Tree = BTreeMap<String, Vec<u8>>;

/// Everything below a folder that has a final name, and the names of what an interrupted write has left.
pub(super) fn tree(folder: &Path) -> (Tree, Vec<String>) {
    let (mut found, mut left) = (Tree::new(), Vec::new());
    walk(folder, "", &mut found, &mut left);
    (found, left)
}

fn walk(folder: &Path, prefix: &str, found: &mut Tree, left: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
        let part = entry.file_name().into_string().expect("UTF-8");
        let name = format!("{prefix}{part}");
        if is_partial(&part) {
            left.push(name);
        } else if entry.file_type().expect("a type").is_dir() {
            walk(&entry.path(), &format!("{name}/"), found, left);
            found.insert(format!("{name}/"), Vec::new());
        } else {
            found.insert(name, fs::read(entry.path()).expect("a file"));
        }
    }
}

/// Writes a tree into an empty folder.
pub(super) fn write(folder: &Path, tree: &Tree) {
    for (name, bytes) in tree {
        let path = folder.join(name);
        if name.ends_with('/') {
            fs::create_dir_all(path).expect("a folder");
        } else {
            fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
            fs::write(path, bytes).expect("a file");
        }
    }
}

/// The program, in a folder.
pub(super) fn recount(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recount"));
    command.current_dir(folder).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Runs to the end; the exit status and how long it took.
pub(super) fn to_the_end(command: &mut Command) -> (i32, Duration) {
    let begin = Instant::now();
    let status = command.status().expect("the program runs");
    (status.code().expect("an exit status"), begin.elapsed())
}

/// Random moments at which to kill (`kill -9`) runs of a program.
///
/// How long a run takes differs from one to the next by more than a few times on a busy machine, so it is not measured
/// beforehand: a run that ended before its moment brings the next moments forward, one that was killed puts them off. About
/// one run in four ends by itself.
pub(super) struct Moments {
    random: fastrand::Rng,
    reach: Duration,
}

impl Moments {
    /// Moments before `took`, at first.
    pub(super) fn new(seed: u64, took: Duration) -> Self {
        Self { random: fastrand::Rng::with_seed(seed), reach: took }
    }

    /// Kills runs until `wanted` of them died of it. Each takes the command that `begin` makes, and `judge` looks at what it
    /// left, however it ended; its text says when that was.
    #[track_caller]
    pub(super) fn kill<T>(
        &mut self,
        wanted: usize,
        mut begin: impl FnMut() -> (T, Command),
        mut judge: impl FnMut(T, &str),
    ) {
        let attempts = 20 * wanted;
        let mut killed = 0;
        for number in 0..attempts {
            let moment = self.reach.mul_f64(self.random.f64());
            let (place, mut command) = begin();
            let mut child = command.spawn().expect("the program runs");
            std::thread::sleep(moment);
            child.kill().expect("a signal");
            let died = child.wait().expect("an end").signal() == Some(9);
            judge(place, &format!("killed after {moment:?} (moment {number})"));
            killed += usize::from(died);
            if killed == wanted {
                return;
            }
            self.reach = self.reach.mul_f64(if died { 1.03 } else { 0.9 });
        }
        panic!("only {killed} of {attempts} runs were killed");
    }
}
