//! What findings of any code quote of a package's private texts, in every format; and what notes say of files left out.

use crate::common::outcome::Outcome;
use crate::common::package::Package;

const UUIDS: [&str; 2] = ["GPU-01234567-89ab-cdef-0123-456789abcdef", "GPU-fedcba98-7654-3210-fedc-ba9876543210"];

/// A package with private texts where checks other than that of `unredacted` quote them.
fn private() -> Package {
    let package = Package::valid();
    // Unreadable as a number, and quoted by the finding that says so.
    package.edit_text("device.json", |text| {
        let at = text.find("\"sm_count\":").expect("a member") + "\"sm_count\":".len();
        let end = at + text[at..].find([',', '}']).expect("its end");
        format!("{} {:?}{}", &text[..at], format!("{}/home/alice/gpus {}", "x ".repeat(60), UUIDS[0]), &text[end..])
    });
    package.reseal_file("device.json");
    package
}

#[test]
fn no_finding_of_any_code_shows_what_is_private() {
    let package = private();
    let outcome = package.verify(&[]);
    outcome.exits(1);
    let quoting = outcome.report()["subjects"][0]["checks"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|check| check["findings"].as_array().unwrap().clone())
        .filter(|finding| {
            finding["code"] != "unredacted" && finding["found"].as_str().unwrap().contains("${USER_HOME}")
        })
        .count();
    outcome.require(quoting > 0, "another code than unredacted quotes the text");
    outcome.require(outcome.codes().contains(&"unredacted".to_owned()), "and it is warned of");
    let folder = Package::empty();
    let page = folder.file("page.html");
    let here = package.path().to_str().unwrap();
    Outcome::of(&["report", here, "--html", page.to_str().unwrap()], None).exits(1);
    let mut shown = vec![("html", folder.text("page.html"))];
    for format in ["text", "json", "markdown", "junit", "sarif"] {
        shown.push((format, package.run("verify", &["-v", "--format", format]).stdout));
    }
    for (format, text) in shown {
        for private in ["/home/alice", UUIDS[0], "GPU-0123", "alice"] {
            assert!(!text.contains(private), "{format} shows {private}");
        }
        assert!(text.contains("USER_HOME"), "{format} shows that something stood there");
    }
}

#[test]
fn the_end_of_a_long_quote_is_shown() {
    let package = Package::valid();
    let row = package.text("samples.csv").lines().nth(1).expect("a row").to_owned();
    let case = row.split(',').next().expect("a case").to_owned();
    let long = format!("{case}-{}", "long".repeat(30));
    for name in ["samples.csv", "validation.json", "cases.json", "model.json"] {
        if package.text(name).contains(&case) {
            package.edit_text(name, |text| text.replace(&case, &long));
        }
    }
    package.edit_text("samples.csv", |text| {
        let lines: Vec<&str> = text.lines().collect();
        [&lines[..1], &lines[2..]].concat().join("\n") + "\n"
    });
    package.seal();
    let outcome = package.verify(&[]);
    let found = outcome.all("sample-rows").into_iter().find(|found| found.found == "none").expect("the row is missed");
    let whole = format!("a row {long},{} index 0", row.split(',').collect::<Vec<_>>()[1..3].join(","));
    let ending = format!(" index 0 ({} characters)", whole.chars().count());
    outcome.require(found.expected.ends_with(&ending), &found.expected);
    outcome.require(found.expected.starts_with(&format!("a row {case}")), &found.expected);
}

#[test]
fn files_that_are_left_out_are_named_up_to_a_bound() {
    let package = Package::valid();
    package.write(".recountignore", "notes/*\n").reseal_file(".recountignore");
    let notes = |package: &Package| {
        let outcome = package.verify(&["--strict"]);
        outcome.exits(0);
        outcome.checks()[0]["notes"].to_string()
    };
    assert!(!notes(&package).contains(".recountignore"));
    for index in 0..3 {
        package.write(&format!("notes/{index:02}.txt"), "x");
    }
    let said = "without a receipt, as .recountignore says: notes/00.txt, notes/01.txt, notes/02.txt\"";
    assert!(notes(&package).contains(said), "{}", notes(&package));
    for index in 3..25 {
        package.write(&format!("notes/{index:02}.txt"), "x");
    }
    let said = notes(&package);
    assert!(said.contains("notes/19.txt and 5 more\"") && !said.contains("notes/20.txt"), "{said}");
}

#[test]
fn a_list_that_cannot_be_used_leaves_nothing_out_and_says_why() {
    for (list, reason) in [("[\n".to_owned(), "line 1"), (format!("#{}\n*.txt\n", "x".repeat(64 << 10)), "65536 bytes")]
    {
        let package = Package::valid();
        package.write(".recountignore", list).write("extra.txt", "x").reseal_file(".recountignore");
        let outcome = package.verify(&[]);
        outcome.exits(0).only(&["undeclared-file"]);
        let notes = outcome.checks()[0]["notes"].to_string();
        outcome.require(notes.contains("leaves nothing out") && notes.contains(reason), reason);
    }
}
