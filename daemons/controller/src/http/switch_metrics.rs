//! Metrics of switches: whether each is connected, and the names of switches and ports.

use std::collections::BTreeMap;
use std::fmt::Error;

use braid_control::NetworkNames;
use braid_types::{DatapathId, SwitchPort};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;

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

impl Collector for Switches {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        let help = "Whether a switch that is configured or has joined is connected";
        let mut metric = encoder.encode_descriptor("switch_up", help, None, MetricType::Gauge)?;
        for (dpid, is_up) in &self.up {
            let labels = [("dpid", dpid.to_string())];
            ConstGauge::new(u64::from(*is_up)).encode(metric.encode_family(&labels)?)?;
        }
        let mut metric =
            encoder.encode_descriptor("switch_info", "Name of a switch", None, MetricType::Gauge)?;
        for (dpid, name) in &self.names {
            let labels = [("dpid", dpid.to_string()), ("name", name.clone())];
            ConstGauge::new(1_u64).encode(metric.encode_family(&labels)?)?;
        }
        let help = "Name of a port of a connected switch";
        let mut metric = encoder.encode_descriptor("port_info", help, None, MetricType::Gauge)?;
        for (at, name) in &self.ports {
            let labels = [("port", at.to_string()), ("dpid", at.dpid.to_string()), ("name", name.clone())];
            ConstGauge::new(1_u64).encode(metric.encode_family(&labels)?)?;
        }
        Ok(())
    }
}
