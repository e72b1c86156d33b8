//! Signing receipts with an SSH key: what `ssh-keygen -Y sign -n recount` does.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ssh_key::private::Ed25519Keypair;
use ssh_key::{Algorithm, HashAlg, LineEnding, PrivateKey};
use zeroize::Zeroizing;

use crate::package::limits::MAX_SIGNATURE_BYTES;
use crate::package::signature::{NAMESPACE, Signature};

/// Why a key cannot sign.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file cannot be read.
    #[error("the key {path} cannot be read")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is no private key in OpenSSH's form.
    #[error("{path}: expected an OpenSSH private key, found {found}")]
    Form {
        /// The file.
        path: PathBuf,
        /// What it is, and what to do.
        found: String,
    },
    /// The passphrase does not open the key.
    #[error("{path}: the passphrase does not open this key")]
    Passphrase {
        /// The file.
        path: PathBuf,
    },
    /// The key opens, but is not used before it is unlocked.
    #[error("{path}: the key is encrypted and no passphrase was given")]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// A kind of key that cannot sign here.
    #[error(
        "{path}: a key of the kind {kind} cannot sign here ({reason}); use an ed25519 or ecdsa key, or sign receipts.json with \
         `ssh-keygen -Y sign -n recount`, which `recount verify` reads as well"
    )]
    Kind {
        /// The file.
        path: PathBuf,
        /// The kind.
        kind: String,
        /// What was wrong.
        reason: String,
    },
}

/// A private key, perhaps still encrypted.
#[derive(Debug)]
pub struct SigningKey {
    path: PathBuf,
    key: PrivateKey,
}

impl SigningKey {
    /// Reads an OpenSSH private key file.
    ///
    /// # Errors
    /// A file that cannot be read, and what is no such key: each with what it is instead.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let failed = |source| KeyError::Read { path: path.to_owned(), source };
        let file = File::open(path).map_err(failed)?;
        let bytes = read_secret(file, MAX_SIGNATURE_BYTES + 1).map_err(failed)?;
        let form = |found: String| KeyError::Form { path: path.to_owned(), found };
        if let Some(found) = other_form(&bytes) {
            return Err(form(found.to_owned()));
        }
        // Line endings of another system do not matter to OpenSSH either.
        let text = std::str::from_utf8(&bytes).map_err(|_| form("something else".to_owned()))?;
        let text = Zeroizing::new(text.replace('\r', ""));
        match PrivateKey::from_openssh(text.trim_start()) {
            Ok(key) => Ok(Self { path: path.to_owned(), key }),
            Err(error) => Err(form(unreadable(&error))),
        }
    }

    /// A key from a seed, for tests of what a signature would catch. Whoever knows the seed has the key.
    pub fn from_seed(seed: [u8; 32]) -> Self {
        Self { path: PathBuf::from("a key from a seed"), key: PrivateKey::from(Ed25519Keypair::from_seed(&seed)) }
    }

    /// The public key as a line for an allowed-signers file.
    ///
    /// # Errors
    /// A key that has no such form.
    pub fn allowed_line(&self, identity: &str) -> Result<String, KeyError> {
        let line = self.key.public_key().to_openssh();
        let line = line.map_err(|error| KeyError::Form { path: self.path.clone(), found: unreadable(&error) })?;
        Ok(format!("{identity} {line}\n"))
    }

    /// Whether a passphrase is needed.
    pub fn is_encrypted(&self) -> bool {
        self.key.is_encrypted()
    }

    /// Decrypts the key.
    ///
    /// # Errors
    /// The passphrase is another one, or the key is damaged, which looks the same.
    pub fn unlock(self, passphrase: &str) -> Result<Self, KeyError> {
        match self.key.decrypt(passphrase) {
            Ok(key) => Ok(Self { key, ..self }),
            Err(error) if error != ssh_key::Error::Crypto => {
                Err(KeyError::Form { path: self.path, found: unreadable(&error) })
            }
            Err(_) => Err(KeyError::Passphrase { path: self.path }),
        }
    }

    /// Whether a signature is one that this key has made over `message` as receipts.
    pub fn has_signed(&self, signature: &Signature, message: &[u8]) -> bool {
        signature.key() == self.key.public_key().key_data()
            && signature.namespace() == NAMESPACE
            && signature.covers(message)
    }

    /// The armored signature over `message`, as it stands in a file.
    ///
    /// # Errors
    /// The key is still encrypted, or of a kind that cannot sign.
    pub fn sign(&self, message: &[u8]) -> Result<String, KeyError> {
        if self.is_encrypted() {
            return Err(KeyError::Locked { path: self.path.clone() });
        }
        let refused =
            |reason: String| KeyError::Kind { path: self.path.clone(), kind: self.key.algorithm().to_string(), reason };
        if let Algorithm::Rsa { .. } = self.key.algorithm() {
            // The crate builds such a key from one of its primes twice (ssh-key 0.6.7), and rsa 0.9 signs in a time that
            // depends on the key (RUSTSEC-2023-0071).
            return Err(refused("rsa signatures are only checked".to_owned()));
        }
        let signature =
            self.key.sign(NAMESPACE, HashAlg::Sha512, message).map_err(|error| refused(error.to_string()))?;
        let armor = signature.to_pem(LineEnding::LF).map_err(|error| refused(error.to_string()))?;
        // The halves of a key file need not belong together; then nobody could verify the signature.
        let readable = Signature::of(signature).map_err(|error| refused(error.to_string()))?;
        if readable.covers(message) {
            Ok(armor)
        } else {
            Err(refused("its public half does not verify what its private half signs".to_owned()))
        }
    }
}

/// At most `limit` bytes of what must not stay in memory: the buffer never moves while it is filled, and is overwritten when it
/// is dropped.
///
/// # Errors
/// It cannot be read.
pub fn read_secret(mut source: impl Read, limit: u64) -> io::Result<Zeroizing<Vec<u8>>> {
    let limit = usize::try_from(limit).map_err(io::Error::other)?;
    let mut bytes = Zeroizing::new(vec![0; limit]);
    let mut length = 0;
    while length < limit {
        match source.read(&mut bytes[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(length);
    Ok(bytes)
}

/// What a key is that cannot be read.
fn unreadable(error: &ssh_key::Error) -> String {
    match error {
        ssh_key::Error::AlgorithmUnknown | ssh_key::Error::AlgorithmUnsupported { .. } => {
            format!("one of a kind that is not known here ({error}); use an ed25519 or ecdsa key")
        }
        // ssh-key 0.6.7 wants the private number of an ecdsa key in its full length; OpenSSH leaves out leading zeros.
        _ => format!(
            "one that cannot be read ({error}): it is damaged, or its number is shorter than usual, as in 1 of 256 ecdsa keys \
             (with p521 1 of 2); use an ed25519 key"
        ),
    }
}

/// What a file is that is not in OpenSSH's form of private keys; `None` where it may be.
fn other_form(bytes: &[u8]) -> Option<&'static str> {
    if bytes.len() as u64 > MAX_SIGNATURE_BYTES {
        return Some("a file of more than 64 KiB");
    }
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start();
    if text.starts_with("-----BEGIN OPENSSH PRIVATE KEY-----") {
        return None;
    }
    let begins_with = |prefixes: &[&str]| prefixes.iter().any(|prefix| text.starts_with(prefix));
    Some(if text.is_empty() {
        "nothing"
    } else if begins_with(&["ssh-", "ecdsa-", "sk-ssh-", "sk-ecdsa-", "---- BEGIN SSH2 PUBLIC"]) {
        "a public key; give the private one, which is usually the file without .pub"
    } else if begins_with(&["-----BEGIN PUBLIC KEY", "-----BEGIN RSA PUBLIC KEY"]) {
        "a public key; give the private one"
    } else if text.starts_with("-----BEGIN ") && text.lines().next().is_some_and(|line| line.contains("PRIVATE KEY")) {
        "a private key in another form; `ssh-keygen -p -f KEY` writes it in OpenSSH's"
    } else if text.starts_with("PuTTY-User-Key-File") {
        "a key of PuTTY; `puttygen KEY -O private-openssh-new` writes it in OpenSSH's form"
    } else {
        "something else"
    })
}
