//! A finding: one thing that does not hold, as data.

use serde::Serialize;

use super::catalogue::{Code, Severity};
use crate::package::limits::MAX_POINTER_BYTES;

/// One thing that does not hold, and where.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The rule that is broken.
    #[serde(serialize_with = "code_name")]
    pub code: Code,
    /// How much it matters; the rule's own level.
    pub severity: Severity,
    /// File within the package, with `/`; `.` is the package itself.
    pub file: String,
    /// Where in the file.
    #[serde(flatten)]
    pub place: Place,
    /// What should stand there.
    pub expected: String,
    /// What stands there.
    pub found: String,
    /// For two floats: how far apart they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<Distance>,
    /// What to do about it.
    pub advice: String,
}

/// A place in a file. Lines and columns count from 1; columns in characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize)]
pub struct Place {
    /// JSON pointer, in JSON files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// Line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Column in the line, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// Name of the CSV column or of the table column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}

impl Place {
    /// The file as a whole.
    pub fn whole_file() -> Self {
        Self::default()
    }

    /// A value in a JSON file; line and column are filled in when the report is finished. Where the pointer is too long to
    /// be shown, the innermost value around it whose pointer is not.
    pub fn pointer(pointer: impl Into<String>) -> Self {
        let mut pointer = pointer.into();
        while pointer.len() > MAX_POINTER_BYTES {
            pointer.truncate(pointer.rfind('/').unwrap_or(0));
        }
        Self { pointer: Some(pointer), ..Self::default() }
    }

    /// A cell of a CSV file or of a table in a text.
    pub fn cell(line: usize, field: &str) -> Self {
        Self { line: Some(line), field: Some(field.to_owned()), ..Self::default() }
    }

    /// A position in a text.
    pub fn text(line: usize, column: usize) -> Self {
        Self { line: Some(line), column: Some(column), ..Self::default() }
    }
}

/// How far two binary64 numbers are apart.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Distance {
    /// Number of binary64 steps between them.
    pub ulp: u64,
    /// Absolute difference over the larger magnitude.
    pub relative: f64,
}

impl Distance {
    /// The distance between two finite numbers; `None` when one is not finite.
    pub fn between(left: f64, right: f64) -> Option<Self> {
        if !left.is_finite() || !right.is_finite() {
            return None;
        }
        let larger = left.abs().max(right.abs());
        let relative = if left == right { 0.0 } else { (left / larger - right / larger).abs() };
        Some(Self { ulp: ordered(left).abs_diff(ordered(right)), relative })
    }
}

/// Binary64 on the integer line: neighbours differ by one, both zeros are 0.
fn ordered(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits }
}

fn code_name<S: serde::Serializer>(code: &Code, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(code.name())
}
