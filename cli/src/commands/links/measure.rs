//! `braid links measure`: the capacity measurement of a link.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Context;
use braid_api::{Link, PortParameters};
use braid_client::Client;
use braid_types::{DatapathId, PortNo, SwitchPort, Time};
use serde_json::json;

use crate::client::{self, answer, format, list};
use crate::exit::{self, Code};
use crate::output;

/// The time that probe trains over the slowest links take.
const MEASUREMENT_TIMEOUT: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(250);

#[derive(clap::Args)]
pub(crate) struct Measure {
    /// The port that the link leaves: FROM in `braid links`, or DPID:PORT
    #[arg(value_name = "FROM")]
    port: String,
    #[command(flatten)]
    client: client::Args,
}

pub(super) fn execute(args: &Measure) -> anyhow::Result<()> {
    let client = args.client.client()?;
    let port = port(&args.port, &list::<Link>(&client)?)?;
    let begun = answer(client.measure(&PortParameters { dpid: port.dpid, port: port.port }))?;
    let measured = wait(&client, port, begun.now)?;
    if args.client.json() {
        let document = json!({ "schema": "braid/v1", "src": port, "measured_capacity_bps": measured });
        output::json(&document)?;
    }
    let Some(bps) = measured else {
        let what = "frames come in all at once, or not at all";
        let text = format!("what the link at {} carries cannot be measured: {what}", format::port(port));
        return Err(exit::error(Code::Failure, text));
    };
    let line = format!("the link at {} carries {}\n", format::port(port), format::rate(bps));
    if args.client.json() { Ok(()) } else { output::text(&line) }
}

/// The sending port of a link by its name, or as DPID:PORT.
fn port(text: &str, links: &[Link]) -> anyhow::Result<SwitchPort> {
    let number = |(dpid, port): (&str, &str)| {
        let (dpid, port): (DatapathId, u32) = (dpid.parse().ok()?, port.parse().ok()?);
        Some(SwitchPort::new(dpid, PortNo(port)))
    };
    let named = links.iter().find(|link| link.src_name == text).map(|link| link.src);
    let port = named.or_else(|| text.rsplit_once(':').and_then(number));
    let unknown = || {
        format!(
            "no link leaves {text:?}: a port is what `braid links` shows in FROM, or DPID:PORT, such as 1:2"
        )
    };
    port.ok_or_else(|| exit::error(Code::Usage, unknown()))
}

/// The result of a measurement that began at this time.
fn wait(client: &Client, port: SwitchPort, began: Time) -> anyhow::Result<Option<u64>> {
    let deadline = Instant::now() + MEASUREMENT_TIMEOUT;
    while Instant::now() < deadline {
        let links = list::<Link>(client)?;
        let link = links.iter().find(|link| link.src == port).context("the link is gone")?;
        if link.measured_capacity_at.is_some_and(|at| at > began) {
            return Ok(link.measured_capacity_bps);
        }
        sleep(POLL_INTERVAL);
    }
    anyhow::bail!("nothing came of the measurement in {} s", MEASUREMENT_TIMEOUT.as_secs())
}
