//! What is on disk: names, bytes, line endings, hashes, JSON and CSV. Knows nothing of findings.

pub(crate) mod ahead;
pub mod digest;
pub mod divergence;
pub mod endings;
pub mod folder;
pub mod ignore;
pub mod json;
pub mod limits;
pub mod name;
pub mod npy;
pub mod partial;
pub mod partition;
pub mod private;
pub mod receipts;
pub mod signature;
pub mod single;
