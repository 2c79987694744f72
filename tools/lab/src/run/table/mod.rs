//! The report as text: a table, the delivery of copies, and a line for each expectation.

mod costs;
mod handshakes;
mod outliers;
mod profiles;
mod summary;

use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};

use super::report::{Bound, Delivery, EventRow, LabRow, LeaderRow, Report, Row, StreamRow, Verdict};
use super::requests::RequestRow;

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

const HEADINGS: [&str; 8] = [
    "variant",
    "mode",
    "direction",
    "Mbit/s",
    "of capacity",
    "others",
    "over time",
    "streams and their paths",
];
/// Rows printed separately; more are summarised.
const MAX_ROWS: usize = 12;

/// Switches from which on the table shows the cost of the lab.
const LARGE_LAB_SWITCHES: usize = 10;

/// A table, and expectations as lines below it.
pub(super) fn render(report: &Report) -> String {
    let differ = |pair: &[Row]| !pair[0].is_mixed && pair[0].connections != pair[1].connections;
    let compares_streams = report.rows.windows(2).any(differ);
    let repeats = report.rows.iter().any(|row| row.run.is_some());
    let is_long = report.rows.len() > MAX_ROWS || compares_streams || repeats;
    let mut text = match report.profiles.as_slice() {
        [] if is_long => format!("{}\n", summary::table(&report.rows, report.average)),
        [] => format!("{}\n", rows(&report.rows)),
        all => profiles::render(all, report.average),
    };
    text += &events(report);
    text += &costs::of(&report.rows, report.average);
    if is_long {
        text += &outliers::of(&report.rows);
    }
    for row in report.rows.iter().filter(|row| !row.leaders.is_empty()) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "leaders of {}: {}", title(row), leaders(&row.leaders));
    }
    // All transfers of a round have the same.
    for row in report.rows.chunk_by(|a, b| a.requests == b.requests).filter_map(|rows| rows.first()) {
        row.requests.iter().for_each(|requests| text += &waits(row, requests));
    }
    for (row, delivery) in report.rows.iter().filter_map(|row| Some((row, row.delivery.as_ref()?))) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", arrived(row, delivery));
    }
    if let Some(row) = report.rows.iter().find(|row| row.captures.iter().any(|it| !it.handshakes.is_empty()))
    {
        text += &handshakes::of(row);
    }
    for lab in report.labs.iter().filter(|lab| lab.switches >= LARGE_LAB_SWITCHES) {
        let _ = writeln!(text, "{}", large(lab));
    }
    report.model.iter().for_each(|model| text += &model.to_text());
    for verdict in &report.expectations {
        let _ = writeln!(text, "{}", line(verdict));
    }
    text
}

/// Every transfer with its streams.
fn rows(rows: &[Row]) -> Table {
    // Columns for variants and cross traffic appear only if there are any.
    let variants = rows.iter().any(|row| !row.lab().is_empty());
    let background = rows.iter().any(|row| row.background_bps.is_some());
    let shown = |(place, _): &(usize, _)| (variants || *place != 0) && (background || *place != 5);
    let mut table = new_table(HEADINGS.into_iter().enumerate().filter(shown).map(|(_, it)| it.to_owned()));
    for row in rows {
        let cells = cells(row).into_iter().enumerate();
        table.add_row(cells.filter(|(place, _)| shown(&(*place, ""))).map(|(_, cell)| cell));
    }
    align_right(&mut table, 2 + usize::from(variants)..4 + usize::from(variants) + usize::from(background));
    table
}

fn new_table(headings: impl Iterator<Item = String>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header(headings);
    table
}

fn align_right(table: &mut Table, columns: std::ops::Range<usize>) {
    for column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

fn mbit(bps: f64) -> String {
    format!("{:.1}", bps / 1e6)
}

fn cells(row: &Row) -> [String; 8] {
    let streams: Vec<_> = row.streams.iter().map(StreamRow::title).collect();
    [
        row.lab(),
        row.what(),
        format!("{} > {}", row.direction.from, row.direction.to),
        mbit(row.goodput_bps),
        format!("{:.1} %", row.fraction_of_capacity * 100.0),
        row.background_bps.map(mbit).unwrap_or_default(),
        spark(row),
        streams.join("\n"),
    ]
}

fn arrived(row: &Row, delivery: &Delivery) -> String {
    let Delivery { bytes, bytes_received, intact, longest_stall, .. } = delivery;
    let whole = if *intact { "the same SHA-256 at both ends" } else { "not the same at both ends" };
    let title = title(row);
    format!("{title}: {bytes_received} of {bytes} bytes arrived, {whole}, longest stall {longest_stall:.3} s")
}

fn waits(row: &Row, requests: &RequestRow) -> String {
    let RequestRow { from, to, protocol, port, idle, loaded } = requests;
    format!(
        "{}: requests {from} > {to}, {protocol} port {port}: median {:.1} ms and 99 % in {:.1} ms, before it {:.1} and {:.1} ms\n",
        title(row),
        loaded.median_ms,
        loaded.p99_ms,
        idle.median_ms,
        idle.p99_ms
    )
}

fn large(lab: &LabRow) -> String {
    let LabRow { switches, hosts, links, seconds, .. } = lab;
    let memory = lab.memory_bytes.iter().map(|(name, bytes)| format!("{name} {:.0} MB", *bytes as f64 / 1e6));
    let memory = memory.collect::<Vec<_>>().join(", ");
    format!(
        "lab of {switches} switches, {hosts} hosts, {links} links: up in {seconds:.1} s; in memory: {memory}"
    )
}

/// What happened in each transfer, once if it was the same for all.
fn events(report: &Report) -> String {
    let happened = |row: &Row| row.events.iter().map(EventRow::title).collect::<Vec<_>>();
    let mut rows = report.rows.iter().filter(|row| !row.events.is_empty());
    let Some(first) = rows.next() else { return String::new() };
    if rows.all(|row| happened(row) == happened(first)) {
        return format!("events of each transfer: {}\n", timed(first));
    }
    let rows = report.rows.iter().filter(|row| !row.events.is_empty());
    rows.map(|row| format!("events of {}: {}\n", title(row), timed(row))).collect()
}

fn timed(row: &Row) -> String {
    if let ([], [first, .., last]) = (row.shown_events(), row.events.as_slice()) {
        let mut titles: Vec<_> = row.events.iter().map(EventRow::title).collect();
        titles.sort();
        titles.dedup();
        let (count, titles) = (row.events.len(), titles.join(", "));
        return format!("{count} from {:.1} s to {:.1} s: {titles}", first.at, last.at);
    }
    let all: Vec<_> = row.events.iter().map(|it| format!("{:.1} s {}", it.at, it.title())).collect();
    all.join(", ")
}

/// Such as `c2, none from 5.02 s, c1 from 5.36 s`.
fn leaders(leaders: &[LeaderRow]) -> String {
    let name = |leader: &LeaderRow| leader.controller.clone().unwrap_or_else(|| "none".to_owned());
    let mut all: Vec<_> = leaders.iter().take(1).map(name).collect();
    all.extend(leaders.iter().skip(1).map(|it| format!("{} from {:.2} s", name(it), it.start)));
    all.join(", ")
}

fn title(row: &Row) -> String {
    let lab = row.lab();
    let variant = if lab.is_empty() { lab } else { format!("{lab} ") };
    let run = row.run.map(|run| format!(", run {run}")).unwrap_or_default();
    format!("{variant}{} {} > {}{run}", row.what(), row.direction.from, row.direction.to)
}

/// A bar for each second, with full height at the capacity.
fn spark(row: &Row) -> String {
    let bar = |bps: f64| {
        let level = bps / row.capacity_bps * BARS.len() as f64;
        BARS.get((level as usize).min(BARS.len() - 1)).copied().unwrap_or(' ')
    };
    let seconds = row.intervals.chunks(2);
    seconds.map(|pair| bar(pair.iter().map(|it| it.bps).sum::<f64>() / pair.len() as f64)).collect()
}

fn line(verdict: &Verdict) -> String {
    let mark = match (verdict.ok, verdict.needs_quiet_machine) {
        (true, _) => "ok  ",
        (false, false) => "FAIL",
        (false, true) => "busy",
    };
    let sign = if verdict.bound == Bound::AtLeast { "≥" } else { "≤" };
    let limit = round(verdict.limit);
    let value = if verdict.ok { round(verdict.value) } else { beside(&limit, verdict.value) };
    format!("{mark} {}: {value} {sign} {limit}", verdict.name)
}

/// A value that misses a limit, with as many digits as show it.
fn beside(limit: &str, value: f64) -> String {
    let texts = (3..=9).map(|places| with_places(value, places));
    std::iter::once(round(value)).chain(texts).find(|text| text != limit).unwrap_or_else(|| value.to_string())
}

fn round(value: f64) -> String {
    with_places(value, if value.abs() < 0.01 { 6 } else { 3 })
}

fn with_places(value: f64, places: usize) -> String {
    let text = format!("{value:.places$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_misses_its_limit_does_not_look_like_it() {
        assert_eq!([0.9996, 1.02, 1.000_04].map(|value| beside("1", value)), ["0.9996", "1.02", "1.00004"]);
        assert_eq!(beside("0.97", 0.969_8), "0.9698");
    }
}
