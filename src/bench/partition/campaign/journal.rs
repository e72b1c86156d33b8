//! The runs folder: what a campaign has done so far, so that nothing finished is lost and a later one can go on.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::bench::partition::record::{Cohort, Receipt};
use crate::package::json::{Document, Json, compact};

/// What was planned.
const PLAN: &str = "campaign.json";

/// Its member that says which program measures.
const PROGRAM: &str = "program";

/// The processes that made a campaign.
const SESSIONS: &str = "sessions.json";

/// What is locked as long as a campaign runs.
const LOCK: &str = "lock";

/// A finished part of a run.
const PART: &str = "record.json";

/// A finished run.
const RUN: &str = "run.json";

/// Why the runs folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// An earlier campaign is there.
    #[error("{folder} holds the runs of an earlier campaign; go on with it (--resume), or remove the folder")]
    Earlier {
        /// The folder.
        folder: PathBuf,
    },
    /// There is nothing to go on with.
    #[error("{folder} holds no campaign to go on with; leave --resume out")]
    Nothing {
        /// The folder.
        folder: PathBuf,
    },
    /// Another process uses it.
    #[error("another campaign is writing to {folder}; wait for its end")]
    Locked {
        /// The folder.
        folder: PathBuf,
    },
    /// The earlier campaign was another one.
    #[error(
        "{folder} was begun with other settings: {member} was {was}, and is {is} now; use the same, or another --out"
    )]
    Other {
        /// The folder.
        folder: PathBuf,
        /// Which setting.
        member: String,
        /// What it was.
        was: String,
        /// What it is.
        is: String,
    },
    /// The disk is full.
    #[error("there is no room left for {folder}; what is finished is kept: make room, and go on with --resume")]
    Full {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file cannot be read or written.
    #[error("{path} cannot be read or written")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is not what a campaign has written.
    #[error("{path} is damaged ({problem}); remove it, so that the run is made again")]
    Damaged {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
}

/// An opened runs folder.
#[derive(Debug)]
pub(super) struct Journal {
    folder: PathBuf,
    /// Held as long as the campaign runs.
    _lock: File,
}

impl Journal {
    /// Opens the folder; a new one unless `resume`.
    pub(super) fn open(folder: &Path, resume: bool) -> Result<Self, JournalError> {
        let file = |path: &Path| {
            let path = path.to_owned();
            move |source| JournalError::File { path, source }
        };
        // Runs without a plan are some earlier campaign's, too.
        let has_runs = || Cohort::all().iter().any(|cohort| folder.join(cohort.name).exists());
        let begun = folder.join(PLAN).exists();
        let folder = folder.to_owned();
        match (resume, begun) {
            (true, false) => return Err(JournalError::Nothing { folder }),
            (false, _) if begun || has_runs() => return Err(JournalError::Earlier { folder }),
            _ => {}
        }
        fs::create_dir_all(&folder).map_err(file(&folder))?;
        // Everything is found by absolute paths, in whatever folder a child runs.
        let folder = fs::canonicalize(&folder).map_err(file(&folder))?;
        let path = folder.join(LOCK);
        let lock = File::options().create(true).append(true).open(&path).map_err(file(&path))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { folder, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(JournalError::Locked { folder }),
            Err(TryLockError::Error(source)) => Err(JournalError::File { path, source }),
        }
    }

    /// Compares the settings with those of an earlier campaign, or writes them down. Where nothing is left to measure
    /// (`finished`) another program may take over; then the receipt of the one that measured is given.
    pub(super) fn agree(&self, settings: &Json, finished: bool) -> Result<Option<Receipt>, JournalError> {
        let path = self.folder.join(PLAN);
        if !path.exists() {
            self.write(PLAN, settings)?;
            return Ok(None);
        }
        let earlier = self.read(PLAN)?;
        let program = earlier.get(PROGRAM).cloned();
        let mut settings = settings.clone();
        if let (true, Some(program), Json::Object(members)) = (finished, &program, &mut settings)
            && let Some((_, member)) = members.iter_mut().find(|(name, _)| name == PROGRAM)
        {
            *member = program.clone();
        }
        match difference("", &earlier, &settings) {
            None => Ok(program.as_ref().and_then(Receipt::read)),
            Some((member, was, is)) => Err(JournalError::Other { folder: self.folder.clone(), member, was, is }),
        }
    }

    /// Writes down that this process goes on with the campaign.
    pub(super) fn begin_session(&self, session: Json) -> Result<(), JournalError> {
        let mut sessions = if self.folder.join(SESSIONS).exists() { self.sessions()? } else { Vec::new() };
        sessions.push(session);
        self.write(SESSIONS, &Json::Array(sessions))
    }

    /// All processes that made the campaign, in order.
    pub(super) fn sessions(&self) -> Result<Vec<Json>, JournalError> {
        Ok(self.read(SESSIONS)?.as_array().unwrap_or_default().to_vec())
    }

    /// Whether it is written down what is planned: from then on a campaign can be resumed.
    pub(super) fn has_begun(&self) -> bool {
        self.folder.join(PLAN).exists()
    }

    /// Removes what was made for a campaign that did not begin, so that the next one finds nothing in its way.
    pub(super) fn abandon(&self, made: &str) {
        if self.has_begun() {
            return;
        }
        // What cannot be removed is in nobody's way; a folder with anything else in it stays.
        let _ = fs::remove_dir_all(self.folder.join(made));
        let _ = fs::remove_file(self.folder.join(LOCK));
        let _ = fs::remove_dir(&self.folder);
    }

    /// Whether there is room for as much; an error says that there is not.
    pub(super) fn has_room(&self, bytes: u64) -> Result<(), JournalError> {
        let path = self.folder.join("room.partial");
        let zeros = vec![0_u8; 1 << 16];
        let written = File::create(&path).and_then(|mut file| {
            for _ in 0..bytes.div_ceil(zeros.len() as u64) {
                io::Write::write_all(&mut file, &zeros)?;
            }
            file.sync_all()
        });
        let _ = fs::remove_file(&path);
        written.map_err(|source| self.failed(&path, source))
    }

    /// Why something was not written.
    fn failed(&self, path: &Path, source: io::Error) -> JournalError {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                JournalError::Full { folder: self.folder.clone(), source }
            }
            _ => JournalError::File { path: path.to_owned(), source },
        }
    }

    /// The path of a file or folder in it.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A folder of it, made anew: what a run that was cut short has left is removed.
    pub(super) fn fresh_folder(&self, name: &str) -> Result<PathBuf, JournalError> {
        let path = self.folder.join(name);
        let result = match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => fs::create_dir_all(&path),
        };
        result.map_err(|source| self.failed(&path, source))?;
        Ok(path)
    }

    /// Writes a document whole or not at all.
    pub(super) fn write(&self, name: &str, document: &Json) -> Result<(), JournalError> {
        self.write_bytes(name, (compact(document) + "\n").as_bytes())
    }

    /// Writes a file whole or not at all.
    pub(super) fn write_bytes(&self, name: &str, bytes: &[u8]) -> Result<(), JournalError> {
        let path = self.folder.join(name);
        let partial = path.with_extension("partial");
        let written = File::create(&partial).and_then(|mut file| {
            io::Write::write_all(&mut file, bytes)?;
            file.sync_all()
        });
        written.and_then(|()| fs::rename(&partial, &path)).map_err(|source| self.failed(&path, source))
    }

    /// Reads a document.
    pub(super) fn read(&self, name: &str) -> Result<Json, JournalError> {
        let path = self.folder.join(name);
        let text = fs::read_to_string(&path).map_err(|source| JournalError::File { path: path.clone(), source })?;
        match Document::parse(name, text) {
            Ok(document) => Ok(document.root().clone()),
            Err(error) => Err(JournalError::Damaged { path, problem: error.to_string() }),
        }
    }

    /// The receipt of a file in it.
    pub(super) fn receipt(&self, name: &str) -> Result<Receipt, JournalError> {
        let path = self.folder.join(name);
        let bytes = fs::read(&path).map_err(|source| JournalError::File { path, source })?;
        Ok(Receipt::of(name, &bytes))
    }

    /// A part of a run that was finished before, or the one that `make` gives, which is then never made again.
    pub(super) fn part<E: From<JournalError>>(
        &self,
        folder: &str,
        make: impl FnOnce() -> Result<Json, E>,
    ) -> Result<(Json, bool), E> {
        let name = format!("{folder}/{PART}");
        if self.folder.join(&name).exists() {
            return Ok((self.read(&name)?, true));
        }
        let made = make()?;
        self.write(&name, &made)?;
        Ok((made, false))
    }

    /// Whether a run is complete.
    pub(super) fn has_run(&self, folder: &str) -> bool {
        self.folder.join(folder).join(RUN).exists()
    }

    /// Puts the parts of a run together.
    pub(super) fn finish_run(&self, folder: &str, parts: &[(&str, &Json)]) -> Result<Receipt, JournalError> {
        let name = format!("{folder}/{RUN}");
        if !self.has_run(folder) {
            let members = parts.iter().map(|&(name, part)| (name.to_owned(), part.clone()));
            self.write(&name, &Json::Object(members.collect()))?;
        }
        self.receipt(&name)
    }
}

/// The first setting that differs: its name, and both values for people.
fn difference(name: &str, was: &Json, is: &Json) -> Option<(String, String, String)> {
    let (Some(_), Some(members)) = (was.as_object(), is.as_object()) else {
        return (was != is).then(|| (name.to_owned(), short(was), short(is)));
    };
    members.iter().find_map(|(member, is)| {
        let name = if name.is_empty() { member.clone() } else { format!("{name}.{member}") };
        difference(&name, was.get(member).unwrap_or(&Json::Null), is)
    })
}

/// A value in a sentence.
fn short(value: &Json) -> String {
    let text = compact(value);
    if text.chars().count() <= 80 { text } else { text.chars().take(79).chain(['…']).collect() }
}
