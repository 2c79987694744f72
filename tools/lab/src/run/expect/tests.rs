//! Tests of verdicts.

use super::value::{fairness_per_second, longest_degradation};
use super::*;
use crate::run::report::Interval;
use crate::run::report::{Delivery, RowDirection, StreamRow};
use crate::scenario::Tool;

pub(super) fn row(mode: Mode, fraction: f64, paths: &[&[&str]]) -> Row {
    let stream = |path: &&[&str]| StreamRow {
        src: [10, 0, 0, 1].into(),
        src_port: 40_000,
        dst: [10, 0, 0, 2].into(),
        dst_port: 5201,
        bytes: 1,
        path: path.iter().map(|name| (*name).to_owned()).collect(),
        devices: Vec::new(),
        path_changes: Vec::new(),
        intervals: Vec::new(),
    };
    Row {
        variant: None,
        profile: None,
        congestion_control: None,
        mode,
        work: None,
        direction: RowDirection { from: "a".to_owned(), to: "b".to_owned() },
        connections: 1,
        run: None,
        goodput_bps: fraction * 2e8,
        capacity_bps: 2e8,
        fraction_of_capacity: fraction,
        background_bps: None,
        seconds: 1.0,
        retransmits: 0,
        datagrams_lost: None,
        is_mixed: false,
        streams: paths.iter().map(stream).collect(),
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

pub(super) fn judge(expectation: &Expectation, rows: &[Row]) -> Verdict {
    super::judge(
        expectation,
        rows,
        Whole { capacity: 2e8, warm_up: 1.0, a: f64::NAN, average: Average::Mean },
    )
}

pub(super) fn expectation(value: Metric, mode: Option<Mode>, limit: Limit) -> Expectation {
    let (name, of) = ("it".to_owned(), Aggregate::Worst);
    let (tool, bytes, variant, from, relative_to) = (None, None, None, None, None);
    let (needs_quiet_machine, profiles) = (false, None);
    Expectation {
        name,
        value,
        mode,
        tool,
        bytes,
        variant,
        from,
        relative_to,
        needs_quiet_machine,
        of,
        profiles,
        limit,
    }
}

fn judged(value: Metric, mode: Option<Mode>, limit: Limit) -> (f64, bool) {
    let back = RowDirection { from: "b".to_owned(), to: "a".to_owned() };
    let rows = [
        row(Mode::Tcp, 0.47, &[&[]]),
        row(Mode::Mptcp, 0.94, &[&["s", "t"], &["s", "u"]]),
        Row { direction: back, ..row(Mode::Mptcp, 0.92, &[&["s", "t"], &["s", "t"], &[]]) },
    ];
    let verdict = judge(&expectation(value, mode, limit), &rows);
    (verdict.value, verdict.ok)
}

#[test]
fn the_worst_row_of_the_mode_decides() {
    let fraction = Metric::FractionOfCapacity;
    assert_eq!(judged(fraction, Some(Mode::Mptcp), Limit::AtLeast(0.93)), (0.92, false));
    assert_eq!(judged(fraction, Some(Mode::Mptcp), Limit::AtLeast(0.92)), (0.92, true));
    assert_eq!(judged(fraction, Some(Mode::Tcp), Limit::AtMost(0.5)), (0.47, true));
    assert_eq!(judged(fraction, None, Limit::AtMost(0.5)), (0.94, false));
}

#[test]
fn variants_are_compared_transfer_by_transfer() {
    let of =
        |variant: &str, mode, fraction| Row { variant: Some(variant.to_owned()), ..row(mode, fraction, &[]) };
    let rows = [
        of("fixed", Mode::Tcp, 0.4),
        of("fixed", Mode::Mptcp, 0.5),
        of("adaptive", Mode::Tcp, 0.8),
        of("adaptive", Mode::Mptcp, 0.9),
    ];
    let plain = expectation(Metric::GoodputBps, None, Limit::AtLeast(1.9));
    let (variant, relative_to) = compared("adaptive", "fixed");
    let verdict = judge(&Expectation { variant: variant.clone(), relative_to, ..plain.clone() }, &rows);
    assert_eq!((verdict.value, verdict.ok), (1.8, false));
    let alone = judge(&Expectation { variant, value: Metric::FractionOfCapacity, ..plain }, &rows);
    assert_eq!(alone.value, 0.8);
}

/// Selects a variant, and another to compare it with.
fn compared(variant: &str, other: &str) -> (Option<String>, Option<Reference>) {
    (Some(variant.to_owned()), Some(Reference::Variant(other.to_owned())))
}

#[test]
fn directions_are_compared_in_the_same_variant_and_mode() {
    let of = |variant: &str, from: &str, mode, fraction| Row {
        variant: Some(variant.to_owned()),
        direction: RowDirection { from: from.to_owned(), to: "z".to_owned() },
        ..row(mode, fraction, &[])
    };
    let rows = [
        of("other", "a", Mode::Tcp, 0.1),
        of("this", "a", Mode::Mptcp, 0.2),
        of("this", "a", Mode::Tcp, 0.4),
        of("this", "b", Mode::Tcp, 0.8),
    ];
    let plain = expectation(Metric::GoodputBps, Some(Mode::Tcp), Limit::AtLeast(2.0));
    let [variant, from] = ["this", "b"].map(|name| Some(name.to_owned()));
    let relative_to = Some(Reference::Sender("a".to_owned()));
    let relative = Expectation { variant, from, relative_to, ..plain };
    assert_eq!(judge(&relative, &rows).value, 2.0);
    assert!(!judge(&relative, &rows[3..]).ok, "nothing to compare with");
}

#[test]
fn modes_of_one_run_are_compared_direction_by_direction() {
    let from = |from: &str, mode, fraction| Row {
        direction: RowDirection { from: from.to_owned(), to: "z".to_owned() },
        ..row(mode, fraction, &[])
    };
    let rows = [
        from("a", Mode::Tcp, 0.4),
        from("b", Mode::Tcp, 0.2),
        from("a", Mode::Mptcp, 0.8),
        from("b", Mode::Mptcp, 0.5),
    ];
    let plain = expectation(Metric::GoodputBps, Some(Mode::Mptcp), Limit::AtLeast(1.9));
    let relative = Expectation { relative_to: Some(Reference::Mode(Mode::Tcp)), ..plain };
    assert_eq!(judge(&relative, &rows).value, 2.0);
    assert!(!judge(&relative, &rows[1..]).ok, "nothing to compare with");
}

#[test]
fn runs_count_by_their_mean_and_directions_together_if_that_is_asked_for() {
    let run = |fraction, from: &str| Row {
        direction: RowDirection { from: from.to_owned(), to: "z".to_owned() },
        ..row(Mode::Mptcp, fraction, &[])
    };
    let rows = [run(0.7, "a"), run(0.9, "a"), run(0.5, "b"), run(0.7, "b")];
    let judged = |value| judge(&expectation(value, None, Limit::AtLeast(0.0)), &rows).value;
    assert!((judged(Metric::FractionOfCapacity) - 0.6).abs() < 1e-9);
    assert!((judged(Metric::MeanFractionOfCapacity) - 0.7).abs() < 1e-9);
}

#[test]
fn one_run_below_the_limit_fails_where_every_run_counts() {
    let rows = [row(Mode::Mptcp, 0.94, &[]), row(Mode::Mptcp, 0.47, &[])];
    let verdict = judge(&expectation(Metric::WorstFractionOfCapacity, None, Limit::AtLeast(0.85)), &rows);
    assert_eq!((verdict.value, verdict.ok), (0.47, false));
}

#[test]
fn another_mode_stands_for_the_same_one_where_the_other_variant_has_not_that() {
    let of = |variant: &str, mode, connections, fraction| Row {
        variant: Some(variant.to_owned()),
        connections,
        ..row(mode, fraction, &[])
    };
    let rows = [
        of("one path", Mode::Mptcp, 1, 0.4),
        of("one path", Mode::Mptcp, 2, 0.5),
        of("plain", Mode::Tcp, 1, 0.5),
        of("plain", Mode::Tcp, 2, 0.5),
    ];
    let (variant, relative_to) = compared("one path", "plain");
    let plain = expectation(Metric::GoodputBps, None, Limit::AtLeast(0.8));
    let relative = Expectation { variant, relative_to, ..plain };
    assert_eq!(judge(&relative, &rows).value, 0.8);
    let verdict = judge(&relative, &rows[..3]);
    assert!(verdict.value.is_nan() && !verdict.ok);
}

#[test]
fn tools_and_lengths_are_judged_by_themselves_and_compared_with_their_like() {
    let of = |variant: &str, tool, bytes, fraction| Row {
        variant: Some(variant.to_owned()),
        work: Some(Work { tool, bytes }),
        ..row(Mode::Tcp, fraction, &[])
    };
    let rows = [
        of("one", Tool::Http, 8, 0.4),
        of("one", Tool::Ftp, 8, 0.5),
        of("one", Tool::Ftp, 9, 0.2),
        of("two", Tool::Http, 8, 0.8),
        of("two", Tool::Ftp, 8, 0.75),
        of("two", Tool::Ftp, 9, 0.6),
    ];
    let judged = |tool, bytes| {
        let (variant, relative_to) = compared("two", "one");
        let plain = expectation(Metric::GoodputBps, None, Limit::AtLeast(1.8));
        judge(&Expectation { variant, relative_to, tool, bytes, ..plain }, &rows).value
    };
    assert_eq!(judged(Some(Tool::Http), None), 2.0);
    assert_eq!(judged(Some(Tool::Ftp), None), 1.5);
    assert!((judged(Some(Tool::Ftp), Some(9)) - 3.0).abs() < 1e-9);
    assert_eq!(judged(None, Some(8)), 1.5);
}

#[test]
fn one_that_keeps_the_limit_is_enough_where_the_best_decides() {
    let rows = [row(Mode::Tcp, 0.4, &[]), row(Mode::Mptcp, 0.9, &[])];
    let judged = |of, limit| {
        let plain = expectation(Metric::FractionOfCapacity, None, limit);
        judge(&Expectation { of, ..plain }, &rows).ok
    };
    assert!(judged(Aggregate::Best, Limit::AtLeast(0.8)) && !judged(Aggregate::Worst, Limit::AtLeast(0.8)));
    assert!(judged(Aggregate::Best, Limit::AtMost(0.5)) && !judged(Aggregate::Worst, Limit::AtMost(0.5)));
}

#[test]
fn the_peak_is_where_more_streams_carry_no_more() {
    let of = |connections, fraction| Row { connections, ..row(Mode::Tcp, fraction, &[]) };
    let rows = [of(3, 0.5), of(9, 0.8), of(15, 0.91), of(21, 0.92), of(27, 0.9)];
    let verdict = judge(&expectation(Metric::PeakStreams, None, Limit::AtLeast(15.0)), &rows);
    assert_eq!((verdict.value, verdict.ok), (15.0, true));
}

#[test]
fn those_that_go_on_at_the_same_time_are_judged_together() {
    let of = |run, from: &str, fraction| Row {
        run: Some(run),
        direction: RowDirection { from: from.to_owned(), to: "z".to_owned() },
        ..row(Mode::Tcp, fraction, &[])
    };
    let rows = [of(1, "a", 0.3), of(1, "b", 0.3), of(2, "a", 0.6), of(2, "b", 0.0)];
    let judged = |value, rows: &[Row]| judge(&expectation(value, None, Limit::AtLeast(0.0)), rows).value;
    assert!((judged(Metric::Fairness, &rows) - 0.75).abs() < 1e-9, "one run is fair, one is not at all");
    assert!((judged(Metric::SumFractionOfCapacity, &rows) - 0.6).abs() < 1e-9);
}

#[test]
fn directions_with_settings_of_their_own_are_added_up() {
    let mixed = |mode, connections, fraction| Row { is_mixed: true, connections, ..row(mode, fraction, &[]) };
    let rows = [mixed(Mode::Mptcp, 1, 0.4), mixed(Mode::Tcp, 4, 0.3), mixed(Mode::Udp, 1, 0.1)];
    let verdict = judge(&expectation(Metric::SumFractionOfCapacity, None, Limit::AtLeast(0.75)), &rows);
    assert!((verdict.value - 0.8).abs() < 1e-9 && verdict.ok, "{verdict:?}");
}

#[test]
fn the_background_has_its_share() {
    let row = Row { background_bps: Some(5e7), ..row(Mode::Mptcp, 0.75, &[]) };
    let verdict = judge(&expectation(Metric::BackgroundShare, None, Limit::AtLeast(0.25)), &[row]);
    assert_eq!((verdict.value, verdict.ok), (0.25, true));
}

#[test]
fn paths_that_share_two_switches_are_not_disjoint() {
    let disjoint = |paths: &[&[&str]]| {
        let row = row(Mode::Mptcp, 0.9, paths);
        judge(&expectation(Metric::DisjointPaths, None, Limit::AtLeast(2.0)), &[row]).value
    };
    assert_eq!(disjoint(&[&["l", "r"], &["l", "m", "r"], &["m", "r"], &["m", "l", "r"]]), 2.0);
    assert_eq!(disjoint(&[&["l", "m", "r"], &["k", "m", "r"], &["k", "l", "m", "r"]]), 1.0);
    assert_eq!(disjoint(&[&[], &[]]), 0.0);
    assert_eq!([disjoint(&[&["s"]]), disjoint(&[&["s"], &["t"]])], [1.0, 2.0]);
}

#[test]
fn parallel_links_are_disjoint() {
    let on = |devices: [&str; 2]| {
        let mut row = row(Mode::Mptcp, 0.9, &[&["l", "r"], &["l", "r"]]);
        let streams = row.streams.iter_mut().zip(devices);
        streams.for_each(|(stream, device)| stream.devices = vec![device.to_owned()]);
        let of = |metric| expectation(metric, None, Limit::AtLeast(2.0));
        [Metric::DisjointPaths, Metric::Paths]
            .map(|metric| judge(&of(metric), std::slice::from_ref(&row)).value)
    };
    assert_eq!([on(["l-eth1", "l-eth2"]), on(["l-eth1", "l-eth1"])], [[2.0; 2], [1.0; 2]]);
}

#[test]
fn streams_that_carry_the_same_are_fair() {
    let fairness = |bytes: &[u64]| {
        let mut row = row(Mode::Tcp, 0.9, &vec![[].as_slice(); bytes.len()]);
        row.streams.iter_mut().zip(bytes).for_each(|(stream, bytes)| stream.bytes = *bytes);
        judge(&expectation(Metric::StreamFairness, None, Limit::AtLeast(0.9)), &[row]).value
    };
    assert_eq!([fairness(&[5, 5, 5]), fairness(&[9, 0, 0, 0]), fairness(&[])], [1.0, 0.25, 0.0]);
}

#[test]
fn fairness_of_every_second_is_not_that_of_the_sum_and_leaves_the_warm_up_out() {
    let mut row = row(Mode::Tcp, 0.9, &[&[], &[]]);
    let interval = |start: f64, bps: f64| Interval { start, end: start + 0.5, bps };
    // One after the other: equal in sum, and each second belongs to one of them.
    let rates = [[9.0, 9.0, 8.0, 8.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 8.0, 8.0]];
    for (stream, rates) in row.streams.iter_mut().zip(rates) {
        stream.intervals =
            rates.iter().zip(0..).map(|(bps, at)| interval(0.5 * f64::from(at), *bps)).collect();
    }
    assert_eq!(fairness_per_second(&row, 1.0), 0.5);
    row.streams[1].intervals = row.streams[0].intervals.clone();
    assert_eq!(fairness_per_second(&row, 2.0), 0.0, "nothing is carried");
    assert_eq!(fairness_per_second(&row, 0.0), 2.0 / 3.0);
    assert!(fairness_per_second(&row, 9.0).is_nan(), "nothing is measured");
}

#[test]
fn a_subflow_counts_if_it_carried_data() {
    let mut row = row(Mode::Mptcp, 0.9, &[&["s", "t"], &["s", "u"], &[]]);
    row.streams[2].bytes = 0;
    let verdict = |row: Row| judge(&expectation(Metric::Subflows, None, Limit::AtLeast(2.0)), &[row]);
    assert_eq!(verdict(row.clone()).value, 2.0);
    assert_eq!(verdict(Row { connections: 2, ..row.clone() }).value, 1.0, "of each connection");
    let at_one_switch = Row { streams: vec![row.streams[2].clone()], ..row.clone() };
    let both = [row.clone(), at_one_switch.clone()];
    let verdict_of = |rows: &[Row]| judge(&expectation(Metric::Subflows, None, Limit::AtLeast(2.0)), rows);
    assert_eq!(verdict_of(&both).value, 2.0, "hosts at one switch have no paths to take");
    assert!(!verdict_of(&[at_one_switch]).ok);
    row.streams.clear();
    assert!(!verdict(row).ok, "no subflow is not nothing to complain about");
}

#[test]
fn different_paths_are_counted_once_and_default_paths_not_at_all() {
    assert_eq!(judged(Metric::Paths, Some(Mode::Mptcp), Limit::AtLeast(1.0)), (1.0, true));
    assert_eq!(judged(Metric::Paths, Some(Mode::Tcp), Limit::AtLeast(1.0)), (0.0, false));
    assert_eq!(judged(Metric::Paths, Some(Mode::Mptcp), Limit::AtMost(1.0)), (2.0, false));
}

#[test]
fn the_longest_time_below_a_quarter_of_the_capacity_is_a_slump() {
    let with = |rates: &[f64]| {
        let rates = rates.iter().zip(0..);
        let interval = |(share, at)| {
            let start = 0.5 * f64::from(at);
            Interval { start, end: start + 0.5, bps: share * 1e8 }
        };
        let intervals = rates.map(|(share, at)| interval((*share, at))).collect();
        longest_degradation(&Row { capacity_bps: 1e8, intervals, ..row(Mode::Tcp, 0.5, &[]) })
    };
    assert_eq!(with(&[0.1, 0.1, 0.9, 0.2, 0.9, 0.2, 0.2, 0.3]), 1.0, "slow start is none");
    assert_eq!(with(&[0.9, 0.9]), 0.0);
    assert_eq!(with(&[0.9, 0.1, 0.1, 0.1]), 1.5, "it may last to the end");
    assert_eq!(with(&[]), 0.0);
}

#[test]
fn one_copy_that_is_not_intact_fails_and_the_longest_stall_counts() {
    let rows = [(true, 0.1), (false, 0.7)].map(|(intact, longest_stall)| {
        let delivery = Delivery {
            bytes: 9,
            bytes_received: 9,
            sha256_sent: "00".to_owned(),
            sha256_received: "01".to_owned(),
            intact,
            longest_stall,
        };
        Row { delivery: Some(delivery), ..row(Mode::Mptcp, 0.9, &[]) }
    });
    let judged = |value, limit, rows: &[Row]| {
        let verdict = judge(&expectation(value, None, limit), rows);
        (verdict.value, verdict.ok)
    };
    assert_eq!(judged(Metric::Intact, Limit::AtLeast(1.0), &rows), (0.0, false));
    assert_eq!(judged(Metric::Intact, Limit::AtLeast(1.0), &rows[..1]), (1.0, true));
    assert_eq!(judged(Metric::LongestStall, Limit::AtMost(0.5), &rows), (0.7, false));
}
