//! Gauges and counters of each link, which is labelled by its ports.

use std::fmt::Error;
use std::time::Duration;

use braid_control::view::LinkView;
use braid_types::Time;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

use super::metric_families::{MetricFamily, with_values};
use super::replica::Table;

/// What is known of the first links at one moment. Others have no metrics of their own.
#[derive(Debug)]
pub(super) struct Links {
    now: Time,
    links: Vec<(Labels, LinkView)>,
}

type Labels = [(&'static str, String); 2];
type Gauge = (&'static str, &'static str, fn(&LinkView) -> Option<f64>);
type Counter = (&'static str, &'static str, fn(&LinkView) -> u64);
type Reading = (&'static str, fn(&LinkView) -> Option<Time>);

const GAUGES: [Gauge; 6] = [
    ("link_latency_seconds", "Delay of a link without queues", |link| Some(link.delay_us?.base / 1e6)),
    ("link_current_latency_seconds", "Current delay of a link", |link| Some(link.delay_us?.current / 1e6)),
    ("link_capacity_bytes_per_second", "Capacity of a link", |link| Some(link.capacity_bps as f64 / 8.0)),
    ("link_load_bytes_per_second", "Load of a link, smoothed", |link| Some(link.load_bps? as f64 / 8.0)),
    ("link_loss_ratio", "Share of packets that do not arrive", |link| link.loss),
    ("link_degraded", "1 while a link is avoided because it loses frames, else 0", |link| {
        Some(f64::from(u8::from(link.degraded.is_some())))
    }),
];

const COUNTERS: [Counter; 4] = [
    ("link_transmitted_bytes", "Bytes of frames that left the sending port", |link| link.counters.bytes),
    ("link_transmitted_packets", "Packets that left the sending port", |link| link.counters.packets),
    ("link_dropped_packets", "Packets dropped at a port of the link", |link| link.counters.dropped),
    ("link_errors", "Packets with errors at a port of the link", |link| link.counters.errors),
];

const READINGS: [Reading; 3] =
    [("latency", |link| link.delay_at), ("load", |link| link.load_at), ("loss", |link| link.loss_at)];

const AGE: (&str, &str) = ("link_reading_age_seconds", "Time since a reading of a link was taken");
const LABELS: [&str; 2] = ["src", "dst"];
const READING: &str = "reading";

pub(super) fn families() -> impl Iterator<Item = MetricFamily> {
    let gauges = GAUGES.into_iter().map(|(name, help, _)| MetricFamily::gauge(name, help, &LABELS));
    let counters = COUNTERS.into_iter().map(|(name, help, _)| MetricFamily::counter(name, help, &LABELS));
    let [src, dst] = LABELS;
    gauges.chain(counters).chain([MetricFamily::gauge(AGE.0, AGE.1, &[src, dst, READING])])
}

impl Links {
    pub(super) fn take(links: &Table<LinkView>) -> Self {
        let known = links.items().map(|link| link.value.clone());
        Self { now: links.now, links: known.map(|link| (labels(&link), link)).collect() }
    }

    fn age(&self, at: Time) -> Duration {
        self.now.since(at)
    }

    fn encode_ages(&self, metric: &mut MetricEncoder<'_>) -> Result<(), Error> {
        for (labels, link) in &self.links {
            for (reading, at) in READINGS {
                let Some(at) = at(link) else { continue };
                let [src, dst] = labels.clone();
                let labels = [src, dst, (READING, reading.to_owned())];
                ConstGauge::new(self.age(at).as_secs_f64()).encode(metric.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }
}

impl Collector for Links {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        for (name, help, value) in GAUGES {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for (labels, link) in &self.links {
                let Some(value) = value(link) else { continue };
                ConstGauge::new(value).encode(metric.encode_family(labels)?)?;
            }
        }
        for (name, help, value) in COUNTERS {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for (labels, link) in &self.links {
                ConstCounter::new(value(link)).encode(metric.encode_family(labels)?)?;
            }
        }
        self.encode_ages(&mut encoder.encode_descriptor(AGE.0, AGE.1, None, MetricType::Gauge)?)
    }
}

fn labels(link: &LinkView) -> Labels {
    with_values(LABELS, [link.src.to_string(), link.dst.to_string()])
}
