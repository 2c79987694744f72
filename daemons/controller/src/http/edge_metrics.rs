//! Gauges and counters of what edges spray and put in order, which are labelled by edges and groups.

use std::fmt::Error;
use std::time::Duration;

use braid_control::view::{EdgeOrderCounts, EdgeOrderView, EdgePathState, EdgePathView, EdgeView};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

use super::replica::Table;

/// Paths, and groups that put in order, beyond these have no metrics of their own.
const MAX_ITEMS: usize = 2_048;
/// Times by which waits are counted: powers of two, of microseconds, as classes of them end there.
const BOUNDS: [u64; 11] = [7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 20];

/// What edges told last.
#[derive(Debug)]
pub(super) struct Edges {
    paths: Vec<(PathLabels, EdgePathView)>,
    orders: Vec<(OrderLabels, EdgeOrderView)>,
}

type PathLabels = [(&'static str, String); 4];
type OrderLabels = [(&'static str, String); 3];
type PathGauge = (&'static str, &'static str, fn(&EdgePathView) -> Option<f64>);
type PathCounter = (&'static str, &'static str, fn(&EdgePathView) -> u64);
type OrderGauge = (&'static str, &'static str, fn(&EdgeOrderView) -> Option<f64>);
type OrderCounter = (&'static str, &'static str, fn(&EdgeOrderCounts) -> u64);
type Cause = (&'static str, fn(&EdgeOrderCounts) -> u64);

const PATH_GAUGES: [PathGauge; 6] = [
    ("edge_path_up", "Whether a path answers, and its port is up", |path| {
        let is_up = matches!(path.state?, EdgePathState::Carries | EdgePathState::LeftOut);
        Some(f64::from(u8::from(is_up)))
    }),
    ("edge_path_share_ratio", "Share of all packets that a path is given", |path| path.share),
    ("edge_path_found_bytes_per_second", "What a path carried when it last queued", |path| {
        Some(path.found_bps? as f64 / 8.0)
    }),
    ("edge_path_round_trip_seconds", "How long answers to probes of a path take", |path| {
        Some(path.round_trip_us? / 1e6)
    }),
    ("edge_path_queue_seconds", "How long packets wait in the queues of a path", |path| {
        Some(path.queue_us? / 1e6)
    }),
    ("edge_path_loss_ratio", "Share of the probes of a path that is lost", |path| path.loss),
];

const PATH_COUNTERS: [PathCounter; 2] = [
    ("edge_path_transmitted_bytes", "Bytes of frames that were sprayed over a path", |path| path.bytes),
    ("edge_path_transmitted_packets", "Packets that were sprayed over a path", |path| path.packets),
];

const ORDER_GAUGES: [OrderGauge; 4] = [
    ("edge_held_packets", "Packets that wait to be put in order", |it| Some(it.held?.packets.into())),
    ("edge_held_bytes", "Bytes that wait to be put in order", |it| Some(it.held?.bytes as f64)),
    ("edge_held_limit_bytes", "Bytes that may wait", |it| Some(it.held?.most_bytes as f64)),
    ("edge_held_flows", "Flows that are put in order", |it| Some(it.held?.flows.into())),
];

const ORDER_COUNTERS: [OrderCounter; 6] = [
    ("edge_order_forwarded_packets", "Packets that passed at once", |it| it.forwarded),
    ("edge_order_held_packets", "Packets that had to wait", |it| it.held),
    ("edge_order_unknown_packets", "Packets of flows that there was no room to know", |it| it.unknown),
    ("edge_order_stray_packets", "Packets too far from what was expected", |it| it.stray),
    ("edge_order_old_packets", "Retransmissions and duplicates", |it| it.old),
    ("edge_order_spurious_packets", "Packets that came after their gap was given up", |it| it.spurious),
];

const CAUSES: [Cause; 6] = [
    ("filled", |it| it.gaps_filled),
    ("passed", |it| it.gaps_passed),
    ("timed_out", |it| it.gaps_timed_out),
    ("over_threshold", |it| it.gaps_over_threshold),
    ("overflowed", |it| it.gaps_overflowed),
    ("ended", |it| it.gaps_ended),
];

impl Edges {
    pub(super) fn take(edges: &Table<EdgeView>) -> Self {
        let (mut paths, mut orders) = (Vec::new(), Vec::new());
        for edge in edges.items().map(|edge| &edge.value) {
            paths.extend(paths_of(edge));
            orders.extend(edge.orders.iter().cloned().map(|order| {
                let [edge, from] = [edge.dpid, order.from].map(|it| it.to_string());
                ([("edge", edge), ("from", from), ("group", order.group.to_string())], order)
            }));
        }
        paths.truncate(MAX_ITEMS);
        orders.truncate(MAX_ITEMS);
        Self { paths, orders }
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

    fn encode_orders(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
        for (name, help, value) in ORDER_GAUGES {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for (labels, order) in &self.orders {
                let Some(value) = value(order) else { continue };
                ConstGauge::new(value).encode(metric.encode_family(labels)?)?;
            }
        }
        for (name, help, value) in ORDER_COUNTERS {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for (labels, counts) in self.counted() {
                ConstCounter::new(value(counts)).encode(metric.encode_family(labels)?)?;
            }
        }
        Ok(())
    }

    fn encode_gaps(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
        let (name, help) = ("edge_order_gaps", "Gaps, by how they ended");
        let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (labels, counts) in self.counted() {
            for (cause, value) in CAUSES {
                let [edge, from, group] = labels.clone();
                let labels = [edge, from, group, ("cause", cause.to_owned())];
                ConstCounter::new(value(counts)).encode(metric.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }

    fn encode_waits(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
        let (name, help) = ("edge_waited_seconds", "How long packets had waited that had to");
        let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Histogram)?;
        for (labels, order) in self.orders.iter().filter(|(_, order)| order.read_at.is_some()) {
            let buckets = buckets(order);
            let mut family = metric.encode_family(labels)?;
            family.encode_histogram::<NoLabelSet>(order.waited_s, order.waits.total(), &buckets, None)?;
        }
        Ok(())
    }

    fn counted(&self) -> impl Iterator<Item = (&OrderLabels, &EdgeOrderCounts)> {
        self.orders.iter().filter_map(|(labels, order)| Some((labels, order.counted.as_ref()?)))
    }
}

impl Collector for Edges {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        self.encode_paths(&mut encoder)?;
        self.encode_orders(&mut encoder)?;
        self.encode_gaps(&mut encoder)?;
        self.encode_waits(&mut encoder)
    }
}

fn paths_of(edge: &EdgeView) -> Vec<(PathLabels, EdgePathView)> {
    let labels = |to: &dyn std::fmt::Display, group: u32, path: &EdgePathView| {
        let ports: Vec<_> = path.ports.iter().map(ToString::to_string).collect();
        let (edge, to, group) = (edge.dpid.to_string(), to.to_string(), group.to_string());
        [("edge", edge), ("to", to), ("group", group), ("path", ports.join(" "))]
    };
    let paths = edge.sprays.iter().flat_map(|spray| spray.paths.iter().map(move |path| (spray, path)));
    paths.map(|(spray, path)| (labels(&spray.to, spray.group, path), path.clone())).collect()
}

/// How many waited no longer than each bound, less those of the bounds before.
fn buckets(order: &EdgeOrderView) -> Vec<(f64, u64)> {
    let bounds = BOUNDS.map(|power| Duration::from_micros(1 << power));
    let mut before = 0;
    let mut buckets: Vec<_> = bounds
        .into_iter()
        .map(|bound| {
            let below = order.waits.below(bound);
            (bound.as_secs_f64(), below - std::mem::replace(&mut before, below))
        })
        .collect();
    buckets.push((f64::MAX, order.waits.total() - before));
    buckets
}
