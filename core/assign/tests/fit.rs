//! The model is found again in what was measured.

use std::time::Duration;

use braid_assign::{FitError, Growth, Sample, StreamModel, fit};
use braid_types::BitsPerSec;

/// Seconds for 2 GB over 50 Mbit/s, by added delay in ms and number of streams from 1: Huang et al. (2017), figure 5.
const FIGURE_5: [(u64, &[f64]); 6] = [
    (0, &[374.66, 374.77, 374.66, 374.67, 374.89]),
    (20, &[376.10, 375.02, 375.45, 375.55, 375.44, 375.74, 375.89]),
    (40, &[387.38, 376.76, 376.30, 376.36, 376.75, 376.40, 376.65, 376.98]),
    (60, &[390.40, 385.32, 378.94, 377.10, 377.47, 377.58, 377.26, 377.48]),
    (80, &[391.03, 384.41, 381.96, 379.30, 378.09, 378.43, 378.14, 378.43]),
    (100, &[393.63, 387.84, 384.26, 382.46, 381.21, 379.72, 378.44, 378.91]),
];

fn sample(mbits: u64, millis: u64, streams: usize, goodput: f64) -> Sample {
    Sample {
        available: BitsPerSec(mbits * 1_000_000),
        round_trip: Duration::from_millis(millis),
        streams,
        goodput: BitsPerSec(goodput as u64),
    }
}

/// What a network of this model carries, up to noise of so many thousandths.
fn made(model: StreamModel, noise: u64) -> Vec<Sample> {
    let mut state = 1_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as f64 / f64::from(1 << 30) - 1.0
    };
    let mut samples = Vec::new();
    for (mbits, millis) in [(50, 60), (50, 120), (100, 60), (100, 140)] {
        for streams in 1..=16 {
            let available = BitsPerSec(mbits * 1_000_000);
            let best = model.streams(available, Duration::from_millis(millis));
            let goodput = available.as_f64() * 0.94 * model.efficiency(streams, best);
            samples.push(sample(mbits, millis, streams, goodput * (1.0 + random() * noise as f64 / 1e3)));
        }
    }
    samples
}

#[test]
fn the_papers_measurements_give_the_papers_a() {
    let rows = FIGURE_5.iter().flat_map(|(millis, seconds)| {
        seconds.iter().zip(1..).map(|(seconds, streams)| sample(50, *millis, streams, 16e9 / seconds))
    });
    let fitted = fit(&rows.collect::<Vec<_>>()).expect("enough samples");
    let [low, high] = fitted.a_between;
    assert!((0.0013..0.0017).contains(&fitted.model.a), "{fitted:?}");
    assert!(low < 0.001_495 && 0.001_495 < high && high / low < 2.0, "{fitted:?}");
    assert!(fitted.error < 0.005 && fitted.paths == 6, "{fitted:?}");
}

#[test]
fn the_model_that_made_samples_is_found() {
    let parabolas = [(0.000_5, 0.9), (0.001, 0.3), (0.001_5, 0.1)].map(|it| (it, Growth::Parabola));
    let lines = [(0.000_5, 1.0), (0.001, 0.6)].map(|it| (it, Growth::Line));
    for ((a, saturation_loss), growth) in parabolas.into_iter().chain(lines) {
        let model = StreamModel { a, saturation_loss, growth };
        let exact = fit(&made(model, 0)).expect("enough samples").model;
        assert!(
            (exact.a / a - 1.0).abs() < 0.01 && (exact.saturation_loss / saturation_loss - 1.0).abs() < 0.02,
            "{exact:?}"
        );
        assert_eq!(exact.growth, growth, "{exact:?}");
        let fitted = fit(&made(model, 2)).expect("enough samples");
        let [low, high] = fitted.a_between;
        assert!((fitted.model.a / a - 1.0).abs() < 0.2, "{model:?} {fitted:?}");
        assert!(low <= fitted.model.a && fitted.model.a <= high, "{fitted:?}");
    }
}

#[test]
fn one_path_tells_its_own_a_and_how_sure_that_is() {
    let of = |noise, streams| {
        let mut one = made(StreamModel { a: 0.001, saturation_loss: 0.5, growth: Growth::Parabola }, noise);
        one.retain(|it| it.available.0 == 50_000_000 && it.round_trip == Duration::from_millis(120));
        one.retain(|it| it.streams <= streams);
        fit(&one).expect("enough samples").a_between
    };
    let [low, high] = of(2, 16);
    assert!(low < 0.001 && 0.001 < high && high < low * 1.5, "{low} {high}");
    let [lower, higher] = of(10, 16);
    assert!(higher - lower > high - low, "noise makes it less sure: {lower} {higher}");
    assert_eq!(of(2, 4), [0.0, f64::MAX], "too few to tell");
}

#[test]
fn samples_that_say_nothing_are_refused() {
    assert_eq!(fit(&[]), Err(FitError::TooFew));
    let same = [sample(50, 100, 3, 1e6), sample(50, 100, 3, 2e6), sample(100, 50, 2, 1e6)];
    assert_eq!(fit(&same), Err(FitError::TooFew));
    let flat: Vec<_> = (1..9).map(|streams| sample(50, 0, streams, 47e6)).collect();
    assert_eq!(fit(&flat), Err(FitError::Flat));
    let dead: Vec<_> = (0..9).map(|streams| sample(50, 10, streams, 0.0)).collect();
    assert_eq!(fit(&dead), Err(FitError::TooFew));
}
