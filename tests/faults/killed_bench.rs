//! `kill -9` amid `recount bench`: finished runs are kept byte for byte, the package is whole or not there, and the campaign
//! goes on.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::tree::{Moments, to_the_end};
use recount::package::partial::is_partial;

#[allow(dead_code, reason = "the tests of bench use the rest")]
#[path = "../bench/place.rs"]
mod place;

use place::Place;

/// One small case: four runs.
const CASE: &str = r#"{"schema": 1, "cases": [
    {"id": "sum", "operation": "reduce_sum", "dimensions": [9, 40], "rows_per_program": 4, "precision": "fp32"},
    {"id": "max", "operation": "reduce_max", "dimensions": [6, 33], "rows_per_program": 8, "precision": "fp16"}
]}"#;

const SEED: u64 = 1130;

fn small() -> Place {
    let place = Place::new();
    fs::write(place.at("cases.json"), CASE).expect("cases");
    place
}

/// Waits until no process works in the folder: children end with their campaign, but not at the same moment.
fn settled(place: &Place) {
    let begin = Instant::now();
    let text = place.path().display().to_string();
    while begin.elapsed() < Duration::from_secs(20)
        && fs::read_dir("/proc").is_ok_and(|processes| {
            processes.flatten().any(|process| {
                let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
                String::from_utf8_lossy(&line).contains(&text)
            })
        })
    {
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn finished(place: &Place) -> BTreeMap<PathBuf, Vec<u8>> {
    let runs = place.finished("out.runs");
    for (path, bytes) in &runs {
        let text = std::str::from_utf8(bytes).expect("UTF-8");
        let whole = recount::package::json::Document::parse("run.json", text.to_owned());
        assert!(whole.is_ok(), "{}: {:?}", path.display(), whole.err());
    }
    runs
}

fn survives(moments: usize) {
    let place = small();
    let (status, took) = to_the_end(&mut quiet(&place, &[]));
    assert_eq!(status, 0);
    let begin = || {
        let place = small();
        let command = quiet(&place, &[]);
        (place, command)
    };
    Moments::new(SEED, took).kill(moments, begin, |place, when| {
        settled(&place);
        let known = |name: &String| ["cases.json", "out", "out.runs"].contains(&name.as_str()) || is_partial(name);
        assert!(place.names().iter().all(known), "{when}: {:?}", place.names());
        let before = finished(&place);
        if place.at("out").exists() {
            place.verifies("out");
            return;
        }
        // One that was killed before it had begun has nothing to go on with.
        let (mut status, _) = to_the_end(&mut quiet(&place, &["--resume"]));
        if status == 2 && before.is_empty() {
            status = to_the_end(&mut quiet(&place, &[])).0;
        }
        assert_eq!(status, 0, "{when}: the campaign goes on");
        let after = finished(&place);
        assert!(before.iter().all(|(path, bytes)| after.get(path) == Some(bytes)), "{when}: finished runs are kept");
        place.verifies("out");
    });
}

fn quiet(place: &Place, more: &[&str]) -> std::process::Command {
    let mut command = place.command("out", more);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    command
}

#[test]
fn bench_goes_on_after_any_of_a_few_moments() {
    survives(8);
}

#[test]
#[ignore = "takes minutes"]
fn bench_goes_on_after_any_of_fifty_moments() {
    survives(50);
}
