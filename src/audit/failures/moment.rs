//! Points in time as records of processes write them.

use chrono::{DateTime, NaiveDateTime};

use crate::package::json::Json;

/// A point in time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    microseconds: i64,
    /// Whether the record says how far its clock is from UTC.
    has_zone: bool,
}

impl Moment {
    /// Reads a text as RFC 3339 writes it, with or without an offset, or a number of seconds since 1970; `None` for anything
    /// else.
    pub(super) fn read(at: &Json) -> Option<Self> {
        let Some(text) = at.as_str() else {
            let seconds = at.as_f64().filter(|seconds| seconds.is_finite() && *seconds >= 0.0)?;
            return Some(Self { microseconds: (seconds * 1e6) as i64, has_zone: true });
        };
        if let Ok(time) = DateTime::parse_from_rfc3339(text) {
            return Some(Self { microseconds: time.timestamp_micros(), has_zone: true });
        }
        let naive = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f"]
            .into_iter()
            .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())?;
        Some(Self { microseconds: naive.and_utc().timestamp_micros(), has_zone: false })
    }

    /// Seconds from this to `later`, negative where that is before; `None` where only one of them says its zone.
    pub(super) fn seconds_to(self, later: Self) -> Option<f64> {
        (self.has_zone == later.has_zone).then(|| later.microseconds.saturating_sub(self.microseconds) as f64 / 1e6)
    }
}
