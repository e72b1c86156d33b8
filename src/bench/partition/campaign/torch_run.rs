//! The Torch route of a run: the script in a process of its own, and its record.

use std::process::Command;

use super::CampaignError;
use super::runs::{Runner, failure};
use crate::bench::partition::affinity;
use crate::bench::partition::cases::CaseSpec;
use crate::bench::partition::child::Fixture;
use crate::bench::partition::oracle::check;
use crate::bench::partition::process::Ended;
use crate::bench::partition::record::RouteRun;
use crate::bench::partition::sampling::Protocol;
use crate::bench::partition::torch::{self, RESULT, Receipts, Settings, output_file};
use crate::package::json::{Json, compact};

/// The script in the runs folder.
const SCRIPT: &str = "torch_route.py";

impl Runner<'_> {
    /// Runs a case through Torch. What fails is recorded.
    pub(super) fn torch(&self, folder: &str, case: &CaseSpec) -> Result<RouteRun, CampaignError> {
        let Some(python) = &self.plan.torch else {
            return Ok(RouteRun::Failed(Json::Null));
        };
        self.watch.begin(&format!("{folder} with Torch"));
        let folder = format!("{folder}/torch");
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
        let mut command = Command::new(python);
        command.arg(self.journal.path(SCRIPT)).arg(self.of_case(case).fixture).arg(&at).current_dir(&at);
        command.arg(compact(&settings.json()));
        command.env("CUDA_VISIBLE_DEVICES", self.plan.device.to_string());
        // The interpreter inherits the processors of the thread that starts it.
        let before = affinity::current();
        if let Some(cpus) = &self.plan.cpus {
            // The native child has met the same list, and said what is wrong with it.
            let _ = affinity::pin(cpus);
        }
        let ended = self.supervise(&mut command, &folder);
        if let Some(before) = before.filter(|_| self.plan.cpus.is_some()) {
            let _ = affinity::pin(&before);
        }
        let ended = ended?;
        Ok(match self.torch_record(&folder, case, &ended) {
            Ok(record) => RouteRun::Timed(record),
            Err(why) => {
                let why = self.redact(&why);
                self.watch.failed(&folder, &why);
                RouteRun::Failed(failure(&ended, case, 0, &why))
            }
        })
    }

    fn torch_record(&self, folder: &str, case: &CaseSpec, ended: &Ended) -> Result<Json, String> {
        let name = format!("{folder}/{RESULT}");
        let result = self.journal.read(&name).map_err(|_| format!("{}; it has written no result", ended.describe()))?;
        if !ended.succeeded() {
            let said = result.get("error").and_then(Json::as_str).map(str::to_owned);
            return Err(said.unwrap_or_else(|| ended.describe()));
        }
        let text = |error: &dyn std::error::Error| error.to_string();
        let output = format!("{folder}/{}", output_file(case.storage));
        let receipts = Receipts {
            result: &self.journal.receipt(&name).map_err(|error| text(&error))?,
            output: &self.journal.receipt(&output).map_err(|error| text(&error))?,
            folder,
        };
        let bytes = std::fs::read(self.journal.path(&output)).map_err(|error| text(&error))?;
        let fixture = Fixture::read(&self.of_case(case)).map_err(|error| text(&error))?;
        let verdict = check(case.storage, &bytes, &fixture.expected, &fixture.bound);
        torch::route(&result, &verdict, &receipts).map_err(|error| text(&error))
    }
}
