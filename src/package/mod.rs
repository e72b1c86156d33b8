//! What is on disk: names, bytes, line endings, hashes, JSON and CSV. Knows nothing of findings.

pub mod json;
