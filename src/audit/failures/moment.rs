//! Points in time as records of processes write them.

use chrono::{DateTime, NaiveDateTime};

use crate::package::json::Json;

/// Numbers from here on are seconds since 1970, of the year 2001 and later; smaller ones are read from some other clock.
const FIRST_SECONDS: f64 = 1e9;

/// Numbers from here on are milliseconds since 1970: as seconds they would be of the year 5138.
const FIRST_MILLISECONDS: f64 = 1e11;

/// Seconds by which two local times of one place may differ from the time that passed: clocks are set forward and back, and
/// the place itself may be another.
const LOCAL_SECONDS: f64 = 86_400.0;

/// A point in time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    microseconds: i64,
    /// Whether the record says how far its clock is from UTC.
    has_zone: bool,
    /// The last digit that was written, in seconds.
    resolution: f64,
}

/// The time from one point to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Passed {
    /// In seconds, negative where the second point is before the first.
    pub(super) seconds: f64,
    /// By how many seconds it may be otherwise.
    pub(super) slack: f64,
}

impl Moment {
    /// Reads a text as RFC 3339 writes it, with or without an offset, or a number of seconds or milliseconds since 1970.
    /// `None` for anything else, which may be a point in time nevertheless; see [`may_be`](Self::may_be).
    pub(super) fn read(at: &Json) -> Option<Self> {
        let Some(text) = at.as_str() else {
            let number = at.as_f64().filter(|number| number.is_finite() && *number >= FIRST_SECONDS)?;
            let unit = if number > FIRST_MILLISECONDS { 1e-3 } else { 1.0 };
            let resolution = if number.fract() == 0.0 { unit } else { 0.0 };
            return Some(Self { microseconds: (number * unit * 1e6) as i64, has_zone: true, resolution });
        };
        let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
        let digits = fraction.bytes().take_while(u8::is_ascii_digit).take(9).fold(1.0, |unit, _| unit / 10.0);
        if let Ok(time) = DateTime::parse_from_rfc3339(text) {
            return Some(Self { microseconds: time.timestamp_micros(), has_zone: true, resolution: digits });
        }
        let naive = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f"]
            .into_iter()
            .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())?;
        Some(Self { microseconds: naive.and_utc().timestamp_micros(), has_zone: false, resolution: digits })
    }

    /// Whether a value may be a point in time in some notation: a text with a digit, a number that is not negative, or
    /// nothing.
    pub(super) fn may_be(at: &Json) -> bool {
        match at {
            Json::Null => true,
            Json::Str(text) => text.contains(|letter: char| letter.is_numeric()),
            other => other.as_f64().is_some_and(|number| number.is_finite() && number >= 0.0),
        }
    }

    /// The time from this to `later`; `None` where only one of them says its zone.
    pub(super) fn to(self, later: Self) -> Option<Passed> {
        (self.has_zone == later.has_zone).then(|| Passed {
            seconds: later.microseconds.saturating_sub(self.microseconds) as f64 / 1e6,
            slack: self.resolution + later.resolution + if self.has_zone { 0.0 } else { LOCAL_SECONDS },
        })
    }
}
