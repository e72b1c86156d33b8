//! Single runs: the child, its result, and the record of what came of it.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use super::journal::{Finished, Journal};
use super::plan::Plan;
use super::{CampaignError, Watch};
use crate::bench::partition::cases::CaseSpec;
use crate::bench::partition::child::{Fixture, ORIGINAL_SOURCE, RESULT, SOURCE};
use crate::bench::partition::job::{Groups, Job, Measure, Work};
use crate::bench::partition::oracle::Verdict;
use crate::bench::partition::process::{self, Ended};
use crate::bench::partition::record::{CaseRun, CaseRuns, Cohort, RouteRun};
use crate::bench::partition::selector::{Binding, Span, input_bytes, output_bytes, select};
use crate::bench::partition::tune;
use crate::package::digest::digest;
use crate::package::json::{Json, object};
use crate::package::partition::DEFAULT;

const SCOPE: &str = "Made by the host from the byte spans that were bound, before anything was launched. observed_graph is \
    read back from the nodes of the captured graph; it is no trace of the device.";

const PROOF: &str =
    "The original source, which is kept beside this one, is its first bytes; what comes after them was hashed, too.";

/// Bytes that the records of a run surely need, beside its output.
const ROOM: u64 = 1 << 16;

/// What the steps of a campaign share.
pub(super) struct Runner<'c> {
    pub(super) plan: &'c Plan,
    pub(super) journal: &'c Journal,
    pub(super) stop: &'c AtomicBool,
    pub(super) watch: &'c dyn Watch,
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
        let ended = self.supervise(&mut command, folder)?;
        let result = self.journal.path(&format!("{folder}/{RESULT}"));
        let result = if result.exists() { self.journal.read(&format!("{folder}/{RESULT}")).ok() } else { None };
        Ok((ended, result))
    }

    /// Runs a command under the plan's limit, its output into the folder's log.
    pub(super) fn supervise(&self, command: &mut Command, folder: &str) -> Result<Ended, CampaignError> {
        let log = self.journal.path(&format!("{folder}/log.txt"));
        let ended = process::run(command, &log, self.plan.limit, self.stop)
            .map_err(|source| CampaignError::Start { program: command.get_program().into(), source })?;
        self.go_on(Some(ended.end))?;
        Ok(ended)
    }

    /// A case in a cohort: what an earlier campaign has finished, or a run now.
    pub(super) fn cohort_run(&self, cohort: &Cohort, case: &CaseSpec, tuned: &Json) -> Result<CaseRun, CampaignError> {
        let fault_of = cohort.name;
        self.case_run(&format!("{}/{}", cohort.name, case.id), cohort, case, tuned, fault_of)
    }

    /// Runs what failed once more, in a folder of its own.
    pub(super) fn retest(
        &self,
        cohorts: &[Cohort],
        record: &CaseRuns,
        tuned: &Json,
    ) -> Result<Option<(String, CaseRun)>, CampaignError> {
        let failed = cohorts.iter().zip(&record.runs).find(|(_, run)| run.has_failed());
        let Some((cohort, _)) = failed else { return Ok(None) };
        let folder = format!("retest/{}", record.spec.id);
        let run = self.case_run(&folder, cohort, &record.spec, tuned, "retest")?;
        Ok(Some((cohort.name.to_owned(), run)))
    }

    fn case_run(
        &self,
        folder: &str,
        cohort: &Cohort,
        case: &CaseSpec,
        tuned: &Json,
        fault_of: &str,
    ) -> Result<CaseRun, CampaignError> {
        self.watch.begin(folder);
        let asks_torch = cohort.name == DEFAULT && self.plan.torch.is_some();
        let known = self.journal.run(folder)?;
        let was_known = known.is_some();
        let run = match known {
            Some(run) => run,
            None => {
                let finished = self.measure(folder, cohort, case, tuned, fault_of, asks_torch)?;
                self.journal.finish_run(folder, &finished)?;
                let damaged = || super::JournalError::Damaged {
                    path: self.journal.path(folder),
                    problem: "the run was not written".to_owned(),
                };
                self.journal.run(folder)?.ok_or_else(damaged)?
            }
        };
        self.watch.end(was_known);
        if asks_torch {
            self.watch.end(was_known);
        }
        Ok(run)
    }

    fn measure(
        &self,
        folder: &str,
        cohort: &Cohort,
        case: &CaseSpec,
        tuned: &Json,
        fault_of: &str,
        asks_torch: bool,
    ) -> Result<Finished, CampaignError> {
        let groups = |rows: u64| tune::chosen(tuned, case, rows);
        let requested = cohort.requested_rows;
        // Nobody looks at the second entry where none is asked for.
        let partition = if requested > 0 { groups(requested) } else { Groups::by_rule(case, 1) };
        let measure = Measure {
            of: self.of_case(case),
            requested,
            original: groups(case.geometry.block),
            partition,
            overlap: self.plan.overlap && cohort.name != "recheck",
            protocol: self.plan.sampling,
            fault: self.plan.fault(fault_of, &case.id),
        };
        let native_folder = format!("{folder}/native");
        let (ended, result) = self.child(&native_folder, |at| self.job(Work::Measure(measure), at))?;
        let mut finished = match result.filter(|_| ended.succeeded()) {
            Some(result) => self.passed(&native_folder, case, requested, &ended, &result)?,
            None => {
                // A run that a full disk has ended says nothing about the case: it is made again when there is room.
                self.journal.has_room(ROOM + output_bytes(case))?;
                self.failed(folder, &native_folder, case, requested, &ended)
            }
        };
        if asks_torch {
            finished.torch = Some(self.torch(folder, case)?);
        }
        Ok(finished)
    }

    /// The record of a child that did what it was asked to.
    fn passed(
        &self,
        folder: &str,
        case: &CaseSpec,
        requested: u64,
        ended: &Ended,
        result: &Json,
    ) -> Result<Finished, CampaignError> {
        let of = |path: &[&str]| result.path(path).cloned().unwrap_or(Json::Null);
        let fixture = Fixture::read(&self.of_case(case)).ok();
        let result_receipt = self.journal.receipt(&format!("{folder}/{RESULT}"))?;
        let route = |name: &str| -> Result<Option<RouteRun>, CampaignError> {
            let Some(route) = result.get(name) else { return Ok(None) };
            let output = route.get("output").and_then(Json::as_str).unwrap_or_default();
            let output_name = format!("{folder}/{output}");
            let receipt = self.journal.receipt(&output_name)?;
            let bytes = std::fs::read(self.journal.path(&output_name)).unwrap_or_default();
            // The child has checked its file; this is another process, and the file may have changed since.
            let verdict = fixture.as_ref().map(|fixture| fixture.check(&bytes)).filter(Verdict::holds);
            let Some(verdict) = verdict else {
                let why = format!("{output} is not what the child has checked");
                return Ok(Some(RouteRun::Failed(failure(ended, case, requested, &why))));
            };
            let saved = object([
                ("elements", Json::from(verdict.elements)),
                ("failed_elements", Json::from(verdict.failed_elements)),
                ("max_abs_error", Json::from(verdict.max_abs_error)),
                ("receipt", receipt.json()),
            ]);
            let mut members =
                vec![("result_receipt".to_owned(), result_receipt.json()), ("saved_output_recheck".to_owned(), saved)];
            members.extend_from_slice(route.get("route").and_then(Json::as_object).unwrap_or_default());
            Ok(Some(RouteRun::Timed(Json::Object(members))))
        };
        let native = route("native")?;
        let overlap = route("overlap")?;
        let source_files = self.source_files(folder, requested);
        let selection = selection(of(&["native", "selection"]), of(&["native", "observed"]));
        let mut process = vec![("native".to_owned(), ended.json(&["${RECOUNT}", "bench-child", "job.json"]))];
        process.extend_from_slice(of(&["process"]).as_object().unwrap_or_default());
        Ok(Finished {
            source_files,
            selection,
            native: native
                .unwrap_or_else(|| RouteRun::Failed(failure(ended, case, requested, "its result has no native route"))),
            torch: None,
            overlap,
            process: Json::Object(process),
        })
    }

    /// The record of a child that did not.
    fn failed(&self, folder: &str, native_folder: &str, case: &CaseSpec, requested: u64, ended: &Ended) -> Finished {
        let why = self.error_of(native_folder).unwrap_or_else(|| ended.describe());
        self.watch.failed(folder, &why);
        // What would have been launched is known without the child: spans of their own are always apart.
        let (input, output) = (input_bytes(case), output_bytes(case));
        let binding =
            Binding { input: Span { address: 0, bytes: input }, output: Span { address: input, bytes: output } };
        let planned = select(case, requested, binding).receipt(case, self.plan.backend.entries());
        Finished {
            source_files: self.source_files(native_folder, requested),
            selection: selection(planned, Json::Null),
            native: RouteRun::Failed(failure(ended, case, requested, &why)),
            torch: None,
            overlap: None,
            process: object([("native", ended.json(&["${RECOUNT}", "bench-child", "job.json"]))]),
        }
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
            .flat_map(|cohort| self.plan.cases.iter().map(move |case| format!("{}/{}/run.json", cohort.name, case.id)));
        runs.filter(|run| self.journal.path(run).exists()).count()
    }

    /// Takes the machine's own paths out of a text.
    pub(super) fn redact(&self, text: &str) -> String {
        let mut text = text.to_owned();
        let mut places = vec![(self.journal.path(""), "${RUNS}"), (self.plan.program.clone(), "${RECOUNT}")];
        if let Some(python) = &self.plan.torch {
            places.push((python.clone(), "${PYTHON}"));
        }
        if let Some(home) = std::env::var_os("HOME") {
            places.push((PathBuf::from(home), "${USER_HOME}"));
        }
        for (path, placeholder) in places {
            let path = path.display().to_string();
            let path = path.trim_end_matches('/');
            // A folder that is the root, or no folder, is in every path.
            if path.len() > 1 {
                text = text.replace(path, placeholder);
            }
        }
        text
    }
}

/// The record of a failed process. One that ended well and still failed has the status of what looked at its work.
pub(super) fn failure(ended: &Ended, case: &CaseSpec, requested: u64, why: &str) -> Json {
    let code = if ended.code == 0 { 1 } else { ended.code };
    let ended = Ended { code, ..ended.clone() };
    let rows = requested.to_string();
    object([
        ("status", Json::from("failed")),
        ("process", ended.json(&["${RECOUNT}", "bench-child", &case.id, "rows", &rows])),
        ("error", Json::from(why)),
    ])
}

fn selection(receipt: Json, observed: Json) -> Json {
    let takes = receipt.get("available") == Some(&Json::Bool(true))
        && receipt.get("static_ranges_disjoint") == Some(&Json::Bool(true));
    object([
        ("program_partition", Json::Array(vec![receipt])),
        ("partition_host_selection_expected", Json::Bool(takes)),
        ("observed_graph", observed),
        ("scope", Json::from(SCOPE)),
    ])
}
