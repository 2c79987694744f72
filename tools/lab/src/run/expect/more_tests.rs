//! Tests of verdicts about several variants, runs and requests.

use super::tests::{expectation, judge, row};
use super::*;
use crate::run::requests::{RequestRow, ResponseTimes};
use crate::scenario::{BestKnown, Protocol};

fn of(variant: &str, profile: &str, fraction: f64) -> Row {
    Row {
        variant: Some(variant.to_owned()),
        profile: Some(profile.to_owned()),
        ..row(Mode::Tcp, fraction, &[])
    }
}

#[test]
fn a_value_is_compared_with_the_best_or_the_sum_of_variants_with_the_same_profile() {
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
fn a_value_is_compared_with_the_best_of_what_is_measured_and_published() {
    let rows =
        [of("a", "x", 0.4), of("b", "x", 0.5), of("both", "x", 0.6), of("a", "y", 0.1), of("both", "y", 0.3)];
    let known = |published: &[(&str, f64)], published_of: &str| {
        Some(Reference::BestKnown(BestKnown {
            measured: vec!["a".to_owned()],
            published: published.iter().map(|(name, ratio)| ((*name).to_owned(), *ratio)).collect(),
            published_of: vec![published_of.to_owned()],
        }))
    };
    let plain = expectation(Metric::GoodputBps, None, Limit::AtLeast(1.0));
    let judged = |relative_to| {
        judge(&Expectation { variant: Some("both".to_owned()), relative_to, ..plain.clone() }, &rows).value
    };
    let near = |value: f64, wanted: f64| assert!((value - wanted).abs() < 1e-9, "{value}");
    near(judged(known(&[("y", 2.0)], "a")), 1.5);
    near(judged(known(&[("y", 5.0)], "a")), 0.6);
    near(judged(known(&[("x", 2.0)], "b")), 0.6);
    assert!(judged(known(&[("y", 2.0)], "b")).is_nan());
}

#[test]
fn so_many_profiles_must_keep_the_limit_with_each_congestion_control() {
    let with = |control: &str, row: Row| Row { congestion_control: Some(control.to_owned()), ..row };
    let rows = [("cubic", 0.2), ("bbr", 0.1)].map(|(control, more)| {
        [of("both", "x", 0.3 + more), of("both", "y", 0.6 + more), of("both", "z", more)]
            .map(|row| with(control, row))
    });
    let rows = rows.as_flattened();
    let judged = |profiles: usize, limit: Limit| {
        let plain = expectation(Metric::FractionOfCapacity, None, limit);
        judge(&Expectation { profiles: Some(profiles), ..plain }, rows)
    };
    let near = |verdict: &Verdict, wanted: f64| assert!((verdict.value - wanted).abs() < 1e-9, "{verdict:?}");
    let least = [1, 2, 3].map(|count| judged(count, Limit::AtLeast(0.4)));
    near(&least[0], 0.7);
    near(&least[1], 0.4);
    near(&least[2], 0.1);
    assert_eq!(least.map(|it| it.ok), [true, true, false]);
    let most = [1, 2, 3].map(|count| judged(count, Limit::AtMost(0.5)));
    near(&most[0], 0.2);
    near(&most[1], 0.5);
    near(&most[2], 0.8);
    assert!(judged(4, Limit::AtLeast(0.0)).value.is_nan() && !judged(4, Limit::AtLeast(0.0)).ok);
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
        idle: ResponseTimes { median_ms: 1.0, p99_ms: idle },
        loaded: ResponseTimes { median_ms: 1.0, p99_ms: loaded },
    };
    let limit = expectation(Metric::RequestP99OverIdle, None, Limit::AtMost(1.5));
    let asked =
        Row { requests: vec![requests(10.0, 11.0), requests(10.0, 14.0)], ..row(Mode::Tcp, 0.5, &[]) };
    let verdict = judge(&limit, &[asked]);
    assert_eq!((verdict.value, verdict.ok), (1.4, true));
    assert!(!judge(&limit, &[row(Mode::Tcp, 0.5, &[])]).ok);
}
