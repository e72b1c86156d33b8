//! `receipts.json` and the names in it: a text as it stands, or one name in each line.

use std::fs;
use std::path::{Component, Path};

use recount::audit::{Code, Options, Verdict, verify};
use recount::package::digest::digest;
use recount::package::folder::Folder;
use recount::package::json::Document;
use recount::package::name::{check_name, portable_key};
use recount::package::receipts::{RECEIPTS, declared, receipt};
use tempfile::TempDir;

use super::judged;

/// What every file within the package holds, and none outside it.
const INSIDE: &[u8] = b"inside\n";

thread_local! {
    static FOLDER: TempDir = folder();
}

/// No name leads out of the package or to anything but a regular file, and what is said to hold was really there.
pub(super) fn run(data: &[u8]) {
    FOLDER.with(|folder| {
        let root = folder.path().join("package");
        if !data.starts_with(b"{") {
            let text = String::from_utf8_lossy(data);
            text.split('\n').take(32).for_each(|name| one_name(&root, name));
            return;
        }
        fs::write(root.join(RECEIPTS), data).expect("a file");
        let report = verify(&root, "package", &Options::default(), &|_| {});
        judged::report(&report, &root);
        let text = String::from_utf8(data.to_vec()).ok();
        let Some(document) = text.and_then(|text| Document::parse(RECEIPTS, text).ok()) else {
            assert_ne!(report.verdict(false), Verdict::Holds);
            return;
        };
        let entries = declared(&document).unwrap_or_default();
        let has = |code: Code| report.findings().any(|finding| finding.code == code);
        if has(Code::UnsupportedSchema) {
            assert_ne!(report.verdict(false), Verdict::Holds);
            return;
        }
        for (name, record) in entries {
            one_name(&root, name);
            assert!(check_name(name).is_ok() || has(Code::UnsafePath), "{name:?} is not said to be unsafe");
            assert!(receipt(record).is_some() || check_name(name).is_err() || has(Code::MalformedReceipt), "{name:?}");
        }
        if report.verdict(false) == Verdict::Holds {
            assert!(!entries.is_empty());
            for (name, record) in entries {
                let bytes = fs::read(root.join(name)).expect("what holds is there");
                let found = digest(&bytes);
                let receipt = receipt(record).expect("what holds has its form");
                assert_eq!((found.sha256.as_str(), found.bytes), (receipt.sha256, receipt.bytes), "{name:?}");
            }
        }
    });
}

fn one_name(root: &Path, name: &str) {
    let key = portable_key(name);
    assert_eq!(portable_key(&key), key, "the key of {name:?} has another key");
    let opened = Folder::new(root).read(name, 1 << 10);
    match check_name(name) {
        Ok(()) => {
            let mut components = Path::new(name).components();
            assert!(components.all(|component| matches!(component, Component::Normal(_))), "{name:?}");
            assert!(!name.chars().any(|character| character.is_control() || character == '\\'), "{name:?}");
            if let Ok(bytes) = opened {
                assert!(bytes == INSIDE || name == RECEIPTS, "{name:?} leads to {bytes:?}");
                let real = root.canonicalize().expect("a folder");
                assert_eq!(real.join(name).canonicalize().ok(), Some(real.join(name)), "{name:?} goes through a link");
            }
        }
        Err(_) => assert!(opened.is_err(), "{name:?} was opened"),
    }
}

/// A package with what a name could lead to: files, links out of it and within it, a pipe, and a file beside it.
fn folder() -> TempDir {
    let folder = tempfile::Builder::new().prefix("recount-fuzz-").tempdir().expect("a temporary folder");
    let root = folder.path().join("package");
    fs::create_dir_all(root.join("d/e")).expect("folders");
    for name in ["a", "b.txt", "d/f", "d/e/g", "é"] {
        fs::write(root.join(name), INSIDE).expect("a file");
    }
    fs::write(folder.path().join("secret"), "outside").expect("a file");
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        let links = [("../secret", "l"), ("..", "up"), ("a", "d/l"), ("e", "d/le"), ("/", "d/root"), ("loop", "loop")];
        links.iter().for_each(|(to, name)| symlink(to, root.join(name)).expect("a link"));
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        mknodat(CWD, root.join("p"), FileType::Fifo, Mode::RUSR, 0).expect("a pipe");
    }
    folder
}

/// The repository's receipts, receipts of what lies here, and names.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let found = digest(INSIDE);
    let entry = |name: &str| format!("\"{name}\":{{\"sha256\":\"{}\",\"bytes\":{}}}", found.sha256, found.bytes);
    let of = |names: &[&str]| {
        let entries: Vec<_> = names.iter().map(|name| entry(name)).collect();
        format!("{{\"schema\":1,\"files\":{{{}}}}}", entries.join(",")).into_bytes()
    };
    vec![
        include_bytes!("../../../artifacts/divergence-cpu-2026-11-30/receipts.json").to_vec(),
        of(&["a", "b.txt", "d/f", "d/e/g", "\u{e9}"]),
        of(&["a", "A", "l", "up/secret", "p", "d", "d/../a", "/etc/passwd", "loop", "d/le/g"]),
        b"{\"schema\":1,\"files\":{\"a\":{\"sha256\":\"0\",\"bytes\":-1}}}".to_vec(),
        b"a\nd/f\n../secret\nup/a\nd//f\n./a\nC:a\nCOM1.txt\na.\n~\nd\\f\ne\xcc\x81\nl\nroot".to_vec(),
        "\u{c5}\n\u{212b}\n\u{df}\nss\n\u{345}\u{301}\n\u{130}\ni\u{307}\n\u{1f80}".as_bytes().to_vec(),
    ]
}
