//! Braid's own JSON for a [`Blueprint`](crate::Blueprint), described in `docs/topologies.md`.

use std::time::Duration;

use braid_types::{BitsPerSec, DatapathId, SwitchPort};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use crate::LinkState;
use crate::blueprint::{self, Blueprint, MAX_HOSTS, MAX_LINKS, MAX_SWITCHES};
use crate::import::at_most;

/// The `schema` of the document.
pub(crate) const SCHEMA: &str = "braid/v1";

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Document {
    #[schemars(extend("const" = SCHEMA))]
    pub(crate) schema: String,
    pub(crate) topology: Topology,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Topology {
    pub(crate) name: String,
    #[serde(deserialize_with = "at_most::<MAX_SWITCHES, _, _>")]
    pub(crate) switches: Vec<Switch>,
    #[serde(deserialize_with = "at_most::<MAX_HOSTS, _, _>")]
    pub(crate) hosts: Vec<Host>,
    #[serde(deserialize_with = "at_most::<MAX_LINKS, _, _>")]
    pub(crate) links: Vec<Link>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Switch {
    pub(crate) name: String,
    pub(crate) dpid: DatapathId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) position: Option<Position>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) group: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Position {
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Host {
    pub(crate) name: String,
    #[serde(deserialize_with = "at_most::<MAX_HOSTS, _, _>")]
    pub(crate) interfaces: Vec<Interface>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Interface {
    pub(crate) at: SwitchPort,
    /// The state of the direction from the host, and of the direction to it.
    pub(crate) states: [State; 2],
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Link {
    pub(crate) ends: [SwitchPort; 2],
    /// The state of the direction from the first end, and of the direction from the second.
    pub(crate) states: [Option<State>; 2],
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct State {
    capacity_bps: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "is_zero")]
    load_bps: u64,
}

/// The JSON schema of a document.
pub fn schema() -> Schema {
    schemars::schema_for!(Document)
}

impl From<LinkState> for State {
    fn from(state: LinkState) -> Self {
        let delay_ns = state.delay.map(|delay| u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX));
        Self { capacity_bps: state.capacity.0, delay_ns, load_bps: state.load.0 }
    }
}

impl From<State> for LinkState {
    fn from(state: State) -> Self {
        let delay = state.delay_ns.map(Duration::from_nanos);
        let load = BitsPerSec(state.load_bps);
        Self { delay, load, ..Self::of_capacity(BitsPerSec(state.capacity_bps)) }
    }
}

pub(crate) fn switch(switch: &blueprint::Switch) -> Switch {
    let position = switch.position.map(|it| Position { latitude: it.latitude(), longitude: it.longitude() });
    Switch { name: switch.name.clone(), dpid: switch.dpid, position, group: switch.group.clone() }
}

pub(crate) fn host(network: &Blueprint, host: &blueprint::Host) -> Host {
    let interface = |it: &blueprint::Interface| Interface {
        at: network.port_at(it.end),
        states: it.states.map(State::from),
    };
    Host { name: host.name.clone(), interfaces: host.interfaces.iter().map(interface).collect() }
}

pub(crate) fn link(network: &Blueprint, link: &blueprint::Link) -> Link {
    Link {
        ends: link.ends.map(|end| network.port_at(end)),
        states: link.states.map(|state| state.map(State::from)),
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
