//! Throughput and latency of new connections between the hosts of each switch, as cbench measures them.
//!
//! Switches are not joined with each other. Once the controller has had time to take their ports for hosts',
//! every host announces itself. Then each first packet of a connection is sent to the controller, which has
//! to send it on.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use braid_types::{MacAddr, PortNo};
use serde::Serialize;

use crate::error::LoadError;
use crate::layout::Layout;
use crate::network::Network;
use crate::packets::{ADMIT, Host, announcement, ipv4, packet_in, syn};
use crate::requests::{Load, Requests};

/// Ports of a switch, with a host each.
const PORTS: u32 = 16;
/// Different connections of each switch.
const CONNECTIONS: usize = 10_000;
/// Switches that addresses of the form 10.x.y.z have room for.
const MAX_SWITCHES: usize = 1 << 19;

/// What to do.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Where the controller listens for switches.
    pub to: SocketAddr,
    /// The number of switches.
    pub switches: usize,
    /// The time before hosts announce themselves.
    pub warm_up: Duration,
    /// For how long requests are sent.
    pub time: Duration,
    /// Requests that each switch has under way.
    pub window: usize,
}

/// What came of throughput.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Throughput {
    /// Switches.
    pub switches: usize,
    /// First packets that were sent.
    pub sent: u64,
    /// Packets that the controller sent on.
    pub answered: u64,
    /// Rules that it installed.
    pub rules: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Packets sent on in a second.
    pub answers_per_second: f64,
}

/// What came of latency.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Latency {
    /// Switches.
    pub switches: usize,
    /// Requests, one after the other.
    pub requests: usize,
    /// Half of the answers took no longer, in seconds.
    pub p50: f64,
    /// 99 of 100 took no longer.
    pub p99: f64,
    /// None took longer.
    pub max: f64,
}

/// Sends as many first packets as are answered.
///
/// # Errors
/// Nobody listens, or the controller does not answer.
pub fn throughput(plan: Plan) -> Result<Throughput, LoadError> {
    let mut network = prepare(plan)?;
    let mut requests = (0..plan.switches).map(|index| (index, requests(index))).collect::<BTreeMap<_, _>>();
    let load = Load { window: plan.window, time: plan.time, most: usize::MAX, streams: 0, rate: None };
    let outcome = network.load(&mut requests, load)?;
    let seconds = outcome.took.as_secs_f64();
    Ok(Throughput {
        switches: plan.switches,
        sent: outcome.sent,
        answered: outcome.packets,
        rules: outcome.rules,
        seconds,
        answers_per_second: outcome.packets as f64 / seconds,
    })
}

/// Sends so many first packets at one switch, each after the answer to the one before.
///
/// # Errors
/// Nobody listens, or the controller does not answer.
pub fn latency(plan: Plan, count: usize) -> Result<Latency, LoadError> {
    let mut network = prepare(plan)?;
    let mut times = network.time(0, &mut requests(0), (count.max(1), 0), 0)?;
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64();
    Ok(Latency { switches: plan.switches, requests: times.len(), p50: at(50), p99: at(99), max: at(100) })
}

fn prepare(plan: Plan) -> Result<Network, LoadError> {
    if !(1..=MAX_SWITCHES).contains(&plan.switches) {
        let why = format!("{} switches: there can be 1 to {MAX_SWITCHES}", plan.switches);
        return Err(LoadError::Impossible(why));
    }
    let ports: Vec<_> = (1..=PORTS).map(PortNo).collect();
    let mut network = Network::connect(plan.to, &Layout::single(plan.switches, &ports))?;
    network.serve_for(plan.warm_up)?;
    for index in 0..plan.switches {
        let announcements = hosts(index).map(|host| packet_in(host.port, ADMIT, &announcement(host, host)));
        network.tell(announcements.map(|message| (index, message)).collect::<Vec<_>>())?;
    }
    Ok(network)
}

/// The hosts at a switch, one at each port.
fn hosts(index: usize) -> impl Iterator<Item = Host> {
    (0..PORTS).map(move |port| {
        let number = index as u32 * PORTS + port + 1;
        let mac = MacAddr::from_u64(0x00aa_0000_0000 | u64::from(number));
        Host { mac, ip: ipv4(number), port: PortNo(port + 1) }
    })
}

/// First packets of connections between hosts of one switch.
fn requests(index: usize) -> Requests {
    let hosts: Vec<_> = hosts(index).collect();
    let message = |number: usize| {
        let (from, to) = (hosts[number % hosts.len()], hosts[(number + 1) % hosts.len()]);
        let ports = (1_024 + (number / hosts.len()) as u16, 5_201);
        packet_in(from.port, ADMIT, &syn(from, to, ports, &[]))
    };
    Requests::new(&(0..CONNECTIONS).map(message).collect::<Vec<_>>())
}
