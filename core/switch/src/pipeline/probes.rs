//! Probes of this edge, sent by the paths of data, and answers to the probes of others.

use braid_openflow::GroupId;
use braid_spray::SegmentCounts;
use braid_types::{MacAddr, PortNo};

use super::Pipeline;
use crate::environment::Environment;
use crate::groups::{ArrivedProbe, KeptPacket};
use crate::packets::probe::ProbeFrame;
use crate::packets::{Packet, PacketContext};

impl Pipeline {
    /// Sends due probes.
    pub(super) fn send_probes(&mut self, env: &mut Environment<'_>) {
        for id in self.groups.probing_due(env.now) {
            while let Some(probe) = self.groups.poll_probe(env.now, id, env.identity.dpid) {
                if self.groups.is_live(id, probe.bucket, &self.ports) {
                    let mut context = PacketContext::new(PortNo::CONTROLLER, Packet::complete(probe.frame));
                    context.is_probe = true;
                    self.through_bucket(env, &mut context, id, probe.bucket);
                }
            }
            self.groups.update_shares(id);
            self.send_unanswered(env, id);
        }
    }

    /// Sends again what a silent path may have lost.
    fn send_unanswered(&mut self, env: &mut Environment<'_>, id: GroupId) {
        let unanswered = self.groups.take_unanswered(env.now, id);
        self.send_again(env, id, unanswered);
    }

    pub(super) fn send_again(&mut self, env: &mut Environment<'_>, id: GroupId, kept: Vec<KeptPacket>) {
        for KeptPacket { in_port, packet } in kept {
            let context = PacketContext::new(in_port, packet);
            let mut context = PacketContext { is_original: false, is_repeated: true, ..context };
            self.through_selected(env, &mut context, id);
        }
    }

    /// Handles a frame that is a probe for this edge, or an answer; returns whether it was one.
    pub(super) fn take_probe(&mut self, env: &mut Environment<'_>, in_port: PortNo, frame: &[u8]) -> bool {
        let Some(probe) = ProbeFrame::read(frame).filter(|probe| probe.to == env.identity.dpid) else {
            return false;
        };
        if probe.is_answer {
            self.groups.handle_answer(env.now, &probe);
            self.send_unanswered(env, probe.group);
        } else {
            let label = frame.first_chunk().map_or(MacAddr::ZERO, |label| MacAddr::new(*label));
            self.answer_probe(env, in_port, label, &probe);
        }
        true
    }

    /// Answers a probe, and releases what waits for packets that it shows to be lost.
    fn answer_probe(
        &mut self,
        env: &mut Environment<'_>,
        in_port: PortNo,
        label: MacAddr,
        probe: &ProbeFrame,
    ) {
        let received = self.ports.arrivals_before_probe(env.now, in_port, label);
        let counts =
            probe.counts.zip(received).map(|(counts, received)| SegmentCounts { received, ..counts });
        let (to, from, arrived) = (probe.from, probe.to, env.now.as_nanos());
        let answer = ProbeFrame { is_answer: true, to, from, arrived, counts, ..*probe };
        let packet = Packet::complete(answer.frame(probe.reply_label));
        let mut context = PacketContext::new(PortNo::CONTROLLER, packet);
        context.is_answer = true;
        self.send(env.now, in_port, &mut context);
        // Where segments are not counted, it is not known whether probes overtake them.
        let Some(counts) = counts else { return };
        let ProbeFrame { from, group, secret, number, .. } = *probe;
        let arrived = ArrivedProbe { from, group, secret, number, counts };
        for id in self.groups.note_probe(env.now, (in_port, label), &arrived) {
            self.release(env, id);
        }
    }
}
