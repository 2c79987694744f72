//! Metrics of certificates: when each ends.

use std::fmt::Error;
use std::time::UNIX_EPOCH;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;

use crate::openflow_tls::Expiry;

/// The certificates of OpenFlow over TLS.
#[derive(Debug)]
pub(super) struct Certificates(pub(super) Vec<Expiry>);

impl Collector for Certificates {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        let (name, help) =
            ("openflow_certificate_expiry_timestamp_seconds", "When a certificate of OpenFlow over TLS ends");
        let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for Expiry { holder, certificate, .. } in &self.0 {
            let end = certificate.not_after.duration_since(UNIX_EPOCH).unwrap_or_default();
            let labels = [("holder", holder.clone())];
            ConstGauge::new(end.as_secs()).encode(metric.encode_family(&labels)?)?;
        }
        Ok(())
    }
}
