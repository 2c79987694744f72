//! Verdicts on a scenario's expectations, from the rows of its report.

use std::collections::{BTreeMap, BTreeSet};

use super::report::{Bound, Interval, Row, Verdict};
use super::settings::{self, Key};
use crate::scenario::{Aggregate, Expectation, Limit, Metric, Mode, Work};

/// Values of the whole run.
#[derive(Clone, Copy)]
pub(super) struct Whole {
    /// The maximum flow from all senders to all receivers, in bits per second.
    pub capacity: f64,
    /// Seconds before the measurement of each transfer.
    pub warm_up: f64,
    /// The fitted parameter; NaN without a fit.
    pub a: f64,
}

/// Checks whether all settings of `expectation`, or the best one, keep its limit.
pub(super) fn judge(expectation: &Expectation, rows: &[Row], whole: Whole) -> Verdict {
    let Expectation { mode, variant, from, relative_to, .. } = expectation;
    let values = values(expectation.value, rows, whole);
    let about = values.iter().filter(|(key, _)| mode.is_none_or(|mode| mode == key.mode));
    let about = about.filter(|(key, _)| is_about(expectation, key.work));
    let about = about.filter(|(key, _)| variant.is_none() || key.variant == variant.as_deref());
    let sends = |key: &Key<'_>| key.direction.map(|direction| direction.from.as_str()) == from.as_deref();
    let about = about.filter(|(key, _)| from.is_none() || sends(key));
    // A setting that has nothing to be compared with fails.
    let over = |value: f64, base: Option<f64>| base.map_or(f64::NAN, |base| value / base);
    let compared = about.map(|(key, value)| match (relative_to, expectation.relative_to_mode) {
        (Some(name), _) => over(*value, counterpart(key, name, &values)),
        (None, Some(mode)) => over(*value, in_mode(key, mode, &values)),
        (None, None) => *value,
    });
    let (bound, limit) = match expectation.limit {
        Limit::AtLeast(limit) => (Bound::AtLeast, limit),
        Limit::AtMost(limit) => (Bound::AtMost, limit),
    };
    let wants_least = matches!(expectation.limit, Limit::AtLeast(_)) == (expectation.of == Aggregate::Worst);
    let decides: fn(f64, f64) -> f64 = if wants_least { f64::min } else { f64::max };
    // The scenario's check ensures that a row matches.
    let value = compared.reduce(|a, b| worse(a, b, decides)).unwrap_or(0.0);
    let (name, needs_quiet_machine) = (expectation.name.clone(), expectation.needs_quiet_machine);
    Verdict { name, value, bound, limit, ok: expectation.limit.holds(value), needs_quiet_machine }
}

/// Whether a tool and a length match the expectation.
fn is_about(expectation: &Expectation, work: Option<Work>) -> bool {
    let Some(Work { tool, bytes }) = work else { return true };
    expectation.tool.is_none_or(|it| it == tool) && expectation.bytes.is_none_or(|it| it == bytes)
}

fn worse(a: f64, b: f64, of: impl Fn(f64, f64) -> f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { of(a, b) }
}

/// The mean of all runs of each setting, or each run for values that must hold in every run.
fn values(metric: Metric, rows: &[Row], whole: Whole) -> Vec<(Key<'_>, f64)> {
    match metric {
        Metric::PeakStreams => peaks(rows, whole),
        Metric::StreamsA => settings::together(rows).into_keys().take(1).map(|key| (key, whole.a)).collect(),
        Metric::Fairness => at_once(rows, jain),
        Metric::SumFractionOfCapacity => {
            at_once(rows, |rates| rates.iter().sum::<f64>() / whole.capacity.max(1.0))
        }
        Metric::MeanFractionOfCapacity => of_groups(metric, settings::together(rows), whole),
        Metric::Subflows => {
            let mut groups = settings::by_direction(rows);
            groups.values_mut().for_each(|rows| rows.retain(|row| !is_local(row)));
            groups.retain(|_, rows| !rows.is_empty());
            of_groups(metric, groups, whole)
        }
        _ => of_groups(metric, settings::by_direction(rows), whole),
    }
}

/// Whether both hosts are at one switch: then there are no paths for subflows to take.
fn is_local(row: &Row) -> bool {
    !row.streams.is_empty() && row.streams.iter().all(|stream| stream.path.is_empty())
}

fn of_groups<'a>(
    metric: Metric,
    groups: BTreeMap<Key<'a>, Vec<&'a Row>>,
    whole: Whole,
) -> Vec<(Key<'a>, f64)> {
    groups.into_iter().flat_map(|(key, rows)| of_group(metric, &key, &rows, whole)).collect()
}

/// The mean over all runs of a value of all directions' goodputs.
fn at_once(rows: &[Row], of: impl Fn(&[f64]) -> f64) -> Vec<(Key<'_>, f64)> {
    let value = |rows: Vec<&Row>| {
        let mut runs: BTreeMap<_, Vec<f64>> = BTreeMap::new();
        rows.iter().for_each(|row| runs.entry(row.run).or_default().push(row.goodput_bps));
        runs.values().map(|rates| of(rates)).sum::<f64>() / runs.len().max(1) as f64
    };
    settings::together(rows).into_iter().map(|(key, rows)| (key, value(rows))).collect()
}

/// The share of the highest goodput that counts as the peak.
const NEAR_PEAK_SHARE: f64 = 0.98;

/// The fewest streams with peak goodput, for each variant, mode and direction.
fn peaks(rows: &[Row], whole: Whole) -> Vec<(Key<'_>, f64)> {
    let mut curves: BTreeMap<Key<'_>, Vec<(u16, f64)>> = BTreeMap::new();
    for (key, goodput) in of_groups(Metric::GoodputBps, settings::by_direction(rows), whole) {
        curves.entry(key.of_any_number()).or_default().push((key.connections, goodput));
    }
    let peak = |curve: Vec<(u16, f64)>| {
        let most = curve.iter().map(|it| it.1).fold(0.0, f64::max);
        let near = curve.iter().filter(|it| it.1 >= most * NEAR_PEAK_SHARE).map(|it| it.0).min();
        f64::from(near.unwrap_or_default())
    };
    curves.into_iter().map(|(key, curve)| (key, peak(curve))).collect()
}

fn of_group<'a>(metric: Metric, key: &Key<'a>, rows: &[&Row], whole: Whole) -> Vec<(Key<'a>, f64)> {
    let all = rows.iter().map(|row| value(metric, row, whole));
    if metric.is_of_every_run() {
        return all.map(|value| (key.clone(), value)).collect();
    }
    vec![(key.clone(), all.sum::<f64>() / rows.len() as f64)]
}

/// The value of another variant for the same transfer, in the same mode if it has it.
fn counterpart(key: &Key<'_>, variant: &str, values: &[(Key<'_>, f64)]) -> Option<f64> {
    let same = values.iter().filter(|(other, _)| {
        other.variant == Some(variant)
            && other.direction == key.direction
            && other.connections == key.connections
            && other.work == key.work
    });
    let in_mode = same.clone().find(|(other, _)| other.mode == key.mode);
    in_mode.or_else(|| same.clone().next()).map(|(_, value)| *value)
}

/// The value of the same setting in another mode.
fn in_mode(key: &Key<'_>, mode: Mode, values: &[(Key<'_>, f64)]) -> Option<f64> {
    let wanted = key.in_mode(mode);
    values.iter().find(|(other, _)| *other == wanted).map(|(_, value)| *value)
}

fn value(metric: Metric, row: &Row, whole: Whole) -> f64 {
    match metric {
        Metric::GoodputBps => row.goodput_bps,
        // Not a value of one row.
        Metric::PeakStreams | Metric::Fairness | Metric::SumFractionOfCapacity | Metric::StreamsA => f64::NAN,
        Metric::FractionOfCapacity | Metric::WorstFractionOfCapacity | Metric::MeanFractionOfCapacity => {
            row.fraction_of_capacity
        }
        Metric::BackgroundShare => {
            let background = row.background_bps.unwrap_or(0.0);
            background / (background + row.goodput_bps).max(1.0)
        }
        Metric::Paths => {
            let paths: BTreeSet<_> =
                row.streams.iter().map(|it| &it.path).filter(|it| !it.is_empty()).collect();
            paths.len() as f64
        }
        Metric::DisjointPaths => settings::disjoint_paths(row) as f64,
        Metric::StreamFairness => {
            jain(&row.streams.iter().map(|stream| stream.bytes as f64).collect::<Vec<_>>())
        }
        Metric::StreamFairnessPerSecond => fairness_per_second(row, whole.warm_up),
        Metric::Subflows => {
            let used = row.streams.iter().filter(|stream| stream.bytes > 0).count();
            used as f64 / f64::from(row.connections.max(1))
        }
        Metric::Intact => f64::from(row.delivery.as_ref().is_some_and(|delivery| delivery.intact)),
        Metric::JoinPacketIns => row.mptcp.map_or(0.0, |mptcp| mptcp.join_packet_ins as f64),
        // Scenarios with expectations about copies have only copies.
        Metric::LongestStall => row.delivery.as_ref().map_or(0.0, |delivery| delivery.longest_stall),
        Metric::LongestDegradation => longest_degradation(row),
    }
}

/// The share of the maximum flow below which goodput counts as degraded.
const DEGRADED_SHARE: f64 = 0.25;

/// The longest time of consecutive intervals below that share, once goodput was above it.
fn longest_degradation(row: &Row) -> f64 {
    let is_low = |interval: &Interval| interval.bps < DEGRADED_SHARE * row.capacity_bps;
    let begun: Vec<_> = row.intervals.iter().skip_while(|it| is_low(it)).collect();
    let slumps = begun.chunk_by(|a, b| is_low(a) == is_low(b)).filter(|chunk| is_low(chunk[0]));
    slumps.map(|chunk| chunk[chunk.len() - 1].end - chunk[0].start).fold(0.0, f64::max)
}

/// The mean over whole seconds from the end of the warm-up on, as Banfi et al. (2016) report it, §IV-A.3.
fn fairness_per_second(row: &Row, warm_up: f64) -> f64 {
    let last = row.streams.iter().flat_map(|it| &it.intervals).map(|it| it.end).fold(warm_up, f64::max);
    let seconds = (last - warm_up).floor() as u32;
    let index = |second: u32| {
        let from = warm_up + f64::from(second);
        jain(
            &row.streams
                .iter()
                .map(|stream| bits_between(&stream.intervals, from, from + 1.0))
                .collect::<Vec<_>>(),
        )
    };
    // Without a whole second there is no value.
    (0..seconds).map(index).sum::<f64>() / f64::from(seconds)
}

/// What intervals carried in a time, each evenly.
fn bits_between(intervals: &[Interval], from: f64, until: f64) -> f64 {
    let common = |it: &Interval| (it.end.min(until) - it.start.max(from)).max(0.0);
    intervals.iter().map(|it| it.bps * common(it)).sum()
}

/// R. Jain, D. Chiu, W. Hawe, A Quantitative Measure of Fairness, 1984. Nothing is shared equally by nobody.
fn jain(values: &[f64]) -> f64 {
    let (sum, squares) = (values.iter().sum::<f64>(), values.iter().map(|it| it * it).sum::<f64>());
    if squares > 0.0 { sum * sum / (squares * values.len() as f64) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::report::{Delivery, RowDirection, StreamRow};
    use crate::scenario::Tool;

    fn row(mode: Mode, fraction: f64, paths: &[&[&str]]) -> Row {
        let stream = |path: &&[&str]| StreamRow {
            src: [10, 0, 0, 1].into(),
            src_port: 40_000,
            dst: [10, 0, 0, 2].into(),
            dst_port: 5201,
            bytes: 1,
            path: path.iter().map(|name| (*name).to_owned()).collect(),
            intervals: Vec::new(),
        };
        Row {
            variant: None,
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
            streams: paths.iter().map(stream).collect(),
            mptcp: None,
            delivery: None,
            intervals: Vec::new(),
            captures: Vec::new(),
        }
    }

    fn judge(expectation: &Expectation, rows: &[Row]) -> Verdict {
        super::judge(expectation, rows, Whole { capacity: 2e8, warm_up: 1.0, a: f64::NAN })
    }

    fn expectation(value: Metric, mode: Option<Mode>, limit: Limit) -> Expectation {
        let (name, of) = ("it".to_owned(), Aggregate::Worst);
        let (tool, bytes, variant, from, relative_to) = (None, None, None, None, None);
        let (relative_to_mode, needs_quiet_machine) = (None, false);
        Expectation {
            name,
            value,
            mode,
            tool,
            bytes,
            variant,
            from,
            relative_to,
            relative_to_mode,
            needs_quiet_machine,
            of,
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
        let of = |variant: &str, mode, fraction| Row {
            variant: Some(variant.to_owned()),
            ..row(mode, fraction, &[])
        };
        let rows = [
            of("fixed", Mode::Tcp, 0.4),
            of("fixed", Mode::Mptcp, 0.5),
            of("adaptive", Mode::Tcp, 0.8),
            of("adaptive", Mode::Mptcp, 0.9),
        ];
        let plain = expectation(Metric::GoodputBps, None, Limit::AtLeast(1.9));
        let names = ["adaptive", "fixed"].map(|name| Some(name.to_owned()));
        let [variant, relative_to] = names;
        let verdict = judge(&Expectation { variant: variant.clone(), relative_to, ..plain.clone() }, &rows);
        assert_eq!((verdict.value, verdict.ok), (1.8, false));
        let alone = judge(&Expectation { variant, value: Metric::FractionOfCapacity, ..plain }, &rows);
        assert_eq!(alone.value, 0.8);
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
        let relative = Expectation { relative_to_mode: Some(Mode::Tcp), ..plain };
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
        let [variant, relative_to] = ["one path", "plain"].map(|name| Some(name.to_owned()));
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
            let [variant, relative_to] = ["two", "one"].map(|name| Some(name.to_owned()));
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
        assert!(
            judged(Aggregate::Best, Limit::AtLeast(0.8)) && !judged(Aggregate::Worst, Limit::AtLeast(0.8))
        );
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
        let verdict_of =
            |rows: &[Row]| judge(&expectation(Metric::Subflows, None, Limit::AtLeast(2.0)), rows);
        assert_eq!(verdict_of(&both).value, 2.0, "hosts at one switch have no paths to take");
        assert!(!verdict_of(&[at_one_switch]).ok);
        row.streams.clear();
        assert!(!verdict(row).ok, "no subflow is not nothing to complain about");
    }

    #[test]
    fn different_paths_are_counted_once_and_default_routes_not_at_all() {
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
}
