//! Results of a calibration: the fitted models, their text and their plot.

use braid_assign::{FitError, Sample, fit};
use braid_lab::plot::{self, Line, Series};
use braid_types::BitsPerSec;

use super::measure::MeasuredPath;
use super::model_file::{Fitted, ModelFile, PathModel};
use crate::client::format;
use crate::table::table;

/// The share of a path's highest goodput that counts as the maximum.
const NEAR_MAX_SHARE: f64 = 0.99;

/// The fitted models of a network and of each path.
pub(super) struct Findings {
    network: Fitted,
    paths: Vec<(MeasuredPath, Option<Fitted>)>,
}

impl Findings {
    /// Fits the model to all samples, and to those of each path.
    pub(super) fn of(paths: Vec<MeasuredPath>) -> Result<Self, FitError> {
        let all: Vec<Sample> = paths.iter().flat_map(|path| path.samples.iter().copied()).collect();
        let network = fit(&all)?.into();
        // A path whose samples do not determine its a gets the network's.
        let of = |path: &MeasuredPath| fit(&path.samples).ok().map(Fitted::from).filter(|it| it.is_bounded());
        let paths =
            paths.into_iter().map(|path| (of(&path), path)).map(|(model, path)| (path, model)).collect();
        Ok(Self { network, paths })
    }

    pub(super) fn file(&self) -> ModelFile {
        let path = |(path, model): &(MeasuredPath, Option<Fitted>)| PathModel {
            switches: path.switches.clone(),
            model: *model,
            samples: path.samples.iter().copied().map(Into::into).collect(),
        };
        ModelFile::new(self.network, self.paths.iter().map(path).collect())
    }

    pub(super) fn text(&self) -> String {
        let rows = self.paths.iter().map(|(path, model)| {
            let known = path.samples.first();
            let [rate, round_trip] = known.map_or_else(Default::default, |sample| {
                let millis = sample.round_trip.as_secs_f64() * 1e3;
                [sample.available.to_string(), format!("{millis:.1}ms")]
            });
            let switches: Vec<_> = path.switches.iter().copied().map(format::switch).collect();
            let best = best(&path.samples).to_string();
            let predicted = known.map_or(0.0, |sample| self.predicted(product(sample)));
            [
                switches.join(" > "),
                rate,
                round_trip,
                best,
                format!("{predicted:.1}"),
                model.map(said).unwrap_or_default(),
            ]
        });
        let headings = ["PATH", "AVAILABLE", "ROUND-TRIP", "BEST", "PREDICTED", "ITS OWN A"];
        let paths = table(headings, rows);
        let Fitted { saturation_loss, growth, .. } = self.network;
        format!("{paths}\na = {}, saturation loss = {saturation_loss:.2}, {growth}\n", said(self.network))
    }

    /// Figure 6 of Huang et al. (2017): streams over the bandwidth-delay product, where the prediction is a straight line.
    pub(super) fn plot(&self) -> anyhow::Result<String> {
        let known = self.paths.iter().filter_map(|(path, _)| Some((path, path.samples.first()?)));
        let mut best: Vec<_> =
            known.map(|(path, sample)| (product(sample), best(&path.samples) as f64)).collect();
        best.sort_by(|one, other| one.0.total_cmp(&other.0));
        let most = best.last().map_or(1.0, |last| last.0);
        let ends = [0.0, 1.0 / self.network.a, most].into_iter().filter(|at| *at <= most);
        let predicted = ends.map(|at| (at, self.predicted(at))).collect();
        let series = [
            Series { name: "measured".to_owned(), points: best },
            Series { name: "predicted".to_owned(), points: predicted },
        ];
        Ok(plot::lines("Streams that carry most", &Line::BEST_STREAMS, &series)?)
    }

    fn predicted(&self, product: f64) -> f64 {
        (self.network.a * product).max(1.0)
    }
}

/// The bandwidth-delay product in Mbit/s and ms.
fn product(sample: &Sample) -> f64 {
    let BitsPerSec(rate) = sample.available;
    rate as f64 / 1e6 * sample.round_trip.as_secs_f64() * 1e3
}

/// The fewest streams with maximum goodput.
fn best(samples: &[Sample]) -> usize {
    let most = samples.iter().map(|sample| sample.goodput.as_f64()).fold(0.0, f64::max);
    let near = samples.iter().filter(|sample| sample.goodput.as_f64() >= most * NEAR_MAX_SHARE);
    near.map(|sample| sample.streams).min().unwrap_or_default()
}

fn said(fitted: Fitted) -> String {
    let bound = |bound: Option<f64>| bound.map_or_else(|| "?".to_owned(), |it| format!("{it:.6}"));
    let [low, high] = fitted.a_between.map(bound);
    format!("{:.6} ({low} to {high})", fitted.a)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use braid_assign::{Growth, StreamModel};
    use braid_types::DatapathId;

    use super::*;

    fn path(number: u64, mbits: u64, millis: u64) -> MeasuredPath {
        let model = StreamModel { a: 0.001, saturation_loss: 0.6, growth: Growth::Parabola };
        let (available, round_trip) = (BitsPerSec(mbits * 1_000_000), Duration::from_millis(millis));
        let best = model.streams(available, round_trip);
        let sample = |streams| {
            let goodput = BitsPerSec((available.as_f64() * 0.95 * model.efficiency(streams, best)) as u64);
            Sample { available, round_trip, streams, goodput }
        };
        let switches = vec![DatapathId(1), DatapathId(number), DatapathId(9)];
        MeasuredPath { switches, samples: [1, 2, 3, 4, 6, 8, 12, 16].map(sample).to_vec() }
    }

    #[test]
    fn the_network_and_each_path_get_their_model() {
        let findings = Findings::of(vec![path(2, 50, 60), path(3, 100, 100)]).expect("a fit");
        let network = findings.file().network();
        assert!(
            (network.a - 0.001).abs() < 1e-5 && (network.saturation_loss - 0.6).abs() < 0.02,
            "{network:?}"
        );
        let own = findings.file().paths();
        assert!(own.values().all(|model| (model.a - 0.001).abs() < 5e-5) && !own.is_empty(), "{own:?}");
        let text = findings.text();
        assert!(text.contains("1 > 3 > 9  100Mbit    100.0ms") && text.contains("10.0"), "{text}");
        let svg = findings.plot().expect("a plot");
        assert!(svg.contains("measured") && svg.contains("predicted"));
    }

    #[test]
    fn nothing_measured_is_an_error() {
        assert!(Findings::of(Vec::new()).is_err());
    }
}
