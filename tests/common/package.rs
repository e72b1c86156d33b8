//! A package in a temporary folder, valid at first, with one method for each way to damage it.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use globset::GlobSet;
use recount::audit::{Options, SubjectReport};
use recount::package::digest::digest;
use recount::package::json::{Document, Json, compact, indented};
use recount::seal::{receipts_text, write_receipts};
use tempfile::TempDir;

use super::content::{self, Parts, Recipe};
use super::outcome::Outcome;

/// A package that goes away with the value.
#[derive(Debug)]
pub(crate) struct Package {
    folder: TempDir,
}

type Files = BTreeMap<&'static str, Vec<u8>>;

impl Package {
    /// A package in which everything holds.
    pub(crate) fn valid() -> Self {
        Self::of(&Recipe::default())
    }

    /// A package in which everything holds, made to a recipe.
    pub(crate) fn of(recipe: &Recipe) -> Self {
        static MADE: Mutex<Option<HashMap<Recipe, Files>>> = Mutex::new(None);
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        let files =
            made.get_or_insert_default().entry(recipe.clone()).or_insert_with(|| content::files(recipe)).clone();
        drop(made);
        let package = Self::empty();
        for (name, bytes) in files {
            package.write(name, bytes);
        }
        package.seal();
        package
    }

    /// A package in which everything holds, whose data another producer recorded.
    pub(crate) fn derived(recipe: &Recipe, edit: impl Fn(&mut Parts)) -> Self {
        let package = Self::empty();
        for (name, bytes) in content::files_of(recipe, &edit) {
            package.write(name, bytes);
        }
        package.seal();
        package
    }

    /// A folder without any file.
    pub(crate) fn empty() -> Self {
        Self { folder: tempfile::Builder::new().prefix("recount-test-").tempdir().expect("a temporary folder") }
    }

    /// A folder with one text, sealed.
    pub(crate) fn of_text(name: &str, text: impl AsRef<[u8]>) -> Self {
        let package = Self::empty();
        package.write(name, text);
        package.seal();
        package
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    #[track_caller]
    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.file(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    #[track_caller]
    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).expect("UTF-8")
    }

    /// A file as a JSON tree.
    #[track_caller]
    pub(crate) fn json(&self, name: &str) -> Json {
        let document = Document::parse(name, self.text(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        document.root().clone()
    }

    /// Writes a file, with the folders on the way to it.
    #[track_caller]
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        let path = self.file(name);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("folders");
        fs::write(path, bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        self
    }

    #[track_caller]
    pub(crate) fn remove(&self, name: &str) -> &Self {
        fs::remove_file(self.file(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        self
    }

    /// Changes a JSON file; floats keep Python's shortest form, and receipts keep their layout.
    #[track_caller]
    pub(crate) fn edit_json(&self, name: &str, edit: impl FnOnce(&mut Json)) -> &Self {
        let mut json = self.json(name);
        edit(&mut json);
        let text = if name == "receipts.json" { indented(&json) } else { compact(&json) };
        self.write(name, text + "\n")
    }

    /// Changes a text file; something must change.
    #[track_caller]
    pub(crate) fn edit_text(&self, name: &str, edit: impl FnOnce(String) -> String) -> &Self {
        let before = self.text(name);
        let after = edit(before.clone());
        assert_ne!(before, after, "the edit of {name} changes nothing");
        self.write(name, after)
    }

    /// Writes receipts for the files as they are.
    #[track_caller]
    pub(crate) fn seal(&self) -> &Self {
        let text = receipts_text(self.path(), &GlobSet::empty()).unwrap_or_else(|error| panic!("{error}"));
        write_receipts(self.path(), &text).unwrap_or_else(|error| panic!("{error}"));
        self
    }

    /// Updates the receipt of one file, even one that `seal` refuses.
    #[track_caller]
    pub(crate) fn reseal_file(&self, name: &str) -> &Self {
        let digest = digest(&self.bytes(name));
        self.edit_json("receipts.json", |receipts| {
            let Json::Object(files) = super::json::at(receipts, "/files") else { panic!("files is an object") };
            files.retain(|(other, _)| other != name);
            files.push((name.to_owned(), obj! { "sha256": digest.sha256, "bytes": digest.bytes }));
        })
    }

    /// SHA-256 of `receipts.json` itself.
    pub(crate) fn anchor(&self) -> String {
        digest(&self.bytes("receipts.json")).sha256
    }

    /// Verifies with the built program, as JSON.
    #[track_caller]
    pub(crate) fn verify(&self, args: &[&str]) -> Outcome {
        let path = self.path().to_str().expect("a UTF-8 path");
        let outcome = Outcome::of(&[&["verify", path, "--format", "json"], args].concat(), Some(self.path()));
        if !outcome.stdout.is_empty() {
            outcome.obeys_schema();
        }
        outcome
    }

    /// Runs a command of the built program on the folder: `recount COMMAND FOLDER ARGS`.
    #[track_caller]
    pub(crate) fn run(&self, command: &str, args: &[&str]) -> Outcome {
        let path = self.path().to_str().expect("a UTF-8 path");
        Outcome::of(&[&[command, path], args].concat(), Some(self.path()))
    }

    /// Verifies in this process, which is quicker.
    pub(crate) fn audit(&self) -> SubjectReport {
        recount::audit::verify(self.path(), "package", &Options::default(), &|_| {})
    }

    /// Changes a JSON file, seals, verifies.
    #[track_caller]
    pub(crate) fn forged(&self, name: &str, edit: impl FnOnce(&mut Json)) -> Outcome {
        self.edit_json(name, edit).seal().verify(&[])
    }
}
