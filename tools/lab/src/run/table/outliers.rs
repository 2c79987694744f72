//! Transfers that fell far behind others of their setting, with what shows why: a summary alone hides when they stalled.

use std::fmt::Write;

use super::super::report::Row;
use super::super::settings;
use super::{mbit, spark, title};

/// The share of its setting's median goodput below which a transfer is shown by itself.
const FAR_BEHIND: f64 = 0.8;

/// Transfers shown by themselves at most.
const MAX_SHOWN: usize = 5;

/// A line for each of the worst of these transfers, and one for each of its streams.
pub(super) fn of(rows: &[Row]) -> String {
    let mut behind: Vec<_> = settings::by_direction(rows).into_values().flat_map(far_behind).collect();
    behind.sort_by(|a, b| a.fraction_of_capacity.total_cmp(&b.fraction_of_capacity));
    behind.into_iter().take(MAX_SHOWN).map(with_streams).collect()
}

fn far_behind(rows: Vec<&Row>) -> Vec<&Row> {
    let mut rates: Vec<_> = rows.iter().map(|row| row.goodput_bps).collect();
    rates.sort_by(f64::total_cmp);
    // The upper one of two: with two transfers one can be far behind the other.
    let median = rates.get(rates.len() / 2).copied().unwrap_or_default();
    rows.into_iter().filter(|row| row.goodput_bps < median * FAR_BEHIND).collect()
}

fn with_streams(row: &Row) -> String {
    let mut text = format!("far behind: {}, {} Mbit/s: {}\n", title(row), mbit(row.goodput_bps), spark(row));
    for stream in &row.streams {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {:.1} MB from {}", stream.bytes as f64 / 1e6, stream.title());
    }
    text
}
