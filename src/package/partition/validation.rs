//! `validation.json`: all runs of all cases.

use super::case::Case;
use super::overlap::{self, fastest};
use super::reader::{Problem, Reader};
use super::{DEFAULT, FAILED, RETEST};
use crate::fit::Schedule;
use crate::package::json::{Document, Json, Series};

/// Which implementation was timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// The kernels under test.
    Native,
    /// The Torch baseline.
    Torch,
}

impl Route {
    /// Both, in the order of samples.csv.
    pub const ALL: [Route; 2] = [Route::Native, Route::Torch];

    /// The name in the published files.
    pub fn name(self) -> &'static str {
        match self {
            Route::Native => "native",
            Route::Torch => "torch",
        }
    }
}

/// Everything in `validation.json` that several checks need, typed.
#[derive(Debug)]
pub struct Validation<'d> {
    /// The file.
    pub document: &'d Document,
    /// The cases that could be read, in order.
    pub cases: Vec<CaseRecord<'d>>,
    /// The cohorts, in order.
    pub cohorts: Vec<CohortRecord<'d>>,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// One cohort's record at the top of the file.
#[derive(Debug, Clone)]
pub struct CohortRecord<'d> {
    /// The record.
    pub at: &'d Json,
    /// `default`, `rows1` ...
    pub name: &'d str,
    /// `passed` or `failed`, as it was when the cohort ended.
    pub original_status: &'d str,
    /// Rows per program asked for; 0 is the original schedule.
    pub requested_rows: u64,
}

/// One case with its runs.
#[derive(Debug, Clone)]
pub struct CaseRecord<'d> {
    /// The record.
    pub at: &'d Json,
    /// What was run.
    pub case: Case<'d>,
    /// The runs in the order of the cohorts, then the independent retest.
    pub runs: Vec<Run<'d>>,
    /// The record of a later retry, where there is one.
    pub retest: Option<&'d Json>,
}

impl<'d> CaseRecord<'d> {
    /// The run in one cohort.
    pub fn run(&self, cohort: &str) -> Option<&Run<'d>> {
        self.runs.iter().find(|run| run.cohort == cohort)
    }

    /// The run that others are compared with: the default's, or where there is none the first.
    pub fn reference(&self) -> Option<&Run<'d>> {
        self.run(DEFAULT).or_else(|| self.runs.first())
    }

    /// The manifest of a run. A run without one is the reference's; that manifests agree is seen to elsewhere.
    pub fn manifest(&self, run: &Run<'d>) -> Option<&'d Json> {
        run.at.get("manifest").or_else(|| self.reference()?.at.get("manifest"))
    }

    /// The runs of cohorts, without the retry.
    pub fn original_runs(&self) -> impl Iterator<Item = &Run<'d>> {
        self.runs.iter().filter(|run| run.cohort != RETEST)
    }

    /// The native median of one cohort in microseconds per operation.
    pub fn native_median(&self, cohort: &str) -> Option<f64> {
        Some(self.run(cohort)?.native.timing.as_ref()?.p50)
    }

    /// The initial Torch median in microseconds per operation.
    pub fn torch_median(&self) -> Option<f64> {
        Some(self.run(DEFAULT)?.torch.timing.as_ref()?.p50)
    }

    /// The schedule with the lowest native median, the earlier of equals, and that median.
    pub fn fastest(&self) -> Option<(Schedule, f64)> {
        fastest(|schedule| self.native_median(schedule.name()))
    }

    /// The lowest native median of a schedule over the initial Torch median.
    pub fn fastest_over_torch(&self) -> Option<f64> {
        Some(self.fastest()?.1 / self.torch_median()?)
    }
}

/// One case in one cohort.
#[derive(Debug, Clone)]
pub struct Run<'d> {
    /// The record.
    pub at: &'d Json,
    /// The cohort's name; the retest's is `independent_retest`.
    pub cohort: &'d str,
    /// Rows per program asked for; 0 is the original schedule.
    pub requested_rows: u64,
    /// The case's status as it was when it ended.
    pub case_status: &'d str,
    /// The cohort's status as it was when it ended.
    pub cohort_status: &'d str,
    /// The kernels under test.
    pub native: RouteRecord<'d>,
    /// The Torch baseline.
    pub torch: RouteRecord<'d>,
}

impl<'d> Run<'d> {
    /// The launch receipt of the only stage.
    pub fn launch(&self) -> Option<&'d Json> {
        self.at.path(&["selection", "program_partition"])?.as_array()?.first()
    }

    /// Whether the case failed here, by its status or by that of one of its routes.
    pub fn has_failed(&self) -> bool {
        self.case_status == FAILED || self.routes().iter().any(|(_, route)| route.has_failed())
    }

    /// Both routes, in the order of samples.csv.
    pub fn routes(&self) -> [(Route, &RouteRecord<'d>); 2] {
        [(Route::Native, &self.native), (Route::Torch, &self.torch)]
    }
}

/// One route of a run: its record if there is one, and its times if it has them.
#[derive(Debug, Clone, Default)]
pub struct RouteRecord<'d> {
    /// The record.
    pub at: Option<&'d Json>,
    /// The measured times.
    pub timing: Option<Timing<'d>>,
}

impl<'d> RouteRecord<'d> {
    /// The recorded status, where there is one.
    pub fn status(&self) -> Option<&'d str> {
        self.at?.get("status")?.as_str()
    }

    /// Whether the record says that the route's process failed.
    pub fn has_failed(&self) -> bool {
        self.status() == Some(FAILED)
    }
}

/// The measured times of a route.
#[derive(Debug, Clone)]
pub struct Timing<'d> {
    /// Microseconds per operation, one for each span.
    pub samples: Series<'d>,
    /// The recorded median's place.
    pub p50_at: &'d Json,
    /// The recorded median in microseconds per operation.
    pub p50: f64,
}

impl<'d> Validation<'d> {
    /// Reads the document; problems are listed, not fatal.
    pub fn read(document: &'d Document) -> Self {
        let reader = Reader::new(document);
        let root = document.root();
        let cohorts: Vec<_> = reader
            .array(root, "cohorts")
            .unwrap_or_default()
            .iter()
            .filter_map(|at| {
                Some(CohortRecord {
                    at,
                    name: reader.text(at, "name")?,
                    original_status: reader.text(at, "original_status")?,
                    requested_rows: reader.count(at, "requested_program_rows")?,
                })
            })
            .collect();
        let cases = reader
            .array(root, "cases")
            .unwrap_or_default()
            .iter()
            .filter_map(|at| read_case(&reader, at, &cohorts))
            .collect();
        Self { document, cases, cohorts, problems: reader.into_problems() }
    }

    /// All runs with their case.
    pub fn runs(&self) -> impl Iterator<Item = (&CaseRecord<'d>, &Run<'d>)> {
        self.cases.iter().flat_map(|record| record.runs.iter().map(move |run| (record, run)))
    }

    /// All routes that have times, with their run and case, in the order of samples.csv.
    pub fn timed(&self) -> impl Iterator<Item = (&CaseRecord<'d>, &Run<'d>, Route, &Timing<'d>)> {
        self.runs().flat_map(|(record, run)| {
            run.routes().into_iter().filter_map(move |(route, at)| Some((record, run, route, at.timing.as_ref()?)))
        })
    }
}

fn read_case<'d>(reader: &Reader<'d>, at: &'d Json, cohorts: &[CohortRecord<'d>]) -> Option<CaseRecord<'d>> {
    let case = Case::read(reader, reader.member(at, "case")?)?;
    let records = reader.member(at, "cohorts")?;
    for (name, record) in records.as_object().unwrap_or_default() {
        if cohorts.iter().all(|cohort| cohort.name != name) {
            reader.problem(record, None, "a cohort that the package declares", name);
        }
    }
    let mut runs: Vec<_> = cohorts
        .iter()
        .filter_map(|cohort| {
            let record = reader.member(records, cohort.name)?;
            read_run(reader, record, cohort.name, cohort.requested_rows)
        })
        .collect();
    let retest = at.get("independent_torch_retest");
    if let Some(retest) = retest {
        runs.extend(reader.member(retest, "evidence").and_then(|evidence| {
            // A retry belongs to no cohort that could say so; its own launch receipt does.
            let launch =
                evidence.path(&["selection", "program_partition"]).and_then(|stages| stages.as_array()?.first());
            let rows = launch.and_then(|launch| launch.get("rows_requested")?.as_u64()).unwrap_or(0);
            read_run(reader, evidence, RETEST, rows)
        }));
    }
    Some(CaseRecord { at, case, runs, retest })
}

fn read_run<'d>(reader: &Reader<'d>, at: &'d Json, cohort: &'d str, requested_rows: u64) -> Option<Run<'d>> {
    let routes = reader.member(at, "routes")?;
    let case_status = reader.text(at, "original_case_status")?;
    // A retest belongs to no cohort; nothing but itself can have failed.
    let cohort_status = if cohort == RETEST { case_status } else { reader.text(at, "original_cohort_status")? };
    let native = reader.member(routes, "native").map(|route| read_route(reader, route)).unwrap_or_default();
    let torch = routes.get("torch").map(|route| read_route(reader, route)).unwrap_or_default();
    for (name, route) in routes.as_object().unwrap_or_default() {
        // Overlapping operations have a file of their own, and a finding of their own where they stand here.
        if name != overlap::ROUTE && Route::ALL.iter().all(|known| known.name() != name) {
            reader.problem(route, None, "the route native or torch", name);
        }
    }
    if cohort == DEFAULT && native.timing.is_none() && !native.has_failed() {
        reader.problem(routes, Some("native"), "a timed native run of the original schedule", "no times");
    }
    Some(Run { at, cohort, requested_rows, case_status, cohort_status, native, torch })
}

fn read_route<'d>(reader: &Reader<'d>, at: &'d Json) -> RouteRecord<'d> {
    let timing = at.get("event_us").and_then(|event| {
        Some(Timing {
            samples: reader.numbers(event, "samples")?,
            p50_at: reader.member(event, "p50")?,
            p50: reader.number(event, "p50")?,
        })
    });
    RouteRecord { at: Some(at), timing }
}
