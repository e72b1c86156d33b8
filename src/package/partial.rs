//! Files that appear whole or not at all: written under another name in the same folder, then renamed.

use std::io;
use std::path::Path;

/// A new file in `folder`, with the permissions that any new file gets; it goes away unless it is persisted.
///
/// # Errors
/// The folder cannot be written to.
pub fn partial_in(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".recount-").suffix(".partial");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What the process's mask leaves of it.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}
