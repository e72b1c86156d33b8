//! `recount seal --redact` and `--normalize`: what must come through them as it was.

use super::seal_rewrite::seal;
use crate::common::outcome::{Outcome, program};
use crate::common::package::Package;

#[test]
fn measurements_come_through_a_redaction() {
    let text = "time_per_output_token=8.3456789012345671e-03\nSECONDS_PER_TOKEN=1.25e-05\n\
                TIME_PER_OUTPUT_TOKEN: 12.345ms/token\nclass_token=vit_base_patch16_224\n";
    let json = "{\"ms_per_token\": \"1.2345678901234567e-05\", \"token\": \"bfloat16_bs128_seq2048\"}\n";
    let package = Package::of_text("run.log", text);
    package.write("run.json", json).write("secret.log", "export HF_TOKEN=abcdef123456\n");
    let outcome = seal(&package, &["--redact"]);
    outcome.exits(0);
    assert_eq!((package.text("run.log").as_str(), package.text("run.json").as_str()), (text, json));
    assert_eq!(package.text("secret.log"), "export HF_TOKEN=${SECRET}\n");
    package.verify(&["--strict"]).holds();
}

#[test]
fn prose_behind_the_beginning_of_a_key_comes_through() {
    let begin = ["-----BEGIN ", "PRIVATE KEY-----"].concat();
    let rest = " are refused.\n\n## Medians\n\n| case | us |\n|---|---|\n| a | 8.5e-3 |\n";
    let package = Package::of_text("notes.md", format!("Keys that start with {begin}{rest}"));
    seal(&package, &["--redact"]).exits(0);
    assert_eq!(package.text("notes.md"), format!("Keys that start with {begin}{rest}"));
}

/// Redacts on a machine of this name; gives the text and what was said.
fn on(host: &str, text: &str) -> (String, String) {
    let package = Package::of_text("notes.json", text);
    let mut program = program();
    program.env("USER", "somebody").env("HOSTNAME", host).env("HOME", "/srv/people/somebody");
    let args = ["seal", package.path().to_str().unwrap(), "--redact"];
    let outcome = Outcome::with(&mut program, &args, Some(package.path()));
    outcome.exits(0);
    (package.text("notes.json"), outcome.stderr)
}

#[test]
fn a_machine_called_as_its_device_changes_no_name_of_a_device() {
    for host in [
        "h200",
        "H100",
        "gb200",
        "gh200",
        "b200",
        "a100",
        "l40s",
        "v100",
        "mi300x",
        "rtx4090",
        "rtx-4090",
        "rtx6000",
        "a6000",
        "h100x8",
        "8xh100",
        "a100-sxm4-80gb",
        "nvidia",
        "tesla",
        "nvidia-h200",
        "hopper",
        "gfx942",
        "h200-nvl",
    ] {
        let text = format!(r#"{{"environment": {{"device": "NVIDIA {host} 141GB", "host": "{host}"}}}}"#);
        let (left, said) = on(host, &text);
        assert_eq!(left, text, "{host}");
        assert!(said.contains("the name of this machine is also what a device is called"), "{host}: {said}");
        assert!(said.contains("so it was not searched for; give a rule of your own"), "{host}: {said}");
    }
    for host in ["h200-node7", "gpu-h100-3", "atlas7", "t480s", "m1234", "a100lab", "thor7", "node-h100"] {
        let (left, said) = on(host, &format!(r#"{{"host": "{host}", "device": "NVIDIA H100"}}"#));
        assert_eq!(left, r#"{"host": "${HOST}", "device": "NVIDIA H100"}"#);
        assert!(!said.contains("not searched for"), "{host}: {said}");
    }
    let (left, _) = on("h200.cs.uni.edu", r#"{"host": "h200.cs.uni.edu", "device": "NVIDIA H200"}"#);
    assert_eq!(left, r#"{"host": "${HOST}", "device": "NVIDIA H200"}"#);
    let said = on("deadbeef01", "{}").1;
    assert!(
        said.contains("the name of this machine looks like a number or a hash, so it was not searched for"),
        "{said}"
    );
    let said = on("x1", "{}").1;
    assert!(
        said.contains("the name of this machine is too short to be told from other words, so it was not"),
        "{said}"
    );
}

#[test]
fn bytes_without_a_nul_may_be_no_text_all_the_same() {
    let all: Vec<u8> = (1..=255).chain(*b"\r\n").collect();
    let wide: Vec<u8> = [0xff, 0xfe].into_iter().chain("ഊ一二三".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let far = [&[b'a'; 300_000][..], b"\r\n\x01", &[b'b'; 300_000], b"\xff"].concat();
    let split = [&[b'a'; (256 << 10) - 1][..], "é\x01\r\n".as_bytes()].concat();
    let package = Package::empty();
    package.write("all.bin", &all).write("wide.txt", &wide).write("far.bin", &far);
    // Text: UTF-8 whatever it holds, and letters of one byte with what logs have.
    package.write("split.txt", &split).write("latin.log", b"caf\xe9\x07\x08\x0b\x0c\x1b[0m\r\n");
    let outcome = seal(&package, &[]);
    outcome.exits(2);
    for (name, is_text) in
        [("all.bin", false), ("wide.txt", false), ("far.bin", false), ("split.txt", true), ("latin.log", true)]
    {
        outcome.require(outcome.stderr.contains(&format!("{name}: a text with CRLF")) == is_text, name);
    }
    seal(&package, &["--normalize"]).exits(0);
    assert_eq!((package.bytes("all.bin"), package.bytes("wide.txt"), package.bytes("far.bin")), (all, wide, far));
    assert!(package.bytes("split.txt").ends_with("é\x01\n".as_bytes()));
    assert_eq!(package.bytes("latin.log"), b"caf\xe9\x07\x08\x0b\x0c\x1b[0m\n");
    package.verify(&[]).holds();
}
