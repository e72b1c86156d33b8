//! The package's README: any text at all.

use super::scratch::Scratch;

thread_local! {
    static SOUND: Scratch = Scratch::partition();
}

/// The numbers of any text are looked for without an end that never comes, and what is found lies in the text.
pub(super) fn run(data: &[u8]) {
    SOUND.with(|scratch| scratch.verify_with("README.md", data));
}

/// The small package's README and those of the repository's packages.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let own = SOUND.with(|scratch| scratch.file("README.md").to_vec());
    let published = [
        include_bytes!("../../../artifacts/partition-h200-2026-11-30/README.md").to_vec(),
        include_bytes!("../../../artifacts/partition-h200-heldout-2026-11-30/README.md").to_vec(),
    ];
    std::iter::once(own).chain(published).collect()
}
