//! Packets too big for a port: fragmented if their senders allow it, else answered by ICMP as a router does.

use braid_packet::TooBig;
use braid_types::{PortNo, Time};

use super::Pipeline;
use crate::packets::PacketContext;
use crate::packets::fragment::fragments;

impl Pipeline {
    /// Sends a packet by a port with the MTU `mtu`: in fragments, or not at all.
    pub(super) fn send_too_big(&mut self, now: Time, port: PortNo, context: &mut PacketContext, mtu: usize) {
        match fragments(&context.packet, &context.key, &context.layout, mtu) {
            Some(fragments) => self.ports.send_fragments(port, fragments),
            None => {
                self.ports.count_dropped(port);
                self.answer_too_big(now, context, mtu);
            }
        }
    }

    /// Sends ICMP to the sender of a packet, by the ingress port, that packets longer than `mtu` do not fit; once for
    /// each packet.
    ///
    /// Hosts know no address of this switch: the source is the packet's destination, as Linux does it on bridges over
    /// tunnels. No message goes to another edge, which could not use it.
    fn answer_too_big(&mut self, now: Time, context: &mut PacketContext, mtu: usize) {
        let in_port = context.in_port;
        let is_asked = context.is_original && !self.groups.is_sprayed_port(in_port);
        if !is_asked || !self.ports.admit_icmp(now, in_port) {
            return;
        }
        let mtu = u32::try_from(mtu.saturating_sub(context.added)).unwrap_or(u32::MAX);
        let answer = context.original().and_then(|packet| TooBig::answer(&packet.data, mtu));
        context.is_original = false;
        answer.into_iter().for_each(|frame| self.ports.send_icmp(in_port, frame));
    }
}
