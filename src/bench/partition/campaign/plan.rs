//! What a campaign is to do.

use std::path::PathBuf;
use std::time::Duration;

use crate::bench::partition::backend::Kind;
use crate::bench::partition::cases::CaseSpec;
use crate::bench::partition::job::{Fault, Sampling};
use crate::bench::partition::record::{Cohort, Receipt};
use crate::bench::partition::sampling::Protocol;
use crate::fit::geometry::Schedule;
use crate::package::digest::digest;
use crate::package::json::{Json, compact, object};

/// A plan.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The package to write.
    pub out: PathBuf,
    /// The backend.
    pub backend: Kind,
    /// Number of the GPU.
    pub device: usize,
    /// Host threads of the CPU backend.
    pub threads: Option<usize>,
    /// Processors that children keep to.
    pub cpus: Option<Vec<usize>>,
    /// What is run, in order.
    pub cases: Vec<CaseSpec>,
    /// What the cases are, in a sentence.
    pub description: String,
    /// How it is sampled.
    pub sampling: Sampling,
    /// Whether to try numbers of threads first.
    pub tune: bool,
    /// The schedules whose operations are measured overlapping, too.
    pub overlap: Vec<Schedule>,
    /// The Python interpreter of the Torch route.
    pub torch: Option<PathBuf>,
    /// Time limit of a child.
    pub limit: Duration,
    /// Whether to run what failed once more, as a record of its own.
    pub retry: bool,
    /// What goes wrong on purpose: cohort, case, how.
    pub faults: Vec<(String, String, Fault)>,
    /// Whether to go on with an earlier campaign.
    pub resume: bool,
    /// The program that children are made of.
    pub program: PathBuf,
}

impl Plan {
    /// The folder beside the package where runs are kept.
    pub fn runs(&self) -> PathBuf {
        let mut name = self.out.file_name().map_or_else(|| "bench".into(), std::ffi::OsStr::to_os_string);
        name.push(".runs");
        self.out.with_file_name(name)
    }

    /// What a resumed campaign must have in common with the one that it goes on with.
    pub(super) fn settings(&self, program: &Receipt, device: &Json, fingerprint: &Json, torch: &Json) -> Json {
        let numbers = |list: &[usize]| Json::Array(list.iter().map(|&number| Json::from(number)).collect());
        let definitions = Json::Array(self.cases.iter().map(CaseSpec::definition).collect());
        object([
            ("schema", Json::from("recount-campaign-v1")),
            ("program", program.json()),
            ("backend", Json::from(self.backend.name())),
            ("device_index", Json::from(self.device)),
            ("device", device.clone()),
            ("device_fingerprint", fingerprint.clone()),
            ("threads", self.threads.map_or(Json::Null, Json::from)),
            ("cpus", self.cpus.as_deref().map_or(Json::Null, numbers)),
            ("cases_sha256", Json::from(digest(compact(&definitions).as_bytes()).sha256)),
            ("protocol", self.measuring()),
            ("torch", torch.clone()),
        ])
    }

    /// The settings that hold for every run, as the package records them.
    pub(super) fn protocol(&self) -> Json {
        let mut members = self.measuring().as_object().unwrap_or_default().to_vec();
        members.push(("time_limit_s".to_owned(), Json::from(self.limit.as_secs())));
        Json::Object(members)
    }

    /// Those of them that change what is measured. With a longer time limit a campaign may be gone on with.
    fn measuring(&self) -> Json {
        let overlap = self.overlap.iter().map(|schedule| schedule.name()).collect::<Vec<_>>().join(", ");
        let protocol = Protocol::from(self.sampling);
        object([
            ("procedure", Json::from(Protocol::NAME)),
            ("operations_per_graph", Json::from(protocol.operations)),
            ("warm_up_ms", Json::from(protocol.warm_up_ms)),
            ("sample_target_ms", Json::from(protocol.target_ms)),
            ("samples", Json::from(protocol.samples)),
            ("replay_cap", Json::from(protocol.replay_cap)),
            ("operation_cap", Json::from(protocol.operation_cap)),
            (
                "threads_per_row",
                Json::from(match self.tune {
                    true => "tried on the device for each case and entry before it was measured",
                    false => "by rule",
                }),
            ),
            ("overlapping_operations", Json::from(if self.overlap.is_empty() { "none".to_owned() } else { overlap })),
            ("process", Json::from("one for each case, cohort and route")),
            ("order", Json::from("cohort by cohort, all cases in each")),
            ("injected_faults", self.injected()),
        ])
    }

    /// Failures on purpose, which no package may hide.
    fn injected(&self) -> Json {
        let fault = |(cohort, case, fault): &(String, String, Fault)| {
            Json::from(format!("{cohort}/{case}: {}", format!("{fault:?}").to_lowercase()))
        };
        if self.faults.is_empty() { Json::from("none") } else { Json::Array(self.faults.iter().map(fault).collect()) }
    }

    /// The steps of the campaign, for a progress bar.
    pub fn steps(&self) -> u64 {
        let cohorts = Cohort::all().len();
        let each = usize::from(self.tune) + cohorts + self.overlap.len() + usize::from(self.torch.is_some());
        (self.cases.len() * each) as u64
    }

    /// What is to go wrong in a run.
    pub(super) fn fault(&self, cohort: &str, case: &str) -> Option<Fault> {
        let planned = self.faults.iter().find(|(at, of, _)| at == cohort && of == case);
        planned.map(|&(_, _, fault)| fault)
    }
}
