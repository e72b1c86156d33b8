//! What long work has in common: a bar with an estimate, and an end after the first interrupt.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};

use super::{Common, Environment, Failure};

/// A flag that the first interrupt sets; `what` is then said, unless the user wants quiet.
///
/// # Errors
/// The system lets interrupts not be caught.
pub(super) fn stop_on_interrupt(common: &Common, what: &'static str) -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let quiet = common.quiet;
    ctrlc::set_handler(move || {
        if !flag.swap(true, Ordering::Relaxed) && !quiet {
            let _ = writeln!(std::io::stderr(), "recount: {what}");
        }
    })
    .context("interrupts cannot be caught")?;
    Ok(stop)
}

/// A bar that counts to `total`, on a terminal only.
pub(super) fn bar(total: u64, unit: &str, environment: &Environment) -> ProgressBar {
    if !environment.progress {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(&format!("{{bar:30}} {{pos}}/{{len}} {unit}, {{eta}} left: {{msg}}"));
    ProgressBar::new(total).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
