//! The summary at the end of `braid run`: bytes by path.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use braid_announce::Announcer;
use braid_api::Transfer;
use braid_types::FiveTuple;
use serde::Serialize;

use super::Announced;
use crate::client::route::Routes;
use crate::client::{format, list};
use crate::output;
use crate::table::table;

/// Slightly more than the interval at which the controller reads counters.
const COUNTER_INTERVAL: Duration = Duration::from_millis(1_100);

/// The streams and bytes of one path.
#[derive(Default, Serialize)]
struct Carried {
    path: Vec<String>,
    streams: usize,
    bytes_sent: u64,
    bytes_received: u64,
}

/// Prints the bytes of each path to standard error, as the controller counted them.
pub(super) fn print(announcer: &Announcer<Announced>, json: bool) {
    let placed: BTreeSet<&FiveTuple> = announcer.placed().collect();
    if placed.is_empty() {
        return;
    }
    std::thread::sleep(COUNTER_INTERVAL);
    let Ok(transfers) = list::<Transfer>(&announcer.controller().0) else { return };
    let carried = by_path(&transfers, &placed);
    if json {
        output::aside(&format!("{}\n", serde_json::json!({ "schema": "braid/v1", "paths": carried })));
    } else {
        let rows = carried.iter().map(|it| {
            let (sent, received) = (format::bytes(it.bytes_sent), format::bytes(it.bytes_received));
            [it.path.join(" > "), it.streams.to_string(), sent, received]
        });
        output::aside(&table(["PATH", "STREAMS", "SENT", "RECEIVED"], rows));
    }
}

fn by_path(transfers: &[Transfer], placed: &BTreeSet<&FiveTuple>) -> Vec<Carried> {
    let streams = || transfers.iter().flat_map(|it| &it.streams).filter(|it| placed.contains(&it.tuple()));
    let routes = Routes::of(streams());
    let mut paths: BTreeMap<Vec<String>, Carried> = BTreeMap::new();
    for stream in streams() {
        let path = routes.hops(stream);
        let carried = paths.entry(path.clone()).or_default();
        carried.path = path;
        carried.streams += 1;
        carried.bytes_sent += stream.bytes_sent;
        carried.bytes_received += stream.bytes_received;
    }
    paths.into_values().collect()
}
