//! The schedule of discovery frames, and what follows when none arrive.

use std::collections::{BTreeMap, BTreeSet};

use braid_packet::lldp::LldpProbe;
use braid_types::{DatapathId, SwitchPort};

use super::pace::{Intervals, counted, postponement};
use super::{Discovery, START_HOLD_FACTOR};
use crate::command::Target;
use crate::context::Context;
use crate::notice::{LinkLoss, Notice};
use crate::role::Role;

/// A port has had so many frames before it counts as silent, whatever the time.
const MIN_PROBES: u32 = 3;

impl Discovery {
    /// Reviews the ports that are due, and sends their discovery frames, as many as the pace allows. Returns the
    /// switches that got frames of several ports at once.
    pub(super) fn probe_due_ports(&mut self, cx: &mut Context<'_>) -> BTreeSet<DatapathId> {
        self.pace.handle_timeout(cx.now, cx.settings, cx.stalls.busy(), self.ports.len());
        self.counted_ports = self.ports.counts().map(|count| counted(cx.settings, count)).sum();
        let (mut probed, mut postponed) = (BTreeSet::new(), BTreeMap::<_, u32>::new());
        while self.pace.has_room()
            && let Some(at) = self.ports.pop_due(cx.now)
        {
            if self.pace.take(at.dpid) {
                if self.probe_block(cx, at) {
                    probed.insert(at.dpid);
                }
            } else {
                let number = postponed.entry(at.dpid).or_default();
                self.ports.schedule(at, cx.now + postponement(cx.settings, *number));
                *number += 1;
            }
        }
        probed
    }

    /// Sends the discovery frame of a due port, and in a large network those of its block that are due soon: frames that
    /// leave together cost one write, and what is known of their ports lies together. Returns whether there are several.
    fn probe_block(&mut self, cx: &mut Context<'_>, at: SwitchPort) -> bool {
        let intervals = self.intervals(cx, at.dpid);
        let peer = self.review(cx, at);
        let is_urgent = self.probe_port(cx, at, peer, intervals);
        if is_urgent || !intervals.keep_blocks() {
            return false;
        }
        let mut others: Vec<_> = self.ports.due_beside(at, cx.now + intervals.early).collect();
        // Whose frame leaves first changes, and so does everybody's place.
        let after = others.partition_point(|port| *port < at);
        others.rotate_left(after);
        others.retain(|port| self.pace.take(port.dpid));
        for port in &others {
            let peer = self.review(cx, *port);
            self.probe_port(cx, *port, peer, intervals);
        }
        !others.is_empty()
    }

    /// The intervals of discovery frames that a switch sends.
    pub(super) fn intervals(&self, cx: &Context<'_>, sender: DatapathId) -> Intervals {
        Intervals::of(cx.settings, self.counted_ports, self.ports.count(sender))
    }

    /// Sends a discovery frame from a port that has come up, or leaves it to the next tick.
    pub(super) fn probe_new_port(&mut self, cx: &mut Context<'_>, at: SwitchPort) {
        self.pace.handle_timeout(cx.now, cx.settings, cx.stalls.busy(), self.ports.len());
        if self.pace.take(at.dpid) {
            self.probe_port(cx, at, peer_of(cx, at), self.intervals(cx, at.dpid));
        }
    }

    /// Sends a discovery frame from a port, whose link leads to `peer`. Returns whether the next one follows soon.
    fn probe_port(
        &mut self,
        cx: &mut Context<'_>,
        at: SwitchPort,
        peer: Option<SwitchPort>,
        intervals: Intervals,
    ) -> bool {
        let is_unheard = peer.is_some_and(|peer| self.is_unheard(cx, intervals, peer));
        let Some(state) = self.ports.get_mut(at) else { return false };
        let lacks_link = peer.is_none() && state.role == Role::Link && cx.topology.is_edge(at);
        let is_urgent = is_unheard || lacks_link || state.role == Role::Pending;
        (state.is_urgent, state.unheard_probes) = (is_urgent, state.unheard_probes.saturating_add(1));
        let wait = if is_urgent { cx.settings.settle / 4 } else { intervals.until_next(at, cx.now) };
        self.ports.schedule(at, cx.now + wait);
        if let Some(port) = cx.topology.port(at) {
            let probe = LldpProbe { dpid: at.dpid, port: at.port, sent_at: cx.now };
            let frame = probe.encode(&cx.settings.lldp_key, port.mac);
            cx.out.send(at.dpid, Target::Port(at.port), &frame);
        }
        is_urgent
    }

    /// Whether the other end of a link has missed a discovery frame. More frequent frames then show soon
    /// whether the link is lost.
    fn is_unheard(&self, cx: &Context<'_>, intervals: Intervals, peer: SwitchPort) -> bool {
        self.ports.get(peer).is_some_and(|peer| cx.listened(peer.last_heard) > intervals.patience)
    }

    /// Settles a port, or loses its link, where it has been silent for long enough. Returns the other end of its link.
    fn review(&mut self, cx: &mut Context<'_>, at: SwitchPort) -> Option<SwitchPort> {
        self.settle_port(cx, at);
        let mut peer = peer_of(cx, at);
        for end in peer.into_iter().chain([at]) {
            if self.is_silent(cx, end) {
                // In both directions.
                self.unlink(cx, end, LinkLoss::Silent);
                self.set_role(cx, end, Role::Silent);
                peer = None;
            }
        }
        peer
    }

    /// Ends the pending role of a port that has shown no switch for a while.
    fn settle_port(&mut self, cx: &mut Context<'_>, at: SwitchPort) {
        let Some(state) = self.ports.get(at).filter(|state| state.role == Role::Pending) else { return };
        let was_asked = state.unheard_probes >= MIN_PROBES;
        if !was_asked || cx.listened(state.since) < cx.settings.settle || self.is_starting(cx) {
            return;
        }
        let shown = state.shown;
        if shown.link {
            cx.out.notice(Notice::PortHeld { at, hold: cx.settings.role_hold });
        }
        self.set_role(cx, at, if shown.link { Role::Silent } else { Role::Host });
    }

    /// Whether switches are still joining: those busy with rules of an earlier controller need time, and so do
    /// many.
    fn is_starting(&self, cx: &Context<'_>) -> bool {
        let Some((first, last)) = self.first_switch_at.zip(self.last_switch_at) else { return true };
        let (begun, hold) = (cx.now.since(first), cx.settings.start_hold);
        begun < hold || (begun < hold * START_HOLD_FACTOR && cx.listened(last) < cx.settings.settle)
    }

    /// Whether the other end of a link port has been asked to send frames, and none has arrived for too long.
    fn is_silent(&self, cx: &Context<'_>, at: SwitchPort) -> bool {
        let Some(state) = self.ports.get(at).filter(|state| state.role == Role::Link) else { return false };
        // Most ports were heard lately: nothing is looked up for these.
        if cx.listened(state.last_heard) <= Intervals::of(cx.settings, self.counted_ports, 0).timeout {
            return false;
        }
        let is_awaited = cx.out.installed.is_settling() && cx.topology.is_edge(at);
        // The reverse may not be known yet.
        let sender =
            cx.topology.sources_into(at).next().or_else(|| cx.topology.link_at(at).map(|link| link.dst));
        let timeout = self.intervals(cx, sender.map_or(at.dpid, |sender| sender.dpid)).timeout;
        let sender = sender.and_then(|sender| self.ports.get(sender));
        let was_asked = sender.is_none_or(|sender| sender.unheard_probes >= MIN_PROBES);
        was_asked && !is_awaited && cx.listened(state.last_heard) > timeout
    }
}

/// The other end of the link that leaves a port.
fn peer_of(cx: &Context<'_>, at: SwitchPort) -> Option<SwitchPort> {
    cx.topology.link_at(at).map(|link| link.dst)
}
