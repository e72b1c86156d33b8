//! Keys and signatures for tests: made by the real `ssh-keygen` in a temporary folder, or in memory from a seed.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use ssh_key::private::{Ed25519Keypair, PrivateKey};
use ssh_key::{HashAlg, LineEnding};
use tempfile::TempDir;

use crate::common::package::Package;

/// Keys that go away with the value.
#[derive(Debug)]
pub(crate) struct Keys {
    folder: TempDir,
}

impl Keys {
    /// A folder for keys; `None`, with a message, where there is no `ssh-keygen`.
    pub(crate) fn new() -> Option<Self> {
        if Command::new("ssh-keygen").arg("-?").output().is_err() {
            eprintln!("skipped: ssh-keygen is not installed (Debian: openssh-client)");
            return None;
        }
        Some(Self { folder: tempfile::tempdir().expect("a temporary folder") })
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file beside the keys.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.file(name), text).expect("written");
        path(&self.file(name))
    }

    /// A new key of a kind, such as `["-t", "ed25519"]`.
    #[track_caller]
    pub(crate) fn make(&self, name: &str, kind: &[&str], passphrase: &str) -> String {
        let file = path(&self.file(name));
        let args = [kind, &["-q", "-N", passphrase, "-C", name, "-f", &file]].concat();
        done(keygen(&args, None));
        file
    }

    /// An unencrypted ed25519 key.
    #[track_caller]
    pub(crate) fn ed25519(&self, name: &str) -> String {
        self.make(name, &["-t", "ed25519"], "")
    }

    /// A certificate of an authority for a key, beside the key.
    #[track_caller]
    pub(crate) fn certify(&self, authority: &str, key: &str) {
        done(keygen(&["-q", "-s", authority, "-I", "test", "-n", "alice", &format!("{key}.pub")], None));
    }

    /// An allowed-signers file: for each line the identities with options, and the key.
    #[track_caller]
    pub(crate) fn allow(&self, lines: &[(&str, &str)]) -> String {
        let line = |(who, key): &(&str, &str)| {
            format!("{who} {}\n", fs::read_to_string(self.file(&format!("{key}.pub"))).expect("a key").trim_end())
        };
        self.write("allowed_signers", &lines.iter().map(line).collect::<String>())
    }

    /// `ssh-keygen -Y sign` over the package's receipts.
    #[track_caller]
    pub(crate) fn sign(&self, package: &Package, key: &str, namespace: &str) {
        let _ = fs::remove_file(package.file("receipts.json.sig"));
        let receipts = path(&package.file("receipts.json"));
        done(keygen(&["-q", "-Y", "sign", "-n", namespace, "-f", key, &receipts], None));
    }

    /// Whether `ssh-keygen -Y verify` accepts the package's signature.
    pub(crate) fn verifies(&self, package: &Package, allowed: &str, identity: &str, namespace: &str) -> bool {
        let signature = path(&package.file("receipts.json.sig"));
        let args = ["-Y", "verify", "-f", allowed, "-I", identity, "-n", namespace, "-s", &signature];
        keygen(&args, Some(&package.bytes("receipts.json"))).status.success()
    }

    /// The same at a time, on a machine in a time zone as POSIX writes it.
    pub(crate) fn verifies_at(&self, package: &Package, allowed: &str, identity: &str, at: &str, zone: &str) -> bool {
        let signature = path(&package.file("receipts.json.sig"));
        let time = format!("verify-time={at}");
        let args = ["-Y", "verify", "-f", allowed, "-I", identity, "-n", "recount", "-s", &signature, "-O", &time];
        let mut command = Command::new("ssh-keygen");
        command.env("TZ", zone);
        run(command.args(args), Some(&package.bytes("receipts.json"))).status.success()
    }

    /// What `ssh-keygen -l` says of a key.
    #[track_caller]
    pub(crate) fn fingerprint(&self, key: &str) -> String {
        let output = done(keygen(&["-l", "-f", key], None));
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        text.split(' ').nth(1).expect("a fingerprint").to_owned()
    }
}

pub(crate) fn path(path: &Path) -> String {
    path.to_str().expect("UTF-8").to_owned()
}

fn keygen(args: &[&str], input: Option<&[u8]>) -> Output {
    run(Command::new("ssh-keygen").args(args), input)
}

fn run(command: &mut Command, input: Option<&[u8]>) -> Output {
    let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
    let mut child =
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("ssh-keygen starts");
    if let (Some(input), Some(mut stdin)) = (input, child.stdin.take()) {
        // It may leave before it has read everything.
        let _ = stdin.write_all(input);
    }
    child.wait_with_output().expect("ssh-keygen ends")
}

#[track_caller]
fn done(output: Output) -> Output {
    assert!(output.status.success(), "ssh-keygen: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// A key that is the same in every run and lies nowhere.
fn from_seed(seed: u8) -> PrivateKey {
    PrivateKey::from(Ed25519Keypair::from_seed(&[seed; 32]))
}

/// Signs the package's receipts with the key of a seed.
pub(crate) fn sign_from_seed(package: &Package, seed: u8) {
    let receipts = package.bytes("receipts.json");
    let signature = from_seed(seed).sign("recount", HashAlg::Sha512, &receipts).expect("a signature");
    package.write("receipts.json.sig", signature.to_pem(LineEnding::LF).expect("armor"));
}

/// A line of an allowed-signers file for the key of a seed.
pub(crate) fn line_from_seed(who: &str, seed: u8) -> String {
    format!("{who} {}\n", from_seed(seed).public_key().to_openssh().expect("a key"))
}
