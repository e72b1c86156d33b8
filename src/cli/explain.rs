//! `recount explain`.

use super::{Common, Environment, Failure, output::Output, verbosity};
use crate::audit::Code;
use crate::render::{Style, explain, list};

/// Codes that are offered for one that is not known.
const HINTS: usize = 3;

/// Arguments of `explain`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The code, such as line-endings; without one, all codes are listed
    code: Option<String>,
}

/// Explains one code or lists all.
///
/// # Errors
/// An unknown code; the nearest ones are named.
pub(super) fn run(args: &Args, common: &Common, environment: &Environment) -> Result<u8, Failure> {
    let style = Style { color: environment.color, verbosity: verbosity(common), width: environment.width };
    let Some(name) = &args.code else {
        Output::Stdout.write(|out| list(out, &style))?;
        return Ok(0);
    };
    let Some(code) = Code::from_name(name) else {
        let ratios = Code::ALL.iter().map(|code| (similarity(name, code.name()), code.name()));
        let mut near: Vec<_> = ratios.filter(|(ratio, _)| *ratio > 0.6).collect();
        near.sort_by(|(left, _), (right, _)| right.total_cmp(left));
        let near: Vec<_> = near.into_iter().take(HINTS).map(|(_, name)| name).collect();
        let hint = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) };
        anyhow::bail!("there is no finding code `{name}`{hint} (`recount explain` lists all)");
    };
    Output::Stdout.write(|out| explain(code, out, &style))?;
    Ok(0)
}

fn similarity(left: &str, right: &str) -> f32 {
    similar::TextDiff::from_chars(left, right).ratio()
}
