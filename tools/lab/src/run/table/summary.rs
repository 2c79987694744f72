//! The summary of many rows by setting.

use std::collections::BTreeSet;

use comfy_table::Table;

use super::super::report::Row;
use super::super::settings::{self, Key};
use super::{align_right, mbit, new_table};
use crate::scenario::Average;

/// A line for each setting, or for each number of streams if these are compared.
pub(super) fn table(rows: &[Row], average: Average) -> Table {
    let groups = settings::for_people(rows);
    let streams: BTreeSet<_> = rows.iter().map(|row| row.connections).collect();
    if streams.len() > 1 { by_streams(&groups, &streams, average) } else { by_setting(&groups, average) }
}

type Group<'a> = (Key<'a>, Vec<&'a Row>);

fn by_setting(groups: &[Group<'_>], average: Average) -> Table {
    let headings =
        ["variant", "mode", "direction", "transfers", "Mbit/s", "least", "most", "of capacity", "others"];
    let mut table = new_table(headings.into_iter().map(str::to_owned));
    for (key, rows) in groups {
        let all = || rows.iter().map(|row| row.goodput_bps);
        table.add_row([
            key.lab(),
            key.what(),
            direction(key),
            rows.len().to_string(),
            mbit(average.of(all())),
            mbit(all().fold(f64::INFINITY, f64::min)),
            mbit(all().fold(0.0, f64::max)),
            format!("{:.1} %", mean(rows, |row| row.fraction_of_capacity) * 100.0),
            rows.iter().find_map(|row| row.background_bps).map(|_| others(rows)).unwrap_or_default(),
        ]);
    }
    align_right(&mut table, 3..9);
    table
}

fn others(rows: &[&Row]) -> String {
    mbit(mean(rows, |row| row.background_bps.unwrap_or(0.0)))
}

/// Goodput in Mbit/s, with a column for each variant and mode.
fn by_streams(groups: &[Group<'_>], streams: &BTreeSet<u16>, average: Average) -> Table {
    let mut columns: Vec<_> = groups.iter().map(|(key, _)| column(key)).collect();
    let mut seen = BTreeSet::new();
    columns.retain(|column| seen.insert(column.clone()));
    let headings = ["streams", "direction"].map(str::to_owned).into_iter().chain(columns.iter().cloned());
    let mut table = new_table(headings);
    let directions: BTreeSet<_> = groups.iter().map(|(key, _)| direction(key)).collect();
    for (streams, to) in streams.iter().flat_map(|streams| directions.iter().map(move |to| (streams, to))) {
        let cell = |wanted: &String| {
            let is_it = |(key, _): &&Group<'_>| {
                column(key) == *wanted && key.connections == *streams && direction(key) == *to
            };
            let group = groups.iter().find(is_it);
            group
                .map(|(_, rows)| mbit(average.of(rows.iter().map(|row| row.goodput_bps))))
                .unwrap_or_default()
        };
        table.add_row([streams.to_string(), to.clone()].into_iter().chain(columns.iter().map(cell)));
    }
    align_right(&mut table, 2..2 + columns.len());
    table
}

fn column(key: &Key<'_>) -> String {
    match key.lab() {
        lab if lab.is_empty() => key.what(),
        lab => format!("{lab} ({})", key.what()),
    }
}

fn direction(key: &Key<'_>) -> String {
    key.direction.map_or_else(|| "all".to_owned(), |it| format!("{} > {}", it.from, it.to))
}

fn mean(rows: &[&Row], value: impl Fn(&Row) -> f64) -> f64 {
    rows.iter().map(|row| value(row)).sum::<f64>() / rows.len().max(1) as f64
}
