//! One peer's paths as one: packets are spread over them, and put back in order.

mod flow;
mod frame;
mod parts;

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use braid_spray::{
    Fate, Feedback, FlowNumbers, Numbered, PathId, PathReport, PathWeight, Policy, ProbeSettings,
    Resequencer, Scheduler, Segment, SegmentCounts, SeqNo, Settings,
};
use braid_types::{FiveTuple, Time};

use crate::endpoint::MAX_PATHS;
use flow::Flow;
pub(crate) use flow::{Class, of_frame, of_ip};
use frame::{Frame, NUMBERED_HEAD, Part};
use parts::Parts;

/// Without packets for this long, paths are no longer probed; the tunnel's own pings keep them.
const IDLE_AFTER: Duration = Duration::from_secs(3);
/// The sum of all shares.
const SHARE_PARTS: u64 = 10_000;
/// Another path is quicker if its round trip is shorter by more than this part.
const QUICKER: f64 = 0.8;

/// Spreads packets to one peer over its paths, and resequences those that come from it. Performs no I/O.
///
/// [`Self::send`] and [`Self::handle_timeout`] make contents for paths, which [`Self::poll_content`] gives; the other
/// end passes them to [`Self::handle_content`] and gets packets by [`Self::poll_packet`].
#[derive(Debug)]
pub struct Bond {
    /// The paths that are up, by their numbers; the scheduler and the feedback count these.
    members: Vec<u8>,
    shares: [Share; MAX_PATHS],
    scheduler: Scheduler,
    feedback: Feedback,
    epoch: u8,
    quickest: usize,
    last_packet: Option<Time>,
    numbers: FlowNumbers<Flow>,
    counts: [Counts; MAX_PATHS],
    resequencer: Resequencer<Vec<u8>>,
    parts: Parts,
    contents: VecDeque<(u8, Vec<u8>)>,
    packets: VecDeque<Vec<u8>>,
    counters: BondCounters,
}

/// A path's share, and the weight that it began with.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    weight: u32,
    share: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sent: u32,
    received: u32,
}

/// Packets since the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BondCounters {
    /// Packets sent to the peer.
    pub sent: u64,
    /// Packets received from it.
    pub received: u64,
    /// Packets dropped as no path was up.
    pub no_path: u64,
    /// Packets in two parts, as they were too long for a path.
    pub split: u64,
}

/// A path's part in the traffic.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PathShare {
    /// The path's number.
    pub path: u8,
    /// Its share of all packets sent, of 10,000.
    pub share: u32,
    /// What probes show, while there is traffic.
    pub report: Option<PathReport>,
}

impl Bond {
    /// A bond without paths; `seed` keeps strangers from choosing which flows share a set of a table.
    pub fn new(now: Time, seed: u64) -> Self {
        Self {
            members: Vec::new(),
            shares: Default::default(),
            scheduler: Scheduler::new(Policy::default(), &[]),
            feedback: Feedback::new(now, ProbeSettings::default(), &[]),
            epoch: 0,
            quickest: 0,
            last_packet: None,
            numbers: FlowNumbers::new(seed as u32),
            counts: Default::default(),
            resequencer: Resequencer::new(Settings { flows: 16_384, ..Settings::default() }, seed),
            parts: Parts::default(),
            contents: VecDeque::new(),
            packets: VecDeque::new(),
            counters: BondCounters::default(),
        }
    }

    /// A path has come up or gone down. `weight` is its share to begin with, against those of the others.
    pub fn set_path(&mut self, now: Time, path: u8, up: bool, weight: u32) {
        self.members.retain(|member| *member != path);
        let share = self.first_share(weight.max(1));
        if let (true, Some(place)) = (up, self.shares.get_mut(usize::from(path))) {
            *place = Share { weight: weight.max(1), share };
            self.members.push(path);
            self.members.sort_unstable();
        }
        self.begin(now);
    }

    /// The share of a path of which only its weight is known: what the others have for theirs.
    fn first_share(&self, weight: u32) -> u32 {
        let others = || self.members.iter().filter_map(|member| self.shares.get(usize::from(*member)));
        let shares: u64 = others().map(|other| u64::from(other.share)).sum();
        let weights: u64 = others().map(|other| u64::from(other.weight)).sum();
        let share = (shares * u64::from(weight)).checked_div(weights);
        share.map_or(weight, |share| u32::try_from(share.max(1)).unwrap_or(u32::MAX))
    }

    /// Sends a packet; whether there was a path for it. `max_content` says how long a path's contents may be.
    pub(crate) fn send(
        &mut self,
        now: Time,
        packet: &[u8],
        class: Class,
        max_content: impl Fn(u8) -> Option<usize>,
    ) -> bool {
        self.wake(now);
        let is_sent = match class {
            Class::Urgent => self.send_urgent(packet),
            Class::Numbered(flow) => self.send_numbered(now, packet, &flow, max_content),
        };
        let counted = if is_sent { &mut self.counters.sent } else { &mut self.counters.no_path };
        *counted += 1;
        is_sent
    }

    /// Handles what the other end has sent by a path.
    pub fn handle_content(&mut self, now: Time, path: u8, content: &[u8]) {
        let Some(counts) = self.counts.get_mut(usize::from(path)) else { return };
        match Frame::read(content) {
            Some(Frame::Numbered { part, paths, numbered, packet }) => {
                counts.received = counts.received.wrapping_add(1);
                self.wake(now);
                self.handle_numbered(now, path, paths, (numbered, part, packet));
            }
            Some(Frame::Urgent(packet)) => {
                counts.received = counts.received.wrapping_add(1);
                self.counters.received += 1;
                self.wake(now);
                self.packets.push_back(packet.to_vec());
            }
            Some(Frame::Probe { epoch, number, sent }) => {
                let (arrived, received) = (now.as_nanos(), counts.received);
                let answer = Frame::Answer { epoch, number, arrived, sent, received };
                self.contents.push_back((path, answer.content()));
            }
            Some(Frame::Answer { epoch, number, arrived, sent, received }) if epoch == self.epoch => {
                let arrived = i64::try_from(arrived).unwrap_or(i64::MAX);
                if let Some(member) = self.members.iter().position(|member| *member == path) {
                    let counts = Some(SegmentCounts { sent, received });
                    self.feedback.handle_answer(now, member, number, arrived, counts);
                    self.apply_shares();
                }
            }
            Some(Frame::Answer { .. }) | None => {}
        }
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Time) {
        if !self.is_idle(now) {
            self.probe(now);
        }
        if self.resequencer.poll_timeout().is_some_and(|due| due <= now) {
            self.resequencer.handle_timeout(now);
            self.release();
        }
    }

    /// When something is due.
    pub fn poll_timeout(&self, now: Time) -> Option<Time> {
        let probe = (!self.is_idle(now) && !self.members.is_empty()).then(|| self.feedback.poll_timeout());
        probe.into_iter().chain(self.resequencer.poll_timeout()).min()
    }

    /// The next content to send, and its path.
    pub fn poll_content(&mut self) -> Option<(u8, Vec<u8>)> {
        self.contents.pop_front()
    }

    /// The next packet from the peer.
    pub fn poll_packet(&mut self) -> Option<Vec<u8>> {
        self.packets.pop_front()
    }

    /// The paths that are up.
    pub fn shares(&self) -> impl Iterator<Item = PathShare> {
        let shares = self.scheduler.paths().iter().enumerate().zip(&self.members);
        shares.map(|((member, weight), path)| {
            let report = self.feedback.report(member).filter(|report| !report.round_trip.is_zero());
            PathShare { path: *path, share: weight.weight, report }
        })
    }

    /// Packets since the start.
    pub const fn counters(&self) -> BondCounters {
        self.counters
    }

    /// The longest packet that fits into a content of `max_content` bytes.
    pub(crate) const fn room(max_content: usize) -> usize {
        max_content.saturating_sub(NUMBERED_HEAD)
    }

    /// Notes a packet of either direction: both ends probe while there are any, so that each shows the other where it is.
    fn wake(&mut self, now: Time) {
        if self.is_idle(now) {
            self.begin(now);
        }
        self.last_packet = Some(now);
    }

    fn is_idle(&self, now: Time) -> bool {
        self.last_packet.is_none_or(|last| now.since(last) >= IDLE_AFTER)
    }

    /// Begins to measure anew, with the shares that are known.
    fn begin(&mut self, now: Time) {
        let share = |path: &u8| self.shares.get(usize::from(*path)).map_or(1, |share| share.share);
        let shares: Vec<u32> = self.members.iter().map(share).collect();
        // In the unit of the feedback's shares, since the scheduler remembers what it divided by them.
        let total: u64 = shares.iter().map(|share| u64::from(*share)).sum();
        let part = |share: &u32| (u64::from(*share) * SHARE_PARTS).checked_div(total).unwrap_or(1).max(1);
        let weight = |share| PathWeight { weight: part(share) as u32, ..PathWeight::default() };
        let weights: Vec<_> = shares.iter().map(weight).collect();
        self.scheduler = Scheduler::new(Policy::default(), &weights);
        self.feedback = Feedback::new(now, ProbeSettings::default(), &shares);
        (self.epoch, self.quickest) = (self.epoch.wrapping_add(1), 0);
    }

    fn probe(&mut self, now: Time) {
        while let Some(probe) = self.feedback.poll_probe(now) {
            let Some(path) = self.members.get(probe.path).copied() else { return };
            let sent = self.counts.get(usize::from(path)).map_or(0, |counts| counts.sent);
            let frame = Frame::Probe { epoch: self.epoch, number: probe.number, sent };
            self.contents.push_back((path, frame.content()));
        }
        self.apply_shares();
        self.find_quickest();
    }

    fn apply_shares(&mut self) {
        for (member, weight) in self.feedback.poll_shares().into_iter().flatten().enumerate() {
            self.scheduler.set(member, PathWeight { weight, ..PathWeight::default() });
            let path = self.members.get(member).copied().unwrap_or_default();
            if let Some(share) = self.shares.get_mut(usize::from(path)).filter(|_| weight > 0) {
                share.share = weight;
            }
        }
    }

    fn find_quickest(&mut self) {
        let round_trip = |member: usize| {
            let report = self.feedback.report(member)?;
            let is_known = !report.is_dead && !report.round_trip.is_zero();
            is_known.then_some(report.round_trip)
        };
        let best = (0..self.members.len()).filter_map(|member| Some((round_trip(member)?, member))).min();
        let Some((shortest, best)) = best else { return };
        if round_trip(self.quickest).is_none_or(|own| shortest < own.mul_f64(QUICKER)) {
            self.quickest = best;
        }
    }

    fn send_urgent(&mut self, packet: &[u8]) -> bool {
        let path = self.members.get(self.quickest).or_else(|| self.members.first()).copied();
        let Some(path) = path else { return false };
        self.push(path, Frame::Urgent(packet));
        true
    }

    fn send_numbered(
        &mut self,
        now: Time,
        packet: &[u8],
        flow: &Flow,
        max_content: impl Fn(u8) -> Option<usize>,
    ) -> bool {
        let size = u32::try_from(packet.len()).unwrap_or(u32::MAX);
        let path = self.scheduler.pick(now, size).and_then(|member| self.members.get(member).copied());
        let Some((path, room)) = path.and_then(|path| Some((path, max_content(path)?))) else { return false };
        let used = self.scheduler.paths().iter().filter(|path| path.weight > 0).count();
        let paths = u8::try_from(used).unwrap_or(u8::MAX);
        let numbered = self.numbers.next(flow);
        let frame = |part, packet| Frame::Numbered { part, paths, numbered, packet };
        if packet.len() + NUMBERED_HEAD <= room {
            self.push(path, frame(Part::Whole, packet));
        } else {
            let (first, second) = packet.split_at(packet.len() / 2);
            self.push(path, frame(Part::First, first));
            self.push(path, frame(Part::Second, second));
            self.counters.split += 1;
        }
        true
    }

    fn push(&mut self, path: u8, frame: Frame<'_>) {
        if let Some(counts) = self.counts.get_mut(usize::from(path)) {
            counts.sent = counts.sent.wrapping_add(1);
        }
        self.contents.push_back((path, frame.content()));
    }

    fn handle_numbered(
        &mut self,
        now: Time,
        path: u8,
        paths: u8,
        (numbered, part, packet): (Numbered, Part, &[u8]),
    ) {
        let packet = match part {
            Part::Whole => packet.to_vec(),
            _ => match self.parts.join(numbered, part, packet) {
                Some(packet) => packet,
                None => return,
            },
        };
        self.counters.received += 1;
        if self.resequencer.settings().paths != paths {
            self.resequencer.change(Settings { paths, ..*self.resequencer.settings() });
        }
        let segment = Segment { seq: SeqNo(numbered.number), payload: 1, ..Segment::default() };
        let size = u32::try_from(packet.len()).unwrap_or(u32::MAX);
        let mut packet = Some(packet);
        let hold = || packet.take().unwrap_or_default();
        let fate = self.resequencer.offer(now, &name(numbered.key), segment, PathId(path), size, hold);
        if fate == Fate::Forward {
            self.packets.extend(packet);
        }
        self.release();
    }

    fn release(&mut self) {
        while let Some(packet) = self.resequencer.poll_packet() {
            self.packets.push_back(packet);
        }
    }
}

/// The flow's name as the resequencer wants it.
const fn name(key: u32) -> FiveTuple {
    let address = IpAddr::V4(Ipv4Addr::from_bits(key));
    FiveTuple { src: address, dst: address, src_port: 0, dst_port: 0 }
}
