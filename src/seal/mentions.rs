//! Places of a package that name the hash of a file: what is rewritten has another one.

use std::collections::BTreeMap;

use super::survey::Survey;
use crate::package::folder::Folder;
use crate::package::limits::MAX_PARSED_BYTES;
use crate::package::partition::files;

/// Files that name others as they were when they were recorded; `provenance.json` keeps what that was.
const RECORDS: [&str; 2] = [files::PROVENANCE, files::MODEL];

/// Says which texts name one of these hashes, given with the file that has it.
pub(super) fn of(hashes: &BTreeMap<&str, &str>, package: &Folder, survey: &Survey) -> Vec<String> {
    let mut said = Vec::new();
    if hashes.is_empty() {
        return said;
    }
    for file in survey.files.iter().filter(|file| file.is_text && !RECORDS.contains(&file.name.as_str())) {
        let Ok(bytes) = package.read(&file.name, MAX_PARSED_BYTES) else { continue };
        for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let words = line.split(|byte| !byte.is_ascii_hexdigit()).filter(|word| word.len() == 64);
            for word in words {
                let hash = String::from_utf8_lossy(word).to_ascii_lowercase();
                if let Some(named) = hashes.get(hash.as_str()) {
                    said.push(format!(
                        "{}:{} names the hash of {named}, whose bytes are rewritten; bring it up to date",
                        file.name,
                        at + 1
                    ));
                }
            }
        }
    }
    said
}
