//! What a command reads, and the one rule about it: no result takes the place of an input, nor of a package's evidence.

use std::fs;
use std::path::{Path, PathBuf};

use super::output::{place, real};
use crate::audit::{self, Subject};
use crate::package::folder::Folder;
use crate::package::json::Document;
use crate::package::limits::{MAX_FOLDER_DEPTH, MAX_PARSED_BYTES};
use crate::package::receipts::{RECEIPTS, declared, is_over_receipts};

/// Everything that a command was told to read: files and folders, each with the argument or option that names it.
#[derive(Debug, Default)]
pub(super) struct Inputs(Vec<(&'static str, PathBuf)>);

impl Inputs {
    /// Nothing is read.
    pub(super) fn none() -> Self {
        Self::default()
    }

    /// The same, and what the argument or option `name` names.
    pub(super) fn and(mut self, name: &'static str, paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Self {
        self.0.extend(paths.into_iter().map(|path| (name, path.as_ref().to_owned())));
        self
    }

    /// What a result written to `path` would replace, in words: one of the inputs, or a receipt in a folder that is one.
    pub(super) fn replaced_by(&self, path: &Path) -> Option<String> {
        let places = [place(path), real(path)];
        let same =
            |input: &Path| places.contains(&place(input)) || places.contains(&real(input)) || is_same_file(path, input);
        if let Some((name, input)) = self.0.iter().find(|(_, input)| !input.is_dir() && same(input)) {
            return Some(format!("{} ({name}), which this command reads", input.display()));
        }
        let around = self.folder_around(&places[0])?;
        let is_receipt = matches!(audit::subjects(path).ok()?.subjects.as_slice(), [Subject::Receipt(_)]);
        is_receipt.then(|| format!("a receipt below {}, which this command reads", around.display()))
    }

    /// The package of which `path` is evidence: its receipts, their signature, or what they declare. Of a package that is an
    /// input, receipts that cannot be read might declare any file.
    pub(super) fn evidence_of(&self, path: &Path) -> Option<PathBuf> {
        // Both where a link would be replaced and where it leads to.
        let (place, real) = (place(path), real(path));
        let elsewhere = (place != real).then_some(place);
        std::iter::once(real).chain(elsewhere).find_map(|file| self.evidence(&file))
    }

    fn evidence(&self, file: &Path) -> Option<PathBuf> {
        if !file.is_file() {
            return None;
        }
        let folders = file.ancestors().skip(1).take(MAX_FOLDER_DEPTH);
        let is_evidence = |folder: &&Path| {
            if fs::symlink_metadata(folder.join(RECEIPTS)).is_err() {
                return false;
            }
            let parts = file.strip_prefix(folder).map(|name| name.iter().map(|part| part.to_string_lossy()).collect());
            let name = parts.map(|parts: Vec<_>| parts.join("/")).unwrap_or_default();
            let bytes = Folder::new(*folder).read(RECEIPTS, MAX_PARSED_BYTES).ok();
            let receipts = bytes.and_then(|bytes| Document::parse(RECEIPTS, String::from_utf8(bytes).ok()?).ok());
            match receipts.as_ref().and_then(declared) {
                _ if is_over_receipts(&name) => true,
                Some(files) => files.iter().any(|(one, _)| *one == name),
                None => self.folder_around(file).is_some(),
            }
        };
        folders.into_iter().find(is_evidence).map(Path::to_owned)
    }

    /// The input folder that `file`, a path without links, lies in.
    fn folder_around(&self, file: &Path) -> Option<&Path> {
        let is_around = |folder: &Path| {
            // The receipts of a package stand for its folder.
            let named = folder.file_name().is_some_and(|name| name == RECEIPTS);
            let folder = if named { real(folder).parent().map(Path::to_owned) } else { Some(real(folder)) };
            folder.is_some_and(|folder| file != folder && file.starts_with(folder))
        };
        self.0.iter().map(|(_, input)| input.as_path()).find(|input| is_around(input))
    }
}

/// Whether two paths lead to one file, even where their names have nothing in common: other spellings, mounts, hard links.
fn is_same_file(left: &Path, right: &Path) -> bool {
    matches!((identity(left), identity(right)), (Some(left), Some(right)) if left == right)
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok().filter(|path| path.is_file())
}
