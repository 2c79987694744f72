//! Horizontal bar charts with marks beside each bar, for what it is compared with.

use plotters::prelude::*;

use super::PlotError;
use super::canvas;

const WIDTH: u32 = 900;
const BAR_HEIGHT: u32 = 28;
/// The legend's lines stand below the bars.
const LEGEND_LINE: u32 = 18;
const MARK_RADIUS: i32 = 5;
/// Pale, so that every mark is seen on it.
const BAR: RGBColor = RGBColor(205, 212, 220);
/// The colours of marks, those of rings dark.
const MARKS: [usize; 6] = [1, 2, 3, 0, 5, 7];

/// A bar with a mark for each name of the legend that it has a value of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Marked {
    pub name: String,
    pub value: f64,
    pub marks: Vec<Option<f64>>,
}

/// What is drawn besides bars.
pub(crate) struct Labels<'a> {
    pub title: &'a str,
    /// The horizontal axis, and the name of the bars.
    pub bars: &'a str,
    pub marks: &'a [String],
    /// An upright line.
    pub limit: Option<f64>,
}

/// A horizontal bar chart, the first bar on top.
pub(crate) fn marked(labels: &Labels<'_>, bars: &[Marked]) -> Result<String, PlotError> {
    let values = bars.iter().flat_map(|bar| bar.marks.iter().flatten().copied().chain([bar.value]));
    let end = canvas::greatest(values.chain(labels.limit)) * 1.1;
    let count = bars.len().max(1);
    let lines = u32::try_from(bars.len()).unwrap_or(1_000).min(1_000);
    let legend = u32::try_from(labels.marks.len()).unwrap_or(100).min(100) + 2;
    canvas::svg((WIDTH, 90 + BAR_HEIGHT * lines + LEGEND_LINE * legend), |area| {
        let (_, height) = area.dim_in_pixel();
        let (upper, lower) = area.split_vertically(height.saturating_sub(LEGEND_LINE * legend));
        let mut chart = ChartBuilder::on(&upper)
            .caption(labels.title, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(200)
            .build_cartesian_2d(0.0..end, (0..count).into_segmented())
            .map_err(PlotError::new)?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .light_line_style(TRANSPARENT)
            .set_tick_mark_size(LabelAreaPosition::Left, 0)
            .x_desc(labels.bars)
            .y_labels(count)
            .y_label_formatter(&|segment| match segment {
                SegmentValue::CenterOf(row) => {
                    bars.iter().rev().nth(*row).map(|it| it.name.clone()).unwrap_or_default()
                }
                _ => String::new(),
            })
            .draw()
            .map_err(PlotError::new)?;
        let rows = || bars.iter().enumerate().map(|(place, bar)| (count - 1 - place, bar));
        let drawn = rows().filter(|(_, bar)| bar.value.is_finite()).map(|(row, bar)| {
            let ends = [(0.0, SegmentValue::Exact(row)), (bar.value, SegmentValue::Exact(row + 1))];
            let mut rectangle = Rectangle::new(ends, BAR.filled());
            rectangle.set_margin(6, 6, 0, 0);
            rectangle
        });
        chart.draw_series(drawn).map_err(PlotError::new)?;
        for place in 0..labels.marks.len() {
            let at = rows().filter_map(|(row, bar)| Some((bar.marks.get(place).copied().flatten()?, row)));
            let at = at.filter(|(value, _)| value.is_finite());
            let marks = at.flat_map(|(value, row)| mark((value, SegmentValue::CenterOf(row)), place));
            chart.draw_series(marks).map_err(PlotError::new)?;
        }
        let limit = labels.limit.map(|limit| {
            let ends = [(limit, SegmentValue::Exact(0)), (limit, SegmentValue::Exact(count))];
            PathElement::new(ends, BLACK.stroke_width(1))
        });
        chart.draw_series(limit).map_err(PlotError::new)?;
        explain(&lower, labels)
    })
}

/// Marks differ by colour, and in turns by being filled or rings, white inside.
fn mark<C: Clone>(at: C, place: usize) -> [Circle<C, i32>; 2] {
    let colour = MARKS[place % MARKS.len()];
    let inside = if place.is_multiple_of(2) { canvas::colour(colour) } else { WHITE };
    let circle = |style: ShapeStyle| Circle::new(at.clone(), MARK_RADIUS, style);
    [circle(inside.filled()), circle(canvas::colour(colour).stroke_width(2))]
}

fn explain(area: &canvas::Area<'_>, labels: &Labels<'_>) -> Result<(), PlotError> {
    for (place, name) in labels.marks.iter().enumerate() {
        let line =
            i32::try_from(place).unwrap_or_default() * i32::try_from(LEGEND_LINE).unwrap_or_default() + 8;
        for circle in mark((30, line), place) {
            area.draw(&circle).map_err(PlotError::new)?;
        }
        area.draw(&Text::new(name.as_str(), (45, line - 7), ("sans-serif", 14))).map_err(PlotError::new)?;
    }
    Ok(())
}
