//! Metrics of the cluster that the controller is a member of; none where it is alone.

use std::fmt::Error;

use braid_api::Cluster;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;

use super::metric_families::MetricFamily;

/// What this member knows of its cluster.
#[derive(Debug)]
pub(super) struct ClusterMetrics(pub(super) Option<Cluster>);

/// Name, help and value.
type Gauge = (&'static str, &'static str, fn(&Cluster) -> u64);

const GAUGES: [Gauge; 4] = [
    ("cluster_leads", "Whether this controller leads its cluster", |it| {
        u64::from(it.leader.is_some() && it.leader == it.member)
    }),
    ("cluster_term", "The newest term that this controller has seen", |it| it.newest_term),
    ("cluster_store_answers", "Whether the store of the cluster answers", |it| u64::from(it.store_answers)),
    ("cluster_members", "Members of the cluster that this controller knows of", |it| it.members.len() as u64),
];

pub(super) fn families() -> impl Iterator<Item = MetricFamily> {
    GAUGES.into_iter().map(|(name, help, _)| MetricFamily::gauge(name, help, &[]))
}

impl Collector for ClusterMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        for (name, help, value) in GAUGES {
            let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            if let Some(cluster) = &self.0 {
                ConstGauge::new(value(cluster)).encode(metric)?;
            }
        }
        Ok(())
    }
}
