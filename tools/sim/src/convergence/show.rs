//! Convergence reports as table, CSV and SVG.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};
use plotters::prelude::*;

use super::Row;
use crate::report::Report;

/// A line for each control.
pub fn table(report: &Report<Row>) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    let paths = report.rows.first().map(|row| row.paths.clone()).unwrap_or_default();
    let heading = ["control", "kept", "after", "of capacity"].map(str::to_owned);
    table.set_header(heading.into_iter().chain(paths));
    for row in &report.rows {
        let percent = |share: f64| format!("{:.1}", share * 100.0);
        let confidence = row.confidence.map(|it| format!(" ± {}", percent(it))).unwrap_or_default();
        let kept = format!("{}{confidence} %", percent(row.kept));
        let after = row.converged_after.map_or_else(|| "never".to_owned(), |it| format!("{it:.0} s"));
        let capacity = format!("{} %", percent(row.fraction_of_capacity));
        let rates = row.rates.iter().map(|rate| format!("{:.1} Mbit/s", rate / 1e6));
        table.add_row([row.label(), kept, after, capacity].into_iter().chain(rates));
    }
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    format!("{table}\n")
}

/// One line for each control, sample and path, with a heading.
pub fn csv(report: &Report<Row>) -> String {
    let mut text = "control,seconds,path,bits_per_second\n".to_owned();
    for row in &report.rows {
        for (at, rates) in (1_u32..).zip(&row.series) {
            for (path, rate) in row.paths.iter().zip(rates) {
                let (path, time) = (crate::study::quoted(path), f64::from(at) * row.interval);
                // Writing to a text cannot fail.
                let _ = writeln!(text, "{},{time:.3},{path},{rate:.0}", row.label());
            }
        }
    }
    text
}

/// The rate of each path over time as SVG, a picture for each control one below the other.
///
/// # Errors
///
/// If nothing can be drawn.
pub fn plot(report: &Report<Row>) -> Result<String, String> {
    if report.rows.iter().all(|row| row.series.is_empty()) {
        return Err("there is nothing to draw".to_owned());
    }
    let mut svg = String::new();
    draw(&mut svg, report).map_err(|error| format!("cannot draw: {error}"))?;
    Ok(svg)
}

fn draw(svg: &mut String, report: &Report<Row>) -> Result<(), Box<dyn std::error::Error>> {
    let count = report.rows.len();
    let area = SVGBackend::with_string(svg, (900, 260 * count as u32)).into_drawing_area();
    area.fill(&WHITE)?;
    for (row, area) in report.rows.iter().zip(area.split_evenly((count, 1))) {
        draw_one(&area, &report.scenario, row)?;
    }
    Ok(area.present()?)
}

fn draw_one(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    name: &str,
    row: &Row,
) -> Result<(), Box<dyn std::error::Error>> {
    let most = row.series.iter().flatten().fold(1.0_f64, |most, it| most.max(*it)) / 1e6 * 1.1;
    let end = row.series.len() as f64 * row.interval;
    let mut chart = ChartBuilder::on(area)
        .caption(format!("{name}: {}", row.label()), ("sans-serif", 16))
        .margin(8)
        .x_label_area_size(32)
        .y_label_area_size(50)
        .build_cartesian_2d(0.0..end, 0.0..most)?;
    chart.configure_mesh().x_desc("seconds").y_desc("Mbit/s").draw()?;
    for (place, path) in row.paths.iter().enumerate() {
        let color = Palette99::pick(place).to_rgba();
        let points = (1_u32..)
            .zip(&row.series)
            .filter_map(|(at, rates)| Some((f64::from(at) * row.interval, rates.get(place)? / 1e6)));
        chart
            .draw_series(LineSeries::new(points, color.stroke_width(2)))?
            .label(path)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color.stroke_width(2)));
    }
    let mut labels = chart.configure_series_labels();
    labels
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .position(SeriesLabelPosition::UpperRight)
        .draw()?;
    Ok(())
}
