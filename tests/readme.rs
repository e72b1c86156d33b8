//! The sessions that the README shows with the published package: what is printed there is what is printed.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "helpers of a test fail by panicking, and say what they skip"
)]

use std::path::Path;
use std::process::Command;
use std::{env, fs};

#[macro_use]
#[allow(dead_code, unused_macros)]
mod common;

/// Name of the published package in the README's sessions.
const PACKAGE: &str = "program-partition";

#[test]
fn sessions_with_the_published_package_are_what_is_printed() {
    let Some(source) = common::shared::shared(&format!("packages/{PACKAGE}")) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    copy(&source, &folder.path().join(PACKAGE));
    let readme = include_str!("../README.md");
    let blocks = readme.split("```text\n").skip(1).filter_map(|block| block.split("\n```").next());
    let mut sessions = 0;
    for block in blocks.filter(|block| {
        (block.starts_with("$ recount verify") || block.starts_with("$ sed")) && block.contains(PACKAGE)
    }) {
        sessions += 1;
        for (command, shown) in commands(block) {
            let printed = run(command, folder.path());
            assert!(
                is_shown(&shown, &printed),
                "$ {command}\n{printed}\n--- but the README shows\n{}",
                shown.join("\n")
            );
        }
    }
    assert!(sessions >= 2, "{sessions} sessions");
}

/// Each command of a session with the lines shown after it.
fn commands(block: &str) -> Vec<(&str, Vec<&str>)> {
    let mut commands: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in block.lines() {
        match line.strip_prefix("$ ") {
            Some(command) => commands.push((command, Vec::new())),
            None => commands.last_mut().expect("a command first").1.push(line),
        }
    }
    commands
}

fn run(command: &str, folder: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_recount")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), env::var("PATH").unwrap_or_default());
    let output =
        Command::new("sh").args(["-c", command]).env("PATH", path).current_dir(folder).output().expect("a shell");
    assert!(output.stderr.is_empty(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Whether the lines are all of what was printed; `...` stands for any lines.
fn is_shown(shown: &[&str], printed: &str) -> bool {
    let printed: Vec<&str> = printed.lines().collect();
    let mut at = 0;
    for (number, part) in shown.split(|line| *line == "...").enumerate() {
        let is_last = number + 1 == shown.split(|line| *line == "...").count();
        let found = printed[at..].windows(part.len().max(1)).position(|lines| part.is_empty() || lines == part);
        match found {
            // What no dots precede begins where the last part ended.
            Some(skipped) if number > 0 || skipped == 0 => at += skipped + part.len(),
            _ => return part.is_empty() && printed.is_empty(),
        }
        if is_last && !part.is_empty() && at != printed.len() {
            return false;
        }
    }
    true
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}
