//! Least-squares fit of the stream model to measured goodputs, with its confidence interval.

use std::time::Duration;

use braid_types::BitsPerSec;
use serde::{Deserialize, Serialize};

use crate::model::{Growth, StreamModel};

/// One measurement: the goodput of some streams over a path.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Sample {
    /// The path's available bandwidth.
    pub available: BitsPerSec,
    /// Its round-trip time.
    pub round_trip: Duration,
    /// The number of streams.
    pub streams: usize,
    /// Their total goodput.
    pub goodput: BitsPerSec,
}

/// The model that fits samples best, and its accuracy.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Fit {
    /// The model.
    pub model: StreamModel,
    /// The 95 % confidence interval of `a`. For several paths, a jackknife over the paths; for one path, all values
    /// of `a` that do not fit significantly worse than the best.
    pub a_between: [f64; 2],
    /// The root mean square of the deviation of goodput from the model's, as a part of it.
    pub error: f64,
    /// The number of measured paths.
    pub paths: usize,
}

/// Samples that do not determine a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FitError {
    /// The growth of goodput is not visible.
    #[error("no path was measured with different numbers of streams")]
    TooFew,
    /// The paths are so short that one stream is enough on each, or carry the same with any number.
    #[error("more streams carried no more on any of the paths: how many are best does not show")]
    Flat,
}

/// The samples of one path.
struct Curve {
    /// Bandwidth times round-trip time, in Mbit/s and ms.
    product: f64,
    /// Number of streams and the logarithm of the goodput.
    points: Vec<(usize, f64)>,
}

/// The least growth of goodput that is no accident.
const GROWTH: f64 = 0.003;
const STEPS: usize = 48;
const THIRDS: usize = 24;

/// Fits the model to samples of one or more paths by least squares; the peak rate of each path is fitted as well.
///
/// # Errors
/// The samples do not determine it.
pub fn fit(samples: &[Sample]) -> Result<Fit, FitError> {
    let curves = curves(samples);
    if curves.is_empty() {
        return Err(FitError::TooFew);
    }
    if !curves.iter().any(grows) {
        return Err(FitError::Flat);
    }
    let all: Vec<&Curve> = curves.iter().collect();
    let of_growth = [Growth::Parabola, Growth::Line].map(|growth| best_model(&all, growth));
    let (model, error) = if of_growth[1].1 < of_growth[0].1 { of_growth[1] } else { of_growth[0] };
    let a_between = match &all[..] {
        [one] => profile(one, model, error),
        _ => spread(&all, model),
    };
    Ok(Fit { model, a_between, error, paths: curves.len() })
}

fn curves(samples: &[Sample]) -> Vec<Curve> {
    let mut sorted: Vec<_> = samples.iter().filter(|it| it.streams > 0 && it.goodput.0 > 0).collect();
    sorted.sort_by_key(|it| (it.available, it.round_trip, it.streams));
    let groups = sorted.chunk_by(|a, b| (a.available, a.round_trip) == (b.available, b.round_trip));
    let curve = |group: &[&Sample]| Curve {
        product: group[0].available.as_f64() / 1e6 * group[0].round_trip.as_secs_f64() * 1e3,
        points: group.iter().map(|it| (it.streams, it.goodput.as_f64().ln())).collect(),
    };
    groups.map(curve).filter(|it| it.points.first().map(|p| p.0) != it.points.last().map(|p| p.0)).collect()
}

/// Whether more streams had more goodput than the fewest.
fn grows(curve: &Curve) -> bool {
    let fewest = curve.points[0].0;
    let of_fewest: Vec<f64> = curve.points.iter().filter(|it| it.0 == fewest).map(|it| it.1).collect();
    let mean = of_fewest.iter().sum::<f64>() / of_fewest.len() as f64;
    curve.points.iter().any(|(_, goodput)| *goodput > mean + GROWTH)
}

/// The best model of this growth and its error, on a grid that is refined around the best point again and again.
fn best_model(curves: &[&Curve], growth: Growth) -> (StreamModel, f64) {
    let widest = curves.iter().map(|curve| curve.product).fold(1e-9, f64::max);
    let most = curves.iter().flat_map(|curve| &curve.points).map(|it| it.0).max().unwrap_or(1) as f64;
    let mut a = range(widest, most);
    let mut saturation_loss = [0.0, 1.0];
    let mut best = (StreamModel { a: a[0].exp(), saturation_loss: 0.0, growth }, f64::INFINITY);
    for _ in 0..6 {
        for (x, y) in (0..=STEPS).flat_map(|x| (0..=STEPS).map(move |y| (x, y))) {
            let at = |range: [f64; 2], step| range[0] + (range[1] - range[0]) * step as f64 / STEPS as f64;
            let model = StreamModel { a: at(a, x).exp(), saturation_loss: at(saturation_loss, y), growth };
            let error = squares(curves, model);
            if error < best.1 {
                best = (model, error);
            }
        }
        let near = |range: [f64; 2], value: f64| {
            let width = (range[1] - range[0]) / 8.0;
            [(value - width).max(range[0]), (value + width).min(range[1])]
        };
        (a, saturation_loss) = (near(a, best.0.a.ln()), near(saturation_loss, best.0.saturation_loss));
    }
    let count: usize = curves.iter().map(|curve| curve.points.len()).sum();
    (best.0, (best.1 / count.max(1) as f64).sqrt())
}

/// The sum of squared residuals of the model, with the best fitting peak for each path.
fn squares(curves: &[&Curve], model: StreamModel) -> f64 {
    curves
        .iter()
        .map(|curve| {
            let best = (model.a * curve.product).max(1.0);
            // Where the saturation_loss is 1, zero streams carry nothing: the logarithm stays finite.
            let left =
                |(streams, goodput): &(usize, f64)| goodput - model.efficiency(*streams, best).max(1e-3).ln();
            let mean = curve.points.iter().map(left).sum::<f64>() / curve.points.len() as f64;
            curve.points.iter().map(|point| (left(point) - mean).powi(2)).sum::<f64>()
        })
        .sum()
}

/// The search range of the logarithm of `a`: on the widest path, from half a stream to four times the greatest number
/// tried.
fn range(widest: f64, most: f64) -> [f64; 2] {
    [(0.5 / widest).ln(), (4.0 * most / widest).ln()]
}

/// The interval of one path's `a` by the profile of its squares: F of 1 and n − 2 degrees of freedom, nearly
/// 3.84·(1 + 4/(n−2)). Unbounded where the range ends before it.
fn profile(curve: &Curve, StreamModel { a, growth, .. }: StreamModel, error: f64) -> [f64; 2] {
    let count = curve.points.len() as f64;
    let free = count - 2.0;
    if free < 3.0 {
        return [0.0, f64::MAX];
    }
    let limit = error * error * count * (1.0 + 3.84 * (1.0 + 4.0 / free) / free);
    let most = curve.points.iter().map(|it| it.0).max().unwrap_or(1) as f64;
    let [low, high] = range(curve.product.max(1e-9), most);
    let steps = 8 * STEPS;
    let at = |step: usize| (low + (high - low) * step as f64 / steps as f64).exp();
    let least = |a: f64| least_squares(curve, a, growth);
    let within: Vec<usize> = (0..=steps).filter(|step| least(at(*step)) <= limit).collect();
    match (within.first(), within.last()) {
        (Some(first), Some(last)) => {
            [if *first == 0 { 0.0 } else { at(*first) }, if *last == steps { f64::MAX } else { at(*last) }]
        }
        // The best point fits better than any step.
        _ => {
            let step = ((high - low) / steps as f64).exp();
            [a / step, a * step]
        }
    }
}

/// The squares with the best fitting saturation_loss, found by cutting a third of the range again and again.
fn least_squares(curve: &Curve, a: f64, growth: Growth) -> f64 {
    let of = |saturation_loss: f64| squares(&[curve], StreamModel { a, saturation_loss, growth });
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..THIRDS {
        let third = (high - low) / 3.0;
        if of(low + third) < of(high - third) { high -= third } else { low += third }
    }
    of((low + high) / 2.0)
}

/// The jackknife interval of `a`, for two paths or more.
fn spread(curves: &[&Curve], StreamModel { a, growth, .. }: StreamModel) -> [f64; 2] {
    let count = curves.len() as f64;
    let without = |out: usize| {
        let rest: Vec<_> =
            curves.iter().enumerate().filter(|(at, _)| *at != out).map(|(_, it)| *it).collect();
        best_model(&rest, growth).0.a.ln()
    };
    let left: Vec<f64> = (0..curves.len()).map(without).collect();
    let mean = left.iter().sum::<f64>() / count;
    let variance = left.iter().map(|it| (it - mean).powi(2)).sum::<f64>() * (count - 1.0) / count;
    let factor = (1.96 * variance.sqrt()).exp();
    [a / factor, a * factor]
}
