//! Where a package may be written, and that nothing is left where it cannot be.

use std::fs;
use std::path::Path;

use recount::bench::partition::assemble::{AssembleError, write};
use recount::bench::partition::record::{Campaign, RouteRun};
use recount::package::json::Json;
use tempfile::TempDir;

use super::campaign::campaign;
use crate::common::content::{Recipe, variants};
use crate::common::json::set;

fn plain() -> Campaign {
    campaign(&Recipe::default(), variants::without_torch)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    names
}

fn root() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

#[test]
fn a_new_name_and_an_empty_folder_are_taken() {
    let root = root();
    for name in ["new", "empty"] {
        let out = root.path().join(name);
        if name == "empty" {
            fs::create_dir(&out).unwrap();
        }
        write(&plain(), &out).unwrap();
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
        assert_eq!(names(&out), expected);
        assert_eq!(fs::read_to_string(out.join(".gitattributes")).unwrap(), "* text eol=lf\n");
    }
    assert_eq!(names(root.path()), ["empty", "new"]);
}

#[test]
fn two_packages_of_one_campaign_are_the_same_bytes() {
    let root = root();
    let folders = ["one", "two"].map(|name| root.path().join(name));
    folders.iter().for_each(|folder| write(&plain(), folder).unwrap());
    let receipts = folders.map(|folder| fs::read(folder.join("receipts.json")).unwrap());
    assert_eq!(receipts[0], receipts[1]);
}

#[test]
fn what_exists_is_left_alone() {
    let root = root();
    let out = root.path().join("full");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("notes.txt"), "mine").unwrap();
    fs::write(root.path().join("file"), "mine").unwrap();
    for place in [out.clone(), root.path().join("file")] {
        let error = write(&plain(), &place).unwrap_err();
        assert!(matches!(error, AssembleError::Place(_)) && error.to_string().contains("exists"), "{error}");
    }
    assert_eq!(names(&out), ["notes.txt"]);
    assert_eq!(names(root.path()), ["file", "full"]);
}

#[cfg(unix)]
#[test]
fn a_link_to_an_empty_folder_is_something_else() {
    let root = root();
    fs::create_dir(root.path().join("empty")).unwrap();
    std::os::unix::fs::symlink("empty", root.path().join("link")).unwrap();
    assert!(write(&plain(), &root.path().join("link")).is_err());
    assert_eq!(names(&root.path().join("empty")), Vec::<String>::new());
}

#[test]
fn a_parent_that_takes_no_folder_is_named() {
    let root = root();
    fs::write(root.path().join("file"), "").unwrap();
    for out in ["absent/out", "file/out"] {
        let error = write(&plain(), &root.path().join(out)).unwrap_err();
        assert!(error.to_string().contains("there is no folder"), "{error}");
    }
    assert_eq!(names(root.path()), ["file"]);
}

#[cfg(unix)]
#[test]
fn a_package_is_readable_for_those_for_whom_any_new_folder_is() {
    use std::os::unix::fs::PermissionsExt;
    let root = root();
    let (made, out) = (root.path().join("made"), root.path().join("out"));
    fs::create_dir(&made).unwrap();
    write(&plain(), &out).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&out), mode(&made));
}

/// A change of a campaign that no package can be made of, and a part of what is said of it.
type Damage = (&'static str, fn(&mut Campaign));

const DAMAGES: &[Damage] = &[
    ("nothing to publish", |campaign| {
        let raw = obj! { "status": "failed", "process": obj! { "returncode": 1_u64 } };
        for run in campaign.cases.iter_mut().flat_map(|case| &mut case.runs) {
            run.native = RouteRun::Failed(raw.clone());
        }
    }),
    ("sm_count", |campaign| set(&mut campaign.device, "/sm_count", 0_u64)),
    ("receipt of the program", |campaign| campaign.implementation.clear()),
    ("the receipt bin/recount twice", |campaign| {
        let again = campaign.implementation[0].clone();
        campaign.implementation.push(again);
    }),
    ("twice", |campaign| {
        let again = campaign.cases[0].clone();
        campaign.cases.push(again);
    }),
    ("Torch was asked for", |campaign| campaign.torch = true),
    ("3 runs in 4 cohorts", |campaign| {
        campaign.cases[1].runs.pop();
    }),
    ("rows9", |campaign| {
        let run = campaign.cases[1].runs[0].clone();
        campaign.cases[1].retest = Some(("rows9".to_owned(), run));
    }),
    ("did not fail", |campaign| {
        let run = campaign.cases[1].runs[1].clone();
        campaign.cases[1].retest = Some(("rows1".to_owned(), run));
    }),
    ("a number of device.json is not finite", |campaign| {
        set(&mut campaign.device, "/max_resident_warps_per_sm", f64::NAN);
    }),
    ("validation.json could not be read back", |campaign| {
        campaign.environment = obj! { "host": "one", "host": "two" };
    }),
    ("no median", |campaign| campaign.cases[1].runs[0].native = RouteRun::Timed(Json::Null)),
    ("exit status", |campaign| {
        let raw = obj! { "status": "failed", "process": obj! { "returncode": 0_u64 } };
        campaign.cases[1].runs[0].native = RouteRun::Failed(raw);
    }),
    ("instead of an array", |campaign| {
        let RouteRun::Timed(native) = &mut campaign.cases[1].runs[0].native else { panic!("timed") };
        set(native, "/event_us/samples", 1.0);
    }),
];

#[test]
fn a_campaign_that_no_package_can_be_made_of_leaves_nothing() {
    for (said, damage) in DAMAGES {
        let root = root();
        let mut campaign = plain();
        damage(&mut campaign);
        let error = write(&campaign, &root.path().join("out")).expect_err(said);
        assert!(error.to_string().contains(said), "{said}: {error}");
        assert_eq!(names(root.path()), Vec::<String>::new(), "{said}");
    }
}
