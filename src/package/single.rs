//! One JSON file that a person named, outside of any package.

use std::fs;
use std::path::Path;

use super::folder::Folder;
use super::json::Document;
use super::limits::MAX_PARSED_BYTES;

/// Reads and parses the JSON file at `path`; a link that the person named is followed. The document's name is the path.
///
/// # Errors
/// A sentence for a person: there is no such file, it is not a regular one, it is too large, not UTF-8, or not acceptable
/// JSON (with line and column).
pub fn read_document(path: &Path) -> Result<Document, String> {
    let real = fs::canonicalize(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        _ => format!("it cannot be read: {error}"),
    })?;
    let (Some(folder), Some(name)) = (real.parent(), real.file_name().and_then(|name| name.to_str())) else {
        return Err("it is no file with a UTF-8 name".to_owned());
    };
    let bytes = Folder::new(folder).read(name, MAX_PARSED_BYTES).map_err(|error| error.to_string())?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let (line, column) =
            super::json::line_column(&String::from_utf8_lossy(error.as_bytes()), error.utf8_error().valid_up_to());
        format!("line {line}, column {column}: it is not UTF-8 text")
    })?;
    Document::parse(&path.display().to_string(), text).map_err(|error| error.to_string())
}
