//! A switch with four ports and one controller, in virtual time.

use std::net::IpAddr;

use braid_edge_protocol::extension::Extension;
use braid_openflow::{
    Action, Bucket, FlowMod, GroupId, GroupMod, GroupModCommand, GroupType, Instruction, List, Match,
    Message, OxmField, TableId, Xid, frames,
};
use braid_packet::{TcpFlags, build};
use braid_switch::{ConnectionId, Identity, Packet, PortDescription, Switch};
use braid_types::{DatapathId, FiveTuple, MacAddr, PortNo, Time};

pub(crate) const NOW: Time = Time::from_millis(5);
pub(crate) const CONTROLLER: ConnectionId = ConnectionId(1);

/// A switch with the ports 1 to 4 and one controller.
pub(crate) struct Bench {
    pub(crate) switch: Switch,
    pub(crate) now: Time,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let identity = Identity { dpid: DatapathId(7), name: "edge".into(), version: "0".into(), seed: 1 };
        let mut bench = Self { switch: Switch::new(identity), now: NOW };
        (1..=4).for_each(|number| bench.port(number, true));
        bench.switch.handle_timeout(NOW);
        bench.switch.connect(CONTROLLER);
        bench.heard();
        bench
    }

    pub(crate) fn port(&mut self, number: u32, up: bool) {
        self.switch.set_port(self.now, PortNo(number), description(number, up));
    }

    /// Nothing longer than `mtu` bytes from the IP header on leaves by a port.
    pub(crate) fn limit(&mut self, number: u32, mtu: u32) {
        let description = PortDescription { mtu, ..description(number, true) };
        self.switch.set_port(self.now, PortNo(number), description);
    }

    /// Says something, and gives the answers as JSON, which needs no bytes to borrow from.
    pub(crate) fn say(&mut self, message: &Message<'_>) -> Vec<serde_json::Value> {
        let mut bytes = Vec::new();
        message.encode(Xid(9), &mut bytes).unwrap();
        self.switch.handle_message(self.now, CONTROLLER, &bytes);
        self.heard()
    }

    /// Says something that is done without an answer.
    pub(crate) fn tell(&mut self, message: &Message<'_>) {
        assert_eq!(self.say(message), Vec::<serde_json::Value>::new());
    }

    pub(crate) fn heard(&mut self) -> Vec<serde_json::Value> {
        let bytes = std::mem::take(self.switch.poll_bytes(CONTROLLER).unwrap());
        let messages = frames(&bytes).map(|frame| frame.unwrap().decode().unwrap().1);
        messages.map(|message| serde_json::to_value(message).unwrap()).collect()
    }

    pub(crate) fn flow(
        &mut self,
        table: u8,
        priority: u16,
        fields: &[OxmField<'_>],
        todo: &[Instruction<'_>],
    ) {
        self.tell(&Message::FlowMod(FlowMod {
            table_id: TableId(table),
            priority,
            matching: Match::new(fields),
            instructions: List::new(todo),
            ..FlowMod::default()
        }));
    }

    /// All packets of a port, or all, have `actions` done to them.
    pub(crate) fn all_do(&mut self, actions: &[Action<'_>]) {
        self.flow(0, 1, &[], &[Instruction::ApplyActions(List::new(actions))]);
    }

    pub(crate) fn group(&mut self, id: u32, group_type: GroupType, buckets: &[Bucket<'_>]) {
        self.tell(&group_mod(id, group_type, buckets));
    }

    pub(crate) fn extend(&mut self, extension: &Extension) {
        let body = extension.body();
        self.tell(&Message::Experimenter(extension.message(&body)));
    }

    /// What leaves, and by which port, when a frame comes in.
    pub(crate) fn passes(&mut self, port: u32, data: &[u8]) -> Vec<(u32, Vec<u8>)> {
        self.switch.handle_packet(self.now, PortNo(port), Packet::complete(data.to_vec()));
        self.leaves()
    }

    pub(crate) fn leaves(&mut self) -> Vec<(u32, Vec<u8>)> {
        self.switch.poll_packets().map(|(port, packet)| (port.0, packet.data)).collect()
    }

    pub(crate) fn ports(&mut self, port: u32, data: &[u8]) -> Vec<u32> {
        self.passes(port, data).into_iter().map(|(port, _)| port).collect()
    }
}

fn description(number: u32, up: bool) -> PortDescription {
    let mac = MacAddr::from_u64(0x0200_0000_0000 + u64::from(number));
    PortDescription { name: format!("port{number}"), mac, up, kbps: 100_000, ..PortDescription::default() }
}

pub(crate) fn group_mod<'a>(id: u32, group_type: GroupType, buckets: &'a [Bucket<'a>]) -> Message<'a> {
    let (command, buckets) = (GroupModCommand::Add, List::new(buckets));
    Message::GroupMod(GroupMod { command, group_type, group_id: GroupId(id), buckets })
}

pub(crate) const fn output(port: u32) -> Action<'static> {
    Action::output(PortNo(port))
}

pub(crate) fn tuple(src: &str, dst: &str) -> FiveTuple {
    let [src, dst]: [IpAddr; 2] = [src, dst].map(|it| it.parse().unwrap());
    FiveTuple { src, dst, src_port: 40_000, dst_port: 5_201 }
}

/// A frame of TCP with 100 bytes.
pub(crate) fn tcp(src: &str, dst: &str, seq: u32) -> Vec<u8> {
    build::tcp(tuple(src, dst)).flags(TcpFlags::ACK).numbers(seq, 1).payload(&[7; 100]).frame()
}

pub(crate) fn tcp_v4(seq: u32) -> Vec<u8> {
    tcp("10.0.0.1", "10.0.0.2", seq)
}
