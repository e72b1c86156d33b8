//! Single runs: their parts, the child of each, and the record of what came of it.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use super::environment::of_native;
use super::journal::Journal;
use super::plan::Plan;
use super::{CampaignError, LOG, Watch};
use crate::bench::partition::cases::CaseSpec;
use crate::bench::partition::child::{Fixture, ORIGINAL_SOURCE, RESULT, SOURCE, output_file};
use crate::bench::partition::job::{Groups, Job, Measure, Work};
use crate::bench::partition::oracle::Verdict;
use crate::bench::partition::process::{self, Change, Ended};
use crate::bench::partition::record::{CaseRun, CaseRuns, Cohort, RouteRun};
use crate::bench::partition::selector::{Binding, Span, input_bytes, output_bytes, select};
use crate::bench::partition::{affinity, tune};
use crate::package::digest::digest;
use crate::package::json::{Json, object};
use crate::package::partition::DEFAULT;

const SCOPE: &str = "Made by the host from the byte spans that were bound, before anything was launched. observed_graph is \
    read back from the nodes of the captured graph; it is no trace of the device.";

const PLANNED_SCOPE: &str = "The process failed before it said what it bound: this is what would have been chosen for spans \
    of their own. Nothing was observed.";

const PROOF: &str =
    "The original source, which is kept beside this one, is its first bytes; what comes after them was hashed, too.";

/// The status of a child that could not even say what went wrong, as on a full disk.
const SPEECHLESS: i64 = 2;

/// Bytes that the records of a run surely need, beside its output.
const ROOM: u64 = 1 << 16;

/// What the steps of a campaign share.
pub(super) struct Runner<'c> {
    pub(super) plan: &'c Plan,
    pub(super) journal: &'c Journal,
    pub(super) stop: &'c AtomicBool,
    pub(super) watch: &'c dyn Watch,
    /// Where the GPU is on its bus, once that is known.
    pub(super) bus_id: Option<String>,
}

/// What is to be measured: a case in a cohort, in a folder of its own.
#[derive(Clone, Copy)]
pub(super) struct Run<'r> {
    pub(super) folder: &'r str,
    pub(super) cohort: &'r Cohort,
    pub(super) case: &'r CaseSpec,
    pub(super) tuning: &'r Json,
    /// The cohort's name, or `retest`.
    pub(super) name: &'r str,
}

impl Runner<'_> {
    /// Runs a job in a child with a folder of its own; gives how it ended, and its result if there is one.
    pub(super) fn child(
        &self,
        folder: &str,
        job: impl FnOnce(PathBuf) -> Job,
    ) -> Result<(Ended, Option<Json>), CampaignError> {
        self.go_on(None)?;
        let at = self.journal.fresh_folder(folder)?;
        let job_name = format!("{folder}/job.json");
        self.journal.write_bytes(&job_name, job(at.clone()).text().as_bytes())?;
        let mut command = Command::new(&self.plan.program);
        command.arg("bench-child").arg(self.journal.path(&job_name)).current_dir(&at);
        let ended = self
            .supervise(&mut command, &of_native(), folder)?
            .map_err(|source| CampaignError::Start { program: self.plan.program.clone(), source })?;
        let result = self.journal.path(&format!("{folder}/{RESULT}"));
        let result = if result.exists() { self.journal.read(&format!("{folder}/{RESULT}")).ok() } else { None };
        Ok((ended, result))
    }

    /// Runs a command under the plan's limit, its output into the folder's log.
    pub(super) fn supervise(
        &self,
        command: &mut Command,
        changes: &[Change],
        folder: &str,
    ) -> Result<std::io::Result<Ended>, CampaignError> {
        process::change(command, changes);
        let log = self.journal.path(&format!("{folder}/{LOG}"));
        let ended = process::run(command, &log, self.plan.limit, self.stop);
        self.go_on(ended.as_ref().ok().map(|ended| ended.end))?;
        Ok(ended)
    }

    /// A case in a cohort; of what an earlier campaign has finished, nothing is run again.
    pub(super) fn cohort_run(&self, cohort: &Cohort, case: &CaseSpec, tuning: &Json) -> Result<CaseRun, CampaignError> {
        let folder = format!("{}/{}", cohort.name, case.id);
        self.case_run(Run { folder: &folder, cohort, case, tuning, name: cohort.name })
    }

    /// Runs what failed once more, in a folder of its own, if that is planned; what an earlier campaign has run again is
    /// there in any case.
    pub(super) fn retest(
        &self,
        cohorts: &[Cohort],
        record: &CaseRuns,
    ) -> Result<Option<(String, CaseRun)>, CampaignError> {
        let folder = format!("retest/{}", record.spec.id);
        let failed = cohorts.iter().zip(&record.runs).find(|(_, run)| run.has_failed());
        let Some((cohort, _)) = failed.filter(|_| self.plan.retry || self.journal.has_run(&folder)) else {
            return Ok(None);
        };
        let run = Run { folder: &folder, cohort, case: &record.spec, tuning: &record.tuning, name: "retest" };
        Ok(Some((cohort.name.to_owned(), self.case_run(run)?)))
    }

    fn case_run(&self, run: Run<'_>) -> Result<CaseRun, CampaignError> {
        let has_overlap = self.plan.overlap.iter().any(|schedule| schedule.name() == run.cohort.name);
        let has_torch = self.plan.torch.is_some() && run.cohort.name == DEFAULT;
        let native = self.part(run, "native", || self.native(run, false))?;
        let overlap = if has_overlap { Some(self.part(run, "overlap", || self.native(run, true))?) } else { None };
        let torch = if has_torch { Some(self.part(run, "torch", || self.torch(run))?) } else { None };
        let mut parts = vec![("native", &native)];
        parts.extend(overlap.as_ref().map(|part| ("overlap", part)));
        parts.extend(torch.as_ref().map(|part| ("torch", part)));
        let of = |member: &str| native.get(member).cloned().unwrap_or(Json::Null);
        let mut process = vec![("native".to_owned(), of("process"))];
        if let Some(torch) = &torch {
            process.push(("torch".to_owned(), torch.get("process").cloned().unwrap_or(Json::Null)));
        }
        Ok(CaseRun {
            case_receipt: self.journal.finish_run(run.folder, &parts)?,
            source_files: of("source_files"),
            selection: of("selection"),
            native: self.outcome(run, "native", &native)?,
            torch: torch.map(|torch| self.outcome(run, "torch", &torch)).transpose()?,
            overlap: overlap.map(|overlap| self.outcome(run, "overlap", &overlap)).transpose()?,
            process: Json::Object(process),
        })
    }

    fn part(
        &self,
        run: Run<'_>,
        route: &str,
        make: impl FnOnce() -> Result<Json, CampaignError>,
    ) -> Result<Json, CampaignError> {
        let folder = format!("{}/{route}", run.folder);
        self.watch.begin(&folder);
        let (part, was_known) = self.journal.part(&folder, make)?;
        self.watch.end(was_known);
        Ok(part)
    }

    fn outcome(&self, run: Run<'_>, route: &str, part: &Json) -> Result<RouteRun, CampaignError> {
        match (part.get("timed"), part.get("failed")) {
            (Some(timed), None) => Ok(RouteRun::Timed(timed.clone())),
            (None, Some(failed)) => Ok(RouteRun::Failed(failed.clone())),
            _ => Err(super::JournalError::Damaged {
                path: self.journal.path(&format!("{}/{route}", run.folder)),
                problem: "neither times nor a failure".to_owned(),
            }
            .into()),
        }
    }

    /// The native route in a child, in stream order or overlapping.
    fn native(&self, run: Run<'_>, overlap: bool) -> Result<Json, CampaignError> {
        let groups = |rows: u64| tune::chosen(run.tuning, run.case, rows);
        let requested = run.cohort.requested_rows;
        let measure = Measure {
            of: self.of_case(run.case),
            requested,
            original: groups(run.case.geometry.block),
            // Nobody looks at the second entry where none is asked for.
            partition: if requested > 0 { groups(requested) } else { Groups::by_rule(run.case, 1) },
            overlap,
            protocol: self.plan.sampling,
            fault: self.plan.fault(run.name, &run.case.id).filter(|_| !overlap),
        };
        let folder = format!("{}/{}", run.folder, if overlap { "overlap" } else { "native" });
        let (ended, result) = self.child(&folder, |at| self.job(Work::Measure(measure), at))?;
        match result.filter(|_| ended.succeeded()) {
            Some(result) => self.passed(&folder, run, overlap, &ended, &result),
            None => {
                // A run that a full disk has ended says nothing about the case: it is made again when there is room.
                self.journal.has_room(ROOM + output_bytes(run.case))?;
                if ended.code == SPEECHLESS {
                    return Err(self.unavailable(format!("{folder}: {}", self.why(&folder, &ended))));
                }
                Ok(self.failed(&folder, run, &ended))
            }
        }
    }

    /// The record of a child that did what it was asked to.
    fn passed(
        &self,
        folder: &str,
        run: Run<'_>,
        overlap: bool,
        ended: &Ended,
        result: &Json,
    ) -> Result<Json, CampaignError> {
        let of = |member: &str| result.get(member).cloned().unwrap_or(Json::Null);
        let output_name = format!("{folder}/{}", output_file(run.case.storage));
        let bytes = std::fs::read(self.journal.path(&output_name)).unwrap_or_default();
        // The child has checked its file; this is another process, and the file may have changed since.
        let fixture = Fixture::read(&self.of_case(run.case)).ok();
        let verdict = fixture.map(|fixture| fixture.check(&bytes)).filter(Verdict::holds);
        let source_files = self.source_files(folder, run.cohort.requested_rows);
        let selection = selection(of("selection"), of("observed"), SCOPE);
        let process = self.process(ended, result);
        let Some(verdict) = verdict else {
            let why = "the output on disk is not what the child has checked";
            self.watch.failed(folder, why);
            return Ok(part(("failed", failure(process.clone(), why)), source_files, selection, process));
        };
        let saved = object([
            ("elements", Json::from(verdict.elements)),
            ("failed_elements", Json::from(verdict.failed_elements)),
            ("max_abs_error", Json::from(verdict.max_abs_error)),
            ("receipt", self.journal.receipt(&output_name)?.json()),
        ]);
        let result_receipt = self.journal.receipt(&format!("{folder}/{RESULT}"))?;
        let mut members =
            vec![("result_receipt".to_owned(), result_receipt.json()), ("saved_output_recheck".to_owned(), saved)];
        members.extend_from_slice(of("route").as_object().unwrap_or_default());
        if overlap {
            // What ran here stands nowhere else: the plain run has another source.
            members.push(("source_files".to_owned(), source_files.clone()));
            members.push(("selection".to_owned(), selection.clone()));
            members.push(("order_check".to_owned(), of("order_check")));
            members.push(("process".to_owned(), process.clone()));
        }
        Ok(part(("timed", Json::Object(members)), source_files, selection, process))
    }

    /// The record of a child that did not.
    fn failed(&self, folder: &str, run: Run<'_>, ended: &Ended) -> Json {
        let why = self.why(folder, ended);
        self.watch.failed(folder, &why);
        let (case, requested) = (run.case, run.cohort.requested_rows);
        let (input, output) = (input_bytes(case), output_bytes(case));
        let binding =
            Binding { input: Span { address: 0, bytes: input }, output: Span { address: input, bytes: output } };
        let planned = select(case, requested, binding).receipt(case, self.plan.backend.entries());
        let process = self.process(ended, &Json::Null);
        part(
            ("failed", failure(process.clone(), &why)),
            self.source_files(folder, requested),
            selection(planned, Json::Null, PLANNED_SCOPE),
            process,
        )
    }

    /// The record of a process, with what it says of itself.
    fn process(&self, ended: &Ended, result: &Json) -> Json {
        let mut members =
            ended.json(&["${RECOUNT}", "bench-child", "job.json"]).as_object().unwrap_or_default().to_vec();
        let own = ["affinity_before", "affinity_actual", "machine_after_warm_up", "machine_after_samples"];
        members.extend(own.iter().filter_map(|&name| Some((name.to_owned(), result.get(name)?.clone()))));
        Json::Object(members)
    }

    /// The receipts of what a child has compiled; none where it did not come so far.
    fn source_files(&self, folder: &str, requested: u64) -> Json {
        let name = format!("{folder}/{SOURCE}");
        let read = |name: &str| std::fs::read(self.journal.path(name));
        let files = (self.journal.receipt(&name), read(&name), read(&format!("{folder}/{ORIGINAL_SOURCE}")));
        let (Ok(receipt), Ok(source), Ok(original)) = files else { return Json::Object(Vec::new()) };
        let mut members = receipt.json().as_object().unwrap_or_default().to_vec();
        let mut add = |name: &str, value: Json| members.push((name.to_owned(), value));
        let original_sha256 = Json::from(digest(&original).sha256);
        if requested == 0 {
            add("normalized_source_sha256", original_sha256.clone());
        }
        add("original_source_sha256", original_sha256);
        add("partition_entry_present", Json::Bool(requested > 0));
        if let Some(suffix) = source.strip_prefix(original.as_slice()).filter(|_| requested > 0) {
            add("partition_suffix_sha256", Json::from(digest(suffix).sha256));
            add("proof", Json::from(PROOF));
        }
        object([(SOURCE, Json::Object(members))])
    }

    /// Runs that are over.
    pub(super) fn finished_runs(&self) -> usize {
        let cohorts = Cohort::all();
        let runs = cohorts
            .iter()
            .flat_map(|cohort| self.plan.cases.iter().map(move |case| format!("{}/{}", cohort.name, case.id)));
        runs.filter(|run| self.journal.has_run(run)).count()
    }

    /// Whether nothing is left to measure.
    pub(super) fn has_finished(&self) -> bool {
        self.finished_runs() == Cohort::all().len() * self.plan.cases.len()
    }

    /// Runs something while this thread, and what it starts, keeps to the planned processors.
    pub(super) fn pinned<T>(&self, run: impl FnOnce() -> T) -> T {
        let before = affinity::current();
        if let Some(cpus) = &self.plan.cpus {
            // The native child has met the same list, and said what is wrong with it.
            let _ = affinity::pin(cpus);
        }
        let result = run();
        if let Some(before) = before.filter(|_| self.plan.cpus.is_some()) {
            let _ = affinity::pin(&before);
        }
        result
    }
}

/// A part of a run.
fn part((outcome, record): (&str, Json), source_files: Json, selection: Json, process: Json) -> Json {
    object([(outcome, record), ("source_files", source_files), ("selection", selection), ("process", process)])
}

/// The record of a failed process. One that ended well and still failed has the status of what looked at its work.
pub(super) fn failure(mut process: Json, why: &str) -> Json {
    if let Json::Object(members) = &mut process
        && let Some((_, code)) = members.iter_mut().find(|(name, code)| name == "returncode" && *code == Json::Int(0))
    {
        *code = Json::Int(1);
    }
    object([("status", Json::from("failed")), ("process", process), ("error", Json::from(why))])
}

fn selection(receipt: Json, observed: Json, scope: &str) -> Json {
    let takes = receipt.get("available") == Some(&Json::Bool(true))
        && receipt.get("static_ranges_disjoint") == Some(&Json::Bool(true));
    object([
        ("program_partition", Json::Array(vec![receipt])),
        ("partition_host_selection_expected", Json::Bool(takes)),
        ("observed_graph", observed),
        ("scope", Json::from(scope)),
    ])
}
