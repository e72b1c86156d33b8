//! The time of day, in UTC, and the time since a moment.

use std::time::{Instant, SystemTime};

use chrono::{DateTime, SecondsFormat, Utc};

/// Now, such as `2026-11-30T12:00:00.123Z`.
pub fn timestamp() -> String {
    DateTime::<Utc>::from(SystemTime::now()).to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Today, such as `2026-11-30`.
pub fn today() -> String {
    DateTime::<Utc>::from(SystemTime::now()).format("%Y-%m-%d").to_string()
}

/// Milliseconds since a moment, in whole nanoseconds.
pub fn milliseconds(begin: Instant) -> f64 {
    begin.elapsed().as_nanos() as f64 / 1e6
}
