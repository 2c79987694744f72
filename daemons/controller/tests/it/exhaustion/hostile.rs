//! A hostile OpenFlow connection and its messages.

use std::io::Write;
use std::net::Shutdown;
use std::thread;
use std::time::Instant;

use braid_openflow::{
    ControllerRole, Cookie, FlowModFlags, FlowStats, Hello, List, Match, Message, MultipartFlags,
    MultipartReply, Port, PortReason, PortStats, PortStatus, ReplyBody, RequestBody, Role, Seconds, TableId,
    Xid,
};
use braid_types::PortNo;

use crate::process::ControllerProcess;
use crate::support::{Switch, features, port};

/// Descriptions of ports, of 64 bytes, that fit into one message.
pub(super) const PORTS_A_MESSAGE: usize = 1_000;
/// What Braid's cookies begin with.
const OURS: u64 = 0xb7 << 56;
const DPID: u64 = 666;

/// A hostile connection; it goes on until it is closed or its time is over.
pub(super) struct Hostile {
    switch: Switch,
    until: Instant,
    /// By the controller.
    pub(super) is_closed: bool,
}

impl Hostile {
    /// After both HELLOs.
    pub(super) fn greet(controller: &ControllerProcess, until: Instant) -> Self {
        let mut switch = Switch::connect(controller.openflow);
        switch.send(&Message::Hello(Hello::V1_3));
        Self { switch, until, is_closed: false }
    }

    /// With the features and the role of a switch that can be served, and without anything else.
    pub(super) fn announce(controller: &ControllerProcess, until: Instant) -> Self {
        let mut hostile = Self::greet(controller, until);
        hostile.switch.send(&Message::FeaturesReply(features(DPID)));
        let role = Role { role: ControllerRole::Master, generation_id: 0 };
        hostile.switch.send(&Message::RoleReply(role));
        hostile
    }

    /// After a handshake as it should be.
    pub(super) fn join(controller: &ControllerProcess, until: Instant) -> Self {
        Self { switch: Switch::join(controller.openflow, DPID), until, is_closed: false }
    }

    /// The transaction in which the controller asks for this.
    pub(super) fn asked(&mut self, is_wanted: impl Fn(&RequestBody<'_>) -> bool) -> Xid {
        loop {
            let bytes = self.switch.receive().expect("an open channel");
            match Message::decode(&bytes) {
                Ok((xid, Message::MultipartRequest(request))) if is_wanted(&request.body) => return xid,
                _ => {}
            }
        }
    }

    /// Reads whatever comes from now on, and passes over it.
    pub(super) fn drain(&self) {
        let mut stream = self.switch.stream.try_clone().expect("a socket");
        thread::spawn(move || std::io::copy(&mut stream, &mut std::io::sink()));
    }

    /// Says all of this.
    pub(super) fn say_all(&mut self, messages: impl Iterator<Item = Vec<u8>>) {
        for bytes in messages {
            if self.is_closed || Instant::now() >= self.until {
                return;
            }
            self.is_closed = self.switch.stream.write_all(&bytes).is_err();
        }
    }

    /// Says this again and again.
    pub(super) fn repeat(&mut self, bytes: &[u8]) {
        while !self.is_closed && Instant::now() < self.until {
            self.is_closed = self.switch.stream.write_all(bytes).is_err();
        }
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        // Who drains it has it open, too.
        let _ = self.switch.stream.shutdown(Shutdown::Both);
    }
}

pub(super) fn bytes(xid: Xid, message: &Message<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode(xid, &mut bytes).expect("it fits");
    bytes
}

/// A part of an answer after which others follow.
pub(super) fn part(body: ReplyBody<'_>) -> Message<'_> {
    Message::MultipartReply(MultipartReply { flags: MultipartFlags::MORE, body })
}

/// Descriptions of ports from `first` on, after which others follow.
pub(super) fn port_part(xid: Xid, first: u32) -> Vec<u8> {
    let ports: Vec<Port<'_>> = (first..).take(PORTS_A_MESSAGE).map(port).collect();
    bytes(xid, &part(ReplyBody::PortDesc(List::new(&ports))))
}

pub(super) fn port_change(desc: Port<'_>) -> Vec<u8> {
    bytes(Xid(0), &Message::PortStatus(PortStatus { reason: PortReason::Modify, desc }))
}

pub(super) fn port_changes(numbers: impl Iterator<Item = u32>) -> Vec<u8> {
    numbers.flat_map(|number| port_change(port(number))).collect()
}

/// A rule with Braid's mark that is not as Braid writes rules.
pub(super) fn rule(number: u64) -> FlowStats<'static> {
    FlowStats {
        table_id: TableId(1),
        duration_sec: 1,
        duration_nsec: 0,
        priority: 50,
        idle_timeout: Seconds(60),
        hard_timeout: Seconds(0),
        flags: FlowModFlags::SEND_FLOW_REM,
        cookie: Cookie(OURS | number),
        packet_count: 1,
        byte_count: 74,
        matching: Match::ANY,
        instructions: List::EMPTY,
    }
}

pub(super) const PORT_STATS: PortStats = PortStats {
    port_no: PortNo(1),
    rx_packets: 1,
    tx_packets: 1,
    rx_bytes: 1,
    tx_bytes: 1,
    rx_dropped: 0,
    tx_dropped: 0,
    rx_errors: 0,
    tx_errors: 0,
    rx_frame_err: 0,
    rx_over_err: 0,
    rx_crc_err: 0,
    collisions: 0,
    duration_sec: 1,
    duration_nsec: 0,
};
