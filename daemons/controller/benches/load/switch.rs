//! An emulated switch: its OpenFlow connection and counters of messages from the controller.

use std::collections::{BTreeSet, VecDeque};
use std::io::{self, ErrorKind};
use std::net::TcpStream;

use braid_openflow::{
    Capabilities, ControllerRole, Cookie, FlowModFlags, FlowRemoved, FlowRemovedReason, FlowStats, Hello,
    Kbps, List, Match, Message, MessageType, MultipartFlags, MultipartReply, Port, PortConfig, PortFeatures,
    PortState, ReplyBody, RequestBody, Role, Seconds, SwitchFeatures, TableId, Text, Xid, frame_length,
};
use braid_tls::{TlsStream, Transport};
use braid_types::{DatapathId, MacAddr, PortNo};

use crate::process::Process;

const CHUNK: usize = 256 << 10;
/// The table of streams, and the part of a cookie that holds the direction.
const STREAM_TABLE: u8 = 1;
const FABRIC_TABLE: u8 = 4;
const REVERSE: u64 = 1;
const OUTPUT: [u8; 4] = [0, 0, 0, 16];
/// Descriptions of rules that fit into one message.
const RULES_A_MESSAGE: usize = 1_000;

/// The messages that a switch received since the last call.
#[derive(Clone, Copy, Default)]
pub(crate) struct Told {
    /// Rules that it is to have, by table.
    pub(crate) rules: [u64; 8],
    /// Packets that go through its tables.
    pub(crate) packets: u64,
    pub(crate) echoes: u64,
}

pub(crate) struct Switch {
    pub(crate) dpid: DatapathId,
    pub(crate) stream: Transport,
    ports: Vec<PortNo>,
    inbox: Vec<u8>,
    /// Bytes in the inbox: the front of a message that has not arrived as a whole.
    filled: usize,
    outbox: Vec<u8>,
    told: Told,
    /// Frames that leave a port.
    pub(crate) sent: Vec<(PortNo, Vec<u8>)>,
    /// The rules of streams, the oldest first.
    rules: VecDeque<u64>,
    /// What the rules of paths match, which is a label each.
    pub(crate) fabric: BTreeSet<Vec<u8>>,
    /// Streams whose first packets enter here.
    pub(crate) opened: Vec<u64>,
    pub(crate) is_up: bool,
    /// How often its counters were read.
    readings: u64,
}

impl Switch {
    pub(crate) fn connect(to: &Process, dpid: DatapathId, ports: Vec<PortNo>) -> Self {
        let stream = open(to).expect("OpenFlow port");
        let mut switch = Self {
            dpid,
            stream,
            ports,
            inbox: vec![0; CHUNK],
            filled: 0,
            outbox: Vec::new(),
            told: Told::default(),
            sent: Vec::new(),
            rules: VecDeque::new(),
            fabric: BTreeSet::new(),
            opened: Vec::new(),
            is_up: false,
            readings: 0,
        };
        switch.say(Xid(0), &Message::Hello(Hello::V1_3));
        switch
    }

    /// Has `bytes`, which are whole messages, sent with the next [`flush`](Self::flush).
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.outbox.extend_from_slice(bytes);
    }

    pub(crate) fn say(&mut self, xid: Xid, message: &Message<'_>) {
        message.encode(xid, &mut self.outbox).expect("a short message");
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

    /// Sends what is to be sent, as far as the other end reads.
    pub(crate) fn flush(&mut self) {
        self.stream.flush().expect("a connection");
        let mut sent = 0;
        while sent < self.outbox.len() {
            match self.stream.write(&self.outbox[sent..]) {
                Ok(written) => sent += written,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => panic!("switch {}: {error}", self.dpid),
            }
        }
        self.outbox.drain(..sent);
    }

    pub(crate) fn has_more_to_send(&self) -> bool {
        self.stream.wants_write(!self.outbox.is_empty())
    }

    /// The messages received since the last call.
    pub(crate) fn told(&mut self) -> Told {
        std::mem::take(&mut self.told)
    }

    /// Reads once what is there and does it.
    pub(crate) fn read(&mut self) {
        let mut inbox = std::mem::take(&mut self.inbox);
        let read = match self.stream.read(&mut inbox[self.filled..]) {
            Ok(0) => panic!("the controller gives up switch {}", self.dpid),
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            Err(error) => panic!("switch {}: {error}", self.dpid),
        };
        let (end, mut at) = (self.filled + read, 0);
        while let Some(length) = frame_length(&inbox[at..end]).expect("whole messages") {
            self.obey(&inbox[at..at + length]);
            at += length;
        }
        inbox.copy_within(at..end, 0);
        (self.inbox, self.filled) = (inbox, end - at);
    }

    fn obey(&mut self, message: &[u8]) {
        match MessageType::from(message[1]) {
            MessageType::FlowMod => self.obey_flow_mod(message),
            MessageType::PacketOut if message[24..28] == OUTPUT => self.obey_packet_out(message),
            _ => self.answer(message),
        }
    }

    /// OpenFlow 1.3.5 §7.3.4.1: the table is at 24, the command at 25, the match at 48.
    fn obey_flow_mod(&mut self, message: &[u8]) {
        const ADD: u8 = 0;
        let cookie = u64::from_be_bytes(message[8..16].try_into().expect("8 bytes"));
        let (table, command) = (message[24], message[25]);
        if table == FABRIC_TABLE {
            let length = usize::from(u16::from_be_bytes([message[50], message[51]]));
            let matching = &message[48..48 + length];
            _ = if command == ADD {
                self.fabric.insert(matching.to_vec())
            } else {
                self.fabric.remove(matching)
            };
        }
        match (table, command) {
            (_, ADD) => {
                self.told.rules[usize::from(table & 7)] += 1;
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
    fn obey_packet_out(&mut self, message: &[u8]) {
        let port = PortNo(u32::from_be_bytes(message[28..32].try_into().expect("4 bytes")));
        if port == PortNo::TABLE {
            self.told.packets += 1;
        } else {
            self.sent.push((port, message[40..].to_vec()));
        }
    }

    fn answer(&mut self, message: &[u8]) {
        let (xid, message) = Message::decode(message).expect("a valid message");
        match message {
            Message::FeaturesRequest => self.say(xid, &Message::FeaturesReply(features(self.dpid))),
            Message::RoleRequest(Role { generation_id, .. }) => {
                let role = Role { role: ControllerRole::Master, generation_id };
                self.say(xid, &Message::RoleReply(role));
            }
            Message::BarrierRequest => self.say(xid, &Message::BarrierReply),
            Message::EchoRequest(echo) => self.say(xid, &Message::EchoReply(echo)),
            Message::EchoReply(_) => self.told.echoes += 1,
            Message::MultipartRequest(request) => self.describe(xid, &request.body),
            _ => {}
        }
    }

    fn describe(&mut self, xid: Xid, what: &RequestBody<'_>) {
        match what {
            RequestBody::PortDesc => {
                let ports: Vec<_> = self.ports.iter().map(|number| port(*number)).collect();
                self.say(xid, &reply(MultipartFlags::NONE, ReplyBody::PortDesc(List::new(&ports))));
            }
            RequestBody::GroupDesc => {
                self.is_up = true;
                self.say(xid, &reply(MultipartFlags::NONE, ReplyBody::GroupDesc(List::EMPTY)));
            }
            RequestBody::Port(_) => {
                self.say(xid, &reply(MultipartFlags::NONE, ReplyBody::Port(List::EMPTY)));
            }
            RequestBody::Flow(_) => self.describe_rules(xid),
            _ => {}
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

/// A connection that does not block, whose handshake is done.
fn open(to: &Process) -> io::Result<Transport> {
    let stream = TcpStream::connect(to.openflow)?;
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)?;
    let Some(config) = to.tls.clone() else { return Ok(Transport::Plain(stream)) };
    let mut stream = TlsStream::connect(stream, config)?;
    while !stream.handshake()? {
        std::thread::yield_now();
    }
    Ok(Transport::Tls(Box::new(stream)))
}

fn features(datapath_id: DatapathId) -> SwitchFeatures {
    SwitchFeatures {
        datapath_id,
        n_buffers: 0,
        n_tables: 254,
        auxiliary_id: 0,
        capabilities: Capabilities::FLOW_STATS,
        reserved: 0,
    }
}

fn port(number: PortNo) -> Port<'static> {
    Port {
        port_no: number,
        hw_addr: MacAddr::from_u64(0x0600_0000_0000 | u64::from(number.0)),
        name: Text::new("p").expect("a short name"),
        config: PortConfig::NONE,
        state: PortState::LIVE,
        curr: PortFeatures::NONE,
        advertised: PortFeatures::NONE,
        supported: PortFeatures::NONE,
        peer: PortFeatures::NONE,
        curr_speed: Kbps(1_000_000),
        max_speed: Kbps(1_000_000),
    }
}

/// A packet more at each reading.
fn counted(cookie: u64, packets: u64) -> FlowStats<'static> {
    FlowStats {
        table_id: TableId(STREAM_TABLE),
        duration_sec: 1,
        duration_nsec: 0,
        priority: 50,
        idle_timeout: Seconds(60),
        hard_timeout: Seconds(0),
        flags: FlowModFlags::SEND_FLOW_REM,
        cookie: Cookie(cookie),
        packet_count: packets,
        byte_count: packets * 74,
        matching: Match::ANY,
        instructions: List::EMPTY,
    }
}

fn reply(flags: MultipartFlags, body: ReplyBody<'_>) -> Message<'_> {
    Message::MultipartReply(MultipartReply { flags, body })
}
