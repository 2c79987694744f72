//! The formulas in integers against those that are published.

mod support;

use std::time::Duration;

use braid_congestion::fixed::{self, SEGMENT};
use braid_congestion::{Algorithm, Connection, Subflow};
use proptest::prelude::*;
use support::{connections, subflow, view};

/// Whatever a kernel, or its memory, may hold.
fn anything() -> impl Strategy<Value = Vec<Subflow>> {
    let one = (any::<u32>(), any::<u64>(), any::<u32>());
    let one = one.prop_map(|(cwnd, nanos, run)| Subflow { cwnd, srtt: Duration::from_nanos(nanos), run });
    prop::collection::vec(one, 1..=16)
}

/// Beyond what BALIA's alpha goes to in integers.
fn is_far_behind(subflows: &[Subflow], own: usize) -> bool {
    let rate = |it: &Subflow| f64::from(it.cwnd) / it.srtt.as_secs_f64();
    subflows.iter().any(|it| rate(it) > 1_000.0 * rate(&subflows[own]))
}

#[test]
fn odd_window_is_halved_downwards_but_not_below_two() {
    for (cwnd, expected) in [(11, 5), (10, 5), (4, 2), (3, 2), (1, 2)] {
        let alone = Connection { own: subflow(cwnd, 10, 0), others: &[] };
        assert_eq!(fixed::after_loss(Algorithm::Lia, alone), expected, "{cwnd}");
    }
}

#[test]
fn what_is_less_than_a_segment_is_kept() {
    let half = SEGMENT / 2;
    assert_eq!(fixed::grow(0, half, 3), (1, half as u32));
    assert_eq!(fixed::grow(half as u32, half, 1), (1, 0));
    assert_eq!(fixed::grow(0, -half / 2, 1), (-1, (half / 2 * 3) as u32));
}

#[test]
fn a_window_full_of_acknowledgements_grows_by_one_segment() {
    for cwnd in [1, 2, 3, 10, 1_000, 100_000] {
        let increase = fixed::increase(Algorithm::Lia, Connection { own: subflow(cwnd, 10, 0), others: &[] });
        let (whole, left_over) = fixed::grow(0, increase, cwnd);
        let grown = whole * SEGMENT + i64::from(left_over);
        assert!((SEGMENT - grown) <= i64::from(cwnd), "{cwnd}: {grown}");
    }
}

proptest! {
    #[test]
    fn integers_follow_the_published_formulas(subflows in connections()) {
        for algorithm in Algorithm::ALL {
            for own in 0..subflows.len() {
                if algorithm == Algorithm::Balia && is_far_behind(&subflows, own) {
                    continue;
                }
                let exact = view(&subflows, own, |it| algorithm.increase(it)) * SEGMENT as f64;
                let integer = view(&subflows, own, |it| fixed::increase(algorithm, it)) as f64;
                // One part in a thousand, and what is lost by cutting off.
                prop_assert!((exact - integer).abs() <= exact.abs() / 1_000.0 + 8.0, "{} {} {}", algorithm, exact, integer);
                let exact = view(&subflows, own, |it| algorithm.after_loss(it)).max(2.0);
                let integer = f64::from(view(&subflows, own, |it| fixed::after_loss(algorithm, it)));
                prop_assert!((exact - integer).abs() <= exact / 1_000.0 + 1.0, "{} {} {}", algorithm, exact, integer);
            }
        }
    }

    #[test]
    fn nothing_overflows_and_no_window_runs_away(subflows in anything(), left_over: u32, acked: u32) {
        for algorithm in Algorithm::ALL {
            for own in 0..subflows.len() {
                let increase = view(&subflows, own, |it| fixed::increase(algorithm, it));
                prop_assert!((-SEGMENT..=2 * SEGMENT).contains(&increase), "{} {}", algorithm, increase);
                let threshold = view(&subflows, own, |it| fixed::after_loss(algorithm, it));
                prop_assert!(threshold >= 2);
                let (whole, _) = fixed::grow(left_over, increase, acked);
                prop_assert!(whole.abs() <= 1 << 22, "{} {}", algorithm, whole);
            }
        }
    }
}
