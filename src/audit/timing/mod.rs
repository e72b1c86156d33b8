//! Timing: times per operation follow from spans and counts; spans, clocks, calibration, caps and warm-up agree.

mod clocks;

use super::evidence::{Options, PartitionEvidence};
use super::{CheckReport, Code, Family, Recorder};
use crate::fit::median::median_of;
use crate::package::json::{Document, Json, Series};
use crate::package::partition::{Reader, Route, Timing};
pub(super) use clocks::{HostTimes, check as check_clocks, is_around, names_cuda_device};

/// Runs the family.
pub(super) fn check(package: &PartitionEvidence<'_>, options: &Options) -> CheckReport {
    let mut recorder = Recorder::new(Family::Timing, options.tolerance);
    let validation = match package.validation() {
        Ok(validation) => validation,
        Err(reason) => return recorder.not_run(reason),
    };
    let device_is_cuda = names_cuda_device(package.evidence);
    let mut first_settings = [None, None];
    let mut host_times = Vec::new();
    for (record, run, route, timing) in validation.timed() {
        let Some(at) = run.routes()[route as usize].1.at else { continue };
        let reader = Reader::new(validation.document);
        let manifest = record.manifest(run);
        let mut routes = RouteCheck {
            document: validation.document,
            reader: &reader,
            recorder: &mut recorder,
            host_times: &mut host_times,
            is_cuda: is_cuda(device_is_cuda, manifest),
        };
        let settings = &mut first_settings[route as usize];
        // A member that is missing ends the route's check; the reader has written it down.
        let _ = routes.run(manifest, route, timing, at, settings);
        super::report_problems(&mut recorder, validation.document, reader.into_problems());
    }
    check_clocks(validation.document, &host_times, &mut recorder);
    recorder.finish()
}

/// Whether event spans come from CUDA: the device is one, or the run's manifest names no other backend.
pub(super) fn is_cuda(device_is_cuda: bool, manifest: Option<&Json>) -> bool {
    let backend = manifest.and_then(|manifest| manifest.get("backend")?.as_str());
    device_is_cuda || backend.is_none_or(|backend| backend == "cuda")
}

/// The checks of one route record, wherever it stands.
pub(super) struct RouteCheck<'c, 'd> {
    /// The file with the record.
    pub document: &'d Document,
    /// Its reader.
    pub reader: &'c Reader<'d>,
    /// Takes the findings.
    pub recorder: &'c mut Recorder,
    /// All host times seen so far, which are judged together: which clock they were read from only all of them tell.
    pub host_times: &'c mut Vec<HostTimes<'d>>,
    /// Whether event spans were reported by CUDA, which does so in binary32.
    pub is_cuda: bool,
}

impl<'d> RouteCheck<'_, 'd> {
    /// Checks a record `at`; `settings` is the first of its route, which the others agree with. `None` where a member that
    /// is needed is not there, which the reader has written down.
    pub(super) fn run(
        &mut self,
        manifest: Option<&'d Json>,
        route: Route,
        timing: &Timing<'d>,
        at: &'d Json,
        settings: &mut Option<&'d Json>,
    ) -> Option<()> {
        self.cold_times(at)?;
        let sampling = self.reader.member(at, "sampling")?;
        self.spans(sampling, timing)?;
        let manifest = manifest?;
        self.counts(manifest, route, sampling)?;
        self.calibration(sampling, manifest)?;
        self.warm_up(at, sampling)?;
        let _ = self.reader.member(at, "result_receipt");
        self.same_settings(at, sampling, settings)
    }

    /// `sample_us == span_ms * 1000 / operations`, the same of the medians, and host spans around event spans.
    fn spans(&mut self, sampling: &'d Json, timing: &Timing<'d>) -> Option<()> {
        let operations = self.reader.count(sampling, "operations_per_sample")? as f64;
        let event = self.reader.member(sampling, "event_span_ms")?;
        let host = self.reader.member(sampling, "host_span_ms")?;
        let event_spans = self.reader.numbers(event, "samples")?;
        let host_spans = self.reader.numbers(host, "samples")?;
        let lengths = [timing.samples.len(), event_spans.len(), host_spans.len()];
        let same_length = lengths.iter().all(|&length| length == lengths[0]);
        self.recorder.require(
            same_length,
            Code::OperationCount,
            self.document,
            sampling,
            "as many samples as event spans and host spans",
            format_args!("{lengths:?}"),
        );
        for (index, span) in event_spans.numbers().take(timing.samples.len()).enumerate() {
            let time = Json::Float(span * 1000.0 / operations);
            self.recorder.equal_item(Code::EventTime, self.document, (timing.samples, index), &time);
        }
        for (index, span) in event_spans.numbers().enumerate() {
            let (holds, expected) = (self.is_event_span(span), self.event_spans());
            self.recorder.require_item(holds, Code::SpanLattice, self.document, (event_spans, index), expected);
        }
        self.host_times.push(HostTimes::Spans { host: host_spans, event: event_spans });
        for (spans, list) in [(event, event_spans), (host, host_spans)] {
            let p50 = self.reader.member(spans, "p50")?;
            if let Some(median) = median_of(list.numbers()) {
                self.recorder.equal_float(Code::MedianMismatch, self.document, p50, median);
            }
        }
        let p50_span = self.reader.number(event, "p50")?;
        let from_span = p50_span * 1000.0 / operations;
        if event_spans.len() % 2 == 0 {
            // Means of the middle two, of spans here and of times there, may round differently.
            self.recorder.close(Code::EventTime, self.document, timing.p50_at, from_span, 0.0);
        } else {
            self.recorder.equal_float(Code::EventTime, self.document, timing.p50_at, from_span);
        }
        let prime_event = self.reader.number(sampling, "prime_event_ms")?;
        let prime_host = self.reader.number(sampling, "prime_host_ms")?;
        self.event_span(self.reader.member(sampling, "prime_event_ms")?, prime_event);
        let at = self.reader.member(sampling, "prime_host_ms")?;
        self.host_time(at, prime_host, Some(prime_event));
        Some(())
    }

    fn counts(&mut self, manifest: &'d Json, route: Route, sampling: &'d Json) -> Option<()> {
        let replays = self.reader.count(sampling, "replays_per_sample")?;
        let operations = self.reader.count(sampling, "operations_per_sample")?;
        let batch = self.reader.count(manifest, "graph_batch")?;
        let at = self.reader.member(sampling, "operations_per_sample")?;
        self.recorder.require(
            replays.checked_mul(batch) == Some(operations),
            Code::OperationCount,
            self.document,
            at,
            format_args!("{replays} replays of {batch} operations"),
            operations,
        );
        let dispatches = self.reader.member(sampling, "kernel_stage_dispatches_per_sample")?;
        match (route, dispatches) {
            (Route::Native, _) => {
                self.recorder.equal(Code::OperationCount, self.document, dispatches, &Json::from(operations));
            }
            // Into how many kernels the compiler made one operation need not be counted; it is at least one.
            (Route::Torch, Json::Null) => self.recorder.held(),
            (Route::Torch, _) => {
                self.recorder.require(
                    dispatches.as_u64().is_some_and(|dispatches| dispatches >= operations),
                    Code::OperationCount,
                    self.document,
                    dispatches,
                    format_args!("null, or at least {operations}"),
                    super::show(dispatches),
                );
            }
        }
        for (member, count) in [("replay_cap", replays), ("operation_cap", operations)] {
            let cap = self.reader.count(sampling, member)?;
            let at = self.reader.member(sampling, member)?;
            self.recorder.require(
                count <= cap,
                Code::Calibration,
                self.document,
                at,
                format_args!("at least {count}"),
                cap,
            );
        }
        Some(())
    }

    fn calibration(&mut self, sampling: &'d Json, manifest: &'d Json) -> Option<()> {
        let batch = self.reader.count(manifest, "graph_batch")?.max(1);
        let cap = self.reader.count(sampling, "replay_cap")?.min(self.reader.count(sampling, "operation_cap")? / batch);
        let target_ms = self.reader.number(sampling, "sample_target_ms")?;
        let replays_per_sample = self.reader.count(sampling, "replays_per_sample")?;
        let steps = self.reader.array(sampling, "calibration")?;
        let mut expected = Some(1.0);
        let mut last_span = None;
        for step in steps {
            let replays = self.reader.count(step, "replays")?;
            let at = self.reader.member(step, "replays")?;
            // A count above a cap may be cut to it.
            let cut = expected.is_some_and(|expected: f64| expected > cap as f64) && replays == cap;
            self.recorder.require(
                expected == Some(replays as f64) || cut,
                Code::Calibration,
                self.document,
                at,
                expected.map_or("no step".to_owned(), |expected| expected.to_string()),
                replays,
            );
            let event = self.reader.number(step, "event_span_ms")?;
            let host = self.reader.number(step, "host_wall_ms")?;
            self.event_span(self.reader.member(step, "event_span_ms")?, event);
            let at = self.reader.member(step, "host_wall_ms")?;
            self.host_time(at, host, Some(event));
            expected = Some((target_ms / event * replays as f64).ceil()).filter(|count| count.is_finite());
            last_span = Some((replays, event));
        }
        let Some((last, span)) = last_span else {
            self.recorder.report_at(Code::Calibration, self.document, sampling, "at least one step", "none");
            return Some(());
        };
        let at = self.reader.member(sampling, "replays_per_sample")?;
        self.recorder.require(
            last == replays_per_sample,
            Code::CalibrationEnd,
            self.document,
            at,
            last,
            replays_per_sample,
        );
        let reached = self.reader.flag(sampling, "calibration_target_reached")?;
        let at = self.reader.member(sampling, "calibration_target_reached")?;
        if !reached && span >= target_ms {
            let expected = format_args!("true: the last span is {span} ms of {target_ms}");
            self.recorder.report_at(Code::Calibration, self.document, at, expected, reached);
            return Some(());
        }
        // The published calibration stops near its target or at a cap; a span of less than half the target is not near.
        let usual = if reached { span >= target_ms / 2.0 } else { last >= cap };
        let expected = if reached { "a span near the target" } else { "a count at a cap" };
        self.recorder.require(
            usual,
            Code::CalibrationEnd,
            self.document,
            at,
            format_args!("{expected}, where it is {reached}"),
            format_args!("{last} replays in {span} ms"),
        );
        Some(())
    }

    fn warm_up(&mut self, at: &'d Json, sampling: &'d Json) -> Option<()> {
        let warm_up = self.reader.member(at, "warmup")?;
        let target = self.reader.number(warm_up, "target_ms")?;
        let actual = self.reader.number(warm_up, "actual_ms")?;
        let replays = self.reader.count(warm_up, "replays")?;
        let value = self.reader.member(warm_up, "actual_ms")?;
        self.host_time(value, actual, None);
        self.recorder.require(
            actual >= target,
            Code::WarmUp,
            self.document,
            value,
            format_args!("at least {target} ms"),
            actual,
        );
        let per_replay = self.reader.number(self.reader.member(sampling, "event_span_ms")?, "p50")?
            / self.reader.count(sampling, "replays_per_sample")? as f64;
        // The device cannot have run more replays in that time than its own span allows; spans vary by a few percent.
        let most = (actual / per_replay * 1.25).ceil();
        let value = self.reader.member(warm_up, "replays")?;
        self.recorder.require(replays >= 1, Code::WarmUp, self.document, value, "at least one replay", replays);
        self.recorder.require(
            (replays as f64) <= most,
            Code::WarmUpReplays,
            self.document,
            value,
            format_args!("at most {most} replays in {actual} ms"),
            replays,
        );
        Some(())
    }

    /// Targets, caps and protocol of one route are the same in every run.
    fn same_settings(&mut self, at: &'d Json, sampling: &'d Json, first: &mut Option<&'d Json>) -> Option<()> {
        let Some(first_route) = *first else {
            *first = Some(at);
            return Some(());
        };
        // Samples that were dropped from one run would leave its median a choice.
        let count = |route: &'d Json| Some(Series::of(route.path(&["event_us", "samples"])?)?.len());
        let (found, expected) = (count(at)?, count(first_route)?);
        self.recorder.require(
            found == expected,
            Code::ProtocolSetting,
            self.document,
            at.path(&["event_us", "samples"])?,
            format_args!("{expected} samples, as in the first run"),
            found,
        );
        let first_sampling = self.reader.member(first_route, "sampling")?;
        for member in ["protocol", "sample_target_ms", "replay_cap", "operation_cap"] {
            let value = self.reader.member(sampling, member)?;
            self.recorder.equal(
                Code::ProtocolSetting,
                self.document,
                value,
                self.reader.member(first_sampling, member)?,
            );
        }
        let target = self.reader.member(self.reader.member(at, "warmup")?, "target_ms")?;
        let first_target = self.reader.member(self.reader.member(first_route, "warmup")?, "target_ms")?;
        self.recorder.equal(Code::ProtocolSetting, self.document, target, first_target);
        Some(())
    }

    fn cold_times(&mut self, at: &'d Json) -> Option<()> {
        let cold = self.reader.member(at, "cold_ms")?;
        for (_, value) in cold.as_object().unwrap_or_default() {
            match value.as_f64() {
                Some(time) => self.host_time(value, time, None),
                None => self.reader.problem(value, None, "a time in milliseconds", value.kind()),
            }
        }
        Some(())
    }

    fn event_span(&mut self, value: &'d Json, span: f64) {
        let (holds, expected) = (self.is_event_span(span), self.event_spans());
        self.recorder.require(holds, Code::SpanLattice, self.document, value, expected, super::show(value));
    }

    fn is_event_span(&self, span: f64) -> bool {
        let is_reported = !self.is_cuda || f64::from(span as f32) == span;
        is_reported && span > 0.0 && span.is_finite()
    }

    /// What event spans are.
    fn event_spans(&self) -> &'static str {
        if self.is_cuda { "a positive binary32 number" } else { "a positive number" }
    }

    fn host_time(&mut self, at: &'d Json, time: f64, event: Option<f64>) {
        self.host_times.push(HostTimes::One { at, time, event });
    }
}
