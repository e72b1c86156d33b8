//! Signatures and allowed-signers files: any bytes at all, looked at as each of them.

use recount::package::ignore;
use recount::package::signature::Signature;
use recount::package::signature::allowed::{AllowedSigners, Signers};
use recount::package::signature::moment::Moment;

/// A signature that the repository's own signers made.
const OWN: &[u8] = include_bytes!("../../../artifacts/partition-h200-2026-11-30/receipts.json.sig");

thread_local! {
    static SIGNATURE: Signature = Signature::read(OWN).expect("our own signature");
}

/// What is read as a signature is read the same however its lines are broken; who may sign is never more than the file says.
pub(super) fn run(data: &[u8]) {
    if let Ok(signature) = Signature::read(data) {
        let text = std::str::from_utf8(data).expect("a signature is text");
        let again = Signature::read(text.trim().replace('\n', "\r\n").as_bytes()).expect("other line endings");
        assert_eq!(again.key(), signature.key());
        assert_eq!(again.namespace(), signature.namespace());
        assert!(signature.key_words().contains("SHA256:"));
        assert!(!signature.covers(b"what nobody has signed"));
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = ignore::parse(data);
    if let Some(moment) = Moment::read(text) {
        assert!(moment.in_utc() > 0 && moment.is_no_later_than(moment));
    }
    match AllowedSigners::read("signers", text) {
        Ok(allowed) => {
            let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.trim().starts_with('#')).count();
            assert!(lines > 0 || allowed.is_empty());
            for identity in [None, Some("somebody".to_owned())] {
                let signers = Signers {
                    allowed: allowed.clone(),
                    identity,
                    namespace: "recount".to_owned(),
                    at: 0,
                    at_is_stated: true,
                };
                SIGNATURE.with(|signature| {
                    if let Ok(who) = signers.signer(signature.key()) {
                        assert!(text.contains(&who.listed_for), "{who:?}");
                        assert!(who.fingerprint.starts_with("SHA256:"), "{who:?}");
                    }
                });
            }
        }
        Err(error) => assert!((1..=text.lines().count()).contains(&error.line), "{error}"),
    }
}

/// A signature, allowed-signers files, and times.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let allowed = include_str!("../../../receipts/allowed_signers");
    let key = allowed.split_once(' ').map_or(allowed, |(_, key)| key);
    let restricted = format!("# who\n*@a,!b@a namespaces=\"recount,g*\",valid-after=\"20250101Z\" {key}");
    let other = format!("\"a b\" cert-authority {key}a valid-before=\"197001010000\" {key}a ssh-dss AAAA\n");
    let texts = [allowed, &restricted, &other, "20250101Z", "**/*.log\n#\n[a-\n{a,b}/c"];
    std::iter::once(OWN.to_vec()).chain(texts.map(|text| text.as_bytes().to_vec())).collect()
}
