//! Groups that spray probe their paths, and their shares follow.

use braid_openflow::{ErrorCode, GroupId, GroupModFailedCode};
use braid_spray::{Feedback, PathWeight, ProbeSettings, Scheduler, Tally};
use braid_types::{DatapathId, MacAddr, PortNo, Time, mix};

use super::Switch;
use super::journey::Journey;
use crate::packet::Packet;
use crate::probe::ProbeFrame;
use braid_edge_protocol::extension::Probing as Wanted;

/// What a group knows of its paths.
#[derive(Debug)]
pub(crate) struct Probing {
    pub(crate) feedback: Feedback,
    peer: DatapathId,
    secret: u64,
    /// By bucket, the destination address with which answers come back.
    backs: Vec<MacAddr>,
}

impl Switch {
    /// A group that sprays is to probe its paths, or not any more.
    pub(super) fn set_probing(&mut self, now: Time, id: GroupId, wanted: &Wanted) -> Result<(), ErrorCode> {
        let failed = |code| Err(ErrorCode::GroupModFailed(code));
        let seed = self.identity.seed;
        let Some(group) = self.groups.get_mut(&id) else { return failed(GroupModFailedCode::UnknownGroup) };
        let Some(spray) = &group.spray else { return failed(GroupModFailedCode::UnknownGroup) };
        if wanted.interval.is_zero() {
            group.probing = None;
            return Ok(());
        }
        if wanted.backs.len() != group.buckets.len() {
            return failed(GroupModFailedCode::BadBucket);
        }
        let shares: Vec<_> = spray.paths().iter().map(|path| path.weight).collect();
        let settings = ProbeSettings { interval: wanted.interval, patience: wanted.patience };
        // Nobody who sees one secret foretells the next.
        let secret = mix(seed ^ now.as_nanos() ^ u64::from(id.0).rotate_left(32));
        let feedback = Feedback::new(now, settings, &shares);
        let (peer, backs) = (wanted.peer, wanted.backs.clone());
        group.probing = Some(Box::new(Probing { feedback, peer, secret, backs }));
        Ok(())
    }

    /// When the next probe is due.
    pub(super) fn next_probe(&self) -> Option<Time> {
        self.groups.values().filter_map(|group| Some(group.probing.as_ref()?.feedback.poll_timeout())).min()
    }

    /// Sends the probes that are due, the way that each path's data goes.
    pub(super) fn send_probes(&mut self, now: Time) {
        let due = |probing: &Probing| probing.feedback.poll_timeout() <= now;
        let groups = self.groups.iter().filter(|(_, group)| group.probing.as_ref().is_some_and(|it| due(it)));
        for id in groups.map(|(id, _)| *id).collect::<Vec<_>>() {
            while let Some((bucket, frame)) = self.next_probe_of(now, id) {
                if self.is_live(id, bucket, 0) {
                    let mut journey = Journey::new(PortNo::CONTROLLER, Packet::complete(frame));
                    journey.is_probe = true;
                    self.through_bucket(now, &mut journey, id, bucket);
                }
            }
            self.share(id);
        }
    }

    fn next_probe_of(&mut self, now: Time, id: GroupId) -> Option<(usize, Vec<u8>)> {
        let probing = self.groups.get_mut(&id)?.probing.as_mut()?;
        let probe = probing.feedback.poll_probe(now)?;
        let frame = ProbeFrame {
            is_answer: false,
            to: probing.peer,
            from: self.identity.dpid,
            secret: probing.secret,
            group: id,
            bucket: u32::try_from(probe.path).ok()?,
            number: probe.number,
            back: *probing.backs.get(probe.path)?,
            arrived: 0,
            tally: Some(Tally::default()),
        };
        Some((probe.path, frame.frame(MacAddr::ZERO)))
    }

    /// Takes a frame that is a probe for this edge, or an answer; says whether it was one.
    pub(super) fn take_probe(&mut self, now: Time, in_port: PortNo, frame: &[u8]) -> bool {
        let Some(probe) = ProbeFrame::read(frame).filter(|probe| probe.to == self.identity.dpid) else {
            return false;
        };
        if probe.is_answer {
            self.take_answer(now, &probe);
        } else {
            let arrived = now.as_nanos();
            let label = frame.first_chunk().map_or(MacAddr::ZERO, |label| MacAddr::new(*label));
            let came = self.came.probed(now, in_port, label);
            let tally = probe.tally.zip(came).map(|(tally, came)| Tally { came, ..tally });
            let answer =
                ProbeFrame { is_answer: true, to: probe.from, from: probe.to, arrived, tally, ..probe };
            let packet = Packet::complete(answer.frame(probe.back));
            let mut journey = Journey::new(PortNo::CONTROLLER, packet);
            journey.is_answer = true;
            self.send(now, in_port, &mut journey);
        }
        true
    }

    fn take_answer(&mut self, now: Time, answer: &ProbeFrame) {
        let probing = self.groups.get_mut(&answer.group).and_then(|group| group.probing.as_mut());
        let Some(probing) = probing.filter(|it| it.secret == answer.secret && it.peer == answer.from) else {
            return;
        };
        let arrived = i64::try_from(answer.arrived).unwrap_or(i64::MAX);
        probing.feedback.handle_answer(now, answer.bucket as usize, answer.number, arrived, answer.tally);
        self.share(answer.group);
    }

    /// Has the group follow what it knows of its paths.
    fn share(&mut self, id: GroupId) {
        let Some(group) = self.groups.get_mut(&id) else { return };
        let (Some(spray), Some(probing)) = (&mut group.spray, &mut group.probing) else { return };
        if let Some(shares) = probing.feedback.poll_shares() {
            set_shares(spray, &shares);
        }
    }
}

fn set_shares(spray: &mut Scheduler, shares: &[u32]) {
    let old: Vec<PathWeight> = spray.paths().to_vec();
    for (place, (old, weight)) in old.into_iter().zip(shares).enumerate() {
        if old.weight != *weight {
            spray.set(place, PathWeight { weight: *weight, ..old });
        }
    }
}
