//! Child processes under a time limit: started in a group of their own, and ended with it.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::clock::timestamp;
use crate::package::json::{Json, object};

/// A change of what a child inherits: a variable that is set, or taken away.
pub type Change = (OsString, Option<OsString>);

/// Applies changes to what a child inherits.
pub fn change(command: &mut Command, changes: &[Change]) {
    for (name, value) in changes {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
}

/// How often a child is looked at.
const POLL: Duration = Duration::from_millis(10);

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By itself.
    Exited,
    /// It took longer than it may.
    TimedOut,
    /// Somebody asked the campaign to stop; what the child did does not count.
    Stopped,
}

/// A child that is over.
#[derive(Debug, Clone)]
pub struct Ended {
    /// How.
    pub end: End,
    /// Its exit status; the signal that ended it, negative.
    pub code: i64,
    /// Its process number.
    pub pid: u64,
    /// When it was started, and when it was over, in UTC.
    pub times: (String, String),
    /// Seconds between.
    pub elapsed_seconds: f64,
}

impl Ended {
    /// Whether the child did what it was asked to.
    pub fn succeeded(&self) -> bool {
        self.end == End::Exited && self.code == 0
    }

    /// For people: what became of the child.
    pub fn describe(&self) -> String {
        match (self.end, self.code) {
            (End::TimedOut, _) => format!("it was ended after {:.0} seconds, its time limit", self.elapsed_seconds),
            (_, code) if code < 0 => format!("signal {} ended it", -code),
            (_, code) => format!("it ended with status {code}"),
        }
    }

    /// The record of the process; `command` is what was run, without folders.
    pub fn json(&self, command: &[&str]) -> Json {
        let status = match self.end {
            End::Exited if self.code < 0 => "killed",
            End::Exited => "exited",
            End::TimedOut => "timed_out",
            End::Stopped => "stopped",
        };
        object([
            ("command", Json::Array(command.iter().map(|&word| Json::from(word)).collect())),
            ("started", Json::from(self.times.0.as_str())),
            ("status", Json::from(status)),
            ("pid", Json::from(self.pid)),
            ("returncode", Json::Int(self.code)),
            ("finished", Json::from(self.times.1.as_str())),
            ("elapsed_seconds", Json::from(self.elapsed_seconds)),
        ])
    }
}

/// Runs a command to its end. Its output goes to `log`; what it started ends with it.
///
/// # Errors
/// It cannot be started, or the log cannot be written.
pub fn run(command: &mut Command, log: &Path, limit: Duration, stop: &AtomicBool) -> io::Result<Ended> {
    let file = File::create(log)?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let (started, begin) = (timestamp(), Instant::now());
    let mut child = command.spawn()?;
    let pid = u64::from(child.id());
    let (end, status) = loop {
        if let Some(status) = child.try_wait()? {
            break (End::Exited, status);
        }
        let end = if stop.load(Ordering::Relaxed) {
            End::Stopped
        } else if begin.elapsed() > limit {
            End::TimedOut
        } else {
            std::thread::sleep(POLL);
            continue;
        };
        end_group(child.id());
        // Where there are no groups, the child alone. It may be over already.
        let _ = child.kill();
        break (end, child.wait()?);
    };
    // What it has left behind must not run beside the next one.
    end_group(child.id());
    let elapsed_seconds = begin.elapsed().as_secs_f64();
    let code = match (end, code(status)) {
        // A child that ends well at the last moment has not met its limit all the same.
        (End::TimedOut, 0) => -9,
        (_, code) => code,
    };
    Ok(Ended { end, code, pid, times: (started, timestamp()), elapsed_seconds })
}

#[cfg(unix)]
fn code(status: ExitStatus) -> i64 {
    use std::os::unix::process::ExitStatusExt;
    let signal = status.signal().map(|signal| -i64::from(signal));
    status.code().map(i64::from).or(signal).unwrap_or(-1)
}

#[cfg(not(unix))]
fn code(status: ExitStatus) -> i64 {
    status.code().map_or(-1, i64::from)
}

#[cfg(unix)]
fn end_group(leader: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    // A group that is empty already is no error.
    if let Some(group) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn end_group(_leader: u32) {}

/// Ends this process with the one that started it, where the system can.
pub fn end_with_parent() {
    #[cfg(target_os = "linux")]
    {
        let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn shell(script: &str, limit_ms: u64, stop: bool) -> Ended {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let limit = Duration::from_millis(limit_ms);
        run(&mut command, &folder.path().join("log.txt"), limit, &AtomicBool::new(stop)).unwrap()
    }

    #[test]
    fn ends_are_told_apart() {
        let passed = shell("exit 0", 20_000, false);
        assert!(passed.succeeded());
        let failed = shell("exit 3", 20_000, false);
        assert_eq!((failed.end, failed.code, failed.succeeded()), (End::Exited, 3, false));
        let killed = shell("kill -SEGV $$", 20_000, false);
        assert_eq!((killed.end, killed.code), (End::Exited, -11));
        assert_eq!(killed.describe(), "signal 11 ended it");
        let late = shell("sleep 60", 50, false);
        assert_eq!((late.end, late.code), (End::TimedOut, -9));
        assert_eq!(shell("sleep 60", 20_000, true).end, End::Stopped);
    }

    #[test]
    fn what_a_child_started_ends_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        let ended = shell(&format!("(sleep 0.5; touch {}) & exit 0", mark.display()), 20_000, false);
        assert!(ended.succeeded());
        std::thread::sleep(Duration::from_millis(900));
        assert!(!mark.exists());
    }
}
