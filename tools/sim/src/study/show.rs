//! Transfer reports as table, CSV and SVG.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};
use plotters::prelude::*;

use super::Row;
use crate::report::Report;

/// The means beside a paper's, a line for each number of subflows.
pub fn table(report: &Report<Row>) -> String {
    let mut columns: Vec<(&str, &str)> = Vec::new();
    for row in &report.rows {
        let column = (row.method.as_str(), row.pattern.as_str());
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    let mut subflows: Vec<_> = report.rows.iter().map(|row| row.subflows).collect();
    subflows.sort_unstable();
    subflows.dedup();
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    let heading = columns.iter().map(|(method, pattern)| format!("{method}\n{pattern}"));
    table.set_header(std::iter::once("subflows".to_owned()).chain(heading));
    for count in subflows {
        let cell = |(method, pattern): &(&str, &str)| {
            let row = |row: &&Row| row.method == *method && row.pattern == *pattern && row.subflows == count;
            report.rows.iter().find(row).map_or_else(String::new, text)
        };
        table.add_row(std::iter::once(count.to_string()).chain(columns.iter().map(cell)));
    }
    table.column_iter_mut().for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    format!("{table}\n")
}

/// The mean with its confidence, the paper's in brackets, and below it the slowest transfer's.
fn text(row: &Row) -> String {
    if row.runs == 0 {
        return "not run".to_owned();
    }
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    let confidence = row.confidence.map(|it| format!(" ± {}", percent(it))).unwrap_or_default();
    let paper = row.paper.map(|it| format!(" ({})", percent(it))).unwrap_or_default();
    let (mean, rate, worst) = (percent(row.mean), percent(row.mean_of_rate), percent(row.worst));
    format!("{mean}{confidence}{paper}\n{rate} of rate\nworst {worst}")
}

/// One line for each row of the report, with a heading.
pub fn csv(report: &Report<Row>) -> String {
    let mut text =
        "method,scheme,pattern,subflows,control,runs,mean,mean_of_rate,confidence,worst,paper\n".to_owned();
    for row in &report.rows {
        let number = |value: Option<f64>| value.map(|value| format!("{value:.4}")).unwrap_or_default();
        let Row { method, scheme, pattern, subflows, control, runs, .. } = row;
        let figures = [Some(row.mean), Some(row.mean_of_rate), row.confidence, Some(row.worst), row.paper]
            .map(number)
            .join(",");
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{},{scheme},{pattern},{subflows},{control},{runs},{figures}", quoted(method));
    }
    text
}

pub(crate) fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// The transfers of each row from the slowest to the fastest, as an SVG picture; only rows with so many subflows.
///
/// # Errors
///
/// If nothing can be drawn, such as rows without transfers.
pub fn plot(report: &Report<Row>, subflows: usize) -> Result<String, String> {
    let rows: Vec<_> =
        report.rows.iter().filter(|row| row.subflows == subflows && !row.ranked.is_empty()).collect();
    let places = rows.iter().map(|row| row.ranked.len()).max().ok_or("there is nothing to draw")?;
    let mut svg = String::new();
    draw(&mut svg, report, &rows, places, subflows).map_err(|error| format!("cannot draw: {error}"))?;
    Ok(svg)
}

fn draw(
    svg: &mut String,
    report: &Report<Row>,
    rows: &[&Row],
    places: usize,
    subflows: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(svg, (900, 560)).into_drawing_area();
    area.fill(&WHITE)?;
    let title = format!("{}: throughput by rank, {subflows} subflows", report.scenario);
    let most = rows.iter().flat_map(|row| &row.ranked).fold(1.0_f64, |most, it| most.max(*it)) * 100.0;
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(50)
        .build_cartesian_2d(0..places, 0.0..most)?;
    chart.configure_mesh().x_desc("transfer, slowest first").y_desc("% of the optimum").draw()?;
    for (at, row) in rows.iter().enumerate() {
        let color = Palette99::pick(at).to_rgba();
        let points = row.ranked.iter().enumerate().map(|(place, share)| (place, share * 100.0));
        chart
            .draw_series(LineSeries::new(points, color.stroke_width(2)))?
            .label(format!("{}, {}", row.method, row.pattern))
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color.stroke_width(2)));
    }
    let mut labels = chart.configure_series_labels();
    labels
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .position(SeriesLabelPosition::LowerRight)
        .draw()?;
    drop(labels);
    drop(chart);
    Ok(area.present()?)
}
