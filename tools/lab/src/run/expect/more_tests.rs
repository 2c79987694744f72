//! Tests of verdicts about several variants, runs and requests.

use super::tests::{expectation, judge, row};
use super::*;
use crate::run::requests::{RequestRow, Waits};
use crate::scenario::Protocol;

#[test]
fn a_value_is_compared_with_the_best_or_the_sum_of_variants_with_the_same_profile() {
    let of = |variant: &str, profile: &str, fraction: f64| Row {
        variant: Some(variant.to_owned()),
        profile: Some(profile.to_owned()),
        ..row(Mode::Tcp, fraction, &[])
    };
    let rows = [
        of("a", "x", 0.4),
        of("b", "x", 0.2),
        of("both", "x", 0.6),
        of("a", "y", 0.1),
        of("b", "y", 0.4),
        of("both", "y", 0.3),
    ];
    let names = || vec!["a".to_owned(), "b".to_owned()];
    let judged = |reference: Reference, limit: Limit| {
        let plain = expectation(Metric::GoodputBps, None, limit);
        judge(&Expectation { variant: Some("both".to_owned()), relative_to: Some(reference), ..plain }, &rows)
            .value
    };
    let near = |value: f64, wanted: f64| assert!((value - wanted).abs() < 1e-9, "{value}");
    near(judged(Reference::BestOf(names()), Limit::AtLeast(1.0)), 0.75);
    near(judged(Reference::BestOf(names()), Limit::AtMost(1.0)), 1.5);
    near(judged(Reference::SumOf(names()), Limit::AtLeast(1.0)), 0.6);
    assert!(judged(Reference::BestOf(vec!["a".to_owned(), "c".to_owned()]), Limit::AtLeast(1.0)).is_nan());
}

#[test]
fn the_median_of_runs_decides_where_the_scenario_says_so() {
    let rows = [0.1, 0.9, 0.8].map(|fraction| row(Mode::Tcp, fraction, &[]));
    let limit = expectation(Metric::FractionOfCapacity, None, Limit::AtLeast(0.8));
    let of =
        |average| super::judge(&limit, &rows, Whole { capacity: 2e8, warm_up: 1.0, a: f64::NAN, average });
    assert_eq!((of(Average::Median).value, of(Average::Median).ok), (0.8, true));
    assert!(!of(Average::Mean).ok);
}

#[test]
fn the_slowest_answers_decide_and_a_row_without_requests_has_no_value() {
    let requests = |idle: f64, loaded: f64| RequestRow {
        from: "a".to_owned(),
        to: "b".to_owned(),
        protocol: Protocol::Udp,
        port: 53,
        idle: Waits { median_ms: 1.0, p99_ms: idle },
        loaded: Waits { median_ms: 1.0, p99_ms: loaded },
    };
    let limit = expectation(Metric::RequestP99OverIdle, None, Limit::AtMost(1.5));
    let asked =
        Row { requests: vec![requests(10.0, 11.0), requests(10.0, 14.0)], ..row(Mode::Tcp, 0.5, &[]) };
    let verdict = judge(&limit, &[asked]);
    assert_eq!((verdict.value, verdict.ok), (1.4, true));
    assert!(!judge(&limit, &[row(Mode::Tcp, 0.5, &[])]).ok);
}
