//! Metrics of a running site for Prometheus, over HTTP, made from what `braid site status` says.

mod connections;

use std::fmt::Error;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use crate::error::SiteError;
use crate::status::{PathDocument, PeerDocument, StatusDocument, UplinkDocument, status};
use connections::Connections;

const KEPT_FOR: Duration = Duration::from_secs(1);
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Name, help and value.
type Gauge<T> = (&'static str, &'static str, fn(&T) -> Option<f64>);
type Counter<T> = (&'static str, &'static str, fn(&T) -> u64);
type Labels = Vec<(&'static str, String)>;

const SITE_GAUGES: [Gauge<StatusDocument>; 2] = [
    ("site_mtu_bytes", "MTU of the local device", |it| Some(it.mtu as f64)),
    ("site_configuration_last_reload_successful", "Whether the file was used when it was read last", |it| {
        Some(flag(it.reloaded))
    }),
];
const SITE_COUNTERS: [Counter<StatusDocument>; 6] = [
    ("site_forged_datagrams", "Datagrams that were forged, changed or sent before", |it| it.forged),
    ("site_strange_datagrams", "Datagrams of no known protocol or session", |it| it.strange),
    ("site_limited_handshakes", "Beginnings of sessions beyond the limits", |it| it.limited),
    ("site_unknown_key_handshakes", "Handshakes with keys that no peer has", |it| it.unknown_keys),
    ("site_unroutable_packets", "Packets of the local network for no peer's networks", |it| it.unroutable),
    ("site_spoofed_packets", "Packets of peers with senders outside of their networks", |it| it.spoofed),
];
const UPLINK_GAUGES: [Gauge<UplinkDocument>; 1] =
    [("site_uplink_ready", "Whether an uplink is up, with an address", |it| Some(flag(it.ready)))];
const UPLINK_COUNTERS: [Counter<UplinkDocument>; 3] = [
    ("site_uplink_transmitted_datagrams", "Datagrams sent by an uplink", |it| it.sent),
    ("site_uplink_received_datagrams", "Datagrams received by an uplink", |it| it.received),
    ("site_uplink_refused_datagrams", "Datagrams that the kernel did not take", |it| it.refused),
];
const PEER_COUNTERS: [Counter<PeerDocument>; 10] = [
    ("site_peer_transmitted_packets", "Packets sent to a peer", |it| it.sent),
    ("site_peer_received_packets", "Packets received from a peer", |it| it.received),
    ("site_peer_urgent_packets", "Packets sent before those that waited", |it| it.urgent),
    ("site_peer_duplicated_packets", "Packets sent by two paths", |it| it.duplicated),
    ("site_peer_repaired_packets", "Packets sent again, as a path had lost them", |it| it.repaired),
    ("site_peer_parity_packets", "Parity packets sent, for packets that a path loses", |it| it.parity),
    ("site_peer_recovered_packets", "Lost packets that parity packets have given back", |it| it.recovered),
    ("site_peer_split_packets", "Packets sent in two parts", |it| it.split),
    ("site_peer_overflowed_packets", "Packets dropped as too many waited", |it| it.overflowed),
    ("site_peer_pathless_packets", "Packets dropped as no path was up", |it| it.no_path),
];
const PATH_GAUGES: [Gauge<PathDocument>; 8] = [
    ("site_path_up", "Whether a path can be used", |it| Some(flag(it.up))),
    ("site_path_share_ratio", "Share of the packets that a path carries", |it| Some(it.share)),
    ("site_path_round_trip_seconds", "Round-trip time of a path, while there is traffic", |it| {
        Some(seconds(it.round_trip_us?))
    }),
    ("site_path_queue_seconds", "Time that packets wait in the queues of a path", |it| {
        Some(seconds(it.queue_us?))
    }),
    ("site_path_waiting_seconds", "Time that what waits here for a path takes", |it| {
        Some(seconds(it.waiting_us))
    }),
    ("site_path_loss_ratio", "Share of the packets that a path loses, before repairs", |it| it.loss),
    ("site_path_capacity_bytes_per_second", "What a path carries, while more is sent", |it| {
        Some(it.rate_bps? as f64 / 8.0)
    }),
    ("site_path_mtu_bytes", "The longest packet that a path carries whole", |it| Some(it.mtu as f64)),
];
const PATH_COUNTERS: [Counter<PathDocument>; 1] =
    [("site_path_sessions", "Sessions of a path since the start", |it| it.sessions)];

/// Serves the metrics of the site that answers at this socket, on a thread of its own, until the process ends.
pub(crate) fn serve(address: SocketAddr, socket: PathBuf) -> Result<(), SiteError> {
    let refuse = |source| SiteError::Metrics { address, source };
    let listener = TcpListener::bind(address).map_err(refuse)?;
    listener.set_nonblocking(true).map_err(refuse)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(refuse)?;
    let thread = std::thread::Builder::new().name("metrics".to_owned());
    thread.spawn(move || runtime.block_on(answer(listener, socket))).map_err(refuse)?;
    Ok(())
}

async fn answer(listener: TcpListener, socket: PathBuf) {
    let kept = Arc::new(Mutex::new(None));
    let metrics = get(move || {
        let (socket, kept) = (socket.clone(), Arc::clone(&kept));
        // It waits for the loop that passes packets.
        async move {
            let text = tokio::task::spawn_blocking(move || recent(&kept, &socket)).await;
            text.map_or_else(|_| unavailable(""), response)
        }
    });
    let served = match Connections::new(listener) {
        Ok(listener) => axum::serve(listener, Router::new().route("/metrics", metrics)).await,
        Err(error) => Err(error),
    };
    if let Err(error) = served {
        tracing::error!("metrics are served no more: {error}");
    }
}

/// The metrics, or why there are none, and when that was.
type Kept = Mutex<Option<(Instant, Result<String, String>)>>;

/// What is at most a second old: however many ask, the loop that passes packets is asked once.
fn recent(kept: &Kept, socket: &Path) -> Result<String, String> {
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, text)) = kept.as_ref().filter(|(at, _)| at.elapsed() < KEPT_FOR) {
        return text.clone();
    }
    let text = status(socket).map(text_of).map_err(|error| error.to_string());
    *kept = Some((Instant::now(), text.clone()));
    drop(kept);
    text
}

fn response(text: Result<String, String>) -> Response {
    match text {
        Ok(text) => ([(header::CONTENT_TYPE, OPEN_METRICS)], text).into_response(),
        Err(why) => unavailable(&why),
    }
}

fn unavailable(why: &str) -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, format!("the site does not answer: {why}\n")).into_response()
}

/// The metrics as text.
fn text_of(document: StatusDocument) -> String {
    let mut registry = Registry::with_prefix("braid");
    registry.register_collector(Box::new(Site(document)));
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = text::encode(&mut text, &registry);
    text
}

#[derive(Debug)]
struct Site(StatusDocument);

impl Collector for Site {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        let Self(site) = self;
        let sites = [(vec![("device", site.device.clone())], site)];
        let uplinks: Vec<_> =
            site.uplinks.iter().map(|it| (vec![("uplink", it.interface.clone())], it)).collect();
        let peers: Vec<_> = site.peers.iter().map(|it| (vec![("peer", it.name.clone())], it)).collect();
        let paths: Vec<_> = site.peers.iter().flat_map(paths_of).collect();
        gauges(&mut encoder, &SITE_GAUGES, &sites)?;
        counters(&mut encoder, &SITE_COUNTERS, &sites)?;
        gauges(&mut encoder, &UPLINK_GAUGES, &uplinks)?;
        counters(&mut encoder, &UPLINK_COUNTERS, &uplinks)?;
        counters(&mut encoder, &PEER_COUNTERS, &peers)?;
        gauges(&mut encoder, &PATH_GAUGES, &paths)?;
        counters(&mut encoder, &PATH_COUNTERS, &paths)
    }
}

fn paths_of(peer: &PeerDocument) -> impl Iterator<Item = (Labels, &PathDocument)> {
    peer.paths.iter().enumerate().map(|(number, path)| {
        let uplink = path.uplink.clone();
        (vec![("peer", peer.name.clone()), ("path", number.to_string()), ("uplink", uplink)], path)
    })
}

fn gauges<T>(
    encoder: &mut DescriptorEncoder<'_>,
    gauges: &[Gauge<T>],
    items: &[(Labels, &T)],
) -> Result<(), Error> {
    for (name, help, value) in gauges {
        let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (labels, item) in items {
            let Some(value) = value(item) else { continue };
            ConstGauge::new(value).encode(metric.encode_family(labels)?)?;
        }
    }
    Ok(())
}

fn counters<T>(
    encoder: &mut DescriptorEncoder<'_>,
    counters: &[Counter<T>],
    items: &[(Labels, &T)],
) -> Result<(), Error> {
    for (name, help, value) in counters {
        let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (labels, item) in items {
            ConstCounter::new(value(item)).encode(metric.encode_family(labels)?)?;
        }
    }
    Ok(())
}

fn flag(value: bool) -> f64 {
    f64::from(u8::from(value))
}

fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

#[cfg(test)]
mod tests;
