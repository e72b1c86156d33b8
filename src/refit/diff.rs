//! A difference between a recorded and a refitted model that a person can read.

use approx::relative_eq;
use similar::{ChangeTag, TextDiff};

use crate::package::json::{Json, indented};

/// The lines in which the models differ by more than rounding, at most `limit` of them with a line of context on each
/// side. Floats within `tolerance` of each other count as equal; how many are not bit-equal is said first. Members that a
/// refit does not produce are left out.
pub fn readable_diff(recorded: &Json, refitted: &Json, tolerance: f64, limit: usize) -> String {
    let mut rounded = 0;
    let refitted = aligned(refitted, recorded, tolerance, &mut rounded);
    let names: Vec<_> = refitted.as_object().unwrap_or_default().iter().map(|(name, _)| name.as_str()).collect();
    let kept = |value: &Json| match value {
        Json::Object(members) => {
            Json::Object(members.iter().filter(|(name, _)| names.contains(&name.as_str())).cloned().collect())
        }
        other => other.clone(),
    };
    let (old, new) = (indented(&kept(recorded)), indented(&refitted));
    let mut text = format!("{rounded} floats differ within the tolerance of {tolerance:e}\n");
    if old == new {
        text.push_str("no other difference\n");
        return text;
    }
    let diff = TextDiff::configure().deadline(std::time::Instant::now() + DEADLINE).diff_lines(&old, &new);
    let mut lines = 0;
    let mut left_out = 0;
    for hunk in diff.unified_diff().context_radius(1).iter_hunks() {
        let header = hunk.header().to_string();
        let changes = hunk.iter_changes().map(|change| {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            format!("{sign}{}", change.value().trim_end())
        });
        for line in std::iter::once(header).chain(changes) {
            if lines < limit {
                text.push_str(&line);
                text.push('\n');
                lines += 1;
            } else {
                left_out += 1;
            }
        }
    }
    if left_out > 0 {
        text.push_str(&format!("... and {left_out} more lines\n"));
    }
    text
}

/// Models that differ everywhere take long to align; then a coarser difference will do.
const DEADLINE: std::time::Duration = std::time::Duration::from_secs(2);

/// `value` with each float that is within the tolerance of its recorded counterpart replaced by that.
fn aligned(value: &Json, recorded: &Json, tolerance: f64, rounded: &mut usize) -> Json {
    match (value, recorded) {
        (Json::Float(new), Json::Float(old)) if new.to_bits() != old.to_bits() => {
            if relative_eq!(*new, *old, epsilon = tolerance, max_relative = tolerance) {
                *rounded += 1;
                recorded.clone()
            } else {
                value.clone()
            }
        }
        (Json::Array(new), Json::Array(old)) if new.len() == old.len() => {
            Json::Array(new.iter().zip(old).map(|(new, old)| aligned(new, old, tolerance, rounded)).collect())
        }
        (Json::Floats(new), _) if recorded != value => {
            aligned(&Json::Array(new.to_values()), recorded, tolerance, rounded)
        }
        (Json::Array(_), Json::Floats(old)) => aligned(value, &Json::Array(old.to_values()), tolerance, rounded),
        (Json::Object(new), Json::Object(_)) => Json::Object(
            new.iter()
                .map(|(name, new)| {
                    let old = recorded.get(name).unwrap_or(&Json::Null);
                    // The id is a hash of bytes that rounding changes; it is checked against the recorded profile.
                    let new = if name == "profile_id" { old.clone() } else { aligned(new, old, tolerance, rounded) };
                    (name.clone(), new)
                })
                .collect(),
        ),
        _ => value.clone(),
    }
}
