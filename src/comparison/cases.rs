//! Which cases of two packages are the same.

use std::collections::BTreeMap;

use super::{ComparisonError, some_of};
use crate::package::partition::{Case, CaseRecord, Validation};

/// The ids of two packages' cases, by where they stand; each list in the order of its package.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cases {
    /// In both with one definition.
    pub common: Vec<String>,
    /// In OLD alone.
    pub only_old: Vec<String>,
    /// In NEW alone.
    pub only_new: Vec<String>,
    /// In both, but not as the same case.
    pub redefined: Vec<Redefined>,
}

/// A case id that does not mean the same in both packages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redefined {
    /// The id.
    pub id: String,
    /// Name, old value and new value of each member of the definition that differs.
    pub members: Vec<(&'static str, String, String)>,
}

impl std::fmt::Display for Redefined {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let members: Vec<_> =
            self.members.iter().map(|(name, old, new)| format!("{name} {old} against {new}")).collect();
        write!(formatter, "{} ({})", self.id, members.join(", "))
    }
}

/// A case of both packages, old and new.
pub(super) type Pair<'s, 'd> = (&'s CaseRecord<'d>, &'s CaseRecord<'d>);

/// Finds the common cases, in OLD's order.
///
/// # Errors
/// An id of several cases of one package, or no common case.
pub(super) fn pair_up<'s, 'd>(
    old: &'s Validation<'d>,
    new: &'s Validation<'d>,
) -> Result<(Cases, Vec<Pair<'s, 'd>>), ComparisonError> {
    let (by_id_old, by_id_new) = (by_id(old, "OLD")?, by_id(new, "NEW")?);
    let (mut cases, mut pairs) = (Cases::default(), Vec::new());
    for record in &old.cases {
        let id = record.case.id.to_owned();
        let Some(other) = by_id_new.get(record.case.id) else {
            cases.only_old.push(id);
            continue;
        };
        let members = differing(&record.case, &other.case);
        if members.is_empty() {
            cases.common.push(id);
            pairs.push((record, *other));
        } else {
            cases.redefined.push(Redefined { id, members });
        }
    }
    let alone = new.cases.iter().map(|record| record.case.id).filter(|id| !by_id_old.contains_key(id));
    cases.only_new = alone.map(str::to_owned).collect();
    if !pairs.is_empty() {
        return Ok((cases, pairs));
    }
    let redefined: Vec<String> = cases.redefined.iter().map(ToString::to_string).collect();
    Err(ComparisonError::NothingInCommon {
        old: named(old),
        new: named(new),
        redefined: match redefined.as_slice() {
            [] => String::new(),
            redefined => format!("; in both with another definition: {}", some_of(redefined)),
        },
    })
}

fn by_id<'s, 'd>(
    validation: &'s Validation<'d>,
    side: &'static str,
) -> Result<BTreeMap<&'s str, &'s CaseRecord<'d>>, ComparisonError> {
    let mut found = BTreeMap::new();
    for record in &validation.cases {
        if found.insert(record.case.id, record).is_some() {
            return Err(ComparisonError::RepeatedCase { id: record.case.id.to_owned(), side });
        }
    }
    Ok(found)
}

fn named(validation: &Validation<'_>) -> String {
    let ids: Vec<String> = validation.cases.iter().map(|record| record.case.id.to_owned()).collect();
    if ids.is_empty() { "no case".to_owned() } else { some_of(&ids) }
}

/// The members of the definition in which two cases differ. The seed is one of them: another seed gives other inputs.
fn differing(old: &Case<'_>, new: &Case<'_>) -> Vec<(&'static str, String, String)> {
    let members = definition(old).into_iter().zip(definition(new));
    members.filter(|(old, new)| old != new).map(|((name, old), (_, new))| (name, old, new)).collect()
}

fn definition(case: &Case<'_>) -> [(&'static str, String); 6] {
    let shape = case.geometry;
    let depth = case.tile_depth().map_or_else(|| "-".to_owned(), |depth| depth.to_string());
    [
        ("operation", case.operation.name().to_owned()),
        ("dimensions", format!("[{},{}]", shape.rows, shape.columns)),
        ("tile", format!("[{},{},{depth}]", shape.block, shape.width)),
        ("precision", case.storage.name().to_owned()),
        ("pattern", case.pattern.to_owned()),
        ("seed", case.seed.to_string()),
    ]
}
