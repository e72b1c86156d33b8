//! Files of measurements that are read in a stream: what is found is what is found of small ones that are kept whole.

use std::collections::BTreeSet;

use recount::audit::{Finding, Options, Outcome, SubjectReport};
use recount::package::json::Json;

use crate::common::content::Recipe;
use crate::common::json::{at, set};
use crate::common::package::Package;

/// Lists that are long enough to be packed; odd, so that medians are samples.
const SAMPLES: usize = 67;

fn package() -> Package {
    Package::of(&Recipe { samples: SAMPLES, ..Recipe::default() })
}

fn audit(package: &Package, streamed: bool) -> SubjectReport {
    let options = Options { streamed_from: if streamed { 0 } else { u64::MAX }, ..Options::default() };
    recount::audit::verify(package.path(), "package", &options, &|_| {})
}

/// What a finding says, but for the lines of JSON files, which a stream does not know.
fn said(finding: &Finding) -> [String; 5] {
    let place = finding.place.pointer.clone().unwrap_or_else(|| format!("{:?}", finding.place));
    [finding.code.name().to_owned(), finding.file.clone(), place, finding.expected.clone(), finding.found.clone()]
}

#[track_caller]
fn same(package: &Package) -> BTreeSet<[String; 5]> {
    let all = |report: &SubjectReport| report.findings().map(said).collect::<BTreeSet<_>>();
    let (kept, streamed) = (audit(package, false), audit(package, true));
    assert_eq!(all(&kept), all(&streamed));
    for (kept, streamed) in kept.checks.iter().zip(&streamed.checks) {
        assert_eq!((kept.family, &kept.outcome), (streamed.family, &streamed.outcome));
        assert_eq!(kept.tally, streamed.tally, "{:?}", kept.family);
    }
    all(&kept)
}

#[test]
fn a_valid_package_holds_with_the_same_comparisons() {
    let package = package();
    assert_eq!(same(&package), BTreeSet::new());
    let report = audit(&package, true);
    assert!(report.checks.iter().all(|check| check.outcome == Outcome::Passed));
    for nanoseconds in [false, true] {
        let recipe = Recipe { samples: SAMPLES, copies: 2, nanoseconds, ..Recipe::default() };
        same(&Package::of(&recipe));
    }
}

#[test]
fn changed_values_of_lists_are_found_where_they_are() {
    let lists = [
        ("validation.json", "/cases/1/cohorts/rows1/routes/native/event_us/samples"),
        ("validation.json", "/cases/1/cohorts/rows1/routes/native/sampling/event_span_ms/samples"),
        ("validation.json", "/cases/1/cohorts/rows1/routes/native/sampling/host_span_ms/samples"),
        ("model.json", "/profile/training_observations/2/samples"),
    ];
    for (name, list) in lists {
        for value in [Json::Float(0.125), Json::Float(-1.5), Json::Float(1e15), Json::Int(3), Json::from("x")] {
            let package = package();
            package.edit_json(name, |root| {
                let list = if root.pointer(list).is_some() { list } else { list.trim_start_matches("/profile") };
                set(root, &format!("{list}/41"), value.clone());
            });
            package.seal();
            if value.as_f64().is_none() {
                // Then the run has no times, and each of its rows is one too many: they are named together.
                assert!(!same_codes(&package).is_empty(), "{name} {list}");
                continue;
            }
            let found = same(&package);
            let is_there = found
                .iter()
                .any(|[_, file, place, ..]| file == name && ["/samples", "/p50"].iter().any(|end| place.contains(end)));
            assert!(is_there, "{name} {list} {value:?}: {found:#?}");
        }
    }
}

#[test]
fn lists_of_other_lengths_are_found() {
    for (list, length) in [("event_us", 66), ("sampling/event_span_ms", 66), ("sampling/host_span_ms", 20)] {
        let package = package();
        package.edit_json("validation.json", |root| {
            let list = format!("/cases/0/cohorts/default/routes/native/{list}/samples");
            let Json::Array(items) = at(root, &list) else { panic!("a list") };
            items.truncate(length);
        });
        assert!(!same_codes(package.seal()).is_empty(), "{list}");
    }
}

/// The codes that each way finds: of all texts that are kept, and in a stream.
fn codes(package: &Package) -> [BTreeSet<String>; 2] {
    [false, true]
        .map(|streamed| audit(package, streamed).findings().map(|finding| finding.code.name().to_owned()).collect())
}

/// The codes that both ways find, which are the same.
#[track_caller]
fn same_codes(package: &Package) -> BTreeSet<String> {
    let [kept, streamed] = codes(package);
    assert_eq!(kept, streamed);
    kept
}

/// A changed table, the codes found, and where in the file a finding must be when it was read in a stream.
type Damage = (&'static str, fn(&mut Vec<String>), usize);

#[test]
fn damaged_rows_are_found_with_their_lines() {
    fn cell(lines: &mut [String], line: usize, column: usize, text: &str) {
        let mut cells: Vec<&str> = lines[line - 1].split(',').collect();
        cells[column] = text;
        lines[line - 1] = cells.join(",");
    }
    let damages: [Damage; 19] = [
        (
            "samples of two runs",
            |lines| {
                cell(lines, 70, 6, "1.25");
                cell(lines, 150, 6, "1.25");
            },
            150,
        ),
        ("another sample", |lines| cell(lines, 70, 6, "1.25"), 70),
        ("no number", |lines| cell(lines, 70, 6, "abc"), 70),
        ("not the shortest form", |lines| cell(lines, 70, 6, "1.250"), 70),
        ("another median", |lines| cell(lines, 70, 7, "1.25"), 70),
        ("a median that is no number", |lines| cell(lines, 70, 7, ""), 70),
        ("a wrong index", |lines| cell(lines, 70, 5, "9"), 70),
        ("a padded index", |lines| cell(lines, 70, 5, "01"), 70),
        ("another status", |lines| (2..=68).for_each(|line| cell(lines, line, 3, "failed")), 2),
        ("another case", |lines| cell(lines, 70, 0, "demo-other"), 70),
        ("a cell too many", |lines| lines[69].push_str(",1.0"), 70),
        ("an open quote", |lines| lines[69].insert(0, '"'), 70),
        ("a row twice", |lines| lines.insert(69, lines[68].clone()), 70),
        ("a run twice", |lines| lines.extend(lines[1..68].to_vec()), 21 * SAMPLES + 2),
        ("a removed row", |lines| drop(lines.remove(69)), 70),
        ("a removed run", |lines| drop(lines.drain(1..68)), 0),
        ("rows in another order", |lines| lines.swap(69, 70), 70),
        ("another header", |lines| lines[0].push_str(",more"), 1),
        ("a mark", |lines| lines[0].insert(0, '\u{feff}'), 1),
    ];
    for (what, damage, line) in damages {
        let package = package();
        let mut lines: Vec<String> = package.text("samples.csv").lines().map(str::to_owned).collect();
        damage(&mut lines);
        package.write("samples.csv", lines.join("\n") + "\n").seal();
        let codes = codes_among_those(&package, what);
        let report = audit(&package, true);
        let mut places = report.findings().filter(|finding| finding.file == "samples.csv");
        assert!(places.any(|finding| finding.place.line.unwrap_or(0) == line), "{what}: {codes:?} {report:#?}");
    }
}

/// The codes that a stream finds, which are some of those that are found otherwise.
#[track_caller]
fn codes_among_those(package: &Package, what: &str) -> BTreeSet<String> {
    let [kept, streamed] = codes(package);
    // A row that is of no run as it stands may be compared with another one's, too, where all rows are at hand.
    assert!(streamed.is_subset(&kept) && !streamed.is_empty(), "{what}: {streamed:?} of {kept:?}");
    streamed
}

#[test]
fn quoted_names_and_other_line_ends_are_read_alike() {
    let package = package();
    let quoted: String = package
        .text("samples.csv")
        .lines()
        .enumerate()
        .map(|(at, line)| match line.split_once(',') {
            Some((case, rest)) if at > 0 => format!("\"{case}\",{rest}\r\n"),
            _ => format!("{line}\r\n"),
        })
        .collect();
    package.write("samples.csv", &quoted).reseal_file("samples.csv");
    let found = same(&package);
    assert!(found.iter().all(|[code, ..]| code == "line-endings"), "{found:#?}");
}

/// A changed table, as bytes.
type BytesDamage = (&'static str, fn(&mut Vec<u8>));

/// What one reader takes for the end of a row or of the file, or passes over, and another does not.
#[test]
fn rows_that_readers_take_apart_differently_are_refused_either_way() {
    let cases: [BytesDamage; 12] = [
        ("a return at the end", |text| text.push(b'\r')),
        ("a row behind a lone return", |text| {
            insert(text, 4, true, b"\rdemo-sum-10x300-fp16-br4,default,native,p,p,7,1.5,1.5")
        }),
        ("other bytes behind a lone return", |text| insert(text, 4, true, b"\r\xff\xfe")),
        ("private text behind a lone return", |text| insert(text, 4, true, b"\rpassword=hunter2!X9")),
        ("a mark before a row", |text| insert(text, 4, false, b"\xef\xbb\xbf")),
        ("a mark before the first row", |text| insert(text, 2, false, b"\xef\xbb\xbf")),
        ("an open quote at the end", |text| {
            let at = text.iter().rposition(|&byte| byte == b',').expect("cells") + 1;
            text.insert(at, b'"');
        }),
        ("an open quote", |text| {
            let line = line_start(text, 5) - 1;
            let at = text[..line].iter().rposition(|&byte| byte == b',').expect("cells") + 1;
            text.insert(at, b'"');
        }),
        ("a blank line before the header", |text| text.insert(0, b'\n')),
        ("a quoted header", |text| {
            text.splice(0..4, *b"\"case\"");
        }),
        ("returns alone", |text| text.iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b'\r')),
        ("two returns", |text| {
            *text = String::from_utf8(text.clone()).expect("text").replace('\n', "\r\r\n").into_bytes()
        }),
    ];
    for (what, damage) in cases {
        let package = package();
        let mut text = package.bytes("samples.csv");
        damage(&mut text);
        package.write("samples.csv", text).reseal_file("samples.csv");
        for streamed in [false, true] {
            let report = audit(&package, streamed);
            let is_refused =
                report.findings().any(|finding| finding.file == "samples.csv" && finding.code.name() != "unredacted");
            assert!(is_refused, "{what}, {streamed}: {:?}", report.findings().map(said).collect::<Vec<_>>());
        }
    }
}

/// Where a line, from 1, begins.
fn line_start(text: &[u8], line: usize) -> usize {
    text.split_inclusive(|&byte| byte == b'\n').take(line - 1).map(<[u8]>::len).sum()
}

fn insert(text: &mut Vec<u8>, line: usize, at_end: bool, what: &[u8]) {
    let at = if at_end { line_start(text, line + 1) - 1 } else { line_start(text, line) };
    text.splice(at..at, what.iter().copied());
}

#[test]
fn numbers_that_look_like_large_integers_are_read_alike() {
    for (literal, holds) in [
        ("-0.0", true),
        ("-0e3", true),
        ("1e300", true),
        ("-9.223372036854775809e18", true),
        ("18446744073709551615", true),
        ("-9223372036854775808", true),
        ("18446744073709551616", false),
        ("-9223372036854775809", false),
        ("123456789012345678901234567890", false),
    ] {
        let package = package();
        package.edit_text("model.json", |text| {
            text.replacen("\"coefficients\":[", &format!("\"x\":{literal},\"coefficients\":["), 1)
        });
        package.seal();
        let refused = |streamed| {
            let report = audit(&package, streamed);
            report.findings().any(|finding| finding.file == "model.json" && finding.code.name() == "json-syntax")
        };
        assert_eq!([refused(false), refused(true)], [!holds; 2], "{literal}");
    }
}

#[test]
fn long_lists_where_none_belongs_are_found_alike() {
    for length in [63, 64, 70] {
        let package = package();
        package.edit_json("validation.json", |root| {
            let list = Json::Array(vec![Json::Float(1.5); length]);
            set(root, "/cases/0/comparisons/rows2/status", list.clone());
            crate::common::json::add(root, "/cases/1/comparisons/rows1", "samples", list.clone());
            set(root, "/cases/2/cohorts/default/routes/torch/raw_failure", obj! { "samples": list });
        });
        assert!(!same_codes(package.seal()).is_empty(), "{length}");
    }
}

#[test]
fn a_retry_without_times_has_no_rows() {
    let package = package();
    let mut lines = package.text("samples.csv");
    let row =
        lines.lines().nth(1).unwrap().replace(",native,", ",torch,").replace("demo-sum-10x300", "demo-sum-64x256");
    let row = row.replace("fp16-br4", "bf16-br8");
    lines.push_str(&(row + "\n"));
    package.write("samples.csv", lines).seal();
    assert!(codes_among_those(&package, "a row of a route that failed").contains("baseline-filled"));
}

#[test]
fn what_is_private_is_found_in_streams() {
    let package = package();
    package.edit_json("validation.json", |root| {
        crate::common::json::add(root, "", "log", "/home/somebody/run.log");
    });
    let text = package.text("samples.csv");
    let moved = text.replace("demo-sum-10x300-fp16-br4,rows1", "/home/somebody/demo,rows1");
    assert_ne!(text, moved);
    package.write("samples.csv", moved).seal();
    let found: Vec<_> = audit(&package, true)
        .findings()
        .filter(|finding| finding.code.name() == "unredacted")
        .map(|finding| (finding.file.clone(), finding.place.pointer.clone(), finding.place.line))
        .collect();
    assert!(found.contains(&("validation.json".to_owned(), Some("/log".to_owned()), None)), "{found:?}");
    let first = audit(&package, false)
        .findings()
        .find(|finding| finding.code.name() == "unredacted" && finding.file == "samples.csv")
        .and_then(|finding| finding.place.line);
    assert!(found.contains(&("samples.csv".to_owned(), None, first)), "{found:?} {first:?}");
}

#[test]
fn texts_that_are_no_json_are_refused_with_their_place() {
    for (text, line) in [
        ("{\"schema\": 1,\n \"a\": [1.5, 2.5,]}", 2),
        ("{\"schema\": 1,\n\n \"a\": 1, \"a\": 2}", 3),
        ("{\"schema\": 1, \"a\": 18446744073709551616}", 1),
        ("", 1),
        ("{} {}", 1),
    ] {
        let package = package();
        package.write("validation.json", text).seal();
        let codes = codes_among_those(&package, text);
        assert!(codes.contains("json-syntax") || codes.contains("duplicate-key"), "{codes:?}");
        let report = audit(&package, true);
        let finding = report.findings().find(|finding| finding.file == "validation.json").expect("a finding");
        assert_eq!(finding.place.line, Some(line), "{finding:?}");
    }
    let package = package();
    let mut bytes = package.bytes("validation.json");
    let at = bytes.iter().position(|&byte| byte == b'"').unwrap() + 1;
    bytes[at] = 0xff;
    package.write("validation.json", bytes).seal();
    assert!(audit(&package, true).findings().any(|finding| finding.code.name() == "json-syntax"));
}

#[test]
fn a_table_of_too_many_runs_is_refused_in_a_stream() {
    let package = package();
    let rows = (0..=recount::package::limits::MAX_SAMPLE_RUNS).map(|run| format!("c{run},d,native,p,p,0,1.5,1.5\n"));
    let header = package.text("samples.csv").lines().next().unwrap().to_owned() + "\n";
    package.write("samples.csv", header + &rows.collect::<String>()).seal();
    let report = audit(&package, true);
    let found = report.findings().find(|finding| finding.code.name() == "csv-syntax").expect("a finding");
    assert!(found.found.contains("more than 262144 runs"), "{found:?}");
}

#[test]
fn a_line_without_end_is_refused_in_a_stream() {
    let package = package();
    let line = "x".repeat(3 * recount::package::limits::MAX_LINE_BYTES);
    package.write("samples.csv", package.text("samples.csv") + &line).seal();
    let report = audit(&package, true);
    let finding = report.findings().find(|finding| finding.code.name() == "unreadable-file").expect("a finding");
    assert!(finding.file == "samples.csv" && finding.found.contains("a line is longer than"), "{finding:?}");
}

#[test]
fn large_files_that_are_no_text_are_not_searched_and_that_is_said() {
    let package = package();
    let size = usize::try_from(recount::package::limits::MAX_BINARY_BYTES).unwrap() + 1;
    package.write("tensor.bin", vec![0_u8; size]).seal();
    let report = audit(&package, true);
    let notes: Vec<_> = report.checks.iter().flat_map(|check| &check.notes).collect();
    assert!(notes.iter().any(|note| note.contains("not searched for what is private: 1 file")), "{notes:?}");
}

#[test]
fn hashes_of_streams_are_compared() {
    for name in ["validation.json", "samples.csv", "model.json"] {
        let package = package();
        let mut bytes = package.bytes(name);
        bytes.push(b'\n');
        package.write(name, bytes);
        let found = same(&package);
        assert_eq!(found.len(), 1, "{found:#?}");
        assert!(found.iter().all(|[code, file, ..]| code == "hash-mismatch" && file == name), "{found:#?}");
    }
}

#[test]
fn refits_read_streams_too() {
    let package = package();
    let args = |bytes: &str| ["--format", "json", "--stream-from", bytes].map(str::to_owned);
    let of = |bytes: &str| {
        let args = args(bytes);
        let outcome = package.run("verify", &args.each_ref().map(String::as_str));
        outcome.exits(0);
        outcome.stdout.clone()
    };
    assert_eq!(of("0"), of("1000000000"));
}
