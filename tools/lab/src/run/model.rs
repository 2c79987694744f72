//! The stream model (how many parallel streams paths can use), fitted to transfers over single paths.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use braid_assign::{Distribution, Growth, Sample, StreamModel, fit};
use braid_types::BitsPerSec;
use serde::{Deserialize, Serialize};

use super::report::Row;
use crate::plot::Series;
use crate::scenario::{End, Link, Scenario, Topology};

/// The share of the highest goodput that counts as the maximum.
const NEAR_MAX_SHARE: f64 = 0.99;

/// The fitted stream model of a scenario that sends over single paths.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ModelRow {
    /// Streams per Mbit/s of bandwidth and ms of round-trip time.
    pub a: f64,
    /// The goodput loss of a stream beyond saturation, as a share of the peak (squared for a parabola).
    pub saturation_loss: f64,
    /// How goodput grows with the number of streams.
    pub growth: Growth,
    /// The 95 % confidence interval of `a`; `None` where it has no bound.
    pub a_between: [Option<f64>; 2],
    /// The root mean square error of goodput, relative to the model.
    pub error: f64,
    /// The paths.
    pub paths: Vec<PathRow>,
}

/// A path and its best number of streams.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PathRow {
    /// The names of its switches.
    pub path: Vec<String>,
    /// The lowest rate of its links, in bits per second.
    pub rate_bps: f64,
    /// The round-trip delay of its links, in milliseconds.
    pub round_trip_ms: f64,
    /// The fewest streams that reached the maximum.
    pub best: usize,
    /// The predicted number of streams, n = max(1, a·B·R).
    pub predicted: f64,
}

/// Fits the model to the rows of variants with one path each.
pub(super) fn of(scenario: &Scenario, rows: &[Row]) -> Option<ModelRow> {
    let is_alone = |row: &&Row| {
        let variant = scenario.variants.iter().find(|it| Some(&it.name) == row.variant.as_ref());
        let distribution = variant.and_then(|it| it.assign).map(|assign| assign.distribution);
        matches!(distribution, Some(Distribution::Path(_)))
    };
    let mut by_path: BTreeMap<&[String], Vec<Sample>> = BTreeMap::new();
    for row in rows.iter().filter(is_alone) {
        let path = row.streams.iter().map(|stream| stream.path.as_slice()).find(|path| !path.is_empty());
        if let Some((path, sample)) =
            path.and_then(|path| Some((path, sample(&scenario.topology, path, row)?)))
        {
            by_path.entry(path).or_default().push(sample);
        }
    }
    let all: Vec<_> = by_path.values().flatten().copied().collect();
    let fitted = fit(&all).ok()?;
    let StreamModel { a, saturation_loss, growth } = fitted.model;
    let [low, high] = fitted.a_between;
    let paths = by_path.into_iter().map(|(path, samples)| path_row(path, &samples, fitted.model)).collect();
    let a_between = [(low > 0.0).then_some(low), (high < f64::MAX).then_some(high)];
    Some(ModelRow { a, saturation_loss, growth, a_between, error: fitted.error, paths })
}

fn sample(topology: &Topology, path: &[String], row: &Row) -> Option<Sample> {
    let links = path.iter().zip(path.iter().skip(1)).map(|(a, b)| link_between(topology, a, b));
    let links = links.collect::<Option<Vec<_>>>()?;
    let rate = links.iter().map(|(link, way)| link.rates()[*way].0).min()?;
    let round_trip: Duration =
        links.iter().flat_map(|(link, _)| link.directions.iter().map(|way| way.delay.duration())).sum();
    let (streams, goodput) = (usize::from(row.connections), BitsPerSec(row.goodput_bps as u64));
    Some(Sample { available: BitsPerSec(rate), round_trip, streams, goodput })
}

/// The link between two switches, and the index of its direction from the first to the second.
fn link_between<'a>(topology: &'a Topology, from: &str, to: &str) -> Option<(&'a Link, usize)> {
    let name = |end: End| match end {
        End::Switch(switch) => topology.switches[switch].name.as_str(),
        End::Host { .. } => "",
    };
    topology.links.iter().find_map(|link| {
        let [one, other] = link.ends.map(name);
        let way = [(one, other), (other, one)].iter().position(|ends| *ends == (from, to))?;
        Some((link, way))
    })
}

fn path_row(path: &[String], samples: &[Sample], model: StreamModel) -> PathRow {
    let most = samples.iter().map(|sample| sample.goodput.as_f64()).fold(0.0, f64::max);
    let near = samples.iter().filter(|sample| sample.goodput.as_f64() >= most * NEAR_MAX_SHARE);
    let first = samples.first().copied();
    PathRow {
        path: path.to_vec(),
        rate_bps: first.map_or(0.0, |sample| sample.available.as_f64()),
        round_trip_ms: first.map_or(0.0, |sample| sample.round_trip.as_secs_f64() * 1e3),
        best: near.map(|sample| sample.streams).min().unwrap_or_default(),
        predicted: first.map_or(1.0, |sample| model.streams(sample.available, sample.round_trip)),
    }
}

impl ModelRow {
    /// For a terminal.
    pub(super) fn to_text(&self) -> String {
        let [low, high] = self.a_between.map(|it| it.map_or_else(|| "?".to_owned(), |it| format!("{it:.6}")));
        let Self { a, saturation_loss, growth, .. } = self;
        let error = self.error * 100.0;
        let mut text = format!(
            "a = {a:.6} ({low} to {high}), saturation loss = {saturation_loss:.2}, {growth}, error {error:.1} %\n"
        );
        for PathRow { path, rate_bps, round_trip_ms, best, predicted } in &self.paths {
            let (path, rate) = (path.join(" "), rate_bps / 1e6);
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "  {path}: {rate:.0} Mbit/s, {round_trip_ms:.0} ms: {best} streams carry most, {predicted:.1} predicted"
            );
        }
        text
    }

    /// Measured and predicted numbers of streams, over bandwidth times round-trip time in Mbit/s and ms.
    pub(super) fn series(&self) -> Vec<Series> {
        let product = |row: &PathRow| row.rate_bps / 1e6 * row.round_trip_ms;
        let mut rows: Vec<_> = self.paths.iter().collect();
        rows.sort_by(|one, other| product(one).total_cmp(&product(other)));
        let points = |of: fn(&PathRow) -> f64| rows.iter().map(|row| (product(row), of(row))).collect();
        vec![
            Series { name: "measured".to_owned(), points: points(|row| row.best as f64) },
            Series { name: "predicted".to_owned(), points: points(|row| row.predicted) },
        ]
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::run::report::{RowDirection, StreamRow};
    use crate::scenario::Mode;

    fn row(variant: &str, middle: &str, connections: u16, goodput_bps: f64) -> Row {
        let stream = StreamRow {
            src: [10, 0, 0, 1].into(),
            src_port: 40_000,
            dst: [10, 0, 0, 2].into(),
            dst_port: 50_000,
            bytes: 1,
            path: ["west", middle, "east"].map(str::to_owned).to_vec(),
            devices: Vec::new(),
            path_changes: Vec::new(),
            intervals: Vec::new(),
        };
        Row {
            profile: None,
            congestion_control: None,
            variant: Some(variant.to_owned()),
            mode: Mode::Tcp,
            direction: RowDirection { from: "hosta".to_owned(), to: "hostb".to_owned() },
            connections,
            work: None,
            run: None,
            goodput_bps,
            capacity_bps: 4.5e8,
            fraction_of_capacity: goodput_bps / 4.5e8,
            background_bps: None,
            seconds: 1.0,
            retransmits: 0,
            datagrams_lost: None,
            is_mixed: false,
            streams: vec![stream],
            mptcp: None,
            delivery: None,
            intervals: Vec::new(),
            cost: None,
            events: Vec::new(),
            leaders: Vec::new(),
            requests: Vec::new(),
            captures: Vec::new(),
        }
    }

    #[test]
    fn what_made_the_rows_is_found_again_with_rates_and_delays_of_the_scenario() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/calibrate.yaml");
        let scenario = Scenario::load(&path).expect("it is there");
        let model = StreamModel { a: 0.001, saturation_loss: 0.7, growth: Growth::Parabola };
        let mut rows = Vec::new();
        for (variant, middle, mbits, millis) in
            [("50 Mbit/s, 100 ms", "n100", 50, 100), ("100 Mbit/s, 40 ms", "w40", 100, 40)]
        {
            let rate = BitsPerSec(mbits * 1_000_000);
            let best = model.streams(rate, Duration::from_millis(millis));
            for streams in [1, 2, 3, 4, 6, 8, 12] {
                let goodput = rate.as_f64() * 0.95 * model.efficiency(streams.into(), best);
                rows.push(row(variant, middle, streams, goodput));
            }
        }
        let fitted = of(&scenario, &rows).expect("a fit");
        assert!(
            (fitted.a - model.a).abs() < 1e-5
                && (fitted.saturation_loss - model.saturation_loss).abs() < 0.02,
            "{fitted:?}"
        );
        let known: Vec<_> = fitted.paths.iter().map(|it| (it.rate_bps, it.round_trip_ms, it.best)).collect();
        assert_eq!(known, [(5e7, 100.0, 6), (1e8, 40.0, 4)]);
        assert!(
            fitted
                .to_text()
                .contains("west n100 east: 50 Mbit/s, 100 ms: 6 streams carry most, 5.0 predicted")
        );
        let elsewhere: Vec<_> = rows.into_iter().map(|it| Row { variant: None, ..it }).collect();
        assert_eq!(of(&scenario, &elsewhere), None, "not by itself");
    }
}
