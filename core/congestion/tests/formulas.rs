//! The published formulas against figures worked out by hand, and what the papers prove of them.

mod support;

use braid_congestion::{Algorithm, Connection, Subflow};
use proptest::prelude::*;
use support::{connections, subflow, view};

fn assert_near(value: f64, expected: f64) {
    assert!((value - expected).abs() <= expected.abs() * 1e-9, "{value} instead of {expected}");
}

fn increases(algorithm: Algorithm, subflows: &[Subflow]) -> Vec<f64> {
    (0..subflows.len()).map(|own| view(subflows, own, |it| algorithm.increase(it))).collect()
}

fn after_loss(algorithm: Algorithm, subflows: &[Subflow]) -> Vec<f64> {
    (0..subflows.len()).map(|own| view(subflows, own, |it| algorithm.after_loss(it))).collect()
}

#[test]
fn lia_gives_the_figures_of_rfc_6356() {
    // Rates 1000 and 400 segments a second: alpha is 50 · 100,000 / 1400² = 2.551, and alpha/50 more than 1/40.
    let increases = increases(Algorithm::Lia, &[subflow(10, 10, 0), subflow(40, 100, 0)]);
    assert_near(increases[0], 100_000.0 / 1_960_000.0);
    assert_near(increases[1], 1.0 / 40.0);
}

#[test]
fn olia_moves_window_to_the_best_path_that_has_little() {
    let increases = increases(Algorithm::Olia, &[subflow(10, 100, 100), subflow(20, 100, 50)]);
    assert_near(increases[0], 10.0 / 900.0 + 0.5 / 10.0);
    assert_near(increases[1], 20.0 / 900.0 - 0.5 / 20.0);
}

#[test]
fn olia_leaves_windows_alone_while_the_best_path_has_most() {
    let increases = increases(Algorithm::Olia, &[subflow(10, 100, 50), subflow(20, 100, 100)]);
    assert_near(increases[0], 10.0 / 900.0);
    assert_near(increases[1], 20.0 / 900.0);
}

#[test]
fn balia_weighs_a_subflow_by_how_far_it_is_behind() {
    // Alpha is 2 for the first: 3/2 · 6/5 of w/W², and 1.5 halves of its window go.
    let subflows = [subflow(10, 100, 0), subflow(20, 100, 0)];
    let increases = increases(Algorithm::Balia, &subflows);
    assert_near(increases[0], 10.0 / 900.0 * 1.8);
    assert_near(increases[1], 20.0 / 900.0);
    assert_eq!(after_loss(Algorithm::Balia, &subflows), [2.5, 10.0]);
}

#[test]
fn all_but_balia_halve_the_window() {
    for algorithm in [Algorithm::Uncoupled, Algorithm::Lia, Algorithm::Olia] {
        let subflows = [subflow(10, 100, 0), subflow(20, 50, 0)];
        assert_eq!(after_loss(algorithm, &subflows), [5.0, 10.0], "{algorithm}");
    }
}

#[test]
fn subflow_without_a_round_trip_time_takes_no_part() {
    let unmeasured = subflow(1_000, 0, 1_000);
    let alone = Connection { own: subflow(10, 100, 7), others: &[] };
    let beside = Connection { others: &[unmeasured], ..alone };
    for algorithm in Algorithm::ALL {
        assert_eq!(algorithm.increase(beside), algorithm.increase(alone), "{algorithm}");
        let own = Connection { own: unmeasured, others: &[alone.own] };
        assert_eq!(algorithm.increase(own), 1.0 / 1_000.0, "{algorithm}");
    }
}

#[test]
fn names_are_read_back() {
    for algorithm in Algorithm::ALL {
        assert_eq!(algorithm.name().parse(), Ok(algorithm));
    }
    assert!("LIA ".parse::<Algorithm>().is_err());
}

proptest! {
    #[test]
    fn one_subflow_alone_behaves_as_tcp(cwnd in 1..100_000u32, millis in 1..10_000u64, run in 0..1_000_000u32) {
        let alone = Connection { own: subflow(cwnd, millis, run), others: &[] };
        for algorithm in Algorithm::ALL {
            assert_near(algorithm.increase(alone), 1.0 / f64::from(cwnd));
            assert_near(algorithm.after_loss(alone), f64::from(cwnd) / 2.0);
        }
    }

    #[test]
    fn lia_and_balia_are_nowhere_more_aggressive_than_tcp(subflows in connections()) {
        for algorithm in [Algorithm::Lia, Algorithm::Balia] {
            for (increase, subflow) in increases(algorithm, &subflows).iter().zip(&subflows) {
                prop_assert!(*increase > 0.0);
                prop_assert!(*increase <= (1.0 + 1e-9) / f64::from(subflow.cwnd), "{} {:?}", algorithm, subflow);
            }
        }
    }

    #[test]
    fn equal_subflows_grow_as_one_flow_together(count in 1..8usize, cwnd in 1..10_000u32, millis in 1..1_000u64) {
        let subflows = vec![subflow(cwnd, millis, 9); count];
        // n windows of w make one flow of n·w, which adds 1/(n·w) a segment; each of these adds 1/n of it.
        let expected = 1.0 / (count as f64).powi(2) / f64::from(cwnd);
        for algorithm in [Algorithm::Lia, Algorithm::Olia, Algorithm::Balia] {
            increases(algorithm, &subflows).into_iter().for_each(|increase| assert_near(increase, expected));
        }
    }

    #[test]
    fn what_olia_moves_is_taken_from_one_and_given_to_another(subflows in connections()) {
        let rate: f64 = subflows.iter().map(|it| f64::from(it.cwnd) / it.srtt.as_secs_f64()).sum();
        let moved = |(increase, it): (f64, &Subflow)| {
            let linked = f64::from(it.cwnd) / it.srtt.as_secs_f64().powi(2) / rate.powi(2);
            (increase - linked) * f64::from(it.cwnd)
        };
        let sum: f64 = increases(Algorithm::Olia, &subflows).into_iter().zip(&subflows).map(moved).sum();
        prop_assert!(sum.abs() < 1e-6, "{}", sum);
    }

    #[test]
    fn order_of_the_others_makes_no_difference(mut subflows in connections()) {
        let own = subflows.remove(0);
        let before = Algorithm::ALL.map(|it| it.increase(Connection { own, others: &subflows }));
        subflows.reverse();
        let after = Algorithm::ALL.map(|it| it.increase(Connection { own, others: &subflows }));
        before.into_iter().zip(after).for_each(|(before, after)| assert_near(before, after));
    }
}
