//! `GET /metrics` in the OpenMetrics text format.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use braid_api::MetricsParameters;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use super::certificate_metrics::Certificates;
use super::cluster;
use super::cluster_metrics::ClusterMetrics;
use super::edge_metrics::Edges;
use super::link_metrics::Links;
use super::metric_families::MetricFamily;
use super::problem::Problem;
use super::process_metrics::{Build, Process};
use super::questions::Questions;
use super::replica::{Replica, Tables};
use super::switch_metrics::Switches;
use crate::cluster::MemberTls;
use crate::openflow_tls::OpenFlowTls;
use crate::state_copy::{List, Lists, Totals};

/// Who has certificates that end.
#[derive(Clone, Debug)]
pub(super) struct CertificateHolders {
    pub(super) openflow: Option<OpenFlowTls>,
    pub(super) cluster: Option<MemberTls>,
}

impl CertificateHolders {
    fn certificates(&self) -> Certificates {
        Certificates {
            openflow: self.openflow.iter().flat_map(OpenFlowTls::expiries).collect(),
            cluster: self.cluster.iter().flat_map(MemberTls::expiries).collect(),
        }
    }
}

/// The totals at one moment.
#[derive(Debug)]
struct Snapshot(Totals);

/// What names of Braid's own metrics begin with.
pub(super) const PREFIX: &str = "braid";

/// Name, help and value.
type Total = (&'static str, &'static str, fn(&Totals) -> u64);

const GAUGES: [Total; 8] = [
    ("switches", "Connected switches", |it| it.sizes.switches),
    ("links", "Directed links between switches", |it| it.sizes.links),
    ("hosts", "Interfaces of hosts", |it| it.sizes.hosts),
    ("transfers", "Transfers in progress", |it| it.sizes.transfers),
    ("streams", "Streams in progress", |it| it.sizes.streams),
    ("labels", "Labels in the switches", |it| it.sizes.labels),
    ("default_paths", "Default paths in the switches", |it| it.sizes.routes),
    (
        "configuration_last_reload_successful",
        "Whether the configuration was read without mistakes last",
        |it| u64::from(!it.reloads.last_failed),
    ),
];

const COUNTERS: [Total; 16] = [
    ("packet_ins", "Packets sent up by switches", |it| it.counters.packet_ins),
    ("syns", "TCP SYNs of hosts among them", |it| it.counters.syns),
    ("join_packet_ins", "SYNs and SYN/ACKs with MP_JOIN among them", |it| it.counters.joins),
    ("join_answers", "SYN/ACKs among these joins", |it| it.counters.join_answers),
    ("advised_joins", "Those among these joins that open advised subflows", |it| it.counters.advised_joins),
    ("unreadable_packets", "Frames among them that could not be read", |it| it.counters.unreadable),
    ("lldp_refused", "Discovery frames that LLDP validation refused", |it| it.counters.lldp_refused),
    ("address_conflicts", "Address conflicts refused because the holder answered", |it| {
        it.counters.claims_refused
    }),
    ("streams_over_limit", "Connections on the default path because their port opened too many", |it| {
        it.counters.streams_over_limit
    }),
    (
        "packets_over_limit",
        "Packets for the controller that were dropped because their port sent too many",
        |it| it.counters.packets_over_limit,
    ),
    ("alarms", "Attacks seen at ports", |it| it.counters.alarms),
    ("links_lost", "Directed links lost, for any reason", |it| it.counters.links_lost),
    ("graph_updates", "Comparisons of paths with the links", |it| it.counters.graph_updates),
    ("packets_shed", "Packets of hosts that an overloaded controller dropped unhandled", |it| it.shed),
    ("openflow_connections_refused", "OpenFlow connections closed because a switch misbehaved", |it| {
        it.refused
    }),
    ("configuration_errors", "Reloads of the configuration that found mistakes", |it| it.reloads.failed),
];

pub(super) fn families() -> impl Iterator<Item = MetricFamily> {
    let gauges = GAUGES.into_iter().map(|(name, help, _)| MetricFamily::gauge(name, help, &[]));
    gauges.chain(COUNTERS.into_iter().map(|(name, help, _)| MetricFamily::counter(name, help, &[])))
}

const TOTALS: Lists = Lists::of(&[List::Totals]);
const LISTS: Lists = Lists::of(&[List::Switches, List::FirstLinks, List::Edges, List::Totals]);
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Metrics in the OpenMetrics format.
#[utoipa::path(
    get, path = "/metrics", params(MetricsParameters),
    responses((status = 200, body = String, content_type = "application/openmetrics-text"))
)]
pub(super) async fn metrics(
    State((replica, holders, questions)): State<(Replica, CertificateHolders, Questions)>,
    part: Result<Query<MetricsParameters>, QueryRejection>,
) -> Result<Response, Response> {
    let Query(MetricsParameters { totals }) = part.map_err(|why| Problem::from(why).into_response())?;
    let only_totals = totals.unwrap_or_default();
    let refreshed = replica.refresh(if only_totals { TOTALS } else { LISTS }).await;
    refreshed.map_err(IntoResponse::into_response)?;
    let cluster = ClusterMetrics(questions.ask(cluster::seen).await?);
    let certificates = holders.certificates();
    let body = replica.read(|tables| encode(tables, (certificates, cluster), only_totals));
    Ok(([(header::CONTENT_TYPE, OPEN_METRICS)], body).into_response())
}

/// Everything, or only the totals, in the OpenMetrics text format.
fn encode(
    tables: &Tables,
    (certificates, cluster): (Certificates, ClusterMetrics),
    only_totals: bool,
) -> String {
    let mut registry = Registry::with_prefix(PREFIX);
    registry.register_collector(Box::new(Snapshot(tables.totals)));
    registry.register_collector(Box::new(cluster));
    registry.register_collector(Box::new(Build));
    if !only_totals {
        registry.register_collector(Box::new(Switches::take(tables)));
        registry.register_collector(Box::new(Links::take(&tables.first_links)));
        registry.register_collector(Box::new(Edges::take(&tables.edges)));
        registry.register_collector(Box::new(certificates));
    }
    let mut process = Registry::default();
    process.register_collector(Box::new(Process::read()));
    let mut body = String::new();
    // Writing to a String does not fail.
    let _ = text::encode_registry(&mut body, &process);
    let _ = text::encode(&mut body, &registry);
    body
}

impl Collector for Snapshot {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        for (name, help, value) in GAUGES {
            let metric = ConstGauge::new(value(&self.0));
            metric.encode(encoder.encode_descriptor(name, help, None, MetricType::Gauge)?)?;
        }
        for (name, help, value) in COUNTERS {
            let metric = ConstCounter::new(value(&self.0));
            metric.encode(encoder.encode_descriptor(name, help, None, MetricType::Counter)?)?;
        }
        Ok(())
    }
}
