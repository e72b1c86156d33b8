//! Whether a UUID is the identity of a device: what its name says, and for a bare `uuid` what stands beside it.

use super::rules::{Found, Judged};
use super::values::is_uuid;

/// What only tables and objects of devices have beside a bare `uuid`, as the query of a driver and the properties of a device
/// print it.
const OF_A_DEVICE: [&str; 10] = [
    "driver_version",
    "pci.bus_id",
    "pci_bus_id",
    "pcibusid",
    "gpu_name",
    "gpu_bus_id",
    "vbios_version",
    "compute_cap",
    "multi_processor_count",
    "deviceproperties(",
];

/// Names of columns that a query of devices has, as many other tables do;
const OF_ANYTHING: [&str; 2] = ["name", "index"];

/// and words in names of columns beside which they say nothing.
const OF_A_RUN: [&str; 9] = ["run", "experiment", "trial", "job", "session", "case", "median", "task", "test"];

/// Bytes on either side in which a neighbour is looked for.
const AROUND: usize = 512;

/// Whether a name says that it names the identity of a device, in whatever notation.
pub(super) fn names_identity(name: &str) -> bool {
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let Some(device) = name.strip_suffix("uuid") else { return false };
    let short = device.strip_prefix("nvidia").or_else(|| device.strip_prefix("mig")).unwrap_or(device);
    ["gpu", "mig", "device", "cuda", "nvidia"].iter().any(|kind| [device, short].contains(kind))
}

/// Whether a name is `uuid` and nothing else, which says nothing of what it is.
pub(super) fn is_bare(name: &str) -> bool {
    name.trim().eq_ignore_ascii_case("uuid")
}

/// Whether a column beside a bare `uuid` makes its table one of devices.
pub(super) fn is_of_devices<'c>(columns: impl Iterator<Item = &'c str>) -> bool {
    let (mut may_be, mut is_of_runs) = (false, false);
    for column in columns {
        let column = column.to_ascii_lowercase();
        if OF_A_DEVICE.iter().any(|name| column.starts_with(name)) {
            return true;
        }
        may_be |= OF_ANYTHING.contains(&column.as_str());
        is_of_runs |= OF_A_RUN.iter().any(|word| column.contains(word));
    }
    may_be && !is_of_runs
}

/// Whether a value is the bare identity of some device.
pub(super) fn is_identity(value: &str) -> bool {
    is_uuid(value) && value.bytes().any(|byte| !matches!(byte, b'0' | b'-'))
}

/// The first group of the rule stands behind the name of a device, the second behind a bare `uuid`.
pub(super) fn is_of_a_device(found: Found<'_>) -> Judged {
    found.judged(is_identity(found.part()) && (found.group == 1 || is_beside(found.text, found.start, found.end)))
}

/// Whether what only a device has stands in the same object or line.
pub(super) fn is_beside(text: &str, start: usize, end: usize) -> bool {
    let around = neighbours(text, start, end).map(|part| part.to_ascii_lowercase());
    around.iter().any(|part| OF_A_DEVICE.iter().any(|name| contains(part, name)))
}

/// What stands on both sides of a place, up to the end of the object around it or, in other texts, of the line.
pub(super) fn neighbours(text: &str, start: usize, end: usize) -> [&[u8]; 2] {
    let before = &text.as_bytes()[start.saturating_sub(AROUND)..start];
    let after = &text.as_bytes()[end..text.len().min(end + AROUND)];
    let is_member = |part: &[u8]| part.contains(&b'"') && part.iter().any(|byte| matches!(byte, b'{' | b'}'));
    let is_json = is_member(before) || is_member(after);
    let is_edge = |byte: &u8| if is_json { matches!(byte, b'{' | b'}') } else { *byte == b'\n' };
    let begin = before.iter().rposition(is_edge).map_or(0, |at| at + 1);
    [&before[begin..], &after[..after.iter().position(is_edge).unwrap_or(after.len())]]
}

/// Whether bytes hold a text.
pub(super) fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
