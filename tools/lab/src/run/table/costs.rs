//! What the transfers of each setting cost.

use std::fmt::Write;

use super::super::report::{CostRow, Row};
use super::super::settings;
use crate::scenario::Average;

/// A line for each setting; empty if nothing was measured.
pub(super) fn of(rows: &[Row], average: Average) -> String {
    let mut text = String::new();
    for (key, rows) in settings::for_people(rows) {
        let costs: Vec<CostRow> = rows.iter().filter_map(|row| row.cost).collect();
        if costs.is_empty() {
            continue;
        }
        let seconds = average.of(costs.iter().map(|it| it.core_seconds_per_gbit));
        let megabytes = average.of(costs.iter().map(|it| it.socket_bytes as f64)) / 1e6;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "cost of {key}: {seconds:.3} core-seconds a Gbit, sockets {megabytes:.2} MB");
    }
    text
}
