//! Metrics of certificates: when each ends.

use std::fmt::Error;
use std::time::UNIX_EPOCH;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;

use super::metric_families::MetricFamily;
use crate::openflow_tls::Expiry;

/// The certificates of OpenFlow over TLS.
#[derive(Debug)]
pub(super) struct Certificates(pub(super) Vec<Expiry>);

const NAME: &str = "openflow_certificate_expiry_timestamp_seconds";
const HELP: &str = "When a certificate of OpenFlow over TLS ends";
const HOLDER: &str = "holder";

pub(super) fn family() -> MetricFamily {
    MetricFamily::gauge(NAME, HELP, &[HOLDER])
}

impl Collector for Certificates {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        let mut metric = encoder.encode_descriptor(NAME, HELP, None, MetricType::Gauge)?;
        for Expiry { holder, certificate, .. } in &self.0 {
            let end = certificate.not_after.duration_since(UNIX_EPOCH).unwrap_or_default();
            let labels = [(HOLDER, holder.clone())];
            ConstGauge::new(end.as_secs()).encode(metric.encode_family(&labels)?)?;
        }
        Ok(())
    }
}
