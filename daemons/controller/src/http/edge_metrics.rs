//! Metrics of edges: spray paths and resequencers, labelled by edge and group.

use std::fmt::Error;
use std::time::Duration;

use braid_control::view::{EdgePathState, EdgePathView, EdgeView, ResequencerCounts, ResequencerView};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

use super::metric_families::{MetricFamily, with_values};
use super::replica::Table;

/// Paths, and groups that put in resequencer, beyond these have no metrics of their own.
const MAX_ITEMS: usize = 2_048;
/// Bounds of hold times: powers of two, of microseconds, where the classes of the histogram end.
const BOUNDS: [u64; 11] = [7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 20];

/// What edges reported last.
#[derive(Debug)]
pub(super) struct Edges {
    paths: Vec<(PathLabels, EdgePathView)>,
    resequencers: Vec<(ResequencerLabels, ResequencerView)>,
}

type PathLabels = [(&'static str, String); 4];
type ResequencerLabels = [(&'static str, String); 3];
type PathGauge = (&'static str, &'static str, fn(&EdgePathView) -> Option<f64>);
type PathCounter = (&'static str, &'static str, fn(&EdgePathView) -> u64);
type ResequencerGauge = (&'static str, &'static str, fn(&ResequencerView) -> Option<f64>);
type ResequencerCounter = (&'static str, &'static str, fn(&ResequencerCounts) -> u64);
type Cause = (&'static str, fn(&ResequencerCounts) -> u64);

const PATH_GAUGES: [PathGauge; 6] = [
    ("edge_path_up", "Whether a path answers and its port is up", |path| {
        let is_up = matches!(path.state?, EdgePathState::Active | EdgePathState::Suspended);
        Some(f64::from(u8::from(is_up)))
    }),
    ("edge_path_share_ratio", "Share of all packets that a path carries", |path| path.share),
    ("edge_path_estimated_capacity_bytes_per_second", "Estimated capacity of a path", |path| {
        Some(path.estimated_capacity_bps? as f64 / 8.0)
    }),
    ("edge_path_round_trip_seconds", "Round-trip time of probes of a path", |path| {
        Some(path.round_trip_us? / 1e6)
    }),
    ("edge_path_queue_seconds", "Time that packets wait in the queues of a path", |path| {
        Some(path.queue_us? / 1e6)
    }),
    ("edge_path_loss_ratio", "Share of the recent packets of a path that is lost", |path| path.loss),
];

const PATH_COUNTERS: [PathCounter; 3] = [
    ("edge_path_silences", "How often a path has stopped answering probes", |path| path.silences.into()),
    ("edge_path_transmitted_bytes", "Bytes of frames sprayed over a path", |path| path.bytes),
    ("edge_path_transmitted_packets", "Packets sprayed over a path", |path| path.packets),
];

const RESEQUENCER_GAUGES: [ResequencerGauge; 4] = [
    ("edge_resequencer_buffered_packets", "Packets in the buffer", |it| Some(it.held?.packets.into())),
    ("edge_resequencer_buffered_bytes", "Bytes in the buffer", |it| Some(it.held?.bytes as f64)),
    ("edge_resequencer_buffer_limit_bytes", "Limit of bytes in the buffer", |it| {
        Some(it.held?.max_bytes as f64)
    }),
    ("edge_resequencer_flows", "Known flows", |it| Some(it.held?.flows.into())),
];

const RESEQUENCER_COUNTERS: [ResequencerCounter; 6] = [
    ("edge_resequencer_forwarded_packets", "Packets forwarded at once", |it| it.forwarded),
    ("edge_resequencer_held_packets", "Packets that were held", |it| it.held),
    ("edge_resequencer_unknown_packets", "Packets of flows without room to be known", |it| it.unknown),
    ("edge_resequencer_stray_packets", "Packets too far from the expected number", |it| it.stray),
    ("edge_resequencer_old_packets", "Retransmissions and duplicates", |it| it.old),
    ("edge_resequencer_spurious_packets", "Packets that arrived after their gap was given up", |it| {
        it.spurious
    }),
];

const CAUSES: [Cause; 6] = [
    ("filled", |it| it.gaps_filled),
    ("passed", |it| it.gaps_passed),
    ("timed_out", |it| it.gaps_timed_out),
    ("over_threshold", |it| it.gaps_over_threshold),
    ("overflowed", |it| it.gaps_overflowed),
    ("ended", |it| it.gaps_ended),
];

const GAPS: (&str, &str) = ("edge_resequencer_gaps", "Gaps, by how they ended");
const HOLD_TIME: (&str, &str) = ("edge_resequencer_hold_time_seconds", "Time for which packets were held");
const PATH_LABELS: [&str; 4] = ["edge", "to", "group", "path"];
const RESEQUENCER_LABELS: [&str; 3] = ["edge", "from", "group"];
const CAUSE: &str = "cause";

pub(super) fn families() -> impl Iterator<Item = MetricFamily> {
    let paths = PATH_GAUGES.into_iter().map(|(name, help, _)| MetricFamily::gauge(name, help, &PATH_LABELS));
    let paths = paths.chain(
        PATH_COUNTERS.into_iter().map(|(name, help, _)| MetricFamily::counter(name, help, &PATH_LABELS)),
    );
    let of = &RESEQUENCER_LABELS;
    let gauges = RESEQUENCER_GAUGES.into_iter().map(|(name, help, _)| MetricFamily::gauge(name, help, of));
    let counters =
        RESEQUENCER_COUNTERS.into_iter().map(|(name, help, _)| MetricFamily::counter(name, help, of));
    let [edge, from, group] = RESEQUENCER_LABELS;
    let gaps = MetricFamily::counter(GAPS.0, GAPS.1, &[edge, from, group, CAUSE]);
    let hold_time = MetricFamily::histogram(HOLD_TIME.0, HOLD_TIME.1, of);
    paths.chain(gauges).chain(counters).chain([gaps, hold_time])
}

impl Edges {
    pub(super) fn take(edges: &Table<EdgeView>) -> Self {
        let (mut paths, mut resequencers) = (Vec::new(), Vec::new());
        for edge in edges.items().map(|edge| &edge.value) {
            paths.extend(paths_of(edge));
            resequencers.extend(edge.resequencers.iter().cloned().map(|resequencer| {
                let [edge, from] = [edge.dpid, resequencer.from].map(|it| it.to_string());
                let labels = with_values(RESEQUENCER_LABELS, [edge, from, resequencer.group.to_string()]);
                (labels, resequencer)
            }));
        }
        paths.truncate(MAX_ITEMS);
        resequencers.truncate(MAX_ITEMS);
        Self { paths, resequencers }
    }

    fn encode_paths(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
        for (name, help, value) in PATH_GAUGES {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for (labels, path) in &self.paths {
                let Some(value) = value(path) else { continue };
                ConstGauge::new(value).encode(metric.encode_family(labels)?)?;
            }
        }
        for (name, help, value) in PATH_COUNTERS {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for (labels, path) in self.paths.iter().filter(|(_, path)| path.read_at.is_some()) {
                ConstCounter::new(value(path)).encode(metric.encode_family(labels)?)?;
            }
        }
        Ok(())
    }

    fn encode_resequencers(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
        for (name, help, value) in RESEQUENCER_GAUGES {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for (labels, resequencer) in &self.resequencers {
                let Some(value) = value(resequencer) else { continue };
                ConstGauge::new(value).encode(metric.encode_family(labels)?)?;
            }
        }
        for (name, help, value) in RESEQUENCER_COUNTERS {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for (labels, counts) in self.counters() {
                ConstCounter::new(value(counts)).encode(metric.encode_family(labels)?)?;
            }
        }
        Ok(())
    }

    fn encode_gaps(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
        let mut metric = encoder.encode_descriptor(GAPS.0, GAPS.1, None, MetricType::Counter)?;
        for (labels, counts) in self.counters() {
            for (cause, value) in CAUSES {
                let [edge, from, group] = labels.clone();
                let labels = [edge, from, group, (CAUSE, cause.to_owned())];
                ConstCounter::new(value(counts)).encode(metric.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }

    fn encode_hold_times(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
        let mut metric = encoder.encode_descriptor(HOLD_TIME.0, HOLD_TIME.1, None, MetricType::Histogram)?;
        for (labels, resequencer) in
            self.resequencers.iter().filter(|(_, resequencer)| resequencer.read_at.is_some())
        {
            let buckets = buckets(resequencer);
            let mut family = metric.encode_family(labels)?;
            family.encode_histogram::<NoLabelSet>(
                resequencer.hold_time_s,
                resequencer.hold_histogram.total(),
                &buckets,
                None,
            )?;
        }
        Ok(())
    }

    fn counters(&self) -> impl Iterator<Item = (&ResequencerLabels, &ResequencerCounts)> {
        self.resequencers
            .iter()
            .filter_map(|(labels, resequencer)| Some((labels, resequencer.counters.as_ref()?)))
    }
}

impl Collector for Edges {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        self.encode_paths(&mut encoder)?;
        self.encode_resequencers(&mut encoder)?;
        self.encode_gaps(&mut encoder)?;
        self.encode_hold_times(&mut encoder)
    }
}

fn paths_of(edge: &EdgeView) -> Vec<(PathLabels, EdgePathView)> {
    let labels = |to: &dyn std::fmt::Display, group: u32, path: &EdgePathView| {
        let ports: Vec<_> = path.ports.iter().map(ToString::to_string).collect();
        let (edge, to, group) = (edge.dpid.to_string(), to.to_string(), group.to_string());
        with_values(PATH_LABELS, [edge, to, group, ports.join(" ")])
    };
    let paths = edge.spray_groups.iter().flat_map(|spray| spray.paths.iter().map(move |path| (spray, path)));
    paths.map(|(spray, path)| (labels(&spray.to, spray.group, path), path.clone())).collect()
}

/// Packets held no longer than each bound, less those of the bounds before.
fn buckets(resequencer: &ResequencerView) -> Vec<(f64, u64)> {
    let bounds = BOUNDS.map(|power| Duration::from_micros(1 << power));
    let mut before = 0;
    let mut buckets: Vec<_> = bounds
        .into_iter()
        .map(|bound| {
            let below = resequencer.hold_histogram.below(bound);
            (bound.as_secs_f64(), below - std::mem::replace(&mut before, below))
        })
        .collect();
    buckets.push((f64::MAX, resequencer.hold_histogram.total() - before));
    buckets
}
