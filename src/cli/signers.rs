//! Options on who may have signed.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};

use super::Failure;
use crate::package::limits::MAX_ALLOWED_BYTES;
use crate::package::signature::NAMESPACE;
use crate::package::signature::allowed::{AllowedSigners, Signers};
use crate::package::signature::moment::Moment;

/// Whose signature a reader asks for.
#[derive(Debug, clap::Args)]
pub(super) struct SignerArgs {
    /// Ask for a signature, receipts.json.sig, by one of the keys in this OpenSSH allowed-signers file
    #[arg(long, value_name = "FILE")]
    allowed_signers: Option<PathBuf>,
    /// Ask for this identity's signature, such as alice@example.org
    #[arg(long, value_name = "IDENTITY", requires = "allowed_signers")]
    signer: Option<String>,
    /// Namespace that the receipts must be signed in
    #[arg(long, value_name = "NAME", default_value = NAMESPACE, requires = "allowed_signers")]
    signature_namespace: String,
    /// When the signature counts as made, for valid-after and valid-before in the file: YYYYMMDD, or with HHMM or
    /// HHMMSS after it, in UTC; the present time by default, as no signature proves when it was made
    #[arg(long, value_name = "TIME", requires = "allowed_signers", value_parser = time)]
    signed_at: Option<i64>,
}

impl SignerArgs {
    /// The allowed-signers file, where one is named.
    pub(super) fn file(&self) -> Option<&Path> {
        self.allowed_signers.as_deref()
    }

    /// Whom the options accept; `None` where no signature is asked for.
    ///
    /// # Errors
    /// A file that cannot be read, or that allows nobody.
    pub(super) fn signers(&self) -> Result<Option<Signers>, Failure> {
        let Some(path) = &self.allowed_signers else { return Ok(None) };
        let name = path.display().to_string();
        let cannot = || format!("--allowed-signers {name} cannot be read");
        let file = std::fs::File::open(path).with_context(cannot)?;
        let mut text = String::new();
        file.take(MAX_ALLOWED_BYTES + 1).read_to_string(&mut text).with_context(cannot)?;
        if text.len() as u64 > MAX_ALLOWED_BYTES {
            bail!("--allowed-signers {name} has more than {MAX_ALLOWED_BYTES} bytes");
        }
        let allowed = AllowedSigners::read(&name, &text).context("--allowed-signers")?;
        if allowed.is_empty() {
            let why = if allowed.skipped.is_empty() { "it has no line" } else { &allowed.skipped.join("; ") };
            bail!(
                "--allowed-signers {name} allows nobody: {why}; expected lines such as `alice@example.org ssh-ed25519 AAAA...`"
            );
        }
        let now =
            || SystemTime::now().duration_since(UNIX_EPOCH).ok().and_then(|age| i64::try_from(age.as_secs()).ok());
        let at = self.signed_at.or_else(now).context("the clock of this machine is before 1970; give --signed-at")?;
        Ok(Some(Signers {
            allowed,
            identity: self.signer.clone(),
            namespace: self.signature_namespace.clone(),
            at,
            at_is_stated: self.signed_at.is_some(),
        }))
    }
}

fn time(text: &str) -> Result<i64, String> {
    let time = Moment::read(text).map(Moment::in_utc);
    time.ok_or_else(|| "a time after 1970 as YYYYMMDD or YYYYMMDDHHMM[SS], with or without Z".to_owned())
}
