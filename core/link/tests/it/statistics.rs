//! Losses, by counting.

use braid_link_model::{OneWay, Parameters};
use braid_types::Time;

const FRAMES: u64 = 200_000;

/// For each frame whether it was lost.
fn fates(loss: &str, loss_burst: f64, seed: u64) -> Vec<bool> {
    let parameters = Parameters { loss: loss.parse().unwrap(), loss_burst, ..Parameters::default() };
    parameters.check().unwrap();
    let mut link = OneWay::new(parameters, seed);
    let mut lost = Vec::new();
    for frame in 0..FRAMES {
        link.offer(Time::from_nanos(frame), 100, || ());
        lost.push(link.poll_arrival(Time::from_nanos(frame)).is_none());
    }
    assert_eq!(link.counters().lost.frames, lost.iter().filter(|it| **it).count() as u64);
    lost
}

fn share(lost: &[bool]) -> f64 {
    lost.iter().filter(|it| **it).count() as f64 / lost.len() as f64
}

/// The mean length of the runs of losses.
fn mean_burst(lost: &[bool]) -> f64 {
    let bursts = lost.chunk_by(|a, b| a == b).filter(|run| run[0]);
    let lengths: Vec<_> = bursts.map(<[bool]>::len).collect();
    lengths.iter().sum::<usize>() as f64 / lengths.len() as f64
}

#[test]
fn independent_losses_are_within_five_standard_deviations() {
    for seed in [1, 2, 3] {
        for (text, probability) in [("0.1%", 0.001_f64), ("1%", 0.01), ("30%", 0.3)] {
            let lost = fates(text, 1.0, seed);
            let deviation = (probability * (1.0 - probability) / FRAMES as f64).sqrt();
            assert!((share(&lost) - probability).abs() < 5.0 * deviation, "{text}: {}", share(&lost));
            // Independent losses make runs of 1/(1-p) by themselves.
            let run = 1.0 / (1.0 - probability);
            assert!((mean_burst(&lost) - run).abs() < 0.1, "{text}: {}", mean_burst(&lost));
        }
    }
}

#[test]
fn bursts_have_the_length_and_the_share_that_was_asked_for() {
    for seed in [1, 2, 3] {
        let lost = fates("5%", 8.0, seed);
        assert!((share(&lost) - 0.05).abs() < 0.01, "{}", share(&lost));
        assert!((mean_burst(&lost) - 8.0).abs() < 1.0, "{}", mean_burst(&lost));
    }
}

#[test]
fn all_and_nothing_are_exact() {
    assert!(fates("100%", 1.0, 1).iter().all(|lost| *lost));
    assert!(fates("100%", 5.0, 1).iter().all(|lost| *lost));
    assert!(fates("0%", 5.0, 1).iter().all(|lost| !*lost));
}

#[test]
fn the_seed_decides_and_nothing_else() {
    assert_eq!(fates("1%", 1.0, 9), fates("1%", 1.0, 9));
    assert_ne!(fates("1%", 1.0, 9), fates("1%", 1.0, 10));
}
