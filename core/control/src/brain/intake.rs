//! How much each port may ask of the controller, so that one that asks for everything leaves room for the others.

use std::net::IpAddr;
use std::time::Duration;

use braid_packet::arp::ArpOp;
use braid_packet::nd::NdMessage;
use braid_packet::{Frame, Ip, Payload, TcpFlags, Transport, mptcp};
use braid_types::{PortNo, SwitchPort, Time};

use super::Brain;
use super::packets::DHCP_CLIENT;
use super::ports::Role;
use crate::command::Commands;
use crate::threat::Threat;

/// What is not used of most limits can be saved up for so long,
pub(super) const SAVED: Duration = Duration::from_secs(1);
/// and of that for streams: a transfer opens many at once, and then none for long.
const STREAMS_SAVED: Duration = Duration::from_secs(10);

impl Brain {
    /// Whether a packet is within the limit of its port. What switches send each other has none.
    pub(super) fn may_ask(
        &mut self,
        now: Time,
        at: SwitchPort,
        frame: &Frame<'_>,
        out: &mut Commands,
    ) -> bool {
        let limit = self.settings.packet_ins;
        let Some(state) = self.ports.get_mut(at) else { return at.port == PortNo::CONTROLLER };
        if state.role == Role::Link {
            return true;
        }
        // A server has no say in how many connections it is to answer, and should be heard all the same.
        let is_answer = match &frame.payload {
            Payload::Arp(arp) => arp.op == ArpOp::Reply,
            Payload::Ip(Ip { transport: Transport::Icmpv6(NdMessage::Advertisement(_)), .. }) => true,
            _ => frame.tcp().is_some_and(|tcp| tcp.flags.is_syn_ack() || tcp.flags.contains(TcpFlags::RST)),
        };
        let rate = if is_answer { &mut state.answers } else { &mut state.packets };
        let may = rate.take(now, limit, SAVED);
        if !may {
            self.counters.packets_over_limit += 1;
            self.alarm(now, at, Threat::TooManyPackets, out);
        }
        may
    }

    /// Whether a connection may get a path of its own, which costs rules. Above the limit of its port it goes the way of
    /// all others.
    pub(super) fn may_steer(&mut self, now: Time, at: SwitchPort, frame: &Frame<'_>) -> bool {
        let (Some(tuple), Some(tcp)) = (frame.five_tuple(), frame.tcp()) else { return true };
        let is_plain = !matches!(mptcp::handshake(tcp.options), Ok(Some(_)));
        let is_alone = is_plain && self.manner(&tuple).parallel_paths < 2;
        if is_alone || self.streams.by_tuple(&tuple).is_some() {
            return true;
        }
        self.may_place(now, at)
    }

    /// Whether one more stream from a port may get a path of its own.
    pub(super) fn may_place(&mut self, now: Time, at: SwitchPort) -> bool {
        let limit = self.settings.new_streams;
        let may = self.ports.get_mut(at).is_none_or(|state| state.streams.take(now, limit, STREAMS_SAVED));
        self.counters.streams_over_limit += u64::from(!may);
        may
    }

    /// Whether a packet may go on: if its destination must be looked for first, only so many of a port may.
    pub(super) fn may_search(&mut self, now: Time, at: SwitchPort, ip: &Ip<'_>, out: &mut Commands) -> bool {
        let is_for_many = match &ip.transport {
            Transport::Icmpv6(_) => true,
            Transport::Udp(udp) => udp.dst_port == DHCP_CLIENT,
            _ => false,
        };
        is_for_many || self.is_sought_or_found(ip.dst) || self.may_be_new(now, at, out)
    }

    fn is_sought_or_found(&self, dst: IpAddr) -> bool {
        self.topology.host_with_address(dst).is_some() || self.searches.is_open(dst)
    }
}
