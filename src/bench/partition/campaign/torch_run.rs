//! The Torch route of a run: the script in a process of its own, and its record.

use std::process::Command;

use super::CampaignError;
use super::environment::{of_torch, redact};
use super::runs::{Run, Runner, failure};
use crate::bench::partition::affinity;
use crate::bench::partition::child::{Fixture, state};
use crate::bench::partition::oracle::check;
use crate::bench::partition::process::Ended;
use crate::bench::partition::sampling::Protocol;
use crate::bench::partition::torch::{self, RESULT, Receipts, Settings, output_file};
use crate::package::json::{Json, compact, object};

/// The script in the runs folder.
const SCRIPT: &str = "torch_route.py";

/// The status of a program that is not there, as shells give it.
const NOT_STARTED: i64 = 127;

impl Runner<'_> {
    /// Runs a case through Torch. What fails is recorded.
    pub(super) fn torch(&self, run: Run<'_>) -> Result<Json, CampaignError> {
        let folder = format!("{}/torch", run.folder);
        let at = self.journal.fresh_folder(&folder)?;
        self.journal.write_bytes(SCRIPT, torch::SCRIPT.as_bytes())?;
        let protocol = Protocol::from(self.plan.sampling);
        let settings = Settings {
            operations_per_graph: protocol.operations,
            warm_up_ms: protocol.warm_up_ms,
            sample_target_ms: protocol.target_ms,
            samples: protocol.samples,
            replay_cap: protocol.replay_cap,
            operation_cap: protocol.operation_cap,
        };
        let mut command = Command::new(self.plan.torch.as_deref().unwrap_or("python3".as_ref()));
        command.arg(self.journal.path(SCRIPT)).arg(self.of_case(run.case).fixture).arg(&at).current_dir(&at);
        command.arg(compact(&settings.json()));
        let before = state(self.bus_id.as_deref());
        let changes = of_torch(self.plan.device);
        let (ended, affinity) = self.pinned(|| (self.supervise(&mut command, &changes, &folder), affinity::current()));
        let after = state(self.bus_id.as_deref());
        let (record, outcome) = match ended? {
            Ok(ended) => {
                (ended.json(&["${PYTHON}", SCRIPT, "${RUNS}", "settings"]), self.torch_record(&folder, run, &ended))
            }
            Err(error) => (object([("returncode", Json::Int(NOT_STARTED))]), Err(error.to_string())),
        };
        let mut process = record.as_object().unwrap_or_default().to_vec();
        process.push(("affinity_actual".to_owned(), affinity::mask(affinity.as_deref())));
        process.push(("machine_before".to_owned(), before));
        process.push(("machine_after".to_owned(), after));
        let process = Json::Object(process);
        let outcome = match outcome {
            Ok(record) => ("timed", record),
            Err(why) => {
                let why = redact(&why);
                self.watch.failed(&folder, &why);
                ("failed", failure(process.clone(), &why))
            }
        };
        Ok(object([outcome, ("process", process)]))
    }

    fn torch_record(&self, folder: &str, run: Run<'_>, ended: &Ended) -> Result<Json, String> {
        if !ended.succeeded() {
            return Err(self.why(folder, ended));
        }
        let text = |error: &dyn std::error::Error| error.to_string();
        let name = format!("{folder}/{RESULT}");
        let result = self.journal.read(&name).map_err(|error| text(&error))?;
        let output = format!("{folder}/{}", output_file(run.case.storage));
        let receipts = Receipts {
            result: &self.journal.receipt(&name).map_err(|error| text(&error))?,
            output: &self.journal.receipt(&output).map_err(|error| text(&error))?,
            folder,
        };
        let bytes = std::fs::read(self.journal.path(&output)).map_err(|error| text(&error))?;
        let fixture = Fixture::read(&self.of_case(run.case)).map_err(|error| text(&error))?;
        let verdict = check(run.case.storage, &bytes, &fixture.expected, &fixture.bound);
        torch::route(&result, &verdict, &receipts).map_err(|error| text(&error))
    }
}
