//! Files that appear whole or not at all: written under another name in the same folder, then renamed.

use std::io;
use std::path::Path;

const PREFIX: &str = ".recount-";
const SUFFIX: &str = ".partial";

/// A new file in `folder`, with the permissions that any new file gets; it goes away unless it is persisted.
///
/// # Errors
/// The folder cannot be written to.
pub fn partial_in(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What the process's mask leaves of it.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// Whether this is the name (without folders) of a file that an interrupted write has left.
pub fn is_partial(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|rest| rest.ends_with(SUFFIX))
}
