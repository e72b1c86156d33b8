//! Points in time as an allowed-signers file writes them.

use chrono::NaiveDate;

/// Reads `YYYYMMDD`, `YYYYMMDDHHMM` or `YYYYMMDDHHMMSS`, each with or without a `Z`, as seconds since 1970 in UTC; `None` for
/// anything else. Without the `Z`, `ssh-keygen` takes the time zone of the machine; here it is UTC on every machine.
pub fn seconds(text: &str) -> Option<i64> {
    let digits = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    if !matches!(digits.len(), 8 | 12 | 14) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part = |start: usize, length: usize| -> Option<u32> { digits.get(start..start + length)?.parse().ok() };
    let year = i32::try_from(part(0, 4)?).ok()?;
    let (hour, minute) = if digits.len() > 8 { (part(8, 2)?, part(10, 2)?) } else { (0, 0) };
    let second = if digits.len() > 12 { part(12, 2)? } else { 0 };
    let moment = NaiveDate::from_ymd_opt(year, part(4, 2)?, part(6, 2)?)?.and_hms_opt(hour, minute, second)?;
    Some(moment.and_utc().timestamp())
}
