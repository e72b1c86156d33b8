//! The signature over `receipts.json`: absent, no signature, over other bytes, by somebody else, or good.
//!
//! The order is that of what can be said: of a signature that does not cover the bytes nothing is known about who made it.

use super::{Code, Place, Recorder};
use crate::package::digest::LfNormalizer;
use crate::package::folder::{FileError, Folder};
use crate::package::limits::MAX_SIGNATURE_BYTES;
use crate::package::receipts::{RECEIPTS, SIGNATURE};
use crate::package::signature::Signature;
use crate::package::signature::allowed::{Signer, Signers};
use crate::package::signature::moment::Moment;

/// Checks the signature over the bytes of `receipts.json` where `signers` are given, and otherwise says only that one is
/// there. Gives back what is known of the signer where the signature is good.
///
/// As with an expected hash, a good signature is not counted: it says nothing of the files.
pub(super) fn check(
    folder: &Folder,
    receipts: &[u8],
    signers: Option<&Signers>,
    recorder: &mut Recorder,
) -> Option<Signer> {
    let read = match folder.read(SIGNATURE, MAX_SIGNATURE_BYTES) {
        Ok(bytes) => Signature::read(&bytes).map_err(|error| error.to_string()),
        Err(FileError::Absent) => {
            if signers.is_some() {
                let expected = format_args!("{SIGNATURE}, a signature over {RECEIPTS}");
                recorder.report(Code::Unsigned, SIGNATURE, Place::whole_file(), expected, "no such file");
            }
            return None;
        }
        Err(error) => Err(error.to_string()),
    };
    let Some(signers) = signers else {
        recorder.note(match read {
            Ok(signature) => {
                format!("{SIGNATURE} names the {}; it was not checked (--allowed-signers)", signature.key_words())
            }
            Err(reason) => format!("{SIGNATURE} is no signature that could be checked: {reason}"),
        });
        return None;
    };
    signers.allowed.skipped.iter().for_each(|line| recorder.note(line.clone()));
    let mut report =
        |code, expected: &str, found: &str| recorder.report(code, SIGNATURE, Place::whole_file(), expected, found);
    let signature = match read {
        Ok(signature) => signature,
        Err(reason) => {
            report(Code::SignatureInvalid, "an armored SSH signature", &reason);
            return None;
        }
    };
    if signature.namespace() != signers.namespace {
        let (expected, found) = (&signers.namespace, signature.namespace());
        report(Code::SignatureInvalid, &format!("the namespace {expected}"), &format!("the namespace {found}"));
        return None;
    }
    let key = signature.key_words();
    let normalized = if signature.covers(receipts) { None } else { Some(lf_form(receipts)) };
    if normalized.as_ref().is_some_and(|normalized| !signature.covers(normalized)) {
        let expected = format!("a signature over {RECEIPTS}");
        report(Code::SignatureMismatch, &expected, &format!("one over other bytes; it names the {key}"));
        return None;
    }
    // A name alone could be any word of the sentence.
    let file = format!("the allowed-signers file `{}`", signers.allowed.name);
    let moment = match signers.at_is_stated {
        true => format!(", as of {} (--signed-at)", Moment::written(signers.at)),
        false => String::new(),
    };
    let signer = match signers.signer(signature.key()) {
        Ok(signer) => signer,
        Err(reason) => {
            let expected = match &signers.identity {
                Some(identity) => format!("a key that {file} lists for {identity}{moment}"),
                None => format!("a key that {file} lists{moment}"),
            };
            report(Code::SignerUnknown, &expected, &format!("the {key}: {reason}"));
            return None;
        }
    };
    if normalized.is_some() {
        let found = "other bytes, which it covers with LF line endings";
        recorder.report(Code::LineEndings, RECEIPTS, Place::whole_file(), "the bytes that were signed", found);
    }
    let listed = &signer.listed_for;
    recorder.note(match &signer.identity {
        Some(identity) => {
            format!("{RECEIPTS} is signed by {identity} with the {key}, which {file} lists for {listed}{moment}")
        }
        None => format!(
            "{RECEIPTS} is signed with the {key}, which {file} lists for {listed}{moment}; whether that is one identity or \
             many, no --signer asked for one"
        ),
    });
    Some(signer)
}

/// What a pass says, or does not say, about who made the package.
pub(super) fn limit(signer: Option<&Signer>) -> String {
    match signer {
        Some(Signer { identity: Some(identity), key_type, fingerprint, .. }) => format!(
            "that {identity} measured what is in it: the signature proves only that the holder of the {key_type} key \
             {fingerprint}, which your allowed-signers file allows for {identity}, signed {RECEIPTS}"
        ),
        Some(Signer { identity: None, key_type, fingerprint, .. }) => format!(
            "whose {RECEIPTS} it is: the signature proves only that the holder of the {key_type} key {fingerprint}, which your \
             allowed-signers file lists, signed it; only --signer asks for an identity"
        ),
        None => format!(
            "that {RECEIPTS} is the author's: only --expect-receipts with a hash from elsewhere, or a signature \
             (--allowed-signers), can"
        ),
    }
}

fn lf_form(bytes: &[u8]) -> Vec<u8> {
    let mut normalizer = LfNormalizer::default();
    let mut text = Vec::with_capacity(bytes.len());
    normalizer.push(bytes, &mut text);
    normalizer.finish(&mut text);
    text
}
