//! `receipts.json` itself: its bytes, who signed them, what they declare.

use super::documents::parse_document;
use super::examined::{lf_digest, report_file_error};
use crate::audit::evidence::Options;
use crate::audit::{Code, Place, Recorder, signature};
use crate::package::digest::digest;
use crate::package::folder::{FileError, Folder};
use crate::package::json::Document;
use crate::package::limits::MAX_PARSED_BYTES;
use crate::package::receipts::RECEIPTS;
use crate::package::signature::allowed::Signer;

/// What was read of `receipts.json`.
#[derive(Default)]
pub(super) struct ReadReceipts {
    /// The parsed file.
    pub(super) receipts: Option<Document>,
    /// Its hash.
    pub(super) sha256: Option<String>,
    /// Whose key signed them, where that was asked and answered.
    pub(super) signer: Option<Signer>,
}

pub(super) fn read_receipts(folder: &Folder, options: &Options, recorder: &mut Recorder) -> ReadReceipts {
    let bytes = match folder.read(RECEIPTS, MAX_PARSED_BYTES) {
        Ok(bytes) => bytes,
        Err(error @ (FileError::Io(_) | FileError::TooLarge { .. } | FileError::Changed)) => {
            recorder.report(Code::UnreadablePackage, RECEIPTS, Place::whole_file(), "readable receipts", error);
            return ReadReceipts::default();
        }
        Err(error) => {
            report_file_error(recorder, RECEIPTS, Place::whole_file(), &error);
            return ReadReceipts::default();
        }
    };
    let sha256 = digest(&bytes).sha256;
    if let Some(expected) = &options.expect_receipts {
        if expected.eq_ignore_ascii_case(&sha256) {
            // Not counted: that the receipts are the expected ones says nothing of the files.
            recorder.note(format!("{RECEIPTS} is the expected one"));
        } else if lf_digest(&bytes).is_some_and(|normalized| normalized.sha256.eq_ignore_ascii_case(expected)) {
            let found = format_args!("{sha256}, which matches with LF line endings");
            recorder.report(Code::LineEndings, RECEIPTS, Place::whole_file(), expected, found);
        } else {
            recorder.report(Code::ReceiptsAnchor, RECEIPTS, Place::whole_file(), expected, &sha256);
        }
    }
    // Of the bytes as they are: what a signature covers does not depend on how they are parsed.
    let signer = signature::check(folder, &bytes, options.signers.as_ref(), recorder);
    let receipts = parse_document(RECEIPTS, bytes, recorder).ok();
    ReadReceipts { receipts, sha256: Some(sha256), signer }
}
