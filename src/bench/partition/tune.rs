//! How many threads reduce a row: tried on the device, once for each case and entry, before anything is measured. The rule
//! of [`Entry::by_rule`] stays unless another number is clearly faster.

use super::backend::{Backend, BackendError, Task};
use super::cases::CaseSpec;
use super::job::Groups;
use super::source::{Entry, Order};
use crate::fit::median::median;
use crate::package::json::{Json, object};

/// Another number of threads has to be faster by this part.
const CLEARLY: f64 = 0.01;

/// Spans of a trial, and what one should take.
const SPANS: usize = 5;
const SPAN_MS: f64 = 4.0;

/// Operations of a graph.
const OPERATIONS: u64 = 100;

/// Tries all entries of a case: B, 1 and 2 rows per program, in stream order, and those whose rows are in `overlap`
/// overlapping.
///
/// # Errors
/// The backend failed.
pub fn tune(backend: &dyn Backend, case: &CaseSpec, input: &[u8], overlap: &[u64]) -> Result<Json, BackendError> {
    let block = case.geometry.block;
    let rows = std::iter::once(block).chain([1, 2].into_iter().filter(|&rows| rows != block));
    let mut entries = Vec::new();
    for rows in rows {
        let orders: &[Order] =
            if overlap.contains(&rows) { &[Order::Stream, Order::Overlap] } else { &[Order::Stream] };
        for &order in orders {
            let mut tried = Vec::new();
            for entry in Entry::candidates(case, rows, order) {
                tried.push((entry.group, time(backend, case, input, entry, order)?));
            }
            let chosen = choose(&tried);
            let tried = tried.iter().map(|&(group, us)| {
                object([("threads_per_row", Json::from(u64::from(group))), ("median_us", Json::from(us))])
            });
            entries.push(object([
                ("rows", Json::from(rows)),
                ("order", Json::from(name(order))),
                ("tried", Json::Array(tried.collect())),
                ("threads_per_row", Json::from(u64::from(chosen))),
            ]));
        }
    }
    Ok(Json::Array(entries))
}

fn name(order: Order) -> &'static str {
    match order {
        Order::Stream => "stream",
        Order::Overlap => "overlap",
    }
}

/// The first is the rule's.
fn choose(tried: &[(u32, f64)]) -> u32 {
    let Some(&(rule, rule_us)) = tried.first() else { return 32 };
    let fastest = tried.iter().min_by(|left, right| left.1.total_cmp(&right.1));
    fastest.filter(|(_, us)| *us < rule_us * (1.0 - CLEARLY)).map_or(rule, |&(group, _)| group)
}

/// Median microseconds of an operation.
fn time(backend: &dyn Backend, case: &CaseSpec, input: &[u8], entry: Entry, order: Order) -> Result<f64, BackendError> {
    // What is not the original number of rows needs the grid of the appended entry.
    let is_original = entry.rows == case.geometry.block;
    let original = if is_original { entry } else { Entry::by_rule(case, case.geometry.block) };
    let partition = (!is_original).then_some(entry);
    let task = Task { case, input, original, partition, order, operations: OPERATIONS };
    let mut prepared = backend.prepare(&task)?;
    prepared.build_graph()?;
    prepared.replay(20)?;
    let span = prepared.replay(20)?;
    let replays = (SPAN_MS / span.event_ms.max(1e-6) * 20.0).ceil().clamp(1.0, 1e5) as u64;
    let mut samples = Vec::new();
    for _ in 0..SPANS {
        samples.push(prepared.replay(replays)?.event_ms * 1000.0 / (replays * OPERATIONS) as f64);
    }
    Ok(median(&samples).unwrap_or(f64::INFINITY))
}

/// The choice that was made for an entry, from what [`tune`] gave; by rule where there is none.
pub fn chosen(tuned: &Json, case: &CaseSpec, rows: u64) -> Groups {
    let group = |order: Order| {
        let entries = tuned.as_array().unwrap_or_default().iter();
        let mut of_rows = entries.filter(|entry| entry.get("rows").and_then(Json::as_u64) == Some(rows));
        let entry = of_rows.find(|entry| entry.get("order").and_then(Json::as_str) == Some(name(order)))?;
        u32::try_from(entry.get("threads_per_row")?.as_u64()?).ok()
    };
    let rule = Groups::by_rule(case, rows);
    Groups {
        stream: group(Order::Stream).unwrap_or(rule.stream),
        overlap: group(Order::Overlap).unwrap_or(rule.overlap),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_stays_unless_another_number_is_clearly_faster() {
        assert_eq!(choose(&[(32, 1.0), (64, 0.995), (16, 1.2)]), 32);
        assert_eq!(choose(&[(32, 1.0), (64, 0.98), (16, 1.2)]), 64);
        assert_eq!(choose(&[(8, 1.0)]), 8);
    }
}
