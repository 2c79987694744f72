//! The value of a metric for one row of a report.

use std::collections::BTreeSet;

use super::super::report::{Interval, LeaderRow, Row};
use super::super::settings;
use super::Whole;
use crate::scenario::Metric;

pub(super) fn value(metric: Metric, row: &Row, whole: Whole) -> f64 {
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
            let paths = row.streams.iter().filter(|it| !it.path.is_empty());
            paths.map(|it| (&it.path, &it.devices)).collect::<BTreeSet<_>>().len() as f64
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
        Metric::DatagramsLost => row.datagrams_lost.unwrap_or(f64::NAN),
        Metric::LongestDegradation => longest_degradation(row),
        Metric::RequestP99OverIdle => slowest_request(row),
        Metric::LeaderChanges => leader_changes(&row.leaders),
        Metric::LongestWithoutLeader => longest_without_leader(&row.leaders),
    }
}

/// How much longer answers take than before the transfers; NaN without requests.
fn slowest_request(row: &Row) -> f64 {
    let ratios = row.requests.iter().map(|it| it.loaded.p99_ms / it.idle.p99_ms);
    ratios.reduce(|a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }).unwrap_or(f64::NAN)
}

/// How often another controller leads than before; NaN if nobody has watched.
pub(in crate::run) fn leader_changes(leaders: &[LeaderRow]) -> f64 {
    let names: Vec<_> = leaders.iter().filter_map(|leader| leader.controller.as_deref()).collect();
    let changes = names.windows(2).filter(|pair| pair[0] != pair[1]).count();
    if leaders.is_empty() { f64::NAN } else { changes as f64 }
}

/// The longest time without a leader; NaN if nobody has watched.
pub(in crate::run) fn longest_without_leader(leaders: &[LeaderRow]) -> f64 {
    let without = leaders.iter().filter(|leader| leader.controller.is_none());
    let longest = without.map(|leader| leader.end - leader.start).fold(0.0, f64::max);
    if leaders.is_empty() { f64::NAN } else { longest }
}

/// The share of the maximum flow below which goodput counts as degraded.
const DEGRADED_SHARE: f64 = 0.25;

/// The longest time of consecutive intervals below that share, once goodput was above it.
pub(super) fn longest_degradation(row: &Row) -> f64 {
    let is_low = |interval: &Interval| interval.bps < DEGRADED_SHARE * row.capacity_bps;
    let begun: Vec<_> = row.intervals.iter().skip_while(|it| is_low(it)).collect();
    let slumps = begun.chunk_by(|a, b| is_low(a) == is_low(b)).filter(|chunk| is_low(chunk[0]));
    slumps.map(|chunk| chunk[chunk.len() - 1].end - chunk[0].start).fold(0.0, f64::max)
}

/// The mean over whole seconds from the end of the warm-up on, as Banfi et al. (2016) report it, §IV-A.3.
pub(super) fn fairness_per_second(row: &Row, warm_up: f64) -> f64 {
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
pub(super) fn jain(values: &[f64]) -> f64 {
    let (sum, squares) = (values.iter().sum::<f64>(), values.iter().map(|it| it * it).sum::<f64>());
    if squares > 0.0 { sum * sum / (squares * values.len() as f64) } else { 0.0 }
}
