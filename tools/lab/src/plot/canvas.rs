//! The SVG canvas and the colours that all plots share.

use plotters::prelude::{IntoDrawingArea, RGBColor, SVGBackend, WHITE};

use super::PlotError;

/// The colours of Okabe and Ito, distinct for colour-blind people; they repeat after eight.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(213, 94, 0),
    RGBColor(86, 180, 233),
    RGBColor(204, 121, 167),
    RGBColor(240, 228, 66),
    RGBColor(90, 90, 90),
];

pub(super) type Area<'a> = plotters::drawing::DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

pub(super) fn colour(place: usize) -> RGBColor {
    COLOURS[place % COLOURS.len()]
}

/// The SVG text of the drawing of `paint`.
pub(super) fn svg(
    size: (u32, u32),
    paint: impl FnOnce(&Area<'_>) -> Result<(), PlotError>,
) -> Result<String, PlotError> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        area.fill(&WHITE).map_err(PlotError::new)?;
        paint(&area)?;
        area.present().map_err(PlotError::new)?;
    }
    Ok(text)
}

/// The largest of `values`, or 1 if all are zero.
pub(super) fn greatest(values: impl Iterator<Item = f64>) -> f64 {
    let greatest = values.filter(|it| it.is_finite()).fold(0.0, f64::max);
    if greatest > 0.0 { greatest } else { 1.0 }
}
