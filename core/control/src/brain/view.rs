//! What the brain knows, in the form in which programs and people see it.

use std::net::IpAddr;

use braid_paths::Snapshot;
use braid_steering::{Stream, StreamId, Transfer, TransferId, TransferKind};
use braid_topology::{Host, Link, Port, Switch};
use braid_types::{DatapathId, FiveTuple, MacAddr, PortNo, SwitchPort, Time};
use serde::Serialize;

use super::{Brain, Role};

/// A switch that is connected.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SwitchView {
    /// Its identity.
    pub dpid: DatapathId,
    /// Its ports, by number.
    pub ports: Vec<PortView>,
}

/// A port of a switch.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PortView {
    /// Its number.
    pub port: PortNo,
    /// Its name in the switch.
    pub name: String,
    /// Whether packets can pass.
    pub up: bool,
    /// What it leads to; none while it is down.
    pub role: Option<Role>,
}

/// One direction of a link between two switches.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LinkView {
    /// The sending end.
    pub src: SwitchPort,
    /// The receiving end.
    pub dst: SwitchPort,
    /// What it can carry, in bits a second.
    pub capacity_bps: u64,
}

/// A host's interface.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct HostView {
    /// Its Ethernet address.
    pub mac: MacAddr,
    /// Where it is attached.
    pub at: SwitchPort,
    /// Its IP addresses.
    pub addresses: Vec<IpAddr>,
    /// When it was last heard, on the controller's clock.
    pub last_seen: Time,
}

/// A transfer in progress.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TransferView {
    /// Its number.
    pub id: TransferId,
    /// How it is carried.
    pub kind: TransferKind,
    /// When its first stream opened, on the controller's clock.
    pub opened_at: Time,
    /// Its streams, in the order in which they opened.
    pub streams: Vec<StreamView>,
}

/// A stream of a transfer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct StreamView {
    /// Its number.
    pub id: StreamId,
    /// The opening host's address.
    pub src: IpAddr,
    /// The answering host's address.
    pub dst: IpAddr,
    /// The opening host's port.
    pub src_port: u16,
    /// The answering host's port.
    pub dst_port: u16,
    /// The switches on its way; empty while it follows the default route.
    pub path: Vec<DatapathId>,
    /// Bytes of frames counted from the opening host.
    pub bytes_sent: u64,
    /// Bytes of frames counted towards the opening host.
    pub bytes_received: u64,
}

impl Brain {
    /// The switches, by datapath id.
    pub fn switches(&self) -> Vec<SwitchView> {
        let switches = self.topology.switches();
        switches.map(|switch| SwitchView { dpid: switch.dpid(), ports: self.ports_of(switch) }).collect()
    }

    /// The links, by sending end.
    pub fn links(&self) -> Vec<LinkView> {
        let links = self.topology.links();
        links
            .map(|(Link { src, dst }, state)| LinkView { src, dst, capacity_bps: state.capacity.0 })
            .collect()
    }

    /// The path sets and the graph behind them, to be read elsewhere while the brain goes on.
    pub fn path_sets(&self) -> Snapshot {
        self.paths.snapshot()
    }

    /// Where the interface with this Ethernet address is attached.
    pub fn place_of(&self, mac: MacAddr) -> Option<SwitchPort> {
        self.topology.host(mac).map(|host| host.at)
    }

    /// Where the interface with this IP address is attached.
    pub fn place_of_address(&self, address: IpAddr) -> Option<SwitchPort> {
        self.topology.host_with_address(address).map(|host| host.at)
    }

    /// The hosts, by Ethernet address.
    pub fn hosts(&self) -> Vec<HostView> {
        let view = |host: &Host| HostView {
            mac: host.mac,
            at: host.at,
            addresses: host.addresses.clone(),
            last_seen: host.last_seen,
        };
        self.topology.hosts().map(view).collect()
    }

    /// The transfers in progress, oldest first.
    pub fn transfers(&self) -> Vec<TransferView> {
        self.streams.transfers().map(|transfer| self.transfer_view(transfer)).collect()
    }

    fn ports_of(&self, switch: &Switch) -> Vec<PortView> {
        let view = |port: &Port| PortView {
            port: port.number,
            name: port.name.clone(),
            up: port.up,
            role: self.ports.role(SwitchPort::new(switch.dpid(), port.number)),
        };
        switch.ports().map(view).collect()
    }

    fn transfer_view(&self, transfer: &Transfer) -> TransferView {
        let streams = transfer.streams.iter().filter_map(|id| self.streams.stream(*id));
        TransferView {
            id: transfer.id,
            kind: transfer.kind,
            opened_at: transfer.opened_at,
            streams: streams.map(stream_view).collect(),
        }
    }
}

fn stream_view(stream: &Stream) -> StreamView {
    let FiveTuple { src, dst, src_port, dst_port } = stream.tuple;
    let [bytes_sent, bytes_received] = stream.bytes;
    let path = stream.route.iter().flat_map(|route| route.forward.switches()).collect();
    StreamView { id: stream.id, src, dst, src_port, dst_port, path, bytes_sent, bytes_received }
}
