//! The whole way of somebody without a GPU: run, verify, refit, compare, apply a model.

use std::fs;
use std::path::Path;

use recount::package::json::Json;

use super::place::{COHORTS, IDS, Place, SAMPLES, files, names};
use crate::common::json::{copy, parse};

#[test]
fn two_campaigns_are_verified_refitted_and_compared() {
    let place = Place::new();
    for out in ["first", "second"] {
        let outcome = place.bench(out, &[]);
        outcome.exits(0);
        outcome.require(outcome.stdout.contains("12 runs, none failed"), "all runs are there");
        place.verifies(out);
        let refit = place.recount(&["refit", "--exact", "--diff", out]);
        refit.exits(0);
        refit.require(refit.stdout.contains("no other difference"), "the recorded model is the refitted one");
    }
    assert_eq!(place.names(), ["cases.json", "first", "first.runs", "second", "second.runs"]);
    let diff = place.recount(&["diff", "first", "second"]);
    diff.exits(0);
    diff.require(diff.stdout.contains("3 cases compared"), "all cases are compared");
    let predict = place.recount(&["predict", "first/model.json", "second"]);
    predict.exits(0);
    predict.require(predict.stdout.contains("nothing is fitted"), "the model is applied as it is");

    // The package is all that is published; the runs beside it can be removed.
    fs::remove_dir_all(place.at("first.runs")).unwrap();
    place.verifies("first");
    what_stands_in_it(&place);
    nothing_of_the_machine_stands_in_it(&place);
}

fn what_stands_in_it(place: &Place) {
    let expected = [
        ".gitattributes",
        "README.md",
        "cases.json",
        "device.json",
        "model.json",
        "proof-receipts.json",
        "provenance.json",
        "receipts.json",
        "samples.csv",
        "validation.json",
    ];
    assert_eq!(names(&place.at("first")), expected);
    let validation = place.json("first/validation.json");
    assert_eq!(copy(&validation, "/status"), Json::from("completed_validated_native"));
    let names = |list: &Json, member: &str| -> Vec<String> {
        let items = list.as_array().unwrap_or_default().iter();
        items.map(|item| item.get(member).and_then(Json::as_str).unwrap().to_owned()).collect()
    };
    assert_eq!(names(&copy(&validation, "/cohorts"), "name"), COHORTS);
    assert_eq!(names(&copy(&place.json("first/cases.json"), "/cases"), "id"), IDS);
    for id in IDS {
        for cohort in COHORTS {
            let run = format!("{cohort}/{id}");
            assert_eq!(place.rows("first", &run), SAMPLES, "{run}");
            let record = place.record("first", &run);
            assert_eq!(copy(&record, "/status"), Json::from("validated"), "{run}");
            assert_eq!(copy(&record, "/process/native/returncode"), Json::Int(0), "{run}");
            assert_eq!(copy(&record, "/routes/native/saved_output_recheck/failed_elements"), Json::Int(0), "{run}");
        }
    }
    assert_eq!(place.text("first/samples.csv").lines().count(), 1 + IDS.len() * COHORTS.len() * SAMPLES);
    let readme = place.text("first/README.md");
    let first = readme.lines().next().unwrap();
    assert!(first.starts_with("# Host threads") && first.contains("not a GPU result"), "{first}");
    let device = place.json("first/device.json");
    assert_eq!(copy(&device, "/identity/gpu"), Json::Null);
    assert_eq!(copy(&device, "/identity/backend"), Json::from("host threads"));
    assert_eq!(copy(&device, "/sm_count"), Json::Int(1));
}

/// A package is made to be published: it says nothing of where it was made.
fn nothing_of_the_machine_stands_in_it(place: &Place) {
    let mut secrets = vec![
        place.path().display().to_string(),
        std::env::temp_dir().display().to_string(),
        env!("CARGO_MANIFEST_DIR").to_owned(),
        "first.runs".to_owned(),
    ];
    secrets.extend(std::env::var("HOME"));
    secrets.extend(std::fs::read_to_string("/proc/sys/kernel/hostname").map(|name| name.trim().to_owned()));
    // The root, or a host of three letters, is part of many a word.
    secrets.retain(|secret| secret.len() > 3);
    for path in files(&place.at("first")) {
        let text = fs::read_to_string(&path).unwrap();
        for secret in &secrets {
            assert!(!text.contains(secret), "{}: {secret}", path.display());
        }
        if path.extension().is_some_and(|extension| extension == "json") {
            no_absolute_path(&path, &parse(&text));
        }
    }
}

fn no_absolute_path(path: &Path, value: &Json) {
    match value {
        Json::Str(text) => assert!(!Path::new(text).is_absolute(), "{}: {text}", path.display()),
        Json::Array(items) => items.iter().for_each(|item| no_absolute_path(path, item)),
        Json::Object(members) => members.iter().for_each(|(_, member)| no_absolute_path(path, member)),
        _ => {}
    }
}

#[test]
fn an_empty_folder_is_filled() {
    let place = Place::new();
    fs::create_dir(place.at("out")).unwrap();
    place.bench("out", &[]).exits(0);
    place.verifies("out");
}

#[test]
fn a_campaign_that_is_over_can_be_written_again() {
    let place = Place::new();
    place.bench("out", &[]).exits(0);
    let (runs, cases) = (place.finished("out.runs"), copy(&place.json("out/validation.json"), "/cases"));
    assert_eq!(runs.len(), IDS.len() * COHORTS.len());
    // The place is taken now, whether or not the campaign would only go on.
    for more in [&[][..], &["--resume"]] {
        let outcome = place.bench("out", more);
        outcome.exits(2);
        outcome.require(outcome.stderr.contains("exists; name a new folder"), "it says that the place is taken");
    }
    fs::remove_dir_all(place.at("out")).unwrap();
    let outcome = place.bench("out", &[]);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("go on with it (--resume), or remove the folder"), "it says what to do");
    place.bench("out", &["--resume"]).exits(0);
    assert_eq!(place.finished("out.runs"), runs, "nothing is run again");
    assert_eq!(copy(&place.json("out/validation.json"), "/cases"), cases);
    place.verifies("out");
}
