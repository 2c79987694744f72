//! Metrics of the cluster that the controller is a member of; none where it is alone.

use std::fmt::Error;

use braid_api::Cluster;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

use super::metric_families::MetricFamily;

/// What this member knows of its cluster.
#[derive(Debug)]
pub(super) struct ClusterMetrics(pub(super) Option<Cluster>);

/// Name, help and value.
type Gauge = (&'static str, &'static str, fn(&Cluster) -> u64);

const GAUGES: [Gauge; 8] = [
    ("cluster_leads", "Whether this controller leads its cluster", |it| {
        u64::from(it.leader.is_some() && it.leader == it.member)
    }),
    ("cluster_term", "The newest term that this controller has seen", |it| it.newest_term),
    ("cluster_store_answers", "Whether the store of the cluster answers", |it| u64::from(it.store_answers)),
    ("cluster_members", "Members of the cluster that this controller knows of", |it| it.members.len() as u64),
    ("cluster_facts", "Facts that this controller tells its standbys, or has of its leader", |it| it.facts),
    ("cluster_switches_reached", "Switches that answer this controller", switches_reached),
    (
        "cluster_switches_relayed",
        "Switches that the leader serves through standbys, at a standby those through it",
        relayed,
    ),
    ("cluster_followers", "Standbys that have what this controller knows, while it leads", followers),
];

const STEPPED_ASIDE: (&str, &str) = (
    "cluster_stepped_aside",
    "How often this controller led and let a standby lead because that one reached more switches",
);

const LAG: (&str, &str) = (
    "cluster_lag_seconds",
    "How long a standby has not confirmed what this controller knows, by its name; at a standby, how long ago its leader said \
     that there is nothing more",
);

pub(super) fn families() -> impl Iterator<Item = MetricFamily> {
    let gauges = GAUGES.into_iter().map(|(name, help, _)| MetricFamily::gauge(name, help, &[]));
    let stepped_aside = MetricFamily::counter(STEPPED_ASIDE.0, STEPPED_ASIDE.1, &[]);
    gauges.chain([stepped_aside, MetricFamily::gauge(LAG.0, LAG.1, &["member"])])
}

fn lags(cluster: &Cluster) -> impl Iterator<Item = (&str, u64)> {
    let of = |member: &braid_api::ClusterMember| member.following.as_ref()?.lag_us;
    cluster.members.iter().filter_map(move |member| Some((member.name.as_str(), of(member)?)))
}

fn followers(cluster: &Cluster) -> u64 {
    if cluster.leader == cluster.member { lags(cluster).count() as u64 } else { 0 }
}

fn switches_reached(cluster: &Cluster) -> u64 {
    let own = cluster.members.iter().find(|it| Some(&it.name) == cluster.member.as_ref());
    own.and_then(|it| it.switches_reached).unwrap_or_default().into()
}

/// All that a member knows of: a leader of its standbys, a standby of itself.
fn relayed(cluster: &Cluster) -> u64 {
    cluster.members.iter().filter_map(|it| it.switches_relayed).map(u64::from).sum()
}

impl Collector for ClusterMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        for (name, help, value) in GAUGES {
            let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            if let Some(cluster) = &self.0 {
                ConstGauge::new(value(cluster)).encode(metric)?;
            }
        }
        let stepped_aside =
            encoder.encode_descriptor(STEPPED_ASIDE.0, STEPPED_ASIDE.1, None, MetricType::Counter)?;
        if let Some(cluster) = &self.0 {
            ConstCounter::new(cluster.stepped_aside).encode(stepped_aside)?;
        }
        let mut lag = encoder.encode_descriptor(LAG.0, LAG.1, None, MetricType::Gauge)?;
        for (member, micros) in self.0.iter().flat_map(lags) {
            ConstGauge::new(micros as f64 / 1e6).encode(lag.encode_family(&[("member", member)])?)?;
        }
        Ok(())
    }
}
