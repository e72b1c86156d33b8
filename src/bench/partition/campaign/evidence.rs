//! Everything that was recorded, with what measured it.

use super::CampaignError;
use super::runs::Runner;
use crate::bench::partition::backend::Kind;
use crate::bench::partition::clock::today;
use crate::bench::partition::record::{Campaign, CaseRuns, Cohort, Receipt};
use crate::bench::partition::{cpu, machine, source, torch};
use crate::package::json::{Json, object};

/// The file of the runs folder that lists what measured.
const BUILD: &str = "build.json";

/// Makes a campaign of the records.
pub(super) fn campaign(
    runner: &Runner<'_>,
    program: Receipt,
    device: Json,
    torch: Json,
    cohorts: Vec<Cohort>,
    cases: Vec<CaseRuns>,
) -> Result<Campaign, CampaignError> {
    let (plan, journal) = (runner.plan, runner.journal);
    let mut implementation = vec![program];
    implementation.push(match plan.backend {
        Kind::Cuda => of_text("src/kernels/row_reduce.cu", source::KERNEL),
        Kind::Cpu => of_text("src/bench/partition/cpu/rows.rs", cpu::LOOPS),
    });
    if plan.torch.is_some() {
        implementation.push(of_text("src/bench/partition/torch_route.py", torch::SCRIPT));
    }
    let libraries = device.path(&["identity", "tool_receipts"]).and_then(Json::as_array).unwrap_or_default();
    implementation.extend(libraries.iter().filter_map(Receipt::read));
    let commit = option_env!("RECOUNT_COMMIT").map(str::to_owned);
    let build = object([
        ("files", Json::Array(implementation.iter().map(Receipt::json).collect())),
        ("version", Json::from(env!("CARGO_PKG_VERSION"))),
        ("commit", commit.clone().map_or(Json::Null, Json::from)),
    ]);
    journal.write(BUILD, &build)?;
    let sessions = journal.sessions()?;
    let first = sessions.first().and_then(|session| session.get("date")?.as_str()).unwrap_or_default().to_owned();
    let mut environment = vec![("host".to_owned(), machine::host())];
    if let [only] = sessions.as_slice() {
        environment.push(("machine_at_begin".to_owned(), only.get("machine").cloned().unwrap_or(Json::Null)));
    } else {
        environment.push(("sessions".to_owned(), Json::Array(sessions.clone())));
    }
    if torch != Json::Null {
        environment.push(("torch".to_owned(), torch));
    }
    Ok(Campaign {
        backend: plan.backend.name().to_owned(),
        device,
        description: plan.description.clone(),
        cohorts,
        cases,
        torch: plan.torch.is_some(),
        protocol: plan.protocol(),
        environment: Json::Object(environment),
        sessions: sessions.len(),
        implementation,
        build_snapshot: journal.receipt(BUILD)?,
        commit,
        dates: (first, today()),
    })
}

fn of_text(path: &str, text: &str) -> Receipt {
    Receipt::of(format!("${{RECOUNT_SOURCE}}/{path}"), text.as_bytes())
}
