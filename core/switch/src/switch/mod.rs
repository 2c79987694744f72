//! The switch. One file a concern: packets through tables and groups, flows, groups, ports, statistics, connections.

mod connections;
mod flows;
mod groups;
mod journey;
mod multipart;
mod pipeline;
mod ports;
mod probes;
mod reports;
mod requests;
mod too_long;
mod tunnels;

use std::collections::BTreeMap;
use std::time::Duration;

use braid_openflow::GroupId;
use braid_types::{DatapathId, PortNo, Time};

use crate::group::Group;
use crate::packet::Packet;
use crate::port::SwitchPort;
use crate::table::Table;
use crate::tally::Tallies;
pub use connections::ConnectionId;
use connections::Connections;
pub(crate) use probes::Probing;

/// How many tables there are.
const TABLES: u8 = 8;
/// Most flows of a table.
const FLOWS: usize = 1 << 16;
/// Most groups.
const GROUPS: usize = 1 << 12;
/// How exactly flows time out.
const TICK: Duration = Duration::from_millis(500);

/// What the switch says of itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// Its datapath id.
    pub dpid: DatapathId,
    /// A name for people, of at most 255 bytes.
    pub name: String,
    /// Its version, of at most 255 bytes.
    pub version: String,
    /// Keeps strangers from choosing which flows share a place in tables; anything unpredictable.
    pub seed: u64,
}

/// An OpenFlow 1.3 switch. Performs no I/O.
///
/// After any `handle_*`, drain [`Self::poll_packets`] and [`Self::poll_bytes`], then ask [`Self::poll_timeout`].
#[derive(Debug)]
pub struct Switch {
    identity: Identity,
    ports: BTreeMap<PortNo, SwitchPort>,
    tables: Vec<Table>,
    groups: BTreeMap<GroupId, Group>,
    connections: Connections,
    sent: Vec<(PortNo, Packet)>,
    /// What left by paths that this edge probes, and what came by those that others do.
    left: Tallies,
    came: Tallies,
    next_tick: Time,
}

impl Switch {
    /// One without ports, flows and groups; it drops everything.
    pub fn new(identity: Identity) -> Self {
        Self {
            identity,
            ports: BTreeMap::new(),
            tables: (0..TABLES).map(|_| Table::default()).collect(),
            groups: BTreeMap::new(),
            connections: Connections::default(),
            sent: Vec::new(),
            left: Tallies::default(),
            came: Tallies::default(),
            next_tick: Time::ZERO,
        }
    }

    /// The frames that are to be sent, and by which ports, in order.
    pub fn poll_packets(&mut self) -> std::vec::Drain<'_, (PortNo, Packet)> {
        self.sent.drain(..)
    }

    /// When to call [`Self::handle_timeout`].
    pub fn poll_timeout(&self) -> Time {
        let orders = self.groups.values().filter_map(|group| group.order.as_ref()?.buffer.poll_timeout());
        orders.chain(self.next_probe()).fold(self.next_tick, Time::min)
    }

    /// Lets go what has waited long enough, and ends flows whose time is over.
    pub fn handle_timeout(&mut self, now: Time) {
        self.release_in_time(now);
        self.send_probes(now);
        if self.next_tick <= now {
            self.next_tick = now + TICK;
            self.expire(now);
        }
    }
}
