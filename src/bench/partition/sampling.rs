//! The sampling protocol: a graph of operations, replayed until a span is long enough, seven times.
//!
//! It asks a [`Replayer`] for spans and reads no clock itself, so that it can be tested with spans that are made up.

use super::backend::BackendError;
use crate::fit::median::median;
use crate::package::json::{Json, object};

/// How operations are timed. Times are in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Protocol {
    /// Operations of one graph.
    pub operations: u64,
    /// Host time of the warm-up.
    pub warm_up_ms: f64,
    /// What a span should take.
    pub target_ms: f64,
    /// Spans that are recorded.
    pub samples: u64,
    /// Most replays of a span.
    pub replay_cap: u64,
    /// Most operations of a span.
    pub operation_cap: u64,
}

impl Protocol {
    /// The published one.
    pub const PUBLISHED: Self = Self {
        operations: 100,
        warm_up_ms: 500.0,
        target_ms: 100.0,
        samples: 7,
        replay_cap: 65_536,
        operation_cap: 10_000_000,
    };

    /// Name of the procedure in records.
    pub const NAME: &'static str = "adaptive_replay_span_v2";

    /// Most replays that both caps leave; at least one.
    fn cap(&self) -> u64 {
        self.replay_cap.min(self.operation_cap / self.operations.max(1)).max(1)
    }
}

/// A calibrated span is long enough from this part of the target on.
const LONG_ENOUGH: f64 = 0.8;

/// Calibration ends here, however short its spans are.
const MOST_STEPS: usize = 16;

/// What a batch of the warm-up should take: it is waited for, so that the replays that are counted are over.
const WARM_UP_BATCH_MS: f64 = 20.0;

/// What some replays took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// Between device events.
    pub event_ms: f64,
    /// On the host, from before the first replay until all are over.
    pub host_ms: f64,
}

/// Something that replays a graph.
pub trait Replayer {
    /// Replays the graph that often and waits for the end.
    ///
    /// # Errors
    /// The backend failed.
    fn replay(&mut self, count: u64) -> Result<Span, BackendError>;
}

/// What was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    /// One replay before everything else.
    pub prime: Span,
    /// Host time of the warm-up in milliseconds, and its replays.
    pub warm_up: (f64, u64),
    /// Replays and span of each step; the last has the replays of the samples.
    pub calibration: Vec<(u64, Span)>,
    /// Whether the calibration ended with a span near the target.
    pub reached: bool,
    /// Replays of each sample.
    pub replays: u64,
    /// The samples.
    pub samples: Vec<Span>,
}

/// Primes, warms up, calibrates and samples. `warm` is called between the warm-up and the calibration.
///
/// # Errors
/// The backend failed, or its clock does not advance.
pub fn sample(
    protocol: &Protocol,
    replayer: &mut dyn Replayer,
    warm: &mut dyn FnMut(),
) -> Result<Sampled, BackendError> {
    let prime = checked(replayer.replay(1)?)?;
    let warm_up = warm_up(protocol, replayer)?;
    warm();
    let cap = protocol.cap();
    let mut calibration = Vec::new();
    let mut replays = 1;
    let reached = loop {
        let span = checked(replayer.replay(replays)?)?;
        calibration.push((replays, span));
        if span.event_ms >= LONG_ENOUGH * protocol.target_ms {
            break true;
        }
        let needed = (protocol.target_ms / span.event_ms * replays as f64).ceil();
        let next = if needed < cap as f64 { needed as u64 } else { cap };
        if replays == cap {
            break false;
        }
        if calibration.len() == MOST_STEPS {
            break false;
        }
        replays = next;
    };
    let mut samples = Vec::new();
    for _ in 0..protocol.samples {
        samples.push(checked(replayer.replay(replays)?)?);
    }
    Ok(Sampled { prime, warm_up, calibration, reached, replays, samples })
}

fn checked(span: Span) -> Result<Span, BackendError> {
    let holds = span.event_ms > 0.0 && span.event_ms.is_finite() && span.host_ms.is_finite();
    if holds { Ok(span) } else { Err(BackendError::Failed(format!("a span of {} ms was measured", span.event_ms))) }
}

fn warm_up(protocol: &Protocol, replayer: &mut dyn Replayer) -> Result<(f64, u64), BackendError> {
    let (mut total_ms, mut replays, mut batch) = (0.0, 0, 1);
    while total_ms < protocol.warm_up_ms || replays == 0 {
        let span = checked(replayer.replay(batch)?)?;
        total_ms += span.host_ms;
        replays += batch;
        let each = span.host_ms.max(span.event_ms) / batch as f64;
        batch = ((WARM_UP_BATCH_MS / each).ceil() as u64).clamp(1, protocol.cap());
    }
    // Host times are whole nanoseconds; a sum of them is, too.
    Ok(((total_ms * 1e6).round() / 1e6, replays))
}

impl Sampled {
    /// Operations of each sample.
    fn operations(&self, protocol: &Protocol) -> u64 {
        self.replays * protocol.operations
    }

    /// Microseconds of one operation in each sample.
    pub fn microseconds(&self, protocol: &Protocol) -> Vec<f64> {
        let operations = self.operations(protocol) as f64;
        self.samples.iter().map(|span| span.event_ms * 1000.0 / operations).collect()
    }

    /// The member `event_us` of a route.
    pub fn event_us(&self, protocol: &Protocol) -> Json {
        spans(self.microseconds(protocol))
    }

    /// The member `sampling` of a route.
    pub fn sampling(&self, protocol: &Protocol) -> Json {
        let step = |(replays, span): &(u64, Span)| {
            object([
                ("replays", Json::from(*replays)),
                ("event_span_ms", Json::from(span.event_ms)),
                ("host_wall_ms", Json::from(span.host_ms)),
            ])
        };
        let operations = self.operations(protocol);
        object([
            ("protocol", Json::from(Protocol::NAME)),
            ("replays_per_sample", Json::from(self.replays)),
            ("operations_per_sample", Json::from(operations)),
            ("sample_target_ms", Json::from(protocol.target_ms)),
            ("replay_cap", Json::from(protocol.replay_cap)),
            ("operation_cap", Json::from(protocol.operation_cap)),
            ("calibration", Json::Array(self.calibration.iter().map(step).collect())),
            ("calibration_target_reached", Json::Bool(self.reached)),
            ("event_span_ms", spans(self.samples.iter().map(|span| span.event_ms).collect())),
            ("host_span_ms", spans(self.samples.iter().map(|span| span.host_ms).collect())),
            ("prime_event_ms", Json::from(self.prime.event_ms)),
            ("prime_host_ms", Json::from(self.prime.host_ms)),
            ("kernel_stage_dispatches_per_sample", Json::from(operations)),
        ])
    }

    /// The member `warmup` of a route.
    pub fn warmup(&self, protocol: &Protocol) -> Json {
        object([
            ("target_ms", Json::from(protocol.warm_up_ms)),
            ("actual_ms", Json::from(self.warm_up.0)),
            ("replays", Json::from(self.warm_up.1)),
        ])
    }
}

fn spans(values: Vec<f64>) -> Json {
    let p50 = median(&values).map_or(Json::Null, Json::from);
    object([("samples", Json::from(values)), ("p50", p50)])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Replays that take a fixed time each, more at first.
    struct Fake {
        each_ms: f64,
        first_extra_ms: f64,
        asked: Vec<u64>,
    }

    impl Replayer for Fake {
        fn replay(&mut self, count: u64) -> Result<Span, BackendError> {
            let extra = if self.asked.is_empty() { self.first_extra_ms } else { 0.0 };
            self.asked.push(count);
            let event_ms = self.each_ms * count as f64 + extra;
            Ok(Span { event_ms, host_ms: event_ms + 0.01 })
        }
    }

    fn fake(each_ms: f64) -> Fake {
        Fake { each_ms, first_extra_ms: 1.0, asked: Vec::new() }
    }

    #[test]
    fn a_span_reaches_its_target_in_two_steps_where_time_is_linear() {
        let mut replayer = fake(0.25);
        let sampled = sample(&Protocol::PUBLISHED, &mut replayer, &mut || {}).unwrap();
        assert_eq!(sampled.calibration.iter().map(|step| step.0).collect::<Vec<_>>(), [1, 400]);
        assert_eq!((sampled.replays, sampled.reached, sampled.samples.len()), (400, true, 7));
        assert!(sampled.warm_up.0 >= 500.0 && sampled.warm_up.0 < 530.0, "{:?}", sampled.warm_up);
        assert_eq!(sampled.microseconds(&Protocol::PUBLISHED), vec![2.5; 7]);
        assert_eq!(sampled.prime.event_ms, 1.25);
    }

    #[test]
    fn caps_end_the_calibration_and_are_said() {
        let capped = Protocol { replay_cap: 50, ..Protocol::PUBLISHED };
        let sampled = sample(&capped, &mut fake(0.25), &mut || {}).unwrap();
        assert_eq!((sampled.replays, sampled.reached), (50, false));
        let few = Protocol { operation_cap: 1000, ..Protocol::PUBLISHED };
        let sampled = sample(&few, &mut fake(0.25), &mut || {}).unwrap();
        assert_eq!((sampled.replays, sampled.reached), (10, false));
    }

    #[test]
    fn one_replay_that_is_long_enough_is_taken_as_it_is() {
        let sampled = sample(&Protocol::PUBLISHED, &mut fake(700.0), &mut || {}).unwrap();
        assert_eq!((sampled.replays, sampled.calibration.len(), sampled.warm_up.1), (1, 1, 1));
    }

    #[test]
    fn a_clock_that_stands_still_is_an_error() {
        let mut replayer = Fake { each_ms: 0.0, first_extra_ms: 0.0, asked: Vec::new() };
        assert!(sample(&Protocol::PUBLISHED, &mut replayer, &mut || {}).is_err());
    }

    proptest! {
        #[test]
        fn every_count_follows_from_the_span_before(each_us in 1_u64..3_000_000, cap in 1_u64..100_000) {
            let protocol = Protocol { replay_cap: cap, ..Protocol::PUBLISHED };
            let mut replayer = fake(each_us as f64 / 1000.0);
            let sampled = sample(&protocol, &mut replayer, &mut || {}).unwrap();
            prop_assert_eq!(sampled.calibration[0].0, 1);
            for pair in sampled.calibration.windows(2) {
                let needed = (protocol.target_ms / pair[0].1.event_ms * pair[0].0 as f64).ceil();
                prop_assert_eq!(pair[1].0 as f64, needed.min(protocol.cap() as f64));
            }
            prop_assert_eq!(sampled.calibration.last().unwrap().0, sampled.replays);
            prop_assert!(sampled.replays <= protocol.cap());
            prop_assert!(sampled.reached || sampled.replays == protocol.cap());
        }
    }
}
