//! Contents as documents: parsed, and of a schema that this version reads.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::{BESIDE_RESULTS, CLAIMS, is_document};
use crate::audit::evidence::{Content, Evidence};
use crate::audit::{Code, Family, Place, Recorder, show};
use crate::package::divergence;
use crate::package::json::{Document, Json, JsonError};
use crate::package::partition::files;
use crate::package::receipts::RECEIPTS;

pub(super) fn parse(contents: BTreeMap<String, Content<Vec<u8>>>, recorder: &mut Recorder) -> Evidence {
    let (documents, texts): (BTreeMap<_, _>, BTreeMap<_, _>) =
        contents.into_iter().partition(|(name, _)| is_document(name) || BESIDE_RESULTS.contains(&name.as_str()));
    let tolerance = recorder.tolerance();
    let parsed: Vec<_> = documents
        .into_par_iter()
        .map(|(name, content)| {
            let mut recorder = Recorder::new(Family::Integrity, tolerance);
            let document = content.and_then(|bytes| parse_document(&name, bytes, &mut recorder));
            (name, document, recorder)
        })
        .collect();
    let mut documents = BTreeMap::new();
    for (name, document, parsed) in parsed {
        recorder.absorb(parsed);
        documents.insert(name, document);
    }
    Evidence { documents, texts, ..Evidence::default() }
}

/// Parses a file and checks that its schema is one that this version reads.
pub(super) fn parse_document(name: &str, bytes: Vec<u8>, recorder: &mut Recorder) -> Content<Document> {
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let valid = String::from_utf8_lossy(&error.as_bytes()[..at]);
            let (line, column) = crate::package::json::line_column(&valid, at);
            recorder.report(Code::JsonSyntax, name, Place::text(line, column), "UTF-8 text", "other bytes");
            return Err("it is not UTF-8 text".to_owned());
        }
    };
    parsed(name, Document::parse(name, text), recorder)
}

/// Judges how a file was parsed, and that its schema is one that this version reads.
pub(in crate::audit) fn parsed(
    name: &str,
    parsed: Result<Document, JsonError>,
    recorder: &mut Recorder,
) -> Content<Document> {
    let document = match parsed {
        Ok(document) => document,
        Err(error) => {
            let (line, column) = error.position();
            let mut place = Place::text(line, column);
            let code = match &error {
                JsonError::DuplicateKey { pointer, .. } => {
                    place.pointer = Some(pointer.clone());
                    Code::DuplicateKey
                }
                JsonError::Syntax { .. } | JsonError::LargeInteger { .. } => Code::JsonSyntax,
            };
            recorder.report(code, name, place, "JSON that every reader reads alike", &error);
            return Err("it could not be parsed".to_owned());
        }
    };
    for (member, expected) in required_schema(name) {
        let found = document.root().get(member);
        if found != Some(&expected) {
            // The document is dropped below, so its lines are looked up now.
            let pointer = format!("/{member}");
            let (line, column) = document.position(&pointer).unzip();
            let place = Place { line, column, ..Place::pointer(pointer) };
            recorder.report(
                Code::UnsupportedSchema,
                name,
                place,
                format_args!("{member} {}", show(&expected)),
                found.map_or("nothing".to_owned(), |found| show(found).to_string()),
            );
            return Err(format!("its {member} is not supported"));
        }
    }
    Ok(document)
}

/// What the members that name a file's format must be.
fn required_schema(name: &str) -> Vec<(&'static str, Json)> {
    match name {
        RECEIPTS | files::CASES | files::DEVICE => vec![("schema", Json::Int(1))],
        files::VALIDATION => vec![("schema", Json::Int(1)), ("kind", Json::from("partition"))],
        files::MODEL => vec![("schema", Json::from("independent-partition-nnls-v1"))],
        CLAIMS => vec![("schema", Json::from("recount-claims-v1"))],
        name if divergence::files::engine_of(name).is_some() => {
            vec![("schema", Json::from(divergence::SCHEMA)), ("kind", Json::from(divergence::KIND))]
        }
        _ => Vec::new(),
    }
}
