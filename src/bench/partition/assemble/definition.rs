//! Stands in for `CaseSpec::definition()` until that is there.

use crate::bench::partition::cases::CaseSpec;
use crate::package::json::{Json, object};

/// The case as `cases.json` and `validation.json` describe it.
pub(super) fn case_definition(spec: &CaseSpec) -> Json {
    let geometry = &spec.geometry;
    object([
        ("id", Json::from(spec.id.as_str())),
        ("operation", Json::from(spec.operation.name())),
        ("dimensions", Json::from(vec![geometry.rows, geometry.columns])),
        ("tile", Json::from(vec![geometry.block, geometry.width, 1])),
        ("precision", Json::from(spec.storage.name())),
        ("pattern", Json::from(spec.pattern.name())),
        ("seed", Json::from(spec.seed)),
    ])
}
