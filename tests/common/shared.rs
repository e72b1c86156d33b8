//! Reference data that lies beside the repository and is never copied into it.

use std::path::PathBuf;

/// The path `name` within the shared data: below `RECOUNT_SHARED`, else beside the repository. Says so and gives `None`
/// where it is absent, so that a checkout of its own still passes.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("RECOUNT_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let path = root.join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {name} is not in the shared data (set RECOUNT_SHARED to its folder)");
    None
}

/// The text of a shared file.
pub(crate) fn shared_text(name: &str) -> Option<String> {
    let path = shared(name)?;
    Some(std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}
