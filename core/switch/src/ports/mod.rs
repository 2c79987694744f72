//! Ports of the switch: addition, removal and change, and departing frames.

mod path_counters;
mod port;
mod watch;
mod watches;

use std::collections::BTreeMap;
use std::time::Duration;

use braid_openflow::{
    BadRequestCode, ErrorCode, List, Message, PortConfig, PortMod, PortModFailedCode, PortReason,
    PortReasons, PortStatsRequest, PortStatus, ReplyBody,
};
use braid_types::{MacAddr, PortNo, RateLimit, Time};

use crate::connections::Notification;
use crate::environment::Environment;
use crate::multipart::Replies;
use crate::packets::key;
use crate::packets::probe::put_sent;
use crate::packets::{Packet, PacketContext};
use path_counters::PathCounters;
use port::SwitchPort;
use watch::Watch;

pub use port::{PortCounters, PortDescription};

/// The configuration that controllers may set.
const SETTABLE: PortConfig = PortConfig(
    PortConfig::PORT_DOWN.0 | PortConfig::NO_RECV.0 | PortConfig::NO_FWD.0 | PortConfig::NO_PACKET_IN.0,
);
/// The limit of ICMP messages a second to the hosts behind a port, which is also the burst, so that strangers cannot
/// make the switch send more than it forwards.
const MAX_ICMP_PER_SECOND: u32 = 100;

/// The ports of a switch, and their departing frames.
#[derive(Debug, Default)]
pub(crate) struct Ports {
    all: BTreeMap<PortNo, SwitchPort>,
    sent: Vec<(PortNo, Packet)>,
    /// Packets that left by paths that this edge probes, and that arrived by paths that others probe.
    departures: PathCounters,
    arrivals: PathCounters,
}

/// The reason why a packet does not leave as it is.
pub(crate) struct TooBig {
    /// The greatest number of bytes of an IP packet there.
    pub(crate) mtu: usize,
}

impl Ports {
    /// Adds or changes a port for an interface, and notifies controllers.
    pub(crate) fn set(&mut self, env: &mut Environment<'_>, number: PortNo, description: PortDescription) {
        let known = self.all.get_mut(&number);
        let reason = if known.is_some() { PortReason::Modify } else { PortReason::Add };
        match known {
            Some(port) => {
                let before = std::mem::replace(&mut port.description, description);
                if !port.description.up {
                    port.watch.iter_mut().for_each(Watch::forget);
                }
                if before.is_told_like(&port.description) {
                    return;
                }
            }
            None => {
                let (config, counters) = (PortConfig::NONE, PortCounters::default());
                let (icmp_limit, created) = (RateLimit::default(), env.now);
                let port =
                    SwitchPort { number, description, config, counters, icmp_limit, created, watch: None };
                self.all.insert(number, port);
            }
        }
        self.notify(env, number, reason);
    }

    /// Removes the port of an interface.
    pub(crate) fn remove(&mut self, env: &mut Environment<'_>, number: PortNo) {
        self.notify(env, number, PortReason::Delete);
        self.all.remove(&number);
    }

    pub(crate) fn handle_port_mod(
        &mut self,
        env: &mut Environment<'_>,
        port_mod: &PortMod,
    ) -> Result<(), ErrorCode> {
        let failed = |code| Err(ErrorCode::PortModFailed(code));
        let Some(port) = self.all.get_mut(&port_mod.port_no) else {
            return failed(PortModFailedCode::BadPort);
        };
        if port.description.mac != port_mod.hw_addr {
            return failed(PortModFailedCode::BadHwAddr);
        }
        if !SETTABLE.contains(port_mod.mask) {
            return failed(PortModFailedCode::BadConfig);
        }
        let config = PortConfig(port.config.0 & !port_mod.mask.0 | port_mod.config.0 & port_mod.mask.0);
        if std::mem::replace(&mut port.config, config) != config {
            self.notify(env, port_mod.port_no, PortReason::Modify);
        }
        Ok(())
    }

    fn notify(&self, env: &mut Environment<'_>, number: PortNo, reason: PortReason) {
        let Some(port) = self.all.get(&number) else { return };
        let bit = match reason {
            PortReason::Add => PortReasons::ADD,
            PortReason::Delete => PortReasons::DELETE,
            _ => PortReasons::MODIFY,
        };
        let message = Message::PortStatus(PortStatus { reason, desc: port.describe() });
        env.controllers.notify(&Notification::PortStatus(bit), &message);
    }

    pub(crate) fn contains(&self, number: PortNo) -> bool {
        self.all.contains_key(&number)
    }

    /// Whether groups may use a port.
    pub(crate) fn is_live(&self, number: PortNo) -> bool {
        self.all.get(&number).is_some_and(SwitchPort::is_live)
    }

    /// Whether controllers accept packet-ins of a port.
    pub(crate) fn allows_packet_in(&self, number: PortNo) -> bool {
        self.all.get(&number).is_none_or(|it| !it.config.contains(PortConfig::NO_PACKET_IN))
    }

    /// The greatest length of a packet that leaves by a port, with its IP header at `network`; `None` without a limit.
    pub(crate) fn mtu(&self, number: PortNo, network: usize) -> Option<usize> {
        self.all.get(&number)?.mtu(network, false)
    }

    /// The ports by which a flooded packet leaves.
    pub(crate) fn others(&self, in_port: PortNo) -> Vec<PortNo> {
        self.all.keys().copied().filter(|it| *it != in_port).collect()
    }

    pub(crate) fn poll_packets(&mut self) -> std::vec::Drain<'_, (PortNo, Packet)> {
        self.sent.drain(..)
    }
}

/// Frames that arrive and leave.
impl Ports {
    /// Counts a frame that arrived at a port; returns whether the port accepts it.
    pub(crate) fn receive(&mut self, in_port: PortNo, packet: &Packet) -> bool {
        let Some(port) = self.all.get_mut(&in_port) else { return false };
        port.counters.rx_packets += 1;
        port.counters.rx_bytes += packet.data.len() as u64;
        let is_closed =
            port.config.contains(PortConfig::NO_RECV) || port.config.contains(PortConfig::PORT_DOWN);
        port.counters.rx_dropped += u64::from(is_closed);
        !is_closed
    }

    /// Counts a frame that is no probe for its path.
    pub(crate) fn count_arrival(&mut self, in_port: PortNo, packet: &Packet) {
        self.arrivals.count(in_port, packet);
    }

    /// The number of packets that arrived by a path before its present probe; `None` if they are not counted.
    pub(crate) fn arrivals_before_probe(
        &mut self,
        now: Time,
        in_port: PortNo,
        label: MacAddr,
    ) -> Option<u32> {
        self.arrivals.probed(now, in_port, label)
    }

    /// Sends a packet by a port, unless the port is down or the packet too big.
    pub(crate) fn send(
        &mut self,
        now: Time,
        number: PortNo,
        context: &mut PacketContext,
    ) -> Result<(), TooBig> {
        let Some(port) = self.all.get_mut(&number) else { return Ok(()) };
        if !port.is_open() || port.config.contains(PortConfig::NO_FWD) {
            port.counters.tx_dropped += 1;
            return Ok(());
        }
        let is_segment = context.layout.segment.is_some();
        let mtu = context.layout.network.and_then(|network| port.mtu(network, is_segment));
        if let Some(mtu) = mtu.filter(|mtu| context.length() > *mtu) {
            return Err(TooBig { mtu });
        }
        port.counters.count_sent(context.bytes());
        let mut packet = context.take_packet();
        if context.is_probe {
            let label = MacAddr::from_u64(context.key.get(key::ETH_DST));
            put_sent(&mut packet.data, self.departures.probed(now, number, label));
        } else if !context.is_answer {
            self.departures.count(number, &packet);
        }
        self.sent.push((number, packet));
        Ok(())
    }

    /// Sends the fragments of a packet too big for a port.
    pub(crate) fn send_fragments(&mut self, number: PortNo, fragments: Vec<Packet>) {
        let Some(port) = self.all.get_mut(&number) else { return };
        for fragment in fragments {
            port.counters.count_sent(fragment.data.len() as u64);
            self.departures.count(number, &fragment);
            self.sent.push((number, fragment));
        }
    }

    /// Counts a packet that was dropped as too big.
    pub(crate) fn count_dropped(&mut self, number: PortNo) {
        if let Some(port) = self.all.get_mut(&number) {
            port.counters.tx_dropped += 1;
        }
    }

    /// Whether ICMP may be sent to the hosts behind this port about too big packets: within the rate limit, and not
    /// through a tunnel.
    pub(crate) fn admit_icmp(&mut self, now: Time, number: PortNo) -> bool {
        let Some(port) = self.all.get_mut(&number) else { return false };
        let is_open = port.is_open() && !port.config.contains(PortConfig::NO_FWD);
        !port.description.is_tunnel
            && is_open
            && port.icmp_limit.take(now, MAX_ICMP_PER_SECOND, Duration::from_secs(1))
    }

    /// Sends an ICMP message made by the switch.
    pub(crate) fn send_icmp(&mut self, number: PortNo, frame: Vec<u8>) {
        let Some(port) = self.all.get_mut(&number) else { return };
        port.counters.count_sent(frame.len() as u64);
        self.sent.push((number, Packet::complete(frame)));
    }
}

/// Counters and descriptions.
impl Ports {
    /// Counts frames that were lost for want of room before this switch saw them.
    pub(crate) fn count_missed(&mut self, number: PortNo, frames: u64) {
        if let Some(port) = self.all.get_mut(&number) {
            port.counters.rx_dropped += frames;
        }
    }

    /// Counts a frame that its interface refused.
    pub(crate) fn count_refused(&mut self, number: PortNo, bytes: u64) {
        if let Some(port) = self.all.get_mut(&number) {
            port.counters.count_refused(bytes);
        }
    }

    pub(crate) fn counters(&self, number: PortNo) -> Option<PortCounters> {
        self.all.get(&number).map(|port| port.counters)
    }

    pub(crate) fn describe(&self, out: &mut Replies) {
        let ports: Vec<_> = self.all.values().map(SwitchPort::describe).collect();
        out.list(&ports, |_| 64, |part| ReplyBody::PortDesc(List::new(part)));
    }

    pub(crate) fn stats(
        &self,
        now: Time,
        request: &PortStatsRequest,
        out: &mut Replies,
    ) -> Result<(), ErrorCode> {
        let wanted = request.port_no;
        if wanted != PortNo::ANY && !self.contains(wanted) {
            return Err(ErrorCode::BadRequest(BadRequestCode::BadPort));
        }
        let ports = self.all.values().filter(|port| wanted == PortNo::ANY || wanted == port.number);
        let ports: Vec<_> = ports.map(|port| port.stats(now)).collect();
        out.list(&ports, |_| 112, |part| ReplyBody::Port(List::new(part)));
        Ok(())
    }
}
