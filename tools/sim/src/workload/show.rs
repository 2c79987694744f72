//! Workload reports as table, CSV and SVG.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};
use plotters::prelude::*;

use super::{Class, Row};
use crate::report::Report;

/// A line for each load and method: how long short and large flows take.
pub fn table(report: &Report<Row>) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    let heading =
        ["load", "method", "short: mean", "median", "95 %", "99 %", "large: mean", "99 %", "unfinished"];
    table.set_header(heading);
    for row in &report.rows {
        let Row { short, large, all, .. } = row;
        let [mean, median, p95, of_large] = [short.mean, short.median, short.p95, large.mean].map(millis);
        let times = [mean, median, p95, slowest(short), of_large, slowest(large)];
        let load = format!("{:.0} %", row.load * 100.0);
        let unfinished = format!("{} of {}", all.unfinished, all.flows);
        table.add_row([load, row.method.clone()].into_iter().chain(times).chain([unfinished]));
    }
    let numbers = table.column_iter_mut().enumerate().filter(|(at, _)| *at != 1);
    numbers.for_each(|(_, column)| column.set_cell_alignment(CellAlignment::Right));
    format!("{table}\n")
}

/// The 99th percentile, with its confidence interval.
fn slowest(class: &Class) -> String {
    let confidence = class.p99_confidence.map(|half| format!(" ± {:.2}", half * 1e3)).unwrap_or_default();
    format!("{:.2}{confidence} ms", class.p99 * 1e3)
}

fn millis(seconds: f64) -> String {
    format!("{:.2} ms", seconds * 1e3)
}

/// One line for each row of the report, with a heading; times in seconds.
pub fn csv(report: &Report<Row>) -> String {
    let class = |name: &str| {
        let columns = ["flows", "unfinished", "mean", "median", "p95", "p99", "p99_confidence"];
        columns.map(|it| format!("{name}_{it}")).join(",")
    };
    let classes = ["short", "large", "all"].map(class).join(",");
    let mut text = format!("method,sizes,load,runs,{classes}\n");
    for row in &report.rows {
        let figures = [row.short, row.large, row.all].map(|it| {
            let Class { flows, unfinished, mean, median, p95, p99, p99_confidence } = it;
            let confidence = p99_confidence.map(|half| format!("{half:.6}")).unwrap_or_default();
            format!("{flows},{unfinished},{mean:.6},{median:.6},{p95:.6},{p99:.6},{confidence}")
        });
        let method = crate::study::quoted(&row.method);
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{method},{},{},{},{}", row.sizes, row.load, row.runs, figures.join(","));
    }
    text
}

/// The 99th percentile of short flows by load, a line for each method, as an SVG picture.
///
/// # Errors
///
/// If nothing can be drawn.
pub fn plot(report: &Report<Row>) -> Result<String, String> {
    let mut svg = String::new();
    draw(&mut svg, report).map_err(|error| format!("cannot draw: {error}"))?;
    Ok(svg)
}

fn draw(svg: &mut String, report: &Report<Row>) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(svg, (900, 560)).into_drawing_area();
    area.fill(&WHITE)?;
    let most = report.rows.iter().map(|row| row.short.p99 * 1e3).fold(1e-3_f64, f64::max) * 1.1;
    let mut chart = ChartBuilder::on(&area)
        .caption(format!("{}: short flows, 99th percentile", report.scenario), ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(60)
        .build_cartesian_2d(0.0..100.0, 0.0..most)?;
    chart.configure_mesh().x_desc("load, %").y_desc("ms").draw()?;
    let mut methods: Vec<&str> = Vec::new();
    for row in &report.rows {
        if !methods.contains(&row.method.as_str()) {
            methods.push(&row.method);
        }
    }
    for (at, method) in methods.into_iter().enumerate() {
        let color = Palette99::pick(at).to_rgba();
        let rows = report.rows.iter().filter(|row| row.method == method);
        let points: Vec<_> = rows.map(|row| (row.load * 100.0, row.short.p99 * 1e3)).collect();
        chart
            .draw_series(LineSeries::new(points, color.stroke_width(2)).point_size(3))?
            .label(method)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color.stroke_width(2)));
    }
    let mut labels = chart.configure_series_labels();
    labels
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .position(SeriesLabelPosition::UpperLeft)
        .draw()?;
    drop(labels);
    drop(chart);
    Ok(area.present()?)
}
