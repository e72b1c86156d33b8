//! Names the commit that a release is built from, where there is one: `RECOUNT_COMMIT`, 40 hexadecimal digits. A tree with
//! changes has no commit. Development builds do not ask: they would be built again after every commit.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("PROFILE").as_deref() != Ok("release") {
        return;
    }
    for path in ["src", "Cargo.toml", "Cargo.lock", ".git/HEAD", ".git/logs/HEAD", ".cargo_vcs_info.json"] {
        if Path::new(path).exists() {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    if let Some(commit) = packaged().or_else(checked_out) {
        println!("cargo:rustc-env=RECOUNT_COMMIT={commit}");
    }
}

/// The commit of a packaged crate.
fn packaged() -> Option<String> {
    let text = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let after = &text[text.find("\"sha1\"")? + 6..];
    hexadecimal(after.split('"').nth(1)?)
}

/// The commit of a tree without changes of what is built.
fn checked_out() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
        String::from_utf8(output.stdout).ok()
    };
    // A crate that lies in somebody else's repository has no commit of its own there.
    let root = git(&["rev-parse", "--show-toplevel"])?;
    if Path::new(root.trim()).canonicalize().ok()? != Path::new(".").canonicalize().ok()? {
        return None;
    }
    let changes = git(&["status", "--porcelain", "--", "src", "build.rs", "Cargo.toml", "Cargo.lock"])?;
    changes.trim().is_empty().then(|| hexadecimal(git(&["rev-parse", "HEAD"])?.trim())).flatten()
}

fn hexadecimal(text: &str) -> Option<String> {
    let is_commit = text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_commit.then(|| text.to_owned())
}
