//! The numbers behind the charts as a table.

use crate::report::figures::{CaseTimes, DivergenceFigures, Figures, SCHEDULES, TORCH};

/// Headers and rows; the first column names the row.
pub(in crate::render) type Numbers = (Vec<String>, Vec<Vec<String>>);

/// What the table is of.
pub(in crate::render) fn title(figures: &Figures) -> &'static str {
    match figures {
        Figures::Divergence(_) => "Drift and divergence in numbers",
        _ => "Medians in microseconds of one operation",
    }
}

/// The table, where there are numbers.
pub(in crate::render) fn table(figures: &Figures) -> Option<Numbers> {
    let table = match figures {
        Figures::None => return None,
        Figures::Partition(figures) => {
            let selected = figures.model.as_ref().and_then(|model| model.as_ref().ok());
            let selected = |label: &str| {
                let decided = selected?.decisions.iter().find(|decided| decided.label == label)?;
                SCHEDULES.get(decided.selected).copied()
            };
            medians(&figures.cases, selected)
        }
        Figures::Divergence(figures) => curves(figures),
    };
    (!table.1.is_empty()).then_some(table)
}

fn medians<'f>(cases: &[CaseTimes], selected: impl Fn(&str) -> Option<&'f str>) -> Numbers {
    let mut names: Vec<&str> = Vec::new();
    for times in cases.iter().flat_map(|case| &case.series) {
        if !names.contains(&times.name.as_str()) {
            names.push(&times.name);
        }
    }
    names.sort_by_key(|name| *name == TORCH);
    let mut heads = vec!["case".to_owned()];
    heads.extend(names.iter().map(|name| (*name).to_owned()));
    heads.extend(["selected, held out".to_owned(), "failed".to_owned()]);
    let row = |case: &CaseTimes| {
        let mut row = vec![case.label.clone()];
        row.extend(names.iter().map(|name| case.median(name).map_or("-".to_owned(), |median| format!("{median:.4}"))));
        row.push(selected(&case.label).unwrap_or("-").to_owned());
        row.push(if case.failed.is_empty() { "-".to_owned() } else { case.failed.join(", ") });
        row
    };
    let mut rows: Vec<_> = cases.iter().map(row).collect();
    // Nothing failed: no column for it.
    if cases.iter().all(|case| case.failed.is_empty()) {
        heads.pop();
        rows.iter_mut().for_each(|row| row.truncate(heads.len()));
    }
    (heads, rows)
}

fn curves(figures: &DivergenceFigures) -> Numbers {
    let heads = ["device", "arm", "output", "drifting coordinates", "largest divergence"];
    let rows = figures.devices.iter().flat_map(|device| {
        device.points.iter().map(|point| {
            vec![
                device.key.clone(),
                if point.background { "background-matmul" } else { "idle" }.to_owned(),
                format!("{}", point.resolution),
                format!("{}", point.drift),
                if point.divergence == 0.0 { "0".to_owned() } else { format!("{:.4e}", point.divergence) },
            ]
        })
    });
    (heads.map(str::to_owned).to_vec(), rows.collect())
}
