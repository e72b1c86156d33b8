//! The times in a process's own result, per operation: as many as there are samples, their median, and the lattices of the
//! clocks that they were read from.

use crate::audit::timing::is_around;
use crate::audit::{Code, Recorder, show};
use crate::fit::median::median_of;
use crate::package::json::{Document, Json, Members, Series};

/// Host times and over how many repetitions each is the mean: those of the result, or none.
const HOST: [(&str, bool); 3] =
    [("host_wall_us", true), ("event_instrumented_host_wall_us", true), ("single_sync_us", false)];

/// Times between events of the device.
const EVENTS: &str = "cuda_event_stream_span_us";

/// Ticks in a millisecond that host clocks are known to have.
const KNOWN_TICKS_PER_MS: [f64; 2] = [1e4, 1e6];

/// All lists of a result; `count` is the number of samples.
pub(super) fn check(document: &Document, result: &Json, count: usize, recorder: &mut Recorder) {
    let members = Members::of(result);
    for (name, value) in result.as_object().unwrap_or_default() {
        if let (Some(list), true) = (Series::of(value), name.ends_with("_us") || name.ends_with("_per_op")) {
            let holds = list.len() == count && list.numbers().all(|time| time > 0.0 && time.is_finite());
            let expected = format_args!("{count} positive times");
            recorder.require(holds, Code::FailureRecord, document, value, expected, show(value));
        }
        let of = name.strip_suffix("_p50_us").map(|of| format!("{of}_us"));
        let list = of.as_deref().and_then(|of| Series::of(members.get(of)?));
        if let (Some(of), Some(median)) = (of, list.and_then(|list| median_of(list.numbers()))) {
            let expected = format_args!("{median}, the median of {of}");
            let holds = value.as_f64() == Some(median);
            recorder.require(holds, Code::MedianMismatch, document, value, expected, show(value));
        }
    }
    let list = |name: &str| result.get(name).and_then(Series::of);
    let stated = result.get("repetitions").and_then(Json::as_f64).filter(|count| *count >= 1.0);
    let repetitions = stated.unwrap_or(1.0);
    let ticks = stated.and_then(|_| check_ticks(document, result, repetitions, recorder));
    // The host was timed around the events.
    if let (Some(host), Some(event)) = (list(HOST[1].0), list(EVENTS)) {
        for (index, (time, span)) in host.numbers().zip(event.numbers()).enumerate() {
            let [time, event] = [time, span].map(|mean| mean * repetitions / 1000.0);
            let expected = format_args!("at least the event span {span}");
            recorder.require_item(is_around(time, event, ticks), Code::HostSpan, document, (host, index), expected);
        }
    }
    if stated.is_none() {
        return;
    }
    if let Some(list) = list(EVENTS) {
        for (index, time) in list.numbers().enumerate() {
            let span = f64::from((time * repetitions / 1000.0) as f32);
            let holds = is_mean(time, span, repetitions);
            let expected = format_args!("a binary32 span over {repetitions} repetitions");
            recorder.require_item(holds, Code::SpanLattice, document, (list, index), expected);
        }
    }
}

/// Host times are on the ticks of the clock that most of them are on; how many of those are in a millisecond, if any.
fn check_ticks(document: &Document, result: &Json, repetitions: f64, recorder: &mut Recorder) -> Option<f64> {
    let lists: Vec<(Series<'_>, f64)> = HOST
        .iter()
        .filter_map(|&(name, is_mean)| Some((Series::of(result.get(name)?)?, if is_mean { repetitions } else { 1.0 })))
        .collect();
    let on_tick = |ticks: f64| {
        let on_list =
            |&(list, over): &(Series<'_>, f64)| list.numbers().filter(|&time| is_on_tick(time, over, ticks)).count();
        lists.iter().map(on_list).sum::<usize>()
    };
    let count: usize = lists.iter().map(|(list, _)| list.len()).sum();
    let ticks = KNOWN_TICKS_PER_MS.into_iter().find(|&ticks| on_tick(ticks) * 2 > count)?;
    for &(list, over) in &lists {
        for (index, time) in list.numbers().enumerate() {
            let expected = format_args!("whole ticks of {} ns over {over} repetitions", 1e6 / ticks);
            let holds = is_on_tick(time, over, ticks);
            recorder.require_item(holds, Code::ClockTick, document, (list, index), expected);
        }
    }
    Some(ticks)
}

/// Whether a time in microseconds is that of whole ticks, in milliseconds, over so many repetitions.
fn is_on_tick(time: f64, over: f64, ticks_per_ms: f64) -> bool {
    let ms = (time * over / 1000.0 * ticks_per_ms).round() / ticks_per_ms;
    is_mean(time, ms, over)
}

/// Whether a time in microseconds is the mean of so many in milliseconds, whatever the order of the operations: within a step of
/// binary64 of either.
fn is_mean(time: f64, ms: f64, over: f64) -> bool {
    [ms * 1000.0 / over, ms / over * 1000.0].iter().any(|mean| (mean.next_down()..=mean.next_up()).contains(&time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_taken_in_either_order() {
        let mut differ = 0;
        for (step, over) in (1..400_u16).map(|step| (f64::from(step), f64::from(step % 97 + 1))) {
            let ms = f64::from((0.37 * step) as f32);
            let (first, second) = (ms * 1000.0 / over, ms / over * 1000.0);
            differ += usize::from(first != second);
            assert!(is_mean(first, ms, over) && is_mean(second, ms, over), "{ms} over {over}");
            assert!(!is_mean(first * (1.0 + 1e-12), ms, over), "{ms} over {over}");
        }
        assert!(differ > 0);
    }
}
