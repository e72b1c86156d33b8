//! A disk that fills up on the way: said clearly, with every finished run kept.

#![cfg(target_os = "linux")]

use std::path::Path;

use super::place::{COHORTS, IDS, Place, names};
use crate::common::outcome::Outcome;
use crate::common::small_disk::SmallDisk;

/// Room for everything.
const ENOUGH: u64 = 16 << 20;

/// A campaign that found no room: it says so and how to go on, and nothing stands under the package's name.
#[track_caller]
fn found_no_room(outcome: &Outcome, disk: &Path, reason: &str) {
    outcome.exits(2);
    for text in [reason, "--resume", "No space left"] {
        outcome.require(outcome.stderr.contains(text), text);
    }
    assert_eq!(names(disk), ["out.runs"]);
}

/// Goes on when there is room: finished runs are as they were, and no run has failed for want of room.
#[track_caller]
fn goes_on(place: &Place, small: &SmallDisk) {
    let finished = place.finished("disk/out.runs");
    small.resize(ENOUGH);
    let outcome = place.bench("disk/out", &["--resume"]);
    outcome.exits(0);
    outcome.require(outcome.stdout.contains("12 runs, none failed"), "all runs are there");
    let all = place.finished("disk/out.runs");
    assert_eq!(all.len(), IDS.len() * COHORTS.len());
    assert!(finished.iter().all(|(path, bytes)| all.get(path) == Some(bytes)), "finished runs are as they were");
    place.verifies("disk/out");
}

#[test]
fn fills_up_amid_the_runs() {
    // Some files take a whole page, whose size depends on the processor: with either size one is amid the runs here.
    for bytes in [1 << 16, 300 << 10] {
        let place = Place::new();
        let disk = place.at("disk");
        let Some(small) = SmallDisk::new(&disk, bytes) else { return };
        found_no_room(&place.bench("disk/out", &[]), &disk, "there is no room left for");
        goes_on(&place, &small);
    }
}

#[test]
fn fills_up_while_the_package_is_written() {
    let place = Place::new();
    let disk = place.at("disk");
    let Some(small) = SmallDisk::new(&disk, ENOUGH) else { return };
    place.bench("disk/out", &[]).exits(0);
    std::fs::remove_dir_all(disk.join("out")).unwrap();
    // A few small files still fit.
    small.leave(8);
    let outcome = place.bench("disk/out", &["--resume"]);
    found_no_room(&outcome, &disk, "no package was written; its runs are kept in");
    assert_eq!(place.finished("disk/out.runs").len(), IDS.len() * COHORTS.len());
    goes_on(&place, &small);
}
