//! Stacked area charts with the network's capacity as a line.

use plotters::prelude::*;

use super::canvas::{self, colour};
use super::{PlotError, Series};

const SIZE: (u32, u32) = (900, 420);

/// Something that happened at a time.
pub(crate) struct Mark {
    /// Seconds.
    pub(crate) at: f64,
    /// What it was.
    pub(crate) name: String,
}

/// A stacked area chart of the series, with a line at the network's capacity, in Mbit/s, and an upright line at each mark.
///
/// Series have points at the same times; some may lack points.
pub(crate) fn stacked(
    title: &str,
    series: &[Series],
    capacity: f64,
    marks: &[Mark],
) -> Result<String, PlotError> {
    let (times, sums) = sums(series);
    let top = canvas::greatest(sums.iter().flatten().copied().chain([capacity])) * 1.1;
    let end = canvas::greatest(times.iter().copied());
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
            .x_desc("seconds")
            .y_desc("Mbit/s")
            .draw()
            .map_err(PlotError::new)?;
        // The highest first, so that each covers what is below the next.
        for (place, (sum, series)) in sums.iter().zip(series).enumerate().rev() {
            let (fill, points) = (colour(place), times.iter().copied().zip(sum.iter().copied()));
            let drawn =
                chart.draw_series(AreaSeries::new(points, 0.0, fill.filled())).map_err(PlotError::new)?;
            let legend = move |(x, y)| Rectangle::new([(x, y - 5), (x + 14, y + 5)], fill.filled());
            drawn.label(series.name.as_str()).legend(legend);
        }
        let line = PathElement::new([(0.0, capacity), (end, capacity)], BLACK.stroke_width(1));
        chart.draw_series([line]).map_err(PlotError::new)?;
        for mark in marks {
            let upright = PathElement::new([(mark.at, 0.0), (mark.at, top)], BLACK.mix(0.6).stroke_width(1));
            chart.draw_series([upright]).map_err(PlotError::new)?;
            let text = Text::new(mark.name.clone(), (mark.at, top), ("sans-serif", 12));
            chart.draw_series([text]).map_err(PlotError::new)?;
        }
        chart
            .configure_series_labels()
            .background_style(WHITE.mix(0.8))
            .position(SeriesLabelPosition::LowerRight)
            .draw()
            .map_err(PlotError::new)
    })
}

/// The times, and for each series the cumulative sum at these times.
fn sums(series: &[Series]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let mut times: Vec<_> = series.iter().flat_map(|it| &it.points).map(|it| it.0).collect();
    times.retain(|time| time.is_finite());
    times.sort_by(f64::total_cmp);
    times.dedup();
    let mut below = vec![0.0; times.len()];
    let sums = series.iter().map(|series| {
        for (time, rate) in &series.points {
            if let Ok(place) = times.binary_search_by(|other| other.total_cmp(time)) {
                below[place] += rate;
            }
        }
        below.clone()
    });
    let sums = sums.collect();
    (times, sums)
}
