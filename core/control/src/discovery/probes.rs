//! The schedule of discovery frames.

use braid_packet::lldp::LldpProbe;
use braid_types::SwitchPort;

use super::Discovery;
use crate::command::Target;
use crate::context::Context;
use crate::jitter::jittered;
use crate::role::Role;

impl Discovery {
    /// Sends the discovery frames that are due.
    pub(super) fn probe_due_ports(&mut self, cx: &mut Context<'_>) {
        let due = self.ports.iter().filter(|(_, state)| state.next_probe <= cx.now).map(|(at, _)| at);
        for at in due.collect::<Vec<_>>() {
            self.probe_port(cx, at);
        }
    }

    /// Sends a discovery frame from a port.
    pub(super) fn probe_port(&mut self, cx: &mut Context<'_>, at: SwitchPort) {
        let is_unheard = self.is_unheard(cx, at);
        let Some(state) = self.ports.get_mut(at) else { return };
        let is_new = state.role == Role::Pending || (state.role == Role::Link && cx.topology.is_edge(at));
        let wait = match is_new || is_unheard {
            true => cx.settings.settle / 4,
            false => jittered(cx.settings.probe_interval, at, cx.now),
        };
        state.next_probe = cx.now + wait;
        let Some(port) = cx.topology.port(at) else { return };
        let probe = LldpProbe { dpid: at.dpid, port: at.port, sent_at: cx.now };
        let frame = probe.encode(&cx.settings.lldp_key, port.mac);
        cx.out.send(at.dpid, Target::Port(at.port), &frame);
    }

    /// Whether the other end of a link has missed a discovery frame. More frequent frames then show soon
    /// whether the link is lost.
    fn is_unheard(&self, cx: &Context<'_>, at: SwitchPort) -> bool {
        let peer = cx.topology.link_at(at).and_then(|link| self.ports.get(link.dst));
        peer.is_some_and(|peer| cx.now.since(peer.last_heard) > cx.settings.probe_interval * 5 / 4)
    }
}
