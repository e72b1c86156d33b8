//! Campaigns that are cut short: nothing finished is lost, nothing is left half, and no process stays behind.

use std::fs;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::place::{COHORTS, IDS, Place};

/// How long to wait for what must happen.
const DEADLINE: Duration = Duration::from_secs(30);

/// What goes wrong: the first run of rows1 hangs, for longer than it takes to interrupt it.
const HANG: [&str; 4] = ["--inject", "rows1/sum=hang", "--timeout", "8"];

/// How often to look.
const POLL: Duration = Duration::from_millis(20);

/// A campaign that is under way; it ends with the value.
struct UnderWay {
    child: Option<Child>,
}

impl UnderWay {
    /// Starts a campaign that hangs in its first run of rows1, and waits until it does: the default's runs are over.
    #[track_caller]
    fn start(place: &Place) -> Self {
        let mut command = place.command("out", &HANG);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
        let under_way = Self { child: Some(child) };
        let job = place.at("out.runs/rows1/sum/native/job.json");
        until("the run that hangs has begun", || job.exists() && sleeps(&job.display().to_string()));
        assert_eq!(place.finished("out.runs").len(), IDS.len());
        under_way
    }

    /// Sends a signal and waits for the end.
    fn end(mut self, signal: Signal) -> Output {
        let child = self.child.take().expect("a campaign");
        send(&child, signal);
        child.wait_with_output().expect("an end")
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // Its own child ends with it.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn send(child: &Child, signal: Signal) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(pid, signal).expect("a signal");
}

#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < DEADLINE, "waited for: {what}");
        std::thread::sleep(POLL);
    }
}

/// Processes with a text in their command line.
fn processes(text: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_it = |number: &String| {
        let line = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(text)
    };
    numbers.filter(|number| number.parse::<u32>().is_ok() && is_it(number)).collect()
}

/// Whether the process with this text sleeps, seen several times in a row: one that is starting does not. Where processes
/// are not listed, the run's job says that it has begun.
fn sleeps(text: &str) -> bool {
    if !cfg!(target_os = "linux") {
        return true;
    }
    (0..5).all(|_| {
        std::thread::sleep(POLL);
        let found = processes(text);
        let state = |number: &String| {
            let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
            stat.rsplit_once(") ").map(|(_, rest)| rest.starts_with('S')) == Some(true)
        };
        found.len() == 1 && found.iter().all(state)
    })
}

/// Goes on with the campaign under the same settings: what was finished is as it was, the run that was cut short is made
/// again, now to its time limit, and the rest is there.
#[track_caller]
fn goes_on(place: &Place) {
    let before = place.finished("out.runs");
    assert_eq!(before.len(), IDS.len());
    let outcome = place.bench("out", &[&HANG[..], &["--resume"]].concat());
    outcome.exits(1);
    outcome.require(outcome.stdout.contains("12 runs, 1 FAILED"), "the run that was cut short is made again");
    let after = place.finished("out.runs");
    assert_eq!(after.len(), IDS.len() * COHORTS.len());
    for (path, bytes) in before {
        assert!(after[&path] == bytes, "{} was made again", path.display());
    }
    assert_eq!(place.names(), ["cases.json", "out", "out.runs"]);
    place.verifies("out");
}

#[test]
fn an_interrupt_keeps_finished_runs_and_says_how_to_go_on() {
    let place = Place::new();
    let under_way = UnderWay::start(&place);
    // Meanwhile nobody else may use the folder.
    let other = place.bench("out", &[&HANG[..], &["--resume"]].concat());
    other.exits(2);
    other.require(other.stderr.contains("another campaign is writing to"), "two at once are refused");

    let output = under_way.end(Signal::INT);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    let expected =
        format!("interrupted; 3 finished runs are in {}: go on with --resume", place.at("out.runs").display());
    assert!(said.contains(&expected), "{said}");
    assert!(said.contains("ending the run under way; finished ones are kept"), "{said}");
    assert_eq!(output.stdout, b"");
    assert_eq!(place.names(), ["cases.json", "out.runs"]);
    assert_eq!(processes(&place.path().display().to_string()), Vec::<String>::new());

    let refused = |more: &[&str], reason: &str| {
        let outcome = place.bench("out", &[&HANG[..], more].concat());
        outcome.exits(2);
        outcome.require(outcome.stderr.contains(reason), reason);
        assert_eq!(place.names(), ["cases.json", "out.runs"]);
    };
    refused(&[], "holds the runs of an earlier campaign; go on with it (--resume), or remove the folder");
    let folder = place.at("cases.json");
    let cases = fs::read_to_string(&folder).unwrap();
    fs::write(&folder, cases.replace("[9, 40]", "[9, 41]")).unwrap();
    refused(&["--resume"], "was begun with other settings: cases_sha256 was");
    fs::write(&folder, cases).unwrap();
    refused(&["--resume", "--cpus", "0"], "was begun with other settings: cpus was null, and is [0] now");
    goes_on(&place);
}

#[test]
fn settings_of_the_protocol_are_named_where_they_differ() {
    let place = Place::new();
    place.bench("out", &[]).exits(0);
    fs::remove_dir_all(place.at("out")).unwrap();
    let arguments: Vec<_> = place.arguments("out", &["--resume"]);
    for (option, value, reason) in [
        ("--operations", "6", "protocol.operations_per_graph was 5, and is 6 now"),
        ("--samples", "4", "protocol.samples was 3, and is 4 now"),
        ("--target-ms", "2", "protocol.sample_target_ms was 1.0, and is 2.0 now"),
        ("--threads", "2", "device.sm_count was 1, and is 2 now"),
    ] {
        let mut arguments = arguments.clone();
        let at = arguments.iter().position(|argument| argument == option).unwrap();
        arguments[at + 1] = value.into();
        let outcome = crate::common::outcome::Outcome::of(&arguments, Some(place.path()));
        outcome.exits(2);
        outcome.require(outcome.stderr.contains(reason), reason);
        outcome.require(outcome.stderr.contains("use the same, or another --out"), "it says what to do");
    }
    assert_eq!(place.names(), ["cases.json", "out.runs"]);
}

#[test]
fn a_killed_campaign_leaves_no_process_and_goes_on_later() {
    let place = Place::new();
    let output = UnderWay::start(&place).end(Signal::KILL);
    assert_eq!(output.status.code(), None);
    if cfg!(target_os = "linux") {
        let folder = place.path().display().to_string();
        until("its child has ended, too", || processes(&folder).is_empty());
    } else {
        eprintln!("skipped: children end with their campaign on Linux alone");
        return;
    }
    assert_eq!(place.names(), ["cases.json", "out.runs"]);
    goes_on(&place);
}

#[test]
fn there_is_nothing_to_go_on_with() {
    let place = Place::new();
    let outcome = place.bench("out", &["--resume"]);
    outcome.exits(2);
    outcome.require(outcome.stderr.contains("holds no campaign to go on with; leave --resume out"), "it says so");
    assert_eq!(place.names(), ["cases.json"]);
}
