//! Metrics of certificates: when each ends.

use std::fmt::Error;
use std::time::UNIX_EPOCH;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;

use super::metric_families::MetricFamily;
use crate::certificate_expiry::Expiry;

/// The certificates of OpenFlow over TLS, and those by which members of a cluster know each other.
#[derive(Debug)]
pub(super) struct Certificates {
    pub(super) openflow: Vec<Expiry>,
    pub(super) cluster: Vec<Expiry>,
}

const OPENFLOW: (&str, &str) =
    ("openflow_certificate_expiry_timestamp_seconds", "When a certificate of OpenFlow over TLS ends");
const CLUSTER: (&str, &str) =
    ("cluster_certificate_expiry_timestamp_seconds", "When a certificate for the members of a cluster ends");
const HOLDER: &str = "holder";

pub(super) fn families() -> impl Iterator<Item = MetricFamily> {
    [OPENFLOW, CLUSTER].into_iter().map(|(name, help)| MetricFamily::gauge(name, help, &[HOLDER]))
}

impl Collector for Certificates {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        for ((name, help), certificates) in [(OPENFLOW, &self.openflow), (CLUSTER, &self.cluster)] {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for Expiry { holder, certificate, .. } in certificates {
                let end = certificate.not_after.duration_since(UNIX_EPOCH).unwrap_or_default();
                let labels = [(HOLDER, holder.clone())];
                ConstGauge::new(end.as_secs()).encode(metric.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }
}
