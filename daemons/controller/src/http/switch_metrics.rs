//! Metrics of switches: whether each is connected, and the names of switches and ports.

use std::collections::BTreeMap;
use std::fmt::Error;

use braid_control::NetworkNames;
use braid_types::{DatapathId, SwitchPort};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;

use super::metric_families::{MetricFamily, with_values};
use super::replica::Tables;

/// Switches, and ports, beyond these have no metrics of their own.
const MAX_SWITCHES: usize = 8_192;
const MAX_PORTS: usize = 16_384;

/// What is known of switches at one moment.
#[derive(Debug)]
pub(super) struct Switches {
    /// Whether each is connected.
    up: BTreeMap<DatapathId, bool>,
    names: Vec<(DatapathId, String)>,
    ports: Vec<(SwitchPort, String)>,
}

impl Switches {
    pub(super) fn take(tables: &Tables) -> Self {
        let names = &tables.naming.names;
        let mut up: BTreeMap<_, _> = names.known_switches().into_iter().map(|dpid| (dpid, false)).collect();
        up.extend(tables.switches.items().map(|it| (it.value.switch.dpid, true)));
        let named = up.keys().filter_map(|dpid| Some((*dpid, names.switch(*dpid)?.to_owned())));
        let ports = tables.switches.items().flat_map(|it| {
            let switch = &it.value.switch;
            switch.ports.iter().map(|port| SwitchPort::new(switch.dpid, port.port))
        });
        Self {
            names: named.take(MAX_SWITCHES).collect(),
            ports: ports.take(MAX_PORTS).map(|at| (at, names.port_label(at))).collect(),
            up: up.into_iter().take(MAX_SWITCHES).collect(),
        }
    }
}

const UP: (&str, &str) = ("switch_up", "Whether a switch that is configured or has joined is connected");
const INFO: (&str, &str) = ("switch_info", "Name of a switch");
const PORT: (&str, &str) = ("port_info", "Name of a port of a connected switch");
const UP_LABELS: [&str; 1] = ["dpid"];
const INFO_LABELS: [&str; 2] = ["dpid", "name"];
const PORT_LABELS: [&str; 3] = ["port", "dpid", "name"];

pub(super) fn families() -> impl Iterator<Item = MetricFamily> {
    let all = [(UP, &UP_LABELS[..]), (INFO, &INFO_LABELS), (PORT, &PORT_LABELS)];
    all.into_iter().map(|((name, help), labels)| MetricFamily::gauge(name, help, labels))
}

impl Collector for Switches {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        let mut metric = encoder.encode_descriptor(UP.0, UP.1, None, MetricType::Gauge)?;
        for (dpid, is_up) in &self.up {
            let labels = with_values(UP_LABELS, [dpid.to_string()]);
            ConstGauge::new(u64::from(*is_up)).encode(metric.encode_family(&labels)?)?;
        }
        let mut metric = encoder.encode_descriptor(INFO.0, INFO.1, None, MetricType::Gauge)?;
        for (dpid, name) in &self.names {
            let labels = with_values(INFO_LABELS, [dpid.to_string(), name.clone()]);
            ConstGauge::new(1_u64).encode(metric.encode_family(&labels)?)?;
        }
        let mut metric = encoder.encode_descriptor(PORT.0, PORT.1, None, MetricType::Gauge)?;
        for (at, name) in &self.ports {
            let labels = with_values(PORT_LABELS, [at.to_string(), at.dpid.to_string(), name.clone()]);
            ConstGauge::new(1_u64).encode(metric.encode_family(&labels)?)?;
        }
        Ok(())
    }
}
