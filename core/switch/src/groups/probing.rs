//! Probes of spraying groups, and shares that follow the answers.

use braid_edge_protocol::extension::Probing as ProbingSettings;
use braid_openflow::{ErrorCode, GroupId, GroupModFailedCode};
use braid_spray::{Feedback, PathReport, PathWeight, ProbeSettings, Scheduler, SegmentCounts};
use braid_types::{DatapathId, MacAddr, Time, mix};

use super::unanswered::{KeptPacket, Unanswered};
use super::{Groups, UNKNOWN, failed};
use crate::environment::Environment;
use crate::packets::PacketContext;
use crate::packets::probe::ProbeFrame;

/// The probes of a group, and their results.
#[derive(Debug)]
pub(super) struct Probing {
    feedback: Feedback,
    peer: DatapathId,
    secret: u64,
    /// By bucket, the destination address of answers.
    reply_labels: Vec<MacAddr>,
    /// By bucket, the segments that may be lost.
    unanswered: Vec<Unanswered>,
}

/// A probe that is due.
pub(crate) struct DueProbe {
    pub(crate) bucket: usize,
    pub(crate) frame: Vec<u8>,
}

impl Probing {
    pub(super) fn set_shares(&mut self, shares: &[u32]) {
        self.feedback.set_shares(shares);
    }

    pub(super) fn report(&self, bucket: usize) -> Option<PathReport> {
        self.feedback.report(bucket)
    }

    fn is_due(&self, now: Time) -> bool {
        self.feedback.poll_timeout() <= now
    }

    fn poll_probe(&mut self, now: Time, group: GroupId, from: DatapathId) -> Option<DueProbe> {
        let probe = self.feedback.poll_probe(now)?;
        let frame = ProbeFrame {
            is_answer: false,
            to: self.peer,
            from,
            secret: self.secret,
            group,
            bucket: u32::try_from(probe.path).ok()?,
            number: probe.number,
            reply_label: *self.reply_labels.get(probe.path)?,
            arrived: 0,
            counts: Some(SegmentCounts::default()),
        };
        Some(DueProbe { bucket: probe.path, frame: frame.frame(MacAddr::ZERO) })
    }

    fn handle_answer(&mut self, now: Time, answer: &ProbeFrame) {
        let arrived = i64::try_from(answer.arrived).unwrap_or(i64::MAX);
        let bucket = answer.bucket as usize;
        self.feedback.handle_answer(now, bucket, answer.number, arrived, answer.counts);
        if let Some((unanswered, since)) = self.unanswered.get_mut(bucket).zip(self.feedback.answered(bucket))
        {
            unanswered.forget_before(since);
        }
    }

    /// Keeps a copy of a packet, unless its path is silent already or it is a copy itself: nothing is sent again and
    /// again. `groups` share the memory for this.
    pub(super) fn note_packet(&mut self, now: Time, bucket: usize, context: &PacketContext, groups: usize) {
        let paths = groups.saturating_mul(self.unanswered.len());
        if !self.feedback.is_dead(bucket) && !context.is_repeated {
            self.unanswered.get_mut(bucket).into_iter().for_each(|it| it.note(now, context, paths));
        }
    }

    /// The segments of a path that is given up.
    pub(super) fn take_of(&mut self, now: Time, bucket: usize) -> impl Iterator<Item = KeptPacket> + use<> {
        self.unanswered.get_mut(bucket).map(|it| it.take(now)).into_iter().flatten()
    }

    /// The segments that silent paths may have lost, while there are others.
    fn take_unanswered(&mut self, now: Time) -> Vec<KeptPacket> {
        let is_dead = |bucket: &usize| self.feedback.is_dead(*bucket);
        let (dead, alive): (Vec<_>, Vec<_>) = (0..self.unanswered.len()).partition(is_dead);
        if alive.is_empty() || dead.is_empty() {
            return Vec::new();
        }
        let mut kept = Vec::new();
        for bucket in dead {
            kept.extend(self.take_of(now, bucket));
        }
        kept
    }
}

impl Groups {
    /// Starts or stops the probes of a spraying group.
    pub(crate) fn set_probing(
        &mut self,
        env: &Environment<'_>,
        id: GroupId,
        wanted: &ProbingSettings,
    ) -> Result<(), ErrorCode> {
        let group = self.all.get_mut(&id).ok_or(UNKNOWN)?;
        let spray = group.spray.as_ref().ok_or(UNKNOWN)?;
        if wanted.interval.is_zero() {
            group.probing = None;
            return Ok(());
        }
        if wanted.backs.len() != group.buckets.len() {
            return Err(failed(GroupModFailedCode::BadBucket));
        }
        let shares: Vec<_> = spray.paths().iter().map(|path| path.weight).collect();
        let settings = ProbeSettings { interval: wanted.interval, timeout: wanted.patience };
        // Knowing one secret does not help to predict the next.
        let secret = mix(env.identity.seed ^ env.now.as_nanos() ^ u64::from(id.0).rotate_left(32));
        let feedback = Feedback::new(env.now, settings, &shares);
        let (peer, reply_labels) = (wanted.peer, wanted.backs.clone());
        let unanswered = reply_labels.iter().map(|_| Unanswered::default()).collect();
        group.probing = Some(Box::new(Probing { feedback, peer, secret, reply_labels, unanswered }));
        Ok(())
    }

    pub(super) fn next_probe(&self) -> Option<Time> {
        self.all.values().filter_map(|group| Some(group.probing.as_ref()?.feedback.poll_timeout())).min()
    }

    /// The groups with a due probe.
    pub(crate) fn probing_due(&self, now: Time) -> Vec<GroupId> {
        let is_due = |probing: &Probing| probing.is_due(now);
        let due = self.all.iter().filter(|(_, group)| group.probing.as_ref().is_some_and(|it| is_due(it)));
        due.map(|(id, _)| *id).collect()
    }

    /// The next due probe of a group.
    pub(crate) fn poll_probe(&mut self, now: Time, id: GroupId, from: DatapathId) -> Option<DueProbe> {
        self.all.get_mut(&id)?.probing.as_mut()?.poll_probe(now, id, from)
    }

    /// Handles the other edge's answer to a probe.
    pub(crate) fn handle_answer(&mut self, now: Time, answer: &ProbeFrame) {
        let probing = self.all.get_mut(&answer.group).and_then(|group| group.probing.as_mut());
        if let Some(it) = probing.filter(|it| it.secret == answer.secret && it.peer == answer.from) {
            it.handle_answer(now, answer);
            self.update_shares(answer.group);
        }
    }

    /// The segments to send again, since a path of the group has become silent.
    pub(crate) fn take_unanswered(&mut self, now: Time, id: GroupId) -> Vec<KeptPacket> {
        let probing = self.all.get_mut(&id).and_then(|group| group.probing.as_mut());
        probing.map(|probing| probing.take_unanswered(now)).unwrap_or_default()
    }

    /// Updates a group's shares from the measured state of its paths.
    pub(crate) fn update_shares(&mut self, id: GroupId) {
        let Some(group) = self.all.get_mut(&id) else { return };
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
