//! Microseconds of one operation, measured the same way for every engine that runs on a GPU: a graph of operations in
//! stream order, replayed between two device events.

use std::collections::BTreeMap;

use super::engine::Kind;
use crate::fit::median;
use crate::fit::metrics::geometric_mean;
use crate::package::json::{Json, object};

/// How operations are timed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Protocol {
    /// Operations of one graph.
    pub operations: usize,
    /// Spans between two events.
    pub spans: usize,
    /// Milliseconds that a span should take; the replays follow from it.
    pub span_ms: f64,
    /// Replays before the first span.
    pub warm_up: usize,
}

impl Protocol {
    /// The one that published figures use.
    pub const STANDARD: Self = Self { operations: 20, spans: 9, span_ms: 40.0, warm_up: 50 };

    /// Replays of a span, from the time that `replays` took.
    pub fn replays(&self, replays: usize, milliseconds: f64) -> usize {
        let needed = self.span_ms / milliseconds.max(1e-6) * replays as f64;
        needed.ceil().clamp(1.0, 1e5) as usize
    }
}

/// Raw samples of one geometry.
#[derive(Debug, Clone, PartialEq)]
pub struct Spans {
    /// Operations of the graph.
    pub operations: usize,
    /// Replays of the graph in each span.
    pub replays: usize,
    /// Milliseconds of each span: binary32, widened.
    pub milliseconds: Vec<f64>,
}

impl Spans {
    /// Microseconds of one operation in each span.
    pub fn microseconds(&self) -> Vec<f64> {
        let operations = (self.replays * self.operations) as f64;
        self.milliseconds.iter().map(|span| span * 1000.0 / operations).collect()
    }

    /// Their median; `None` without spans.
    pub fn median_us(&self) -> Option<f64> {
        median(&self.microseconds())
    }
}

/// All samples: by engine, in the order of the resolutions.
pub type Timings = BTreeMap<&'static str, Vec<(usize, Spans)>>;

/// What cannot be computed is null.
fn number(value: Option<f64>) -> Json {
    value.map_or(Json::Null, Json::from)
}

/// The content of `timing.json`.
pub fn document(timings: &Timings, protocol: Protocol) -> Json {
    let engine = |samples: &[(usize, Spans)]| {
        let raw = |(resolution, spans): &(usize, Spans)| {
            let record = object([
                ("replays", Json::from(spans.replays)),
                ("span_ms", Json::from(spans.milliseconds.clone())),
                ("us_per_operation", Json::from(spans.microseconds())),
            ]);
            (resolution.to_string(), record)
        };
        object([
            ("res", Json::Array(samples.iter().map(|(resolution, _)| Json::from(*resolution)).collect())),
            ("median_us", Json::Array(samples.iter().map(|(_, spans)| number(spans.median_us())).collect())),
            ("samples", Json::Object(samples.iter().map(raw).collect())),
        ])
    };
    let engines = timings.iter().map(|(name, samples)| ((*name).to_owned(), engine(samples))).collect();
    let ratios = |base: Kind| {
        let (Some(ours), Some(theirs)) = (timings.get(Kind::Deterministic.name()), timings.get(base.name())) else {
            return Json::Null;
        };
        let pairs = ours.iter().filter_map(|(resolution, spans)| {
            let (_, other) = theirs.iter().find(|(other, _)| other == resolution)?;
            Some((*resolution, spans.median_us()? / other.median_us()?))
        });
        let (resolutions, ratios): (Vec<_>, Vec<_>) = pairs.unzip();
        let mean = number(geometric_mean(&ratios));
        object([("res", Json::from(resolutions)), ("ratio", Json::from(ratios)), ("geometric_mean", mean)])
    };
    object([
        ("schema", Json::from("recount-divergence-timing-v1")),
        (
            "protocol",
            object([
                (
                    "operation",
                    Json::from("input gradient of one batch: zero-fill, range finding and clearing included"),
                ),
                ("operations_per_graph", Json::from(protocol.operations)),
                ("clock", Json::from("device events around a span of graph replays, plain stream order")),
                ("spans", Json::from(protocol.spans)),
                ("target_span_ms", Json::from(protocol.span_ms)),
                ("warm_up_replays", Json::from(protocol.warm_up)),
                ("summary", Json::from("median")),
            ]),
        ),
        ("engines", Json::Object(engines)),
        ("deterministic_over_torch", ratios(Kind::Torch)),
        ("deterministic_over_cuda", ratios(Kind::Cuda)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_of_medians_and_their_mean_is_geometric() {
        let protocol = Protocol { operations: 10, spans: 3, span_ms: 1.0, warm_up: 0 };
        let spans = |milliseconds: &[f64]| Spans { operations: 10, replays: 2, milliseconds: milliseconds.to_vec() };
        let mut timings = Timings::new();
        timings.insert("torch", vec![(16, spans(&[4.0, 9.0, 1.0])), (32, spans(&[8.0]))]);
        timings.insert("deterministic", vec![(16, spans(&[1.0])), (32, spans(&[1.0]))]);
        let document = document(&timings, protocol);
        let ratio = document.pointer("/deterministic_over_torch/ratio/0").and_then(Json::as_f64);
        assert_eq!(ratio, Some(0.25));
        let mean = document.pointer("/deterministic_over_torch/geometric_mean").and_then(Json::as_f64).unwrap();
        assert!((mean - (0.25_f64 * 0.125).sqrt()).abs() < 1e-15);
        assert_eq!(document.pointer("/engines/torch/median_us/0").and_then(Json::as_f64), Some(200.0));
        assert_eq!(document.get("deterministic_over_cuda"), Some(&Json::Null));
        assert_eq!(protocol.replays(4, 2.0), 2);
    }

    #[test]
    fn what_was_not_timed_is_null_and_no_number() {
        let protocol = Protocol { operations: 10, spans: 0, span_ms: 1.0, warm_up: 0 };
        let empty = || vec![(16, Spans { operations: 10, replays: 2, milliseconds: Vec::new() })];
        let document = document(&Timings::from([("torch", empty()), ("deterministic", empty())]), protocol);
        assert_eq!(document.pointer("/engines/torch/median_us/0"), Some(&Json::Null));
        assert_eq!(document.pointer("/deterministic_over_torch/ratio"), Some(&Json::Array(Vec::new())));
        assert_eq!(document.pointer("/deterministic_over_torch/geometric_mean"), Some(&Json::Null));
    }
}
