//! Times of operations follow from spans of graphs; where they are a route's own, they need not be kept twice.

use crate::package::json::Json;

/// Milliseconds to microseconds.
const US_PER_MS: f64 = 1000.0;

/// Puts the times of a route's record in terms of its event spans, where every bit of them follows from those: then they take
/// no memory. Members of other objects stay as they are.
pub fn scale_times(members: &mut [(String, Json)]) {
    let member = |name: &str| members.iter().find(|(member, _)| member == name).map(|(_, value)| value);
    let Some(sampling) = member("sampling") else { return };
    let (Some(Json::Floats(spans)), Some(operations)) =
        (sampling.path(&["event_span_ms", "samples"]), sampling.get("operations_per_sample").and_then(Json::as_u64))
    else {
        return;
    };
    let Some(Json::Floats(times)) = member("event_us").and_then(|event| event.get("samples")) else { return };
    let Some(scaled) = times.as_scaled(spans, US_PER_MS, operations as f64) else { return };
    let event = members.iter_mut().find(|(name, _)| name == "event_us").map(|(_, value)| value);
    if let Some(Json::Object(event)) = event
        && let Some((_, samples)) = event.iter_mut().find(|(name, _)| name == "samples")
    {
        *samples = Json::Floats(scaled);
    }
}

/// Whether members of a name are lists of measurements, which whoever reads them reads as
/// [`Series`](crate::package::json::Series).
pub fn is_long_list(name: &str) -> bool {
    const NAMES: [&str; 5] = [
        "samples",
        "graph_event_span_ms",
        "graph_host_span_ms",
        "graph_event_stream_span_us_per_op",
        "graph_host_wall_us_per_op",
    ];
    NAMES.contains(&name)
}
