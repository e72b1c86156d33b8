//! Points in time as an allowed-signers file writes them.

use chrono::{DateTime, NaiveDate};

/// A point in time, or a time of day that each time zone has at another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Seconds since 1970, as if it were UTC.
    seconds: i64,
    /// Whether it is: `ssh-keygen` takes a time without a `Z` in the time zone of the machine that it runs on.
    utc: bool,
}

/// Seconds that the clocks of the easternmost zone are ahead of UTC.
const EAST: i64 = 14 * 3600;
/// Seconds that the clocks of the westernmost zone are behind it.
const WEST: i64 = 12 * 3600;

impl Moment {
    /// Reads `YYYYMMDD`, `YYYYMMDDHHMM` or `YYYYMMDDHHMMSS`, each with or without a `Z` or `UTC`; `None` for anything else, and
    /// for times before 1970.
    pub fn read(text: &str) -> Option<Self> {
        let without = |suffix: &str| {
            Some(text.split_at_checked(text.len().checked_sub(suffix.len())?)?)
                .filter(|(_, end)| end.eq_ignore_ascii_case(suffix))
        };
        let zoned = without("Z").or_else(|| without("UTC"));
        let digits = zoned.map_or(text, |(digits, _)| digits);
        if !matches!(digits.len(), 8 | 12 | 14) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let part = |start: usize, length: usize| -> Option<u32> { digits.get(start..start + length)?.parse().ok() };
        let year = i32::try_from(part(0, 4)?).ok()?;
        let (hour, minute) = if digits.len() > 8 { (part(8, 2)?, part(10, 2)?) } else { (0, 0) };
        let second = if digits.len() > 12 { part(12, 2)? } else { 0 };
        let moment = NaiveDate::from_ymd_opt(year, part(4, 2)?, part(6, 2)?)?.and_hms_opt(hour, minute, second)?;
        let seconds = moment.and_utc().timestamp();
        (seconds > 0).then_some(Self { seconds, utc: zoned.is_some() })
    }

    /// Seconds since 1970 where a time without a zone is UTC.
    pub fn in_utc(self) -> i64 {
        self.seconds
    }

    /// Seconds since 1970 as people write them: `2025-01-31T12:00:00Z`.
    pub fn written(at: i64) -> String {
        DateTime::from_timestamp(at, 0).map_or_else(|| format!("{at} s after 1970"), |moment| format!("{moment:?}"))
    }

    /// Whether `at`, in seconds since 1970, is before this; `None` where that depends on the time zone.
    pub fn is_after(self, at: i64) -> Option<bool> {
        let (earliest, latest) =
            if self.utc { (self.seconds, self.seconds) } else { (self.seconds - EAST, self.seconds + WEST) };
        match at {
            at if at < earliest => Some(true),
            at if at >= latest => Some(false),
            _ => None,
        }
    }

    /// Whether this is certainly no later than `other`.
    pub fn is_no_later_than(self, other: Self) -> bool {
        match (self.utc, other.utc) {
            (true, true) | (false, false) => self.seconds <= other.seconds,
            (true, false) => self.seconds <= other.seconds - EAST,
            (false, true) => self.seconds + WEST <= other.seconds,
        }
    }
}
