//! Charts: no text reaches beyond its picture, whatever is drawn. Widths are estimated, and measured where there is a browser.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "helpers of a test fail by panicking, and say what they skip"
)]

#[path = "report/browser.rs"]
#[allow(dead_code)]
mod browser;
#[path = "common/shared.rs"]
#[allow(dead_code)]
mod shared;

use std::fs;
use std::process::Command;

use recount::render::html::charts::{STYLE, WIDTH, charts};
use recount::report::figures::{
    CaseTimes, CurvePoint, Decided, DeviceCurves, DivergenceFigures, Figures, ModelFigures, PartitionFigures,
    Predicted, Times,
};

/// Units of the pictures in a pixel.
const UNIT: f64 = 4.0;

/// Pixels of a text at a size of one pixel in wide letters.
fn estimate(text: &str) -> f64 {
    let share = |character: char| match character {
        'i' | 'j' | 'l' | ' ' | '.' | ',' | ':' | '(' | ')' | '[' | ']' | '\'' | '|' | '/' | '-' | 't' | 'f' | 'r' => {
            0.38
        }
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' => 0.98,
        'A'..='Z' => 0.72,
        '\u{2e80}'.. => 1.0,
        _ => 0.63,
    };
    text.chars().map(share).sum()
}

/// The texts of a picture that reach beyond its left or right edge, where they are as wide as estimated.
fn beyond(svg: &str) -> Vec<String> {
    let attribute = |tag: &str, name: &str| {
        let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
        rest.split('"').next().map(str::to_owned)
    };
    let number = |tag: &str, name: &str| attribute(tag, name).and_then(|text| text.parse::<f64>().ok());
    let mut wrong = Vec::new();
    for part in svg.split("<text ").skip(1) {
        let (tag, rest) = part.split_once('>').expect("a tag");
        let tag = format!(" {tag}");
        let text = rest.split("</text>").next().unwrap_or_default().trim();
        let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&apos;", "'").replace("&amp;", "&");
        let (Some(x), Some(size)) = (number(&tag, "x"), number(&tag, "font-size")) else { panic!("{tag}") };
        if tag.contains("rotate(") {
            continue;
        }
        let width = estimate(&text) * size;
        let left = match attribute(&tag, "text-anchor").as_deref() {
            Some("start") | None => x,
            Some("middle") => x - width / 2.0,
            Some("end") => x - width,
            Some(other) => panic!("{other}"),
        };
        if left < 0.0 || left + width > f64::from(WIDTH) * UNIT {
            wrong.push(format!("{text}: {} to {}", left / UNIT, (left + width) / UNIT));
        }
    }
    wrong
}

#[test]
fn no_text_of_a_package_here_reaches_beyond_its_picture() {
    let root = env!("CARGO_MANIFEST_DIR");
    let here = [
        "artifacts/partition-h200-2026-11-30",
        "artifacts/partition-h200-heldout-2026-11-30",
        "artifacts/divergence-h200-2026-11-30",
        "artifacts/divergence-cpu-2026-11-30",
        "receipts/grid-sample-divergence.json",
        "receipts/grid-sample-divergence-h200.json",
    ];
    let published = shared::shared("packages/program-partition");
    let paths = here.iter().map(|path| format!("{root}/{path}"));
    for path in paths.chain(published.iter().map(|path| path.display().to_string())) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = Command::new(env!("CARGO_BIN_EXE_recount"));
        command.args(["report", &path, "--allow-absent", "code/*", "--allow-absent", "reproduce.py", "--charts"]);
        assert!(command.arg(folder.path()).status().expect("the program runs").success(), "{path}");
        let mut seen = 0;
        for entry in fs::read_dir(folder.path()).expect("charts") {
            let file = entry.expect("an entry").path();
            let wrong = beyond(&fs::read_to_string(&file).expect("a chart"));
            assert!(wrong.is_empty(), "{}: {wrong:?}", file.display());
            seen += 1;
        }
        assert!(seen >= 2, "{path}: {seen} charts");
    }
}

/// A partition package of one ratio of the slowest to the fastest schedule.
fn partition(label: &str, times: [f64; 3], samples: f64) -> Figures {
    let ratios = times.map(|time| time / times[0]);
    let series = ["default", "rows1", "rows2", "recheck", "another-cohort-with-a-long-name", "torch"];
    let of = |index: usize| times.get(index).copied().unwrap_or(times[0]);
    let series = series.iter().enumerate().map(|(index, name)| Times {
        name: (*name).to_owned(),
        median: of(index),
        samples: vec![of(index) * (1.0 - samples), of(index) * (1.0 + samples)],
    });
    let case = CaseTimes { label: label.to_owned(), series: series.collect(), failed: Vec::new() };
    let points = (0..3).map(|schedule| Predicted {
        geometry: "[123456,123456,8,131072]".to_owned(),
        schedule,
        observed: times[schedule],
        full: times[schedule] * (1.0 - samples),
        held: Some(times[schedule] * (1.0 - 2.0 * samples)),
    });
    let model = ModelFigures {
        coefficients: vec![1.0, 0.5, 0.0],
        points: points.collect(),
        decisions: vec![Decided { label: label.to_owned(), ratios, selected: 1 }],
        geometric_mean: ratios[1],
        selected: (1, 0),
    };
    Figures::Partition(PartitionFigures { cases: vec![case], left_out: 0, model: Some(Ok(model)) })
}

fn divergence(keys: &[&str], largest: f64) -> Figures {
    let point = |resolution: f64, background: bool| CurvePoint {
        background,
        resolution,
        drift: resolution * resolution * 3.0,
        divergence: largest / resolution,
    };
    let devices = keys.iter().map(|key| DeviceCurves {
        key: (*key).to_owned(),
        points: [16.0, 512.0, 8192.0].into_iter().flat_map(|size| [point(size, false), point(size, true)]).collect(),
    });
    Figures::Divergence(DivergenceFigures { devices: devices.collect(), left_out: 0 })
}

/// What charts have little room for.
fn narrow() -> Vec<(String, Figures)> {
    const WIDE: &str = "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWW";
    let mut all = Vec::new();
    for label in ["A", "SUM 1024x512 fp16 B4", WIDE, "漢字漢字漢字漢字漢字漢字漢字漢字"] {
        for (times, samples) in [
            ([1.0, 0.2, 0.6], 0.01),
            ([1.0, 0.97, 0.98], 1e-6),
            ([1.0, 1.5, 5.0], 0.2),
            ([1.0, 400.0, 3.0], 0.5),
            ([1e-4, 1.1e-4, 0.9e-4], 0.001),
            ([123_456.0, 123_457.0, 123_450.0], 1e-5),
            ([2e7, 1e7, 1.9e7], 0.3),
        ] {
            all.push((format!("{label} {times:?}"), partition(label, times, samples)));
        }
    }
    let keys = ["t4", WIDE, "a-device-with-a-name-of-28-c", "h200", "漢字漢字漢字漢字漢字漢字漢字漢字"];
    for largest in [1e-5, 1.0, 4e9] {
        all.push((format!("devices {largest}"), divergence(&keys, largest)));
        all.push((format!("device {largest}"), divergence(&keys[1..2], largest)));
    }
    all
}

#[test]
fn no_text_reaches_beyond_a_picture_that_has_little_room() {
    for (name, figures) in narrow() {
        let drawn = charts(&figures).expect("charts");
        assert!(drawn.len() >= 2, "{name}");
        for chart in drawn {
            let wrong = beyond(&chart.standalone());
            assert!(wrong.is_empty(), "{name}, {}: {wrong:?}", chart.name);
        }
    }
}

#[test]
fn pictures_that_have_little_room_in_a_browser() {
    let Some(browser) = browser::Browser::find() else {
        eprintln!("skipped: no chromium here");
        return;
    };
    let mut page =
        format!("<!DOCTYPE html>\n<style>{STYLE} body{{margin:0}} svg{{display:block;width:100%}}</style>\n<body>");
    for (index, (_, figures)) in narrow().iter().enumerate() {
        for chart in charts(figures).expect("charts") {
            page.push_str(&chart.inline(&format!("p{index}-{}", chart.name)));
        }
    }
    browser.fits(&(page + "</body>"), "narrow pictures", &[480]);
}
