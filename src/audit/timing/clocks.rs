//! Clocks: which one the host's times were read from, and what it can and cannot have shown.

use crate::audit::evidence::Evidence;
use crate::audit::{Code, Recorder, show};
use crate::package::json::{Document, Json, Series};
use crate::package::partition::files;

/// Ticks in a millisecond that host clocks are known to have: 100 ns, as in the published package, and 1 ns.
const KNOWN_TICKS_PER_MS: [f64; 2] = [1e4, 1e6];

/// Times that were read from the host's clock, in milliseconds.
#[derive(Debug)]
pub(in crate::audit) enum HostTimes<'d> {
    /// One.
    One {
        /// Where it is recorded.
        at: &'d Json,
        /// The time.
        time: f64,
        /// The event span that the host waited for, where it did.
        event: Option<f64>,
    },
    /// A list of spans, each around the event span of the same number.
    Spans {
        /// The host's.
        host: Series<'d>,
        /// The events'.
        event: Series<'d>,
    },
}

impl HostTimes<'_> {
    fn len(&self) -> usize {
        match self {
            HostTimes::One { .. } => 1,
            HostTimes::Spans { host, event } => host.len().min(event.len()),
        }
    }

    /// How many are on ticks.
    fn on_tick(&self, ticks_per_ms: f64) -> usize {
        match self {
            HostTimes::One { time, .. } => usize::from(is_on_tick(*time, ticks_per_ms)),
            HostTimes::Spans { host, .. } => {
                host.numbers().take(self.len()).filter(|&time| is_on_tick(time, ticks_per_ms)).count()
            }
        }
    }
}

/// Whether the device record is that of a CUDA device, whatever the manifests say: it has a compute capability, a version of
/// CUDA's driver interface, or a maker who makes no other.
pub(in crate::audit) fn names_cuda_device(evidence: &Evidence) -> bool {
    let Ok(device) = evidence.document(files::DEVICE) else { return false };
    let root = device.root();
    let identity = |name: &str| root.path(&["identity", name]).filter(|value| **value != Json::Null);
    let has_capability = root.get("compute_capability").is_some_and(|capability| match capability {
        Json::Str(text) => !text.is_empty(),
        number => number.as_f64().is_some_and(|number| number > 0.0),
    });
    let is_nvidia = |name: &str| identity(name).and_then(Json::as_str).is_some_and(|text| text.contains("NVIDIA"));
    has_capability || identity("cuda_driver_api_version").is_some() || is_nvidia("gpu") || is_nvidia("driver")
}

/// Host times are on the ticks of the clock that most of them are on, and contain the event spans inside them.
pub(in crate::audit) fn check(document: &Document, times: &[HostTimes<'_>], recorder: &mut Recorder) {
    let count: usize = times.iter().map(HostTimes::len).sum();
    let ticks_per_ms = KNOWN_TICKS_PER_MS
        .into_iter()
        .find(|&ticks_per_ms| times.iter().map(|times| times.on_tick(ticks_per_ms)).sum::<usize>() * 2 > count);
    let clock = Clock { ticks_per_ms };
    for times in times {
        match times {
            HostTimes::One { at, time, event } => {
                recorder.require(clock.shows(*time), Code::ClockTick, document, at, Shown(&clock), show(at));
                if let Some(event) = *event {
                    let expected = format_args!("at least the event span {event} ms");
                    recorder.require(clock.contains(*time, event), Code::HostSpan, document, at, expected, time);
                }
            }
            HostTimes::Spans { host, event } => {
                for (index, (time, event)) in host.numbers().zip(event.numbers()).enumerate() {
                    let item = (*host, index);
                    recorder.require_item(clock.shows(time), Code::ClockTick, document, item, Shown(&clock));
                    let expected = format_args!("at least the event span {event} ms");
                    recorder.require_item(clock.contains(time, event), Code::HostSpan, document, item, expected);
                }
            }
        }
    }
}

/// The host's clock, as far as its times tell.
struct Clock {
    /// `None` where no known tick explains the times: then any time is one that it shows.
    ticks_per_ms: Option<f64>,
}

impl Clock {
    fn shows(&self, time: f64) -> bool {
        self.ticks_per_ms.is_none_or(|ticks_per_ms| is_on_tick(time, ticks_per_ms)) && time >= 0.0 && time.is_finite()
    }

    fn contains(&self, time: f64, event: f64) -> bool {
        is_around(time, event, self.ticks_per_ms)
    }
}

/// Whether a host span is around an event span, both in milliseconds. A clock that cuts to whole ticks loses up to one; binary32
/// rounds by half a step.
pub(in crate::audit) fn is_around(time: f64, event: f64, ticks_per_ms: Option<f64>) -> bool {
    let slack = ticks_per_ms.map_or(0.0, f64::recip) + event.abs() * f64::from(f32::EPSILON) / 2.0;
    time + slack >= event
}

/// What times the clock shows.
struct Shown<'c>(&'c Clock);

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.ticks_per_ms {
            None => formatter.write_str("a time"),
            Some(ticks) => write!(formatter, "whole ticks of {} ns", 1e6 / ticks),
        }
    }
}

/// Whether the nearest whole tick, back in milliseconds, is the very binary64 number that was recorded.
fn is_on_tick(time: f64, ticks_per_ms: f64) -> bool {
    (time * ticks_per_ms).round() / ticks_per_ms == time
}
