//! Clocks: which one the host's times were read from, and what it can and cannot have shown.

use crate::audit::evidence::Evidence;
use crate::audit::{Code, Recorder, show};
use crate::package::json::{Document, Json};
use crate::package::partition::files;

/// Ticks in a millisecond that host clocks are known to have: 100 ns, as in the published package, and 1 ns.
const KNOWN_TICKS_PER_MS: [f64; 2] = [1e4, 1e6];

/// A time that was read from the host's clock.
#[derive(Debug)]
pub(in crate::audit) struct HostTime<'d> {
    /// Where it is recorded.
    pub at: &'d Json,
    /// The time in milliseconds.
    pub time: f64,
    /// The event span that the host waited for, where it did.
    pub event: Option<f64>,
}

/// Whether the device record is that of a CUDA device, whatever the manifests say.
pub(in crate::audit) fn names_cuda_device(evidence: &Evidence) -> bool {
    let device = evidence.document(files::DEVICE).ok();
    let capability = device.and_then(|device| device.root().get("compute_capability")?.as_u64());
    capability.is_some_and(|capability| capability > 0)
}

/// Host times are on the ticks of the clock that most of them are on, and contain the event spans inside them.
pub(in crate::audit) fn check(document: &Document, times: &[HostTime<'_>], recorder: &mut Recorder) {
    let ticks_per_ms = KNOWN_TICKS_PER_MS.into_iter().find(|&ticks_per_ms| {
        let on_tick = times.iter().filter(|host| is_on_tick(host.time, ticks_per_ms)).count();
        on_tick * 2 > times.len()
    });
    for host in times {
        // A clock that no known tick explains shows any time that is one.
        let on_tick = ticks_per_ms.is_none_or(|ticks_per_ms| is_on_tick(host.time, ticks_per_ms));
        recorder.require(
            on_tick && host.time >= 0.0 && host.time.is_finite(),
            Code::ClockTick,
            document,
            host.at,
            ticks_per_ms.map_or("a time".to_owned(), |ticks| format!("whole ticks of {} ns", 1e6 / ticks)),
            show(host.at),
        );
        if let Some(event) = host.event {
            // A clock that cuts to whole ticks loses up to one; binary32 rounds by half a step.
            let slack = ticks_per_ms.map_or(0.0, f64::recip) + event.abs() * f64::from(f32::EPSILON) / 2.0;
            recorder.require(
                host.time + slack >= event,
                Code::HostSpan,
                document,
                host.at,
                format_args!("at least the event span {event} ms"),
                host.time,
            );
        }
    }
}

/// Whether the nearest whole tick, back in milliseconds, is the very binary64 number that was recorded.
fn is_on_tick(time: f64, ticks_per_ms: f64) -> bool {
    (time * ticks_per_ms).round() / ticks_per_ms == time
}
