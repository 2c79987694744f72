//! Plots of a run's measurements as SVG text, without fonts and files.

mod bars;
mod canvas;
mod lines;
mod marked;
mod stacked;

pub(crate) use bars::{Bar, bars};
pub use lines::{Line, lines};
pub(crate) use marked::{Labels, Marked, marked};
pub(crate) use stacked::{Mark, stacked};

/// A value that changes from point to point.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// The points.
    pub points: Vec<(f64, f64)>,
}

/// A plot that cannot be drawn.
#[derive(Debug, thiserror::Error)]
#[error("cannot be drawn: {0}")]
pub struct PlotError(String);

impl PlotError {
    fn new(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series() -> Vec<Series> {
        let one = |name: &str, rate: f64| Series {
            name: name.to_owned(),
            points: (1..=4).map(|at| (f64::from(at) / 2.0, rate)).collect(),
        };
        vec![one("10.0.1.1 > 10.0.1.2 & via <ams1>", 60.0), one("second", 30.0)]
    }

    /// The heights, in pixels, at which the areas of a plot begin.
    fn tops(svg: &str) -> Vec<f64> {
        let areas = svg.lines().filter(|line| line.starts_with("<polygon") && line.contains("opacity=\"1\""));
        let points = areas.filter_map(|line| line.split("points=\"").nth(1));
        points.filter_map(|points| points.split([' ', ',']).nth(3)?.parse().ok()).collect()
    }

    #[test]
    fn areas_lie_on_each_other() {
        let svg =
            stacked("mptcp", &series(), 100.0, &[Mark { at: 1.0, name: "cut s t".to_owned() }]).unwrap();
        let tops = tops(&svg);
        assert_eq!(tops.len(), 2, "{svg}");
        // The upper edge of the first is the sum of both, 90, the second's is 60.
        let base = 400.0_f64.max(tops[1]);
        assert!(tops[0] < tops[1] && tops[1] <= base, "{tops:?}");
    }

    #[test]
    fn names_are_written_so_that_any_text_may_stand_there() {
        let svg = stacked("a < b", &series(), 100.0, &[]).unwrap();
        assert!(svg.contains("&lt;ams1&gt;") && svg.contains("a &lt; b") && !svg.contains("<ams1>"));
    }

    #[test]
    fn nothing_to_draw_is_an_empty_plot() {
        let empty = [
            stacked("", &[], 0.0, &[]),
            lines("", &Line::TIME, &[]),
            bars("", "Mbit/s", &[]),
            stacked("", &[Series { name: String::new(), points: vec![(f64::NAN, 1.0)] }], f64::NAN, &[]),
        ];
        for svg in empty {
            assert!(svg.unwrap().starts_with("<svg"));
        }
    }

    #[test]
    fn a_bar_is_as_long_as_its_value() {
        let bar = |value: f64| Bar { name: format!("{value}"), value, range: None };
        let svg = bars("t", "Mbit/s", &[bar(50.0), bar(100.0)]).unwrap();
        let widths: Vec<f64> = svg
            .lines()
            .filter(|line| line.starts_with("<rect") && line.contains("fill=\"#0072B2\""))
            .filter_map(|line| line.split(" width=\"").nth(1)?.split('"').next()?.parse().ok())
            .collect();
        assert_eq!(widths.len(), 2);
        let ratio =
            widths.iter().copied().fold(0.0, f64::max) / widths.iter().copied().fold(f64::MAX, f64::min);
        assert!((ratio - 2.0).abs() < 0.05, "{widths:?}");
    }
}
