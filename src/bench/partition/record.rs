//! What a campaign recorded: everything that a package is assembled from, and nothing that follows from it.

use super::cases::CaseSpec;
use crate::package::digest::digest;
use crate::package::json::Json;

/// A finished campaign: all cases in all cohorts.
#[derive(Debug, Clone)]
pub struct Campaign {
    /// The backend: `cuda` or `cpu`.
    pub backend: String,
    /// The content of `device.json`; the README calls the device by the first of `gpu`, `cpu` and `name` in its `identity`.
    pub device: Json,
    /// The content of `cases.json`'s description.
    pub description: String,
    /// The cohorts in order.
    pub cohorts: Vec<Cohort>,
    /// The cases in order.
    pub cases: Vec<CaseRuns>,
    /// Whether the Torch route was asked for in the default cohort.
    pub torch: bool,
    /// How it was measured: settings that hold for every run, for the README and `validation.json`.
    pub protocol: Json,
    /// Where it was measured: host, clocks, background load; no names, no paths, no UUID.
    pub environment: Json,
    /// Processes that made the campaign: more than one where it was interrupted and gone on with.
    pub sessions: usize,
    /// What measured, the program itself first: program, kernels, scripts, libraries; receipts by a name with placeholders
    /// for folders.
    pub implementation: Vec<Receipt>,
    /// The snapshot that lists the implementation, a file of the runs folder.
    pub build_snapshot: Receipt,
    /// Commit of the program's source, 40 hex digits, where it is known.
    pub commit: Option<String>,
    /// First and last day, `YYYY-MM-DD`.
    pub dates: (String, String),
}

/// A cohort: one pass over all cases.
#[derive(Debug, Clone)]
pub struct Cohort {
    /// `default`, `rows1`, `rows2` or `recheck`.
    pub name: &'static str,
    /// Rows per program asked for; 0 is the original schedule.
    pub requested_rows: u64,
    /// The record of the whole pass, where there is one; a file of the runs folder.
    pub aggregate_receipt: Option<Receipt>,
}

impl Cohort {
    /// The cohorts of the protocol, in order.
    pub fn all() -> Vec<Self> {
        [("default", 0), ("rows1", 1), ("rows2", 2), ("recheck", 0)]
            .map(|(name, requested_rows)| Self { name, requested_rows, aggregate_receipt: None })
            .into()
    }
}

/// A case and its runs.
#[derive(Debug, Clone)]
pub struct CaseRuns {
    /// What was run.
    pub spec: CaseSpec,
    /// The manifest of its fixtures, the same for every run.
    pub manifest: Json,
    /// Names and hashes of its fixtures.
    pub fixture_sha256: Json,
    /// What was tried to choose the threads of a row, before anything was measured; null where nothing was.
    pub tuning: Json,
    /// One run for each cohort, in order.
    pub runs: Vec<CaseRun>,
    /// A later retry of one that failed, with the name of the cohort that it repeats.
    pub retest: Option<(String, CaseRun)>,
}

/// One case in one cohort.
#[derive(Debug, Clone)]
pub struct CaseRun {
    /// The record of the run as its folder keeps it.
    pub case_receipt: Receipt,
    /// `source.txt` and its receipts, as in `validation.json`.
    pub source_files: Json,
    /// The launch receipt and what else `selection` holds.
    pub selection: Json,
    /// The native route: as in `validation.json` where it was timed, or what it failed with.
    pub native: RouteRun,
    /// The Torch route, where it was asked for.
    pub torch: Option<RouteRun>,
    /// The route `native-overlap`, where it was asked for; same form as the native one.
    pub overlap: Option<RouteRun>,
    /// The process, its affinity, and the machine before and after, for `validation.json`.
    pub process: Json,
}

impl CaseRun {
    /// The native median, microseconds per operation.
    pub fn native_us(&self) -> Option<f64> {
        self.native.median_us()
    }

    /// Torch's median, microseconds per operation.
    pub fn torch_us(&self) -> Option<f64> {
        self.torch.as_ref()?.median_us()
    }

    /// Whether a route of the plain figures failed; that of overlapping operations is not one.
    pub fn has_failed(&self) -> bool {
        self.native.is_failed() || self.torch.as_ref().is_some_and(RouteRun::is_failed)
    }
}

/// How a route of a run ended.
#[derive(Debug, Clone)]
pub enum RouteRun {
    /// Timed: the record as it stands in `validation.json`.
    Timed(Json),
    /// Failed: the process's own record, with `status`, `process` (which has a `returncode` other than 0) and `error`.
    Failed(Json),
}

impl RouteRun {
    /// The recorded median, microseconds per operation, of a route that was timed.
    pub fn median_us(&self) -> Option<f64> {
        match self {
            RouteRun::Timed(record) => record.path(&["event_us", "p50"])?.as_f64(),
            RouteRun::Failed(_) => None,
        }
    }

    /// Whether it has no times.
    pub fn is_failed(&self) -> bool {
        matches!(self, RouteRun::Failed(_))
    }
}

/// A file that is not in the package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Relative to the runs folder, or with a placeholder such as `${CUDA_TOOLKIT}`.
    pub path: String,
    /// SHA-256, lower-case hex.
    pub sha256: String,
    /// Size.
    pub bytes: u64,
}

impl Receipt {
    /// The receipt of these bytes under that path.
    pub fn of(path: impl Into<String>, bytes: &[u8]) -> Self {
        let digest = digest(bytes);
        Self { path: path.into(), sha256: digest.sha256, bytes: digest.bytes }
    }

    /// A receipt as it stands in a package; `None` where a member is missing or of another type.
    pub fn read(record: &Json) -> Option<Self> {
        let text = |member: &str| Some(record.get(member)?.as_str()?.to_owned());
        Some(Self { path: text("path")?, sha256: text("sha256")?, bytes: record.get("bytes")?.as_u64()? })
    }

    /// As it stands in a package.
    pub fn json(&self) -> Json {
        crate::package::json::object([
            ("path", Json::from(self.path.as_str())),
            ("sha256", Json::from(self.sha256.as_str())),
            ("bytes", Json::from(self.bytes)),
        ])
    }
}
