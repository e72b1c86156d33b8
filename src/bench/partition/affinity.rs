//! On which processors a process may run.

use crate::package::json::Json;

/// Most processors that a list may name.
const MAX_PROCESSORS: usize = 1024;

/// Reads a list such as `0,2-5`.
///
/// # Errors
/// What is no such list, or names a processor twice.
pub fn parse(text: &str) -> Result<Vec<usize>, String> {
    let wrong = || format!("{text:?} is no list of processors such as 0,2-5");
    let mut list = Vec::new();
    for part in text.split(',') {
        let (from, to) = part.trim().split_once('-').unwrap_or((part.trim(), part.trim()));
        let (from, to) = (from.parse::<usize>().map_err(|_| wrong())?, to.parse::<usize>().map_err(|_| wrong())?);
        if from > to || to >= MAX_PROCESSORS {
            return Err(wrong());
        }
        list.extend(from..=to);
    }
    let count = list.len();
    list.sort_unstable();
    list.dedup();
    if list.len() == count { Ok(list) } else { Err(format!("{text:?} names a processor twice")) }
}

/// The processors of this process; `None` where the system does not say.
pub fn current() -> Option<Vec<usize>> {
    #[cfg(target_os = "linux")]
    {
        let set = rustix::thread::sched_getaffinity(None).ok()?;
        Some((0..MAX_PROCESSORS).filter(|&processor| set.is_set(processor)).collect())
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// Keeps this process, and the threads that it starts from now on, on these processors.
///
/// # Errors
/// The system cannot, or there is no such processor.
pub fn pin(processors: &[usize]) -> Result<(), String> {
    #[cfg(target_os = "linux")]
    {
        let mut set = rustix::thread::CpuSet::new();
        for &processor in processors.iter().filter(|&&processor| processor < MAX_PROCESSORS) {
            set.set(processor);
        }
        rustix::thread::sched_setaffinity(None, &set)
            .map_err(|error| format!("the process cannot be kept on processors {processors:?}: {error}"))?;
        match current() {
            Some(found) if found == processors => Ok(()),
            found => Err(format!("asked for processors {processors:?}, got {found:?}; there are no others")),
        }
    }
    #[cfg(not(target_os = "linux"))]
    Err(format!("processes cannot be kept on processors {processors:?} on this system"))
}

/// A set of processors as a mask in hexadecimal, such as `0x5`.
pub fn mask(processors: Option<&[usize]>) -> Json {
    let Some(processors) = processors else { return Json::Null };
    let most = processors.iter().max().map_or(0, |most| most / 4);
    let mut digits = vec![0_u32; most + 1];
    for processor in processors {
        if let Some(digit) = digits.get_mut(processor / 4) {
            *digit |= 1 << (processor % 4);
        }
    }
    let text: String = digits.iter().rev().filter_map(|&digit| char::from_digit(digit, 16)).collect();
    Json::from(format!("0x{text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_shown_as_masks() {
        assert_eq!(parse("0,2-4").unwrap(), [0, 2, 3, 4]);
        assert_eq!(parse("7").unwrap(), [7]);
        for wrong in ["", "a", "3-1", "1,,2", "-1", "0,0", "1-2,2", "5000"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(mask(Some(&[0, 2, 3, 4])), Json::from("0x1d"));
        // The published package's four processors.
        assert_eq!(mask(Some(&[10, 12, 14, 16])), Json::from("0x15400"));
        assert_eq!(mask(Some(&[])), Json::from("0x0"));
        assert_eq!(mask(None), Json::Null);
    }
}
