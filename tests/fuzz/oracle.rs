//! The second `json.dumps` that the target of canonical JSON compares with writes what Python wrote.

use serde_json::Value;

use super::targets::naive_canonical;

#[test]
fn the_oracle_writes_what_python_wrote() {
    let mut checked = 0;
    for line in include_str!("../data/python-json.txt").lines() {
        let [kind, source, expected] = line.split('\t').collect::<Vec<_>>().try_into().expect("three cells");
        let value = match kind {
            "float" => Value::from(f64::from_bits(u64::from_str_radix(source, 16).expect("bits"))),
            _ => serde_json::from_str(source).expect("JSON"),
        };
        // An integer that JSON writes as -0 is 0 to Python and a float to serde_json.
        if !source.contains("-0") || kind == "float" {
            assert_eq!(naive_canonical(&value), expected, "{line}");
            checked += 1;
        }
    }
    assert!(checked > 600, "{checked} lines");
}
