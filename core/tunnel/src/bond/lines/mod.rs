//! All paths to one peer, which of them a packet takes, and the packets that wait for them.

mod choice;
mod suspension;

use std::time::Duration;

use braid_spray::Numbered;
use braid_types::{BitsPerSec, Time};

use super::frame::Answer;
use super::line::Line;
use super::waiting::Waiting;
use crate::endpoint::MAX_PATHS;
use crate::wire::on_line;
use suspension::Suspension;

/// The interval between two probes of a path.
const PROBE_INTERVAL: Duration = Duration::from_millis(20);
/// A path that is dearer than others is probed with each of so many probes, and may be silent for two of them.
const STANDBY_PROBES: u32 = 10;
const STANDBY_INTERVAL: Duration = Duration::from_millis(200);
const STANDBY_SLACK: Duration = Duration::from_millis(400);
/// A path counts as used for this long after its last packet in order.
const USED_FOR: Duration = Duration::from_secs(1);
/// The weight of a packet in the shares.
const SHARE_WEIGHT: f64 = 1.0 / 1_024.0;
/// So many seconds of packets may wait for a path, or so many bytes if that is more.
const MOST_WAITING: f64 = 0.25;
const LEAST_ROOM: usize = 48_000;

/// The paths that are up. A packet takes the path by which it arrives first, behind what was sent before.
///
/// So each packet arrives no later than by the best path alone, as far as the paths are known; slower ones are used from
/// when the queues of the others take as long. Of paths that cost differently, dearer ones are used while the cheaper ones
/// are full or gone.
#[derive(Debug)]
pub(super) struct Lines {
    lines: [Option<Line>; MAX_PATHS],
    waiting: [Waiting<Held>; MAX_PATHS],
    costs: [Cost; MAX_PATHS],
    /// When each last carried a packet in order.
    used: [Option<Time>; MAX_PATHS],
    shares: [f64; MAX_PATHS],
    suspensions: [Suspension; MAX_PATHS],
    number: u32,
    next_probe: Time,
}

/// What is known of an uplink before anything is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UplinkSettings {
    /// What it carries.
    pub rate: Option<BitsPerSec>,
    /// What it costs: dearer ones are used while the cheaper ones are full or gone.
    pub cost: u8,
}

/// A packet that waits; without a number, an urgent one.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) flow: u64,
    pub(super) numbered: Option<Numbered>,
    pub(super) packet: Vec<u8>,
}

/// What the uplinks of a path cost, here and at the other end.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    own: u8,
    other: u8,
}

impl Lines {
    pub(super) fn new(now: Time) -> Self {
        Self {
            lines: Default::default(),
            waiting: Default::default(),
            costs: Default::default(),
            used: Default::default(),
            shares: Default::default(),
            suspensions: Default::default(),
            number: 0,
            next_probe: now,
        }
    }

    /// A path has come up or gone down. What waits for it stays until it is taken by [`Self::rescue`].
    pub(super) fn set(&mut self, now: Time, path: u8, up: bool, uplink: UplinkSettings) {
        let place = usize::from(path);
        if let Some(line) = self.lines.get_mut(place) {
            *line = up.then(|| Line::new(now, uplink.rate));
        }
        self.shares.get_mut(place).into_iter().for_each(|share| *share = 0.0);
        self.suspensions.get_mut(place).into_iter().for_each(|it| *it = Suspension::default());
        self.costs.get_mut(place).into_iter().for_each(|cost| *cost = Cost { own: uplink.cost, other: 0 });
        self.next_probe = now;
    }

    /// So many bytes that were sent together by a path took so long.
    pub(super) fn note_train(&mut self, path: u8, bytes: u32, nanos: u64) {
        self.get_mut(path).into_iter().for_each(|line| line.note_train(bytes, nanos));
    }

    /// The other end says what its uplink of a path costs.
    pub(super) fn set_other_cost(&mut self, path: u8, cost: u8) {
        self.costs.get_mut(usize::from(path)).into_iter().for_each(|it| it.other = cost);
    }

    /// What the uplink of a path costs here.
    pub(super) fn own_cost(&self, path: u8) -> u8 {
        self.costs.get(usize::from(path)).map_or(0, |cost| cost.own)
    }

    /// What both uplinks of a path cost.
    pub(super) fn cost(&self, path: u8) -> u16 {
        self.costs.get(usize::from(path)).map_or(0, |it| u16::from(it.own).saturating_add(it.other.into()))
    }

    /// Traffic begins after a pause.
    pub(super) fn wake(&mut self, now: Time) {
        self.lines.iter_mut().flatten().for_each(|line| line.wake(now));
        self.next_probe = now;
    }

    /// Somebody waits for a packet that is sent, and probably for later ones.
    pub(super) fn note_interactive(&mut self, now: Time) {
        self.lines.iter_mut().flatten().for_each(|line| line.note_interactive(now));
    }

    /// The number of the probe that is due now, and the paths to send it by.
    pub(super) fn poll_probe(&mut self, now: Time) -> Option<(u32, Vec<u8>)> {
        if now < self.next_probe {
            return None;
        }
        // After a pause, missed probes are not made up for.
        self.next_probe = (self.next_probe + PROBE_INTERVAL).max(now);
        self.number = self.number.wrapping_add(1);
        let cheapest = self.up().map(|(path, _)| self.cost(path)).min().unwrap_or(0);
        let dear: [bool; MAX_PATHS] = std::array::from_fn(|path| self.cost(path as u8) > cheapest);
        let in_use: [bool; MAX_PATHS] = std::array::from_fn(|path| self.is_used(now, path as u8));
        let mut probed = Vec::new();
        for (path, line) in (0..).zip(&mut self.lines) {
            let (Some(line), place) = (line, usize::from(path)) else { continue };
            let is_dear = dear.get(place).is_some_and(|it| *it);
            let is_used = in_use.get(place).is_some_and(|it| *it);
            if !is_dear || is_used || self.number.is_multiple_of(STANDBY_PROBES) {
                line.note_probe(now, self.number);
                probed.push(path);
            }
            if is_dear {
                line.review(now, STANDBY_INTERVAL, STANDBY_SLACK);
            } else {
                line.review(now, PROBE_INTERVAL, Duration::ZERO);
            }
        }
        self.suspend_worthless(now);
        Some((self.number, probed))
    }

    /// When the next probe or the next packet that waits is due.
    pub(super) fn poll_timeout(&self, now: Time, probes: bool) -> Option<Time> {
        let probe = self.up().next().map(|_| self.next_probe).filter(|_| probes);
        let waiting = self.up().filter(|(path, _)| self.held(*path) > 0);
        waiting.map(|(_, line)| line.opens_at(now)).chain(probe).min()
    }

    pub(super) fn handle_answer(&mut self, now: Time, path: u8, answer: &Answer) {
        let has_waiting = self.held(path) > 0;
        if self.get_mut(path).is_some_and(|line| line.handle_answer(now, answer, has_waiting)) {
            self.compare(now, path);
        }
    }

    /// Leaves paths that miss what this one has answered.
    fn compare(&mut self, now: Time, answered: u8) {
        let Some(other) = self.get(answered).map(Line::lateness) else { return };
        let others = self.up().filter(|(path, _)| *path != answered);
        let silent = others.filter(|(_, line)| line.is_silent_beside(now, other, PROBE_INTERVAL));
        let silent: Vec<u8> = silent.map(|(path, _)| path).collect();
        for path in silent {
            self.get_mut(path).into_iter().for_each(Line::note_silence);
        }
    }

    /// Whether a packet that is not urgent may be sent by a path at once.
    pub(super) fn is_open(&self, now: Time, path: u8) -> bool {
        self.held(path) == 0 && self.get(path).is_none_or(|line| line.is_open(now))
    }

    /// Whether even urgent packets have to wait for a path.
    pub(super) fn is_overfull(&self, now: Time, path: u8) -> bool {
        self.get(path).is_some_and(|line| line.is_overfull(now))
    }

    /// Has a packet wait for a path.
    pub(super) fn hold(&mut self, path: u8, held: Held) {
        if let Some(waiting) = self.waiting.get_mut(usize::from(path)) {
            waiting.push(held.flow, on_line(held.packet.len()), held);
        }
    }

    /// Whether one more packet of a flow may wait for a path.
    pub(super) fn may_hold(&self, path: u8, flow: u64, size: usize) -> bool {
        let rate = self.get(path).and_then(Line::held_at).unwrap_or(0.0);
        let limit = ((rate * MOST_WAITING) as usize).max(LEAST_ROOM);
        self.waiting.get(usize::from(path)).is_some_and(|it| it.admits(flow, on_line(size), limit))
    }

    /// The next packet that has waited for a path which is open now.
    pub(super) fn poll_held(&mut self, now: Time, path: u8) -> Option<Held> {
        self.waiting.get(usize::from(path)).filter(|waiting| !waiting.is_idle())?;
        self.get(path).filter(|line| line.is_open(now))?;
        self.waiting.get_mut(usize::from(path))?.pop()
    }

    /// Gives what waits for paths that are gone, do not answer or are suspended to others.
    pub(super) fn rescue(&mut self, now: Time) {
        for path in (0..MAX_PATHS as u8).filter(|path| self.held(*path) > 0).collect::<Vec<_>>() {
            let is_used = self.get(path).is_some_and(|line| !line.is_dead()) && !self.is_suspended(now, path);
            let other = self.pick(now, 0, 0).filter(|other| *other != path && !is_used);
            let (Some(other), Some(waiting)) = (other, self.waiting.get_mut(usize::from(path))) else {
                continue;
            };
            let mut left = std::mem::take(waiting);
            while let Some(held) = left.pop() {
                self.hold(other, held);
            }
        }
    }

    /// Bytes that wait for a path.
    pub(super) fn held(&self, path: u8) -> usize {
        self.waiting.get(usize::from(path)).map_or(0, Waiting::bytes)
    }

    /// A packet of this size is sent by a path.
    pub(super) fn note_packet(&mut self, now: Time, path: u8, size: usize) {
        self.get_mut(path).into_iter().for_each(|line| line.note_packet(now, on_line(size)));
        for (place, share) in self.shares.iter_mut().enumerate() {
            let is_it = f64::from(u8::from(place == usize::from(path)));
            *share += SHARE_WEIGHT * (is_it - *share);
        }
    }

    /// The packet was one in order.
    pub(super) fn note_used(&mut self, now: Time, path: u8) {
        self.used.get_mut(usize::from(path)).into_iter().for_each(|used| *used = Some(now));
    }

    /// The number of paths that have carried packets in order lately.
    pub(super) fn count_used(&self, now: Time) -> u8 {
        let used = (0..MAX_PATHS as u8).filter(|path| self.is_used(now, *path)).count();
        u8::try_from(used).unwrap_or(u8::MAX).max(1)
    }

    fn is_used(&self, now: Time, path: u8) -> bool {
        let last = self.used.get(usize::from(path)).copied().flatten();
        last.is_some_and(|at| now.since(at) < USED_FOR)
    }

    pub(super) fn get(&self, path: u8) -> Option<&Line> {
        self.lines.get(usize::from(path))?.as_ref()
    }

    pub(super) fn get_mut(&mut self, path: u8) -> Option<&mut Line> {
        self.lines.get_mut(usize::from(path))?.as_mut()
    }

    /// The shortest round trip of those that answer.
    pub(super) fn round_trip(&self) -> Option<Duration> {
        let alive = self.up().filter(|(_, line)| !line.is_dead() && !line.round_trip().is_zero());
        alive.map(|(_, line)| line.round_trip()).min()
    }

    /// The paths that are up.
    pub(super) fn up(&self) -> impl Iterator<Item = (u8, &Line)> {
        (0..).zip(&self.lines).filter_map(|(path, line)| Some((path, line.as_ref()?)))
    }

    /// A path's part of the packets sent lately, from 0 to 1.
    pub(super) fn share(&self, path: u8) -> f64 {
        self.shares.get(usize::from(path)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
