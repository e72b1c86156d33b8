//! Records of other producers in forms of their own: what is not understood is not found fault with.

use crate::common::content::{Parts, Recipe};
use crate::common::json::{add, parse as json, set};
use crate::common::package::Package;

const RUN: &str = "/cases/0/cohorts/rows1";

/// Verifies the package after an edit, without a finding.
fn holds(what: &str, edit: impl Fn(&mut Parts)) {
    let outcome = Package::derived(&Recipe::default(), edit).verify(&["--strict"]);
    outcome.require(outcome.findings().is_empty(), what);
    outcome.holds();
}

#[test]
fn sizes_and_hashes_alone_are_no_receipts() {
    holds("members of the validation", |parts| {
        for (name, value) in [
            ("host", r#"{"memory":{"bytes":34359738368}}"#),
            ("memory", r#"{"peak":{"bytes":123456}}"#),
            ("toolkit_archive", r#"{"sha256":"12ab","url":"https://example.org/toolkit.tar"}"#),
            ("artifacts", r#""https://example.org/artifacts""#),
            ("purchase_receipt", r#""INV-1""#),
            ("receipt", r#""INV-1""#),
            ("shipping_receipts", r#"["INV-1", 2]"#),
        ] {
            add(&mut parts.validation, "", name, json(value));
        }
        add(&mut parts.validation, RUN, "artifacts", json(r#"["log.txt"]"#));
        add(&mut parts.device, "", "l2", json(r#"{"bytes":33554432}"#));
    });
}

#[test]
fn a_device_is_named_in_more_than_one_way() {
    for (gpu, torch) in
        [("NVIDIA L4", "NVIDIA L4 MIG 1g.6gb"), ("L4", "NVIDIA L4"), ("NVIDIA L4 MIG 1g.6gb", "NVIDIA L4")]
    {
        holds(torch, |parts| {
            set(&mut parts.device, "/identity/gpu", gpu);
            set(&mut parts.device, "/identity/driver", "617.14");
            let torch = obj! { "device_name": torch, "compute_capability": "sm_89" };
            add(&mut parts.validation, "", "environment", obj! { "torch": torch });
        });
    }
    holds("sm_89", |parts| set(&mut parts.device, "/compute_capability", 89_u64));
}

#[test]
fn a_wave_of_amds_has_sixty_four_threads() {
    for (gpu, driver) in [("AMD Instinct MI300X", "6.8.5"), ("gfx90a", "amdgpu, 6.8.5, ROCm 6.2.1")] {
        holds(gpu, |parts| {
            set(&mut parts.device, "/identity/gpu", gpu);
            set(&mut parts.device, "/identity/driver", driver);
            set(&mut parts.device, "/warp_size", 64_u64);
        });
    }
}

/// A process with these members.
fn process(members: &str) -> impl Fn(&mut Parts) {
    let process = json(&format!("{{\"native\":{members}}}"));
    move |parts| add(&mut parts.validation, RUN, "process", process.clone())
}

#[test]
fn times_of_day_are_written_in_many_ways() {
    for (started, finished) in [
        (r#""2026-10-03T10:27:13+0000""#, r#""2026-10-03T10:27:24+0000""#),
        (r#""2026-10-03T10:27Z""#, r#""2026-10-03T10:27Z""#),
        (r#""20261003T102713Z""#, r#""20261003T102724Z""#),
        (r#""2026-10-03 10:27:13 UTC""#, r#""2026-10-03 10:27:24 UTC""#),
        (r#""2026-10-03T10:27:13,219Z""#, r#""2026-10-03T10:27:23,694Z""#),
        (r#""Sat Oct  3 10:27:13 2026""#, r#""Sat Oct  3 10:27:24 2026""#),
        (r#""Sat, 03 Oct 2026 10:27:13 +0000""#, r#""Sat, 03 Oct 2026 10:27:24 +0000""#),
        (r#""2026-10-03T10:27:13Z""#, r#""2026-10-03T10:27:24Z""#),
        (r#""2026-10-03T10:27:14Z""#, r#""2026-10-03T10:27:22Z""#),
        // Local times, while clocks are set back and forward.
        (r#""2026-10-25T02:59:55""#, r#""2026-10-25T02:00:05.5""#),
        (r#""2026-03-29T01:59:55""#, r#""2026-03-29T03:00:05.5""#),
        ("1790936833", "1790936843"),
        ("1790936833219", "1790936843694"),
        ("12.5", "3.25"),
        ("null", "null"),
    ] {
        let members = format!(r#"{{"started":{started},"finished":{finished},"elapsed_seconds":10.468}}"#);
        holds(&members, process(&members));
    }
    for (started, finished) in [
        (r#""yesterday""#, "null"),
        (r#""2026-10-03T10:27:13Z""#, r#""2026-10-03T10:27:33Z""#),
        (r#""2026-10-03T10:27:13""#, r#""2026-10-01T10:27:13""#),
        ("1790936833219", "1790936943694"),
    ] {
        let members = format!(r#"{{"started":{started},"finished":{finished},"elapsed_seconds":10.468}}"#);
        Package::derived(&Recipe::default(), process(&members)).verify(&[]).exits(1).all("failure-record");
    }
}

#[test]
fn processors_are_written_in_many_ways() {
    let many = format!(r#""0x{}""#, "f".repeat(48));
    for (own, system) in [
        (r#""ff""#, r#""ffff""#),
        (r#""0-7""#, r#""all""#),
        (r#""0xffffffff,ffffffff""#, r#""0xffffffff,ffffffff""#),
        ("255", "65535"),
        ("255", r#""0XFF""#),
        (r#""0x0""#, "0"),
        (&many, &many),
    ] {
        let affinity = format!(r#"{{"process_mask":{own},"system_mask":{system}}}"#);
        let members = format!(r#"{{"affinity_before":{affinity},"affinity_actual":{affinity}}}"#);
        holds(&members, process(&members));
    }
    for (own, system) in [("256", "255"), (r#""0x1,00000000""#, r#""0xffffffff""#), ("0", "255")] {
        let members = format!(r#"{{"affinity_before":{{"process_mask":{own},"system_mask":{system}}}}}"#);
        Package::derived(&Recipe::default(), process(&members)).verify(&[]).exits(1).all("failure-record");
    }
}

#[test]
fn settings_may_follow_from_the_case() {
    let recipe = Recipe { copies: 2, ..Recipe::default() };
    let package = Package::derived(&recipe, |parts| {
        for (case, tolerance) in [(0, 1e-3), (4, 1e-4), (5, 1e-6)] {
            for cohort in ["default", "rows1", "rows2", "recheck"] {
                let manifest = format!("/cases/{case}/cohorts/{cohort}/manifest");
                add(&mut parts.validation, &manifest, "validation", obj! { "tolerance": tolerance });
                add(&mut parts.validation, &format!("{manifest}/semantics"), "mask", "none");
            }
        }
    });
    package.verify(&["--strict"]).holds();
}
