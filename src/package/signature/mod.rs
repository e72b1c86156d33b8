//! SSH signatures (PROTOCOL.sshsig) over `receipts.json`: one is read, and said to cover some bytes or not. Whose key made it
//! is another question: [`allowed`].

pub mod allowed;
mod line;
pub mod moment;
mod pattern;

use ssh_key::public::KeyData;
use ssh_key::{Algorithm, HashAlg, PublicKey, SshSig};

/// The namespace that `recount` signs in: what was signed as something else is no signature of receipts.
pub const NAMESPACE: &str = "recount";

const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";
const END: &str = "-----END SSH SIGNATURE-----";

/// Characters in a line of armor, as `ssh-keygen` writes them.
const ARMOR_COLUMNS: usize = 70;

/// Bits of the RSA keys that can be checked.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=4096;

/// Why bytes are no signature that can be checked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// No armored SSH signature.
    #[error("{0}")]
    Armor(&'static str),
    /// The armor holds something else than a signature, or a part of one.
    #[error("the armor holds no whole SSH signature by a plain key (a certificate is none): {0}")]
    Content(ssh_key::Error),
    /// Another version of the format.
    #[error("version {0} of the format; version 1 is supported")]
    Version(u32),
    /// The key and the signature are of two kinds.
    #[error("the signature is a {signature} one, by a key of the kind {key}")]
    Kinds {
        /// Algorithm of the signature.
        signature: String,
        /// Algorithm of the key.
        key: String,
    },
    /// An algorithm that is not checked here.
    #[error("a signature of the kind {0}, which is not supported; ed25519, ecdsa and rsa (2048 to 4096 bits) are")]
    Algorithm(String),
}

/// A signature in its form; nothing is known of what it covers until [`Signature::covers`] is asked.
#[derive(Debug, Clone)]
pub struct Signature(SshSig);

impl Signature {
    /// Reads an armored signature, whatever the length of its lines and their endings.
    ///
    /// # Errors
    /// The bytes are no signature, or one of a kind that cannot be checked.
    pub fn read(bytes: &[u8]) -> Result<Self, SignatureError> {
        let text = std::str::from_utf8(bytes).map_err(|_| SignatureError::Armor("it is not text"))?;
        let body =
            text.trim().strip_prefix(BEGIN).ok_or(SignatureError::Armor("no line BEGIN SSH SIGNATURE begins it"))?;
        let body = body.strip_suffix(END).ok_or(SignatureError::Armor("no line END SSH SIGNATURE ends it"))?;
        let mut armor = format!("{BEGIN}\n");
        for (index, character) in body.chars().filter(|character| !character.is_ascii_whitespace()).enumerate() {
            if index > 0 && index % ARMOR_COLUMNS == 0 {
                armor.push('\n');
            }
            armor.push(character);
        }
        armor.push('\n');
        armor.push_str(END);
        armor.push('\n');
        let signature = SshSig::from_pem(&armor).map_err(|error| match error {
            ssh_key::Error::AlgorithmUnsupported { algorithm } => SignatureError::Algorithm(algorithm.to_string()),
            other => SignatureError::Content(other),
        })?;
        Self::supported(&signature)?;
        // The crate tolerates lengths that do not fit; what one reader takes for a signature, every reader should.
        match signature.to_pem(ssh_key::LineEnding::LF) {
            Ok(canonical) if canonical == armor => Ok(Self(signature)),
            _ => Err(SignatureError::Armor("the armor does not hold exactly one SSH signature")),
        }
    }

    /// Takes what was just signed.
    ///
    /// # Errors
    /// One of a kind that cannot be checked.
    pub fn of(signature: SshSig) -> Result<Self, SignatureError> {
        Self::supported(&signature)?;
        Ok(Self(signature))
    }

    fn supported(signature: &SshSig) -> Result<(), SignatureError> {
        // Nothing signs the version, and the crate refuses only later ones.
        if signature.version() != SshSig::VERSION {
            return Err(SignatureError::Version(signature.version()));
        }
        let (key, algorithm) = (signature.public_key().algorithm(), signature.algorithm());
        let unsupported = || SignatureError::Algorithm(algorithm.to_string());
        let is_one_kind = match (&key, &algorithm) {
            // SHA-1, which OpenSSH does not accept either.
            (Algorithm::Rsa { .. }, Algorithm::Rsa { hash: None }) => return Err(unsupported()),
            (Algorithm::Rsa { .. }, Algorithm::Rsa { .. }) => true,
            (Algorithm::Dsa | Algorithm::Other(_), _) | (_, Algorithm::Dsa | Algorithm::Other(_)) => {
                return Err(unsupported());
            }
            (key, signature) => key == signature,
        };
        if !is_one_kind {
            return Err(SignatureError::Kinds { signature: algorithm.to_string(), key: key.to_string() });
        }
        if let KeyData::Rsa(rsa) = signature.public_key() {
            let bits = rsa
                .n
                .as_positive_bytes()
                .map_or(0, |bytes| bytes.len() * 8 - bytes.first().map_or(0, |byte| byte.leading_zeros() as usize));
            if !RSA_BITS.contains(&bits) {
                return Err(SignatureError::Algorithm(format!("{algorithm} with a key of {bits} bits")));
            }
        }
        Ok(())
    }

    /// Whether the signature was made over these bytes, with the key that it names.
    pub fn covers(&self, message: &[u8]) -> bool {
        PublicKey::from(self.0.public_key().clone()).verify(self.0.namespace(), message, &self.0).is_ok()
    }

    /// What the bytes were signed as.
    pub fn namespace(&self) -> &str {
        self.0.namespace()
    }

    /// The key that the signature names.
    pub fn key(&self) -> &KeyData {
        self.0.public_key()
    }

    /// The key as `ssh-keygen -l` shows it: `SHA256:...`.
    pub fn fingerprint(&self) -> String {
        self.key().fingerprint(HashAlg::Sha256).to_string()
    }

    /// The kind of key and its fingerprint: `ssh-ed25519 key SHA256:...`.
    pub fn key_words(&self) -> String {
        format!("{} key {}", self.key().algorithm(), self.fingerprint())
    }
}
