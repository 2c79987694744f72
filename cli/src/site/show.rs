//! `braid site status`: a table of the paths.

use std::time::Duration;

use braid_site::{Config, PathDocument, StatusDocument, status};

use crate::exit::{self, Code};
use crate::output;
use crate::table::table;

const INTERVAL: Duration = Duration::from_secs(1);
const CLEAR: &str = "\x1b[H\x1b[2J";

pub(super) fn execute(config: &Config, json: bool, watch: bool) -> anyhow::Result<()> {
    loop {
        let document = ask(config)?;
        if json {
            return output::json(&document);
        }
        output::text(&format!("{}{}", if watch { CLEAR } else { "" }, text(&document)))?;
        if !watch {
            return Ok(());
        }
        std::thread::sleep(INTERVAL);
    }
}

fn ask(config: &Config) -> anyhow::Result<StatusDocument> {
    status(&config.status).map_err(|error| {
        let socket = config.status.display();
        exit::error(
            Code::NotFound,
            format!("{socket}: {error}; does `braid site run` run, and as this user?"),
        )
    })
}

fn text(document: &StatusDocument) -> String {
    let rows = document.peers.iter().flat_map(|peer| {
        peer.paths.iter().map(|path| {
            let remote = path.remote.map_or_else(|| "-".to_owned(), |remote| remote.to_string());
            let millis = |micros: Option<u64>| {
                micros.map_or_else(|| "-".to_owned(), |micros| format!("{:.1} ms", micros as f64 / 1e3))
            };
            let loss = path.loss.map_or_else(|| "-".to_owned(), |loss| format!("{:.1} %", 100.0 * loss));
            let share = format!("{:.0} %", 100.0 * path.share);
            [
                peer.name.clone(),
                path.uplink.clone(),
                remote,
                state(path).to_owned(),
                share,
                millis(path.round_trip_us),
                millis(path.queue_us),
                millis(path.up.then_some(path.waiting_us)),
                loss,
                path.mtu.to_string(),
            ]
        })
    });
    let header =
        ["PEER", "UPLINK", "REMOTE", "STATE", "SHARE", "ROUND TRIP", "QUEUE", "WAITING", "LOSS", "MTU"];
    let StatusDocument { device, mtu, reloaded, forged, strange, limited, unknown_keys, .. } = document;
    let file = if *reloaded { "" } else { "The last reload was refused, and the log says why.\n" };
    format!(
        "{}\n{device}: MTU {mtu}; refused: {forged} forged, {strange} strange, {limited} over limits, \
         {unknown_keys} of unknown keys\n{file}",
        table(header, rows)
    )
}

const fn state(path: &PathDocument) -> &'static str {
    match (path.up, path.suspended) {
        (false, _) => "down",
        (true, true) => "suspended",
        (true, false) => "up",
    }
}
