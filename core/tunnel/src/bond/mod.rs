//! One peer's paths as one: packets are spread over them, repaired and resequenced.

mod copies;
mod frame;
mod incoming;
mod line;
mod lines;
mod outgoing;
mod pacer;
mod parity;
mod parts;
mod playout;
mod repair;
mod train;
mod waiting;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use braid_spray::{FlowNumbers, Numbered};
use braid_types::{BitsPerSec, Time, mix};

use crate::endpoint::MAX_PATHS;
use crate::path::LEAST_MTU;
use crate::traffic::{Flow, Traffic};
use crate::wire::{DATA_OVERHEAD, on_line};
use frame::{Answer, Frame, MAX_LISTED, Mark, NUMBERED_HEAD};
use incoming::Incoming;
pub use line::PathReport;
use lines::Lines;
pub use lines::UplinkSettings;
use parity::Block;
use repair::Sent;
use train::Train;

/// Without packets for this long, paths are no longer probed; the tunnel's own pings keep them.
const IDLE_AFTER: Duration = Duration::from_secs(3);
/// The sum of all shares.
const SHARE_PARTS: f64 = 10_000.0;
/// What a request takes of a path, about.
const REQUEST: usize = 300;
/// Every path has room for so long a content.
const LEAST_ROOM: usize = LEAST_MTU as usize - DATA_OVERHEAD;

/// Spreads packets to one peer over its paths, and resequences those that come from it. Performs no I/O.
///
/// [`Self::send_ip`] and [`Self::handle_timeout`] make contents for paths, which [`Self::poll_content`] gives; the other
/// end passes them to [`Self::handle_content`] and gets packets by [`Self::poll_packet`]. What paths cannot carry now waits
/// here, so that urgent packets find them short.
#[derive(Debug)]
pub struct Bond {
    lines: Lines,
    sent: [Sent; MAX_PATHS],
    trains: [Train; MAX_PATHS],
    blocks: [Block; MAX_PATHS],
    /// How long contents may be, as last asked.
    rooms: [usize; MAX_PATHS],
    numbers: FlowNumbers<Flow>,
    seed: u64,
    last_copy: Numbered,
    incoming: Incoming,
    last_packet: Option<Time>,
    contents: VecDeque<(u8, Arc<Vec<u8>>)>,
    counters: BondCounters,
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
    /// Packets sent again, as a path had lost them.
    pub repaired: u64,
    /// Parity packets sent, from which the peer computes those that a path loses.
    pub parity: u64,
    /// Packets received that way.
    pub recovered: u64,
    /// Packets among those sent that took the quickest path, before what waited.
    pub urgent: u64,
    /// Packets among those that went by two paths.
    pub duplicated: u64,
    /// Packets dropped as too many waited.
    pub overflowed: u64,
}

/// A path's part in the traffic.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PathShare {
    /// The path's number.
    pub path: u8,
    /// Its share of all packets sent, of 10,000.
    pub share: u32,
    /// What its uplinks cost, here and there.
    pub cost: u16,
    /// What it carries, while more is sent than that.
    pub rate: Option<BitsPerSec>,
    /// How long what waits here for it takes.
    pub waiting: Duration,
    /// What probes show.
    pub report: Option<PathReport>,
}

impl Bond {
    /// A bond without paths; `seed` must be random: it keeps flows from choosing what they share with others.
    pub fn new(now: Time, seed: u64) -> Self {
        Self {
            lines: Lines::new(now),
            sent: Default::default(),
            trains: Default::default(),
            blocks: Default::default(),
            rooms: [LEAST_ROOM; MAX_PATHS],
            numbers: FlowNumbers::new(seed),
            last_copy: Numbered { key: !(mix(seed) as u32), number: 0 },
            seed,
            incoming: Incoming::new(seed),
            last_packet: None,
            contents: VecDeque::new(),
            counters: BondCounters::default(),
        }
    }

    /// A path has come up or gone down.
    pub fn set_path(&mut self, now: Time, path: u8, up: bool, uplink: UplinkSettings) {
        self.lines.set(now, path, up, uplink);
        self.rooms.get_mut(usize::from(path)).into_iter().for_each(|room| *room = LEAST_ROOM);
        self.lines.rescue(now);
        self.trains.get_mut(usize::from(path)).into_iter().for_each(|train| *train = Train::default());
        let frames = train::frames().filter(|_| up);
        self.contents.extend(frames.map(|frame| (path, Arc::new(frame.content()))));
    }

    /// The other end of a path has another address.
    pub(crate) fn note_moved(&mut self, path: u8) {
        self.lines.note_moved(path);
    }

    /// Sends an IP packet by its own urgency; whether there was a path for it. `max_content` says how long a path's contents
    /// may be.
    pub fn send_ip(&mut self, now: Time, packet: &[u8], max_content: impl Fn(u8) -> Option<usize>) -> bool {
        self.send(now, packet, &Traffic::default().of_ip(packet), max_content)
    }

    /// Handles what the other end has sent by a path.
    pub fn handle_content(&mut self, now: Time, path: u8, content: Vec<u8>) {
        self.incoming.note_bytes(path, on_line(content.len()));
        match Frame::read(&content) {
            Some(Frame::Packet { mark, seq, payload }) => {
                self.incoming.note_content(now, mark.path, seq, &content);
                let payload = payload.map(<[u8]>::len).within(content);
                self.wake(now);
                self.incoming.handle_packet(now, mark, seq, payload);
                self.incoming.recover(now, mark.path);
                self.ask(now);
            }
            Some(Frame::Again { place, payload }) => {
                let payload = payload.map(<[u8]>::len).within(content);
                self.incoming.handle_again(now, place, payload);
            }
            Some(Frame::Parity(parity)) => self.incoming.handle_parity(now, &parity),
            Some(Frame::Probe { mark, number, sent, cost }) => {
                self.lines.set_other_cost(path, cost);
                self.incoming.handle_probe(now, mark, sent);
                let received = self.incoming.packets_by(mark.path);
                let bytes = self.incoming.bytes_by(path);
                let answer = Answer { number, arrived: now.as_nanos(), sent, received, bytes };
                self.contents.push_back((path, Arc::new(Frame::Answer(answer).content())));
                self.ask(now);
            }
            Some(Frame::Answer(answer)) => {
                self.lines.handle_answer(now, path, &answer);
                self.lines.rescue(now);
            }
            Some(Frame::Missing { path, seqs }) => self.repair(now, path, &seqs),
            Some(Frame::Abandoned { path, seqs }) => self.incoming.abandon(now, path, &seqs),
            Some(Frame::Train { place, last }) => {
                let train = self.trains.get_mut(usize::from(path));
                let answer = train.and_then(|train| train.note(now, place, last, on_line(content.len())));
                self.contents.extend(answer.map(|answer| (path, Arc::new(answer.content()))));
            }
            Some(Frame::Passed { bytes, nanos }) => self.lines.note_train(path, bytes, nanos),
            None => {}
        }
        self.release(now);
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Time) {
        if !self.is_idle(now)
            && let Some((number, paths)) = self.lines.poll_probe(now)
        {
            self.probe(now, number, &paths);
            self.lines.rescue(now);
        }
        self.incoming.handle_timeout(now);
        self.ask(now);
        self.release(now);
        self.protect_due(now);
    }

    /// When something is due.
    pub fn poll_timeout(&self, now: Time) -> Option<Time> {
        let lines = self.lines.poll_timeout(now, !self.is_idle(now));
        let blocks = self.blocks.iter().filter_map(Block::due);
        lines.into_iter().chain(self.incoming.poll_timeout()).chain(blocks).min()
    }

    /// The next content to send, and its path.
    pub fn poll_content(&mut self) -> Option<(u8, Arc<Vec<u8>>)> {
        self.contents.pop_front()
    }

    /// The next packet from the peer.
    pub fn poll_packet(&mut self) -> Option<Vec<u8>> {
        self.incoming.poll_packet()
    }

    /// The paths that are up.
    pub fn shares(&self) -> impl Iterator<Item = PathShare> {
        let total: f64 = self.lines.up().map(|(path, _)| self.lines.share(path)).sum();
        let even = 1.0 / self.lines.up().count().max(1) as f64;
        self.lines.up().map(move |(path, line)| {
            let share = if total > 0.0 { self.lines.share(path) / total } else { even };
            let waiting = line.seconds(self.lines.held(path)).clamp(0.0, 1e6);
            PathShare {
                path,
                share: (share * SHARE_PARTS).round() as u32,
                cost: self.lines.cost(path),
                rate: line.held_at().map(|rate| BitsPerSec((rate * 8.0) as u64)),
                waiting: Duration::from_secs_f64(waiting),
                report: line.report(),
            }
        })
    }

    /// Packets since the start.
    pub const fn counters(&self) -> BondCounters {
        let (received, recovered) = (self.incoming.received(), self.incoming.recovered());
        BondCounters { received, recovered, ..self.counters }
    }

    /// The longest packet that fits into a content of `max_content` bytes.
    pub(crate) const fn room(max_content: usize) -> usize {
        max_content.saturating_sub(NUMBERED_HEAD)
    }

    /// Notes a packet of either direction: both ends probe while there are any, so that each shows the other where it is.
    fn wake(&mut self, now: Time) {
        if self.is_idle(now) {
            self.lines.wake(now);
        }
        self.last_packet = Some(now);
    }

    fn is_idle(&self, now: Time) -> bool {
        self.last_packet.is_none_or(|last| now.since(last) >= IDLE_AFTER)
    }

    fn probe(&mut self, now: Time, number: u32, paths: &[u8]) {
        for path in paths.iter().copied() {
            let sent = self.sent.get(usize::from(path)).map_or(0, Sent::next);
            let cost = self.lines.own_cost(path);
            let frame = Frame::Probe { mark: self.mark(now, path), number, sent, cost };
            self.contents.push_back((path, Arc::new(frame.content())));
        }
    }

    fn mark(&self, now: Time, path: u8) -> Mark {
        let shows_losses = self.lines.get(path).is_some_and(|line| !line.may_repair());
        Mark { path, paths: self.lines.count_used(now), shows_losses }
    }

    /// Asks for packets that have not come.
    fn ask(&mut self, now: Time) {
        while let Some((path, seqs)) = self.incoming.poll_missing(now, self.lines.round_trip()) {
            if self.incoming.may_ask() {
                self.push_request(now, &Frame::Missing { path, seqs });
            }
        }
    }

    /// Sends again what a path has lost, as far as that does not hide that it is full.
    fn repair(&mut self, now: Time, path: u8, seqs: &[u32]) {
        let mut abandoned = Vec::new();
        for seq in seqs.iter().take(MAX_LISTED) {
            let content = self.sent.get(usize::from(path)).and_then(|sent| sent.get(*seq));
            let line = self.lines.get_mut(path).filter(|line| line.may_repair());
            let (Some(content), Some(line)) = (content, line) else {
                abandoned.push(*seq);
                continue;
            };
            line.note_repair();
            let content = Frame::again(content, path);
            let [other, _] = self.lines.quickest(now, content.len());
            let other = other.filter(|other| self.fits(*other, content.len()));
            let by = other.unwrap_or(path);
            self.lines.note_packet(now, by, content.len());
            self.counters.repaired = self.counters.repaired.saturating_add(1);
            self.contents.push_back((by, Arc::new(content)));
        }
        if !abandoned.is_empty() {
            self.push_request(now, &Frame::Abandoned { path, seqs: abandoned });
        }
    }

    fn fits(&self, path: u8, length: usize) -> bool {
        self.rooms.get(usize::from(path)).is_some_and(|room| length <= *room)
    }

    fn push_request(&mut self, now: Time, frame: &Frame<'_>) {
        let [path, _] = self.lines.quickest(now, REQUEST);
        path.into_iter().for_each(|path| self.contents.push_back((path, Arc::new(frame.content()))));
    }
}
