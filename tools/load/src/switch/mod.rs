//! One emulated switch: it answers what controllers ask, and keeps just enough to do so.

mod answers;

use std::collections::{BTreeSet, VecDeque};
use std::io::{self, ErrorKind};

use braid_openflow::{
    ControllerRole, Cookie, FlowRemoved, FlowRemovedReason, Hello, List, Match, Message, MessageType,
    MultipartFlags, Port, PortReason, PortState, PortStatus, ReplyBody, RequestBody, Role, Seconds, TableId,
    Xid, frame_length,
};
use braid_tls::{Transport, is_for_later};
use braid_types::{DatapathId, PortNo};

use crate::error::LoadError;
use crate::relay::Relay;
use crate::target::Target;
use answers::{PortCounts, STREAM_TABLE, counted, description, features, port, port_counters, reply};

/// Bytes that one read takes at most.
pub(crate) const CHUNK: usize = 256 << 10;
const FABRIC_TABLE: u8 = 4;
/// The part of a cookie that holds the direction.
const REVERSE: u64 = 1;
/// The type and length of an output action.
const OUTPUT: [u8; 4] = [0, 0, 0, 16];
const LLDP: [u8; 2] = [0x88, 0xcc];
/// Descriptions of rules and ports that fit into one message.
const RULES_A_MESSAGE: usize = 1_000;
const PORTS_A_MESSAGE: usize = 500;

/// The messages that a switch received since the last call.
#[derive(Clone, Copy, Debug, Default)]
pub struct Received {
    /// Rules that it is to have, by table.
    pub rules: [u64; 8],
    /// Packets that go through its tables, and TCP packets that leave by a port of the controller's choice.
    pub packets: u64,
    /// Other packets that leave by a port of the controller's choice, without discovery frames.
    pub direct: u64,
    /// Answers to its echo requests.
    pub echoes: u64,
    /// Changes of rules and groups.
    pub changes: u64,
}

/// One emulated switch.
#[derive(Debug)]
pub struct Switch {
    /// Its datapath id.
    pub dpid: DatapathId,
    pub(crate) stream: Transport,
    ports: Vec<PortNo>,
    /// What each port has carried, in the same order.
    counts: Vec<PortCounts>,
    /// The front of a message that has not arrived as a whole.
    rest: Vec<u8>,
    outbox: Vec<u8>,
    received: Received,
    /// The rules of streams, the oldest first.
    rules: VecDeque<u64>,
    /// What the rules of paths match, which is a label each.
    pub fabric: BTreeSet<Vec<u8>>,
    /// Streams whose first packets enter here.
    pub(crate) opened: Vec<u64>,
    /// Whether the controller has read its ports.
    pub is_up: bool,
    /// How often its counters were read.
    readings: u64,
}

impl Switch {
    /// Opens the connection and says HELLO with the next flush.
    pub(crate) fn connect(to: &Target, dpid: DatapathId, ports: Vec<PortNo>) -> Result<Self, LoadError> {
        let stream = to.connect()?;
        let counts = vec![PortCounts::default(); ports.len()];
        let mut switch = Self {
            dpid,
            stream,
            ports,
            counts,
            rest: Vec::new(),
            outbox: Vec::new(),
            received: Received::default(),
            rules: VecDeque::new(),
            fabric: BTreeSet::new(),
            opened: Vec::new(),
            is_up: false,
            readings: 0,
        };
        switch.say(Xid(0), &Message::Hello(Hello::V1_3));
        Ok(switch)
    }

    pub(crate) fn ports(&self) -> &[PortNo] {
        &self.ports
    }

    /// A frame leaves by the port at this place of [`ports`](Self::ports).
    pub(crate) fn note_sent(&mut self, place: usize, frame: &[u8]) {
        self.counts.get_mut(place).into_iter().for_each(|counts| counts.sent.add(frame));
    }

    /// A frame arrives at a port.
    pub(crate) fn note_received(&mut self, port: PortNo, frame: &[u8]) {
        let place = self.ports.binary_search(&port).ok();
        let counts = place.and_then(|place| self.counts.get_mut(place));
        counts.into_iter().for_each(|counts| counts.received.add(frame));
    }

    /// Has `bytes`, which are whole messages, sent with the next [`flush`](Self::flush).
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.outbox.extend_from_slice(bytes);
    }

    /// As [`send`](Self::send), for messages that `write` appends.
    pub(crate) fn append(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.outbox);
    }

    /// As [`send`](Self::send), for one message.
    pub(crate) fn say(&mut self, xid: Xid, message: &Message<'_>) {
        // What does not fit into a message is not said.
        let start = self.outbox.len();
        if message.encode(xid, &mut self.outbox).is_err() {
            self.outbox.truncate(start);
        }
    }

    /// Says that a rule has matched nothing for too long.
    pub(crate) fn expire(&mut self, cookie: u64) {
        self.forget(cookie);
        let removed = FlowRemoved {
            cookie: Cookie(cookie),
            priority: 50,
            reason: FlowRemovedReason::IdleTimeout,
            table_id: TableId(STREAM_TABLE),
            duration_sec: 60,
            duration_nsec: 0,
            idle_timeout: Seconds(60),
            hard_timeout: Seconds(0),
            packet_count: 1,
            byte_count: 74,
            matching: Match::ANY,
        };
        self.say(Xid(0), &Message::FlowRemoved(removed));
    }

    /// Says that the port has no link any more.
    pub(crate) fn lose_link(&mut self, number: PortNo) {
        let desc = Port { state: PortState::LINK_DOWN, ..port(self.dpid, number) };
        self.say(Xid(0), &Message::PortStatus(PortStatus { reason: PortReason::Modify, desc }));
    }

    /// Bytes that wait to be sent.
    pub(crate) fn waiting(&self) -> usize {
        self.outbox.len()
    }

    /// Sends what is to be sent, as far as the other end reads. Says whether nothing is left.
    pub(crate) fn flush(&mut self) -> io::Result<bool> {
        self.stream.flush()?;
        let mut sent = 0;
        while let Some(rest) = self.outbox.get(sent..).filter(|rest| !rest.is_empty()) {
            match self.stream.write(rest) {
                Ok(written) => sent += written,
                Err(error) if is_for_later(&error) => break,
                Err(error) => return Err(error),
            }
        }
        self.outbox.drain(..sent);
        if self.outbox.is_empty() {
            self.outbox.shrink_to(4 << 10);
        }
        Ok(!self.stream.wants_write(!self.outbox.is_empty()))
    }

    /// The messages received since the last call.
    pub(crate) fn received(&mut self) -> Received {
        std::mem::take(&mut self.received)
    }

    /// Reads the available messages once and handles them. Frames that leave a port go to `relay`. `inbox` has room for
    /// [`CHUNK`] bytes more than the longest message.
    pub(crate) fn read(&mut self, inbox: &mut [u8], relay: &mut Relay) -> io::Result<()> {
        let filled = self.rest.len();
        inbox[..filled].copy_from_slice(&self.rest);
        let read = match self.stream.read(&mut inbox[filled..]) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(read) => read,
            Err(error) if is_for_later(&error) => return Ok(()),
            Err(error) => return Err(error),
        };
        let mut rest = &inbox[..filled + read];
        while let Some(length) = frame_length(rest).map_err(io::Error::other)?.filter(|it| *it <= rest.len())
        {
            let (message, after) = rest.split_at(length);
            self.obey(message, relay)?;
            rest = after;
        }
        self.rest.clear();
        self.rest.extend_from_slice(rest);
        Ok(())
    }

    fn obey(&mut self, message: &[u8], relay: &mut Relay) -> io::Result<()> {
        match message.get(1).copied().map(MessageType::from) {
            Some(MessageType::FlowMod) if message.len() >= 56 => self.obey_flow_mod(message),
            Some(MessageType::GroupMod) => self.received.changes += 1,
            Some(MessageType::PacketOut) if message.get(24..28) == Some(&OUTPUT) && message.len() > 40 => {
                self.obey_packet_out(message, relay);
            }
            _ => self.answer(message)?,
        }
        Ok(())
    }

    /// OpenFlow 1.3.5 §7.3.4.1: the table is at 24, the command at 25, the match at 48.
    fn obey_flow_mod(&mut self, message: &[u8]) {
        const ADD: u8 = 0;
        self.received.changes += 1;
        let cookie = message[8..16].iter().fold(0, |cookie, byte| cookie << 8 | u64::from(*byte));
        let (table, command) = (message[24], message[25]);
        if table == FABRIC_TABLE {
            let length = usize::from(u16::from_be_bytes([message[50], message[51]]));
            let matching = message.get(48..48 + length).unwrap_or_default();
            _ = if command == ADD {
                self.fabric.insert(matching.to_vec())
            } else {
                self.fabric.remove(matching)
            };
        }
        match (table, command) {
            (_, ADD) => {
                self.received.rules[usize::from(table & 7)] += 1;
                if table == STREAM_TABLE && cookie >> 48 & 0xff != 0 {
                    self.rules.push_back(cookie);
                    if cookie & REVERSE == 0 {
                        self.opened.push(cookie);
                    }
                }
            }
            (STREAM_TABLE, _) => self.forget(cookie),
            _ => {}
        }
    }

    fn forget(&mut self, cookie: u64) {
        if let Some(index) = self.rules.iter().position(|known| *known == cookie) {
            self.rules.remove(index);
        }
    }

    /// OpenFlow 1.3.5 §7.3.7: the length of the actions is at 16, and here there is one.
    fn obey_packet_out(&mut self, message: &[u8], relay: &mut Relay) {
        let port = PortNo(u32::from_be_bytes([message[28], message[29], message[30], message[31]]));
        let frame = &message[40..];
        let is_lldp = frame.get(12..14) == Some(&LLDP);
        match port {
            PortNo::TABLE => self.received.packets += 1,
            // Controllers without a pipeline of tables send a packet to its port, or to all.
            _ if is_tcp(frame) => self.received.packets += 1,
            _ if is_lldp => relay.push(port, frame),
            _ => self.received.direct += 1,
        }
    }

    fn answer(&mut self, message: &[u8]) -> io::Result<()> {
        let (xid, message) = Message::decode(message).map_err(io::Error::other)?;
        match message {
            Message::FeaturesRequest => self.say(xid, &Message::FeaturesReply(features(self.dpid))),
            Message::RoleRequest(Role { generation_id, .. }) => {
                let role = Role { role: ControllerRole::Master, generation_id };
                self.say(xid, &Message::RoleReply(role));
            }
            Message::BarrierRequest => self.say(xid, &Message::BarrierReply),
            Message::EchoRequest(echo) => self.say(xid, &Message::EchoReply(echo)),
            Message::EchoReply(_) => self.received.echoes += 1,
            Message::MultipartRequest(request) => self.describe(xid, &request.body),
            // A packet with other actions than one output.
            Message::PacketOut(_) => self.received.direct += 1,
            _ => {}
        }
        Ok(())
    }

    fn describe(&mut self, xid: Xid, what: &RequestBody<'_>) {
        match what {
            RequestBody::Desc => self.say(xid, &reply(MultipartFlags::NONE, ReplyBody::Desc(description()))),
            RequestBody::PortDesc => {
                let ports: Vec<_> = self.ports.iter().map(|number| port(self.dpid, *number)).collect();
                self.is_up = true;
                self.say(xid, &reply(MultipartFlags::NONE, ReplyBody::PortDesc(List::new(&ports))));
            }
            RequestBody::GroupDesc => {
                self.say(xid, &reply(MultipartFlags::NONE, ReplyBody::GroupDesc(List::EMPTY)));
            }
            RequestBody::Port(_) => self.count_ports(xid),
            RequestBody::Flow(_) => self.describe_rules(xid),
            _ => {}
        }
    }

    fn count_ports(&mut self, xid: Xid) {
        self.readings += 1;
        let seconds = self.readings as u32;
        let ports = self.ports.iter().zip(&self.counts);
        let all: Vec<_> = ports.map(|(port, counts)| port_counters(*port, counts, seconds)).collect();
        let mut rest = all.as_slice();
        loop {
            let (some, after) = rest.split_at(rest.len().min(PORTS_A_MESSAGE));
            let flags = if after.is_empty() { MultipartFlags::NONE } else { MultipartFlags::MORE };
            self.say(xid, &reply(flags, ReplyBody::Port(List::new(some))));
            if after.is_empty() {
                return;
            }
            rest = after;
        }
    }

    fn describe_rules(&mut self, xid: Xid) {
        self.readings += 1;
        let all: Vec<_> = self.rules.iter().map(|cookie| counted(*cookie, self.readings)).collect();
        for some in all.chunks(RULES_A_MESSAGE) {
            self.say(xid, &reply(MultipartFlags::MORE, ReplyBody::Flow(List::new(some))));
        }
        self.say(xid, &reply(MultipartFlags::NONE, ReplyBody::Flow(List::EMPTY)));
    }
}

/// Whether an Ethernet frame has TCP right behind the header of IPv4 (RFC 791 §3.1) or IPv6 (RFC 8200 §3).
fn is_tcp(frame: &[u8]) -> bool {
    const TCP: u8 = 6;
    match frame.get(12..14) {
        Some([0x08, 0x00]) => frame.get(23) == Some(&TCP),
        Some([0x86, 0xdd]) => frame.get(20) == Some(&TCP),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packets::{Host, announcement, ipv4, ipv6, syn};

    #[test]
    fn tcp_is_told_from_other_frames() {
        let host = |ip| Host { mac: braid_types::MacAddr::from_u64(1), ip, port: PortNo(1) };
        for ip in [ipv4(1), ipv6(1)] {
            assert!(is_tcp(&syn(host(ip), host(ip), (1, 2), &[])));
            assert!(!is_tcp(&announcement(host(ip), host(ip))));
        }
        assert!(!is_tcp(&[]));
    }
}
