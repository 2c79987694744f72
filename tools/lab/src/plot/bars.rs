//! Horizontal bar charts, with the range of each mean.

use plotters::prelude::*;

use super::PlotError;
use super::canvas::{self, colour};

const WIDTH: u32 = 900;
const BAR_HEIGHT: u32 = 28;

/// A mean with its name and range.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bar {
    pub name: String,
    pub value: f64,
    pub range: Option<(f64, f64)>,
}

/// A horizontal bar chart, the first bar on top.
pub(crate) fn bars(title: &str, unit: &str, bars: &[Bar]) -> Result<String, PlotError> {
    let end = canvas::greatest(bars.iter().map(|bar| bar.range.map_or(bar.value, |it| it.1))) * 1.1;
    let count = bars.len().max(1);
    let height = 90 + BAR_HEIGHT * u32::try_from(count).unwrap_or(1_000).min(1_000);
    canvas::svg((WIDTH, height), |area| {
        let mut chart = ChartBuilder::on(area)
            .caption(title, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(300)
            .build_cartesian_2d(0.0..end, (0..count).into_segmented())
            .map_err(PlotError::new)?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .light_line_style(TRANSPARENT)
            .x_desc(unit)
            .y_labels(count)
            .y_label_formatter(&|segment| match segment {
                SegmentValue::CenterOf(row) => name(bars, *row),
                _ => String::new(),
            })
            .draw()
            .map_err(PlotError::new)?;
        let rows = bars.iter().enumerate().map(|(place, bar)| (count - 1 - place, bar));
        let drawn = rows.clone().map(|(row, bar)| {
            let ends = [(0.0, SegmentValue::Exact(row)), (bar.value, SegmentValue::Exact(row + 1))];
            let mut rectangle = Rectangle::new(ends, colour(0).filled());
            rectangle.set_margin(5, 5, 0, 0);
            rectangle
        });
        chart.draw_series(drawn).map_err(PlotError::new)?;
        let ranges = rows.filter_map(|(row, bar)| Some((row, bar.range?)));
        let whiskers = ranges.map(|(row, (least, most))| {
            let ends = [(least, SegmentValue::CenterOf(row)), (most, SegmentValue::CenterOf(row))];
            PathElement::new(ends, BLACK.stroke_width(2))
        });
        chart.draw_series(whiskers).map(drop).map_err(PlotError::new)
    })
}

/// The name of the bar in a row, counted from the bottom.
fn name(bars: &[Bar], row: usize) -> String {
    bars.iter().rev().nth(row).map(|bar| bar.name.clone()).unwrap_or_default()
}
