use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};

use super::report::{Delivery, Report, Row, StreamRow, Verdict};

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

const HEADINGS: [&str; 7] =
    ["variant", "mode", "direction", "Mbit/s", "of capacity", "over time", "streams and their paths"];

/// Rows as a table, expectations as lines below it.
pub(super) fn render(report: &Report) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    // Where nothing is compared there is one column less.
    let variants = usize::from(report.rows.iter().any(|row| row.variant.is_some()));
    table.set_header(HEADINGS.iter().skip(1 - variants));
    for row in &report.rows {
        table.add_row(cells(row).into_iter().skip(1 - variants));
    }
    for column in [2, 3].map(|column| column + variants) {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut text = format!("{table}\n");
    for (row, delivery) in report.rows.iter().filter_map(|row| Some((row, row.delivery.as_ref()?))) {
        let _ = writeln!(text, "{}", arrived(row, delivery));
    }
    for verdict in &report.expectations {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", line(verdict));
    }
    text
}

fn cells(row: &Row) -> [String; 7] {
    let streams: Vec<_> = row.streams.iter().map(stream).collect();
    [
        row.variant.clone().unwrap_or_default(),
        row.mode.to_string(),
        format!("{} > {}", row.direction.from, row.direction.to),
        format!("{:.1}", row.goodput_bps / 1e6),
        format!("{:.1} %", row.fraction_of_capacity * 100.0),
        spark(row),
        streams.join("\n"),
    ]
}

fn arrived(row: &Row, delivery: &Delivery) -> String {
    let Delivery { bytes, bytes_received, intact, longest_pause, .. } = delivery;
    let whole = if *intact { "the same SHA-256 at both ends" } else { "not the same at both ends" };
    let variant = row.variant.as_ref().map(|variant| format!("{variant} ")).unwrap_or_default();
    let title = format!("{variant}{} {} > {}", row.mode, row.direction.from, row.direction.to);
    format!("{title}: {bytes_received} of {bytes} bytes arrived, {whole}, longest pause {longest_pause:.3} s")
}

fn stream(stream: &StreamRow) -> String {
    let path = if stream.path.is_empty() { "default route".to_owned() } else { stream.path.join(" ") };
    format!("{}:{} {path}", stream.src, stream.src_port)
}

/// One bar a second of the run, full height at the capacity.
fn spark(row: &Row) -> String {
    let bar = |bps: f64| {
        let level = bps / row.capacity_bps * BARS.len() as f64;
        BARS.get((level as usize).min(BARS.len() - 1)).copied().unwrap_or(' ')
    };
    let seconds = row.intervals.chunks(2);
    seconds.map(|pair| bar(pair.iter().map(|it| it.bps).sum::<f64>() / pair.len() as f64)).collect()
}

fn line(verdict: &Verdict) -> String {
    let mark = if verdict.ok { "ok  " } else { "FAIL" };
    let sign = if verdict.bound == "at_least" { "≥" } else { "≤" };
    format!("{mark} {}: {} {sign} {}", verdict.name, round(verdict.value), round(verdict.limit))
}

fn round(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
