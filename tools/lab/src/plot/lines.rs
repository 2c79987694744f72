//! Line charts, one line per series.

use plotters::prelude::*;

use super::canvas::{self, colour};
use super::{PlotError, Series};

const SIZE: (u32, u32) = (900, 420);

/// The axes of a line chart.
pub struct Line<'a> {
    /// The horizontal axis.
    pub x: &'a str,
    /// The vertical axis.
    pub y: &'a str,
}

impl Line<'static> {
    /// Rates over time.
    pub const TIME: Self = Self { x: "seconds", y: "Mbit/s" };
    /// Rates by the number of streams.
    pub const STREAMS: Self = Self { x: "streams", y: "Mbit/s" };
    /// The best number of streams by the bandwidth-delay product.
    pub const BEST_STREAMS: Self =
        Self { x: "available bandwidth × round-trip time, Mbit/s · ms", y: "streams" };
    /// Each connection's share, the smallest first.
    pub const RANK: Self = Self { x: "rank of the connection", y: "% of optimal" };
}

/// A line chart in SVG, one line for each series.
///
/// # Errors
/// The drawing fails.
pub fn lines(title: &str, axes: &Line<'_>, series: &[Series]) -> Result<String, PlotError> {
    let points = || series.iter().flat_map(|it| &it.points);
    let end = canvas::greatest(points().map(|it| it.0));
    let top = canvas::greatest(points().map(|it| it.1)) * 1.1;
    canvas::svg(SIZE, |area| {
        let mut chart = ChartBuilder::on(area)
            .caption(title, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(60)
            .build_cartesian_2d(0.0..end, 0.0..top)
            .map_err(PlotError::new)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .x_desc(axes.x)
            .y_desc(axes.y)
            .draw()
            .map_err(PlotError::new)?;
        for (place, series) in series.iter().enumerate() {
            let style = colour(place).stroke_width(2);
            let points = series.points.iter().copied().filter(|it| it.0.is_finite() && it.1.is_finite());
            let drawn = chart.draw_series(LineSeries::new(points, style)).map_err(PlotError::new)?;
            let legend = move |(x, y)| PathElement::new([(x, y), (x + 14, y)], style);
            drawn.label(series.name.as_str()).legend(legend);
        }
        chart
            .configure_series_labels()
            .background_style(WHITE.mix(0.8))
            .position(SeriesLabelPosition::LowerRight)
            .draw()
            .map_err(PlotError::new)
    })
}
