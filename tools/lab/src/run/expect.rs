use std::collections::BTreeSet;

use super::report::{Row, Verdict};
use crate::scenario::{Expectation, Limit, Metric};

/// Whether every row that `expectation` is about keeps its limit, shown by the worst of them.
pub(super) fn judge(expectation: &Expectation, rows: &[Row]) -> Verdict {
    let Expectation { mode, variant, relative_to, .. } = expectation;
    let of_mode = |row: &&Row| mode.is_none_or(|mode| mode == row.mode);
    let about = rows.iter().filter(of_mode).filter(|row| variant.is_none() || row.variant == *variant);
    let values = about.map(|row| {
        let base = relative_to.as_ref().and_then(|name| counterpart(row, name, rows));
        value(expectation.value, row) / base.map_or(1.0, |base| value(expectation.value, base))
    });
    let (bound, limit, worst) = match expectation.limit {
        Limit::AtLeast(limit) => ("at_least", limit, values.reduce(f64::min)),
        Limit::AtMost(limit) => ("at_most", limit, values.reduce(f64::max)),
    };
    // The scenario's check sees to it that some row is meant.
    let value = worst.unwrap_or(0.0);
    Verdict { name: expectation.name.clone(), value, bound, limit, ok: expectation.limit.holds(value) }
}

/// The row of another variant for the same transfer.
fn counterpart<'a>(row: &Row, variant: &str, rows: &'a [Row]) -> Option<&'a Row> {
    let is_same = |other: &&Row| other.mode == row.mode && other.direction == row.direction;
    rows.iter().filter(is_same).find(|other| other.variant.as_deref() == Some(variant))
}

fn value(metric: Metric, row: &Row) -> f64 {
    match metric {
        Metric::GoodputBps => row.goodput_bps,
        Metric::FractionOfCapacity => row.fraction_of_capacity,
        Metric::Paths => {
            let paths: BTreeSet<_> =
                row.streams.iter().map(|it| &it.path).filter(|it| !it.is_empty()).collect();
            paths.len() as f64
        }
        Metric::Intact => f64::from(row.delivery.as_ref().is_some_and(|delivery| delivery.intact)),
        // A scenario that expects something of a copy has nothing else.
        Metric::LongestPause => row.delivery.as_ref().map_or(0.0, |delivery| delivery.longest_pause),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::report::{Delivery, RowDirection, StreamRow};
    use crate::scenario::Mode;

    fn row(mode: Mode, fraction: f64, paths: &[&[&str]]) -> Row {
        let stream = |path: &&[&str]| StreamRow {
            src: [10, 0, 0, 1].into(),
            src_port: 40_000,
            dst: [10, 0, 0, 2].into(),
            dst_port: 5201,
            bytes: 1,
            path: path.iter().map(|name| (*name).to_owned()).collect(),
        };
        Row {
            variant: None,
            mode,
            direction: RowDirection { from: "a".to_owned(), to: "b".to_owned() },
            goodput_bps: fraction * 2e8,
            capacity_bps: 2e8,
            fraction_of_capacity: fraction,
            seconds: 1.0,
            retransmits: 0,
            streams: paths.iter().map(stream).collect(),
            mptcp: None,
            delivery: None,
            intervals: Vec::new(),
        }
    }

    fn expectation(value: Metric, mode: Option<Mode>, limit: Limit) -> Expectation {
        Expectation { name: "it".to_owned(), value, mode, variant: None, relative_to: None, limit }
    }

    fn judged(value: Metric, mode: Option<Mode>, limit: Limit) -> (f64, bool) {
        let rows = [
            row(Mode::Tcp, 0.47, &[&[]]),
            row(Mode::Mptcp, 0.94, &[&["s", "t"], &["s", "u"]]),
            row(Mode::Mptcp, 0.92, &[&["s", "t"], &["s", "t"], &[]]),
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
    fn different_paths_are_counted_once_and_default_routes_not_at_all() {
        assert_eq!(judged(Metric::Paths, Some(Mode::Mptcp), Limit::AtLeast(1.0)), (1.0, true));
        assert_eq!(judged(Metric::Paths, Some(Mode::Tcp), Limit::AtLeast(1.0)), (0.0, false));
        assert_eq!(judged(Metric::Paths, Some(Mode::Mptcp), Limit::AtMost(1.0)), (2.0, false));
    }

    #[test]
    fn one_copy_that_is_not_intact_fails_and_the_longest_pause_counts() {
        let rows = [(true, 0.1), (false, 0.7)].map(|(intact, longest_pause)| {
            let delivery = Delivery {
                bytes: 9,
                bytes_received: 9,
                sha256_sent: "00".to_owned(),
                sha256_received: "01".to_owned(),
                intact,
                longest_pause,
            };
            Row { delivery: Some(delivery), ..row(Mode::Mptcp, 0.9, &[]) }
        });
        let judged = |value, limit, rows: &[Row]| {
            let verdict = judge(&expectation(value, None, limit), rows);
            (verdict.value, verdict.ok)
        };
        assert_eq!(judged(Metric::Intact, Limit::AtLeast(1.0), &rows), (0.0, false));
        assert_eq!(judged(Metric::Intact, Limit::AtLeast(1.0), &rows[..1]), (1.0, true));
        assert_eq!(judged(Metric::LongestPause, Limit::AtMost(0.5), &rows), (0.7, false));
    }
}
