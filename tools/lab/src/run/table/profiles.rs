//! The table of a scenario with profiles: a line for each, with what others have published.

use comfy_table::Table;

use super::super::profiles::{ProfileColumns, ProfileRow, Ratio};
use super::{align_right, mbit, new_table, round};
use crate::scenario::Average;

/// A line for each profile and congestion control, below it what the figures are.
pub(super) fn render(rows: &[ProfileRow], average: Average) -> String {
    let runs = rows.iter().map(|row| row.runs).max().unwrap_or(1);
    let what = match (runs, average) {
        (1, _) => "one run".to_owned(),
        (runs, Average::Mean) => format!("mean of {runs} runs"),
        (runs, Average::Median) => format!("median of {runs} runs"),
    };
    format!(
        "{}\nvariants in Mbit/s, {what}; then ratios, and those that others have published\n",
        table(rows)
    )
}

fn table(rows: &[ProfileRow]) -> Table {
    let controls = rows.iter().any(|row| row.congestion_control.is_some());
    let ProfileColumns { goodputs: variants, ratios, published } = ProfileColumns::of(rows);
    let headings = ["profile".to_owned()].into_iter().chain(controls.then(|| "control".to_owned()));
    let mut table =
        new_table(headings.chain(variants.clone()).chain(ratios.clone()).chain(published.clone()));
    for row in rows {
        let names = [row.profile.clone()].into_iter();
        let names = names.chain(controls.then(|| row.congestion_control.clone().unwrap_or_default()));
        let goodput = |name: &String| row.goodputs.iter().find(|it| it.name == *name).map(|it| mbit(it.bps));
        let ratio = |name: &String| row.ratios.iter().find(|it| it.verdict.name == *name).map(cell);
        let others = |name: &String| row.published.get(name).map(|value| format!("{value:.2}"));
        let cells =
            variants.iter().map(goodput).chain(ratios.iter().map(ratio)).chain(published.iter().map(others));
        table.add_row(names.chain(cells.map(Option::unwrap_or_default)));
    }
    let first = 1 + usize::from(controls);
    align_right(&mut table, first..first + variants.len() + ratios.len() + published.len());
    table
}

fn cell(ratio: &Ratio) -> String {
    let value = format!("{:.2}", ratio.verdict.value);
    if ratio.verdict.ok { value } else { format!("not met: {}", round(ratio.verdict.value)) }
}
