//! `recount report`: the page's structure, what it says of every package here, hostile text, and the page in a browser.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "helpers of a test fail by panicking, and say what they skip"
)]

#[path = "report/browser.rs"]
mod browser;
#[path = "report/markup.rs"]
mod markup;
#[path = "common/shared.rs"]
#[allow(dead_code)]
mod shared;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use markup::{check, pictures};

/// Runs the program at the root of the repository.
fn recount(args: &[&str]) -> Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("recount"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(args).output().expect("the program runs")
}

/// The page of some paths, and the exit status.
fn page(paths: &[&str]) -> (String, Option<i32>) {
    let output = recount(&[&["report"], paths, &["--html", "-"]].concat());
    let page = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    (page, output.status.code())
}

const CHARTS: [&str; 5] = ["medians", "ratios", "predicted", "residuals", "drift"];

#[test]
fn every_package_here_has_a_sound_page_with_its_verdict() {
    let of_partition = &CHARTS[..];
    let of_divergence = &["drift-coordinates", "divergence"][..];
    for (path, charts) in [
        ("artifacts/partition-h200-2026-11-30", of_partition),
        ("artifacts/partition-h200-heldout-2026-11-30", of_partition),
        ("artifacts/partition-rtx4060-published", &[]),
        ("artifacts/divergence-h200-2026-11-30", of_divergence),
        ("artifacts/divergence-cpu-2026-11-30", of_divergence),
        ("receipts/grid-sample-divergence.json", of_divergence),
        ("receipts/grid-sample-divergence-h200.json", of_divergence),
    ] {
        let (page, status) = page(&[path]);
        assert_eq!(status, Some(0), "{path}");
        check(&page);
        assert!(page.contains("<title>recount: everything checked holds</title>"), "{path}");
        let verdict =
            "<h1><span class=\"sign good\" aria-hidden=\"true\">✓</span> recount: everything checked holds</h1>";
        assert!(page.contains(verdict), "{path}");
        let names: Vec<_> = pictures(&page).map(|picture| picture.id.clone()).collect();
        let expected: Vec<_> = charts.iter().map(|chart| format!("p1-{chart}-title")).collect();
        assert_eq!(names, expected, "{path}");
    }
}

#[test]
fn every_picture_says_what_it_shows() {
    let (page, _) = page(&["artifacts/partition-h200-2026-11-30", "receipts/grid-sample-divergence.json"]);
    let mut seen = 0;
    for picture in pictures(&page) {
        let name = &picture.id;
        assert!(!picture.title.is_empty(), "{name}");
        assert!(picture.description.len() > 60, "{name}: {}", picture.description);
        let unit = match name.trim_start_matches("p1-").trim_start_matches("p2-").trim_end_matches("-title") {
            "medians" => "µs per operation",
            "ratios" => "median over the default&apos;s median (ratio)",
            "predicted" => "observed median, µs (logarithmic)",
            "residuals" => "predicted less observed, % of observed",
            "drift" => "difference from the default&apos;s median, %",
            "drift-coordinates" => "output, pixels a side",
            "divergence" => "absolute difference",
            other => panic!("a picture without a test: {other}"),
        };
        assert!(picture.texts.iter().any(|text| text == unit), "{name}: {:?}", picture.texts);
        // No colour is fixed: the page decides.
        assert!(!picture.whole.contains("fill=\"#") && !picture.whole.contains("stroke=\"#"), "{name}");
        seen += 1;
    }
    assert_eq!(seen, 7);
    let of = |name: &str| pictures(&page).find(|picture| picture.id == name).expect("the picture");
    // The figures that the sources print.
    assert!(of("p1-medians-title").description.contains("SUM 17x1024 fp16 B4: default "));
    assert!(of("p2-drift-coordinates-title").description.contains("t4: idle 23.00 at 16, 516.0 at 32, 1776 at 64"));
    assert!(of("p2-divergence-title").texts.iter().any(|text| text == "2⁻¹⁵"));
    let zeros = of("p2-divergence-title").texts.iter().filter(|text| *text == "0").count();
    assert_eq!(zeros, 5, "each device has a place for zero");
}

#[test]
fn a_headline_says_with_how_many_warnings_everything_holds() {
    let folder = tempfile::tempdir().expect("a folder");
    let package = folder.path().join("package");
    fs::create_dir(&package).expect("a folder");
    fs::write(package.join("text"), "text\n").expect("a file");
    let path = package.to_str().expect("UTF-8");
    assert_eq!(recount(&["seal", path]).status.code(), Some(0));
    for (name, warnings) in [("one", ", with 1 warning"), ("two", ", with 2 warnings")] {
        fs::write(package.join(name), "undeclared\n").expect("a file");
        let (html, status) = page(&[path]);
        assert_eq!(status, Some(0));
        assert!(html.contains(&format!("<title>recount: everything checked holds{warnings}</title>")), "{name}");
        assert!(html.contains(&format!("</span> recount: everything checked holds{warnings}</h1>")), "{name}");
        let comment = recount(&["report", path, "--markdown", "-"]).stdout;
        let comment = String::from_utf8(comment).expect("UTF-8");
        assert!(comment.starts_with(&format!("## ✓ recount: everything checked holds{warnings}\n")), "{comment}");
        // Of several packages text has a verdict, too, and the page a list.
        let both = [path, "receipts/grid-sample-divergence.json"];
        let text = String::from_utf8(recount(&["verify", both[0], both[1]]).stdout).expect("UTF-8");
        assert!(text.contains(&format!("\n✓ everything checked holds{warnings}; 2 of 2 subjects hold;")), "{text}");
        assert!(page(&both).0.contains(&format!("</a>: everything checked holds{warnings}</li>")), "{name}");
    }
    let (html, status) = page(&[path, "--strict"]);
    assert_eq!(status, Some(1));
    assert!(html.contains("<title>recount: something does not hold</title>"));
}

#[test]
fn an_option_is_never_broken_at_the_end_of_a_line() {
    let (page, _) = page(&["artifacts/partition-h200-heldout-2026-11-30"]);
    check(&page);
    assert!(page.contains("(<code class=\"option\">--allowed-signers</code>)"));
    let style = page.find("</style>").expect("a style");
    let bare = page[style..]
        .match_indices("--allowed-signers")
        .filter(|(at, _)| !page[style..][..*at].ends_with("<code class=\"option\">"));
    assert_eq!(bare.count(), 0);
}

#[test]
fn the_same_package_gives_the_same_bytes() {
    let path = "artifacts/partition-h200-2026-11-30";
    assert_eq!(page(&[path]), page(&[path]));
}

/// A package with hostile names, of which one file was changed after it was sealed.
fn hostile(folder: &Path) -> PathBuf {
    let package = folder.join("<img src=x onerror=alert(1)>&amp;\u{202e}");
    fs::create_dir(&package).expect("a folder");
    fs::write(package.join("victim.txt"), "one\n").expect("a file");
    fs::write(package.join("other.txt"), "one\n").expect("a file");
    assert_eq!(recount(&["seal", package.to_str().expect("UTF-8")]).status.code(), Some(0));
    fs::write(package.join("victim.txt"), "two\n").expect("a file");
    let receipts = package.join("receipts.json");
    let text = fs::read_to_string(&receipts).expect("receipts");
    fs::write(&receipts, text.replace("other.txt", "<script>alert('a')<\\u0007script>")).expect("receipts");
    for index in 0..230 {
        fs::write(package.join(format!("{index}-\"><b onclick=1>")), "undeclared\n").expect("a file");
    }
    package
}

#[test]
fn hostile_text_stays_text_and_many_findings_are_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let package = hostile(folder.path());
    let receipt = folder.path().join("receipt.json");
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("receipts/grid-sample-divergence.json"));
    let key = r#""</text></svg><script>\u202e\u0007&amp;' onload=x":"#;
    fs::write(&receipt, text.expect("the receipt").replace("\"t4\":", key)).expect("a file");
    let (page, status) = page(&[package.to_str().expect("UTF-8"), receipt.to_str().expect("UTF-8")]);
    assert_eq!(status, Some(1));
    check(&page);
    for (bad, shown) in [
        ("<script", "&lt;script&gt;alert"),
        ("<img", "&lt;img src=x onerror=alert(1)&gt;&amp;amp;\\u202e"),
        ("<b ", "&quot;&gt;&lt;b onclick=1&gt;"),
        ("\u{202e}", "&lt;/text&gt;&lt;/svg&gt;"),
        ("\u{7}", "hash-mismatch"),
    ] {
        assert!(!page.contains(bad), "{bad:?}");
        assert!(page.contains(shown), "{shown:?}");
    }
    assert!(page.contains("more findings not shown here"), "231 findings are too many for a page");
    assert!(page.contains("<details><summary>Why hash-mismatch matters</summary>"));
    assert!(page.contains("something does not hold</title>"));
}

#[test]
fn a_path_that_is_not_there_is_status_2_and_on_the_page() {
    let (page, status) = page(&["artifacts/none-<b>"]);
    assert_eq!(status, Some(2));
    check(&page);
    assert!(page.contains("<code>artifacts/none-&lt;b&gt;</code> could not be looked at"));
}

#[test]
fn arguments_that_cannot_be_carried_out() {
    let package = "artifacts/partition-rtx4060-published";
    for (args, complaint) in [
        (&["report", package][..], "--html"),
        (&["report", package, "--html", "-", "--markdown", "-"], "name the same place"),
        (&["report", package, "--html", "/nowhere/page.html"], "cannot write /nowhere/page.html"),
    ] {
        let output = recount(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(complaint), "{said}");
    }
}

#[test]
fn markdown_has_the_checks_and_the_medians() {
    let output = recount(&["report", "artifacts/partition-h200-2026-11-30", "--markdown", "-"]);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(output.status.code(), Some(0));
    assert!(text.starts_with("## ✓ recount: everything checked holds\n"));
    assert!(text.contains("| ✓ | integrity | passed |"));
    assert!(text.contains("| case | default | rows1 | rows2 | recheck | torch | selected, held out |"));
    assert_eq!(text.lines().filter(|line| line.starts_with("| `")).count(), 16);
}

/// Also: `cargo run -- report artifacts/partition-h200-2026-11-30 receipts/grid-sample-divergence.json --charts docs/img`.
#[test]
fn the_pictures_in_docs_are_what_the_command_draws() {
    let folder = tempfile::tempdir().expect("a folder");
    let (charts, paths) =
        (folder.path(), ["artifacts/partition-h200-2026-11-30", "receipts/grid-sample-divergence.json"]);
    let output = recount(&["report", paths[0], paths[1], "--charts", charts.to_str().expect("UTF-8")]);
    assert_eq!(output.status.code(), Some(0));
    let mut names: Vec<_> =
        fs::read_dir(charts).expect("charts").map(|entry| entry.expect("an entry").path()).collect();
    names.sort();
    assert_eq!(names.len(), 7);
    for drawn in names {
        let name = drawn.file_name().expect("a name");
        let text = fs::read_to_string(&drawn).expect("a chart");
        assert!(text.contains("prefers-color-scheme:dark") && text.contains("<desc id="), "{name:?}");
        let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/img").join(name);
        assert!(fs::read_to_string(&kept).is_ok_and(|kept| kept == text), "{} is not up to date", kept.display());
    }
}

#[test]
fn a_signature_is_asked_for_as_verify_asks() {
    let package = "artifacts/partition-h200-heldout-2026-11-30";
    let ask = |more: &[&str]| {
        let signed = ["report", package, "--allowed-signers", "receipts/allowed_signers", "--html", "-"];
        let output = recount(&[&signed, more].concat());
        (output.status.code(), String::from_utf8(output.stdout).expect("UTF-8"))
    };
    let (status, page) = ask(&["--signer", "artifacts@recount"]);
    assert_eq!(status, Some(0));
    assert!(page.contains("receipts.json is signed by artifacts@recount with the ssh-ed25519 key SHA256:"));
    for refused in [["--signer", "mallory"], ["--signature-namespace", "git"]] {
        let (status, page) = ask(&refused);
        assert_eq!(status, Some(1), "{refused:?}");
        assert!(page.contains("does not hold</title>"), "{refused:?}");
    }
}

#[test]
fn packages_of_one_name_have_charts_of_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("receipts/grid-sample-divergence.json");
    // The third would have taken the name that the second got, and the last has it from the beginning.
    let places = ["a/same.json", "b/same.json", "c/Same.json", "d/same.json", "same-2.json"];
    let mut paths = Vec::new();
    for place in places {
        let path = folder.path().join(place);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::copy(&published, &path).expect("a receipt");
        paths.push(path.to_str().expect("UTF-8").to_owned());
    }
    let charts = folder.path().join("charts");
    let mut args = vec!["report", "--charts", charts.to_str().expect("UTF-8")];
    args.extend(paths.iter().map(String::as_str));
    assert_eq!(recount(&args).status.code(), Some(0));
    let names = fs::read_dir(&charts)
        .expect("charts")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8").to_lowercase());
    let names: std::collections::BTreeSet<String> = names.collect();
    let stems = ["same", "same-2", "same-3", "same-4", "same-2-2"];
    let expected =
        stems.iter().flat_map(|stem| ["divergence", "drift-coordinates"].map(|chart| format!("{stem}-{chart}.svg")));
    assert_eq!(names, expected.collect());
}

#[test]
fn pages_in_a_browser() {
    let Some(browser) = browser::Browser::find() else {
        eprintln!("skipped: no chromium here");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let hostile = hostile(folder.path());
    let published = shared::shared("packages/program-partition");
    // Checks that passed with warnings have more words in their table.
    let warned = folder.path().join("warned");
    fs::create_dir(&warned).expect("a folder");
    for entry in fs::read_dir("artifacts/partition-h200-heldout-2026-11-30").expect("a package") {
        let entry = entry.expect("an entry");
        fs::copy(entry.path(), warned.join(entry.file_name())).expect("a file");
    }
    fs::write(warned.join("undeclared"), "").expect("a file");
    let here = [
        warned.to_str().expect("UTF-8"),
        "artifacts/partition-h200-2026-11-30",
        "artifacts/divergence-h200-2026-11-30",
        "receipts/grid-sample-divergence.json",
        hostile.to_str().expect("UTF-8"),
    ];
    // On both sides of the width at which the style sheet gives tables less room, and where it is narrowest.
    let widths = [360, 384, 385, 400, 440, 480, 500, 520, 560, 576, 580, 640, 800, 1400];
    for path in here.into_iter().chain(published.iter().filter_map(|path| path.to_str())) {
        let (page, _) = page(&[path]);
        browser.accepts(&page, path);
        browser.fits(&page, path, &widths);
    }
}

#[test]
fn pages_on_paper() {
    let Some(browser) = browser::Browser::find() else {
        eprintln!("skipped: no chromium here");
        return;
    };
    // The claims fit on one sheet; each other package begins on one of its own, with its charts and tables open.
    let claims = "artifacts/partition-rtx4060-published";
    let (one, _) = page(&[claims]);
    let (pages, pdf) = browser.prints(&one);
    assert!(pdf.starts_with(b"%PDF-") && pdf.len() > 10_000, "{} bytes", pdf.len());
    assert_eq!(pages, 1);
    let (both, _) = page(&["artifacts/divergence-h200-2026-11-30", claims]);
    let (pages, _) = browser.prints(&both);
    assert!((2..=4).contains(&pages), "{pages} pages");
    let (partition, _) = page(&["artifacts/partition-h200-2026-11-30"]);
    let (pages, _) = browser.prints(&partition);
    assert!((3..=5).contains(&pages), "{pages} pages");
}

#[test]
fn a_page_without_charts_says_why() {
    let (page, _) = page(&["artifacts/partition-rtx4060-published"]);
    assert!(page.contains("<h3>Charts</h3>\n<p>There are no charts: printed medians come without the samples"));
    assert!(!page.contains("<div class=\"charts\">"));
}
