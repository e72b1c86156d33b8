//! Names of files in a package: which of them are safe and mean the same on every system.

use unicode_normalization::UnicodeNormalization;

use super::limits::{MAX_NAME_BYTES, MAX_PATH_BYTES};

/// Why a declared name is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The name is empty.
    #[error("the name is empty")]
    Empty,
    /// The name, or one of its parts, is longer than file systems allow.
    #[error("the name is too long")]
    TooLong,
    /// The name starts at a root, a drive or a home folder.
    #[error("the name is not relative")]
    NotRelative,
    /// A part is empty, `.` or `..`.
    #[error("the name is not normalised (it has `..`, `.` or an empty part)")]
    NotNormalised,
    /// A backslash separates parts on Windows and is a character elsewhere.
    #[error("the name has a backslash; parts are separated by `/`")]
    Backslash,
    /// A NUL, a line break or another control character.
    #[error("the name has a control character")]
    Control,
    /// A character or ending that Windows cannot have in a file name.
    #[error("the name has a character or an ending that not every system allows")]
    NotPortable,
    /// A device name on Windows, such as `NUL` or `COM1`.
    #[error("the name is reserved on Windows")]
    Reserved,
}

/// Checks that a name is relative, normalised and portable. Nothing on disk is looked at.
///
/// # Errors
/// The first rule that the name breaks.
pub fn check_name(name: &str) -> Result<(), NameError> {
    if name.is_empty() {
        return Err(NameError::Empty);
    }
    if name.chars().any(|character| character.is_control()) {
        return Err(NameError::Control);
    }
    let drive = name.len() >= 2 && name.as_bytes()[1] == b':' && name.as_bytes()[0].is_ascii_alphabetic();
    if name.starts_with(['/', '\\', '~']) || drive {
        return Err(NameError::NotRelative);
    }
    if name.contains('\\') {
        return Err(NameError::Backslash);
    }
    if name.len() > MAX_PATH_BYTES || name.split('/').any(|part| part.len() > MAX_NAME_BYTES) {
        return Err(NameError::TooLong);
    }
    if name.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(NameError::NotNormalised);
    }
    if name.contains(['<', '>', ':', '"', '|', '?', '*']) || name.split('/').any(|part| part.ends_with(['.', ' '])) {
        return Err(NameError::NotPortable);
    }
    if name.split('/').any(is_reserved) {
        return Err(NameError::Reserved);
    }
    Ok(())
}

/// Names with the same key may be one file on a system that ignores case or normalises Unicode.
pub fn portable_key(name: &str) -> String {
    let composed: String = name.nfc().collect();
    let folded = unicase::UniCase::unicode(composed).to_folded_case();
    folded.nfc().collect()
}

fn is_reserved(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or(part).trim_end().to_ascii_uppercase();
    let numbered = |prefix: &str| {
        stem.strip_prefix(prefix).is_some_and(|rest| {
            let mut characters = rest.chars();
            matches!((characters.next(), characters.next()), (Some('0'..='9' | '¹' | '²' | '³'), None))
        })
    };
    matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$") || numbered("COM") || numbered("LPT")
}
