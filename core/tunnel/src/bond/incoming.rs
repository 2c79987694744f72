//! What comes from the peer: packets of flows in order, and those that are missing.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use braid_spray::{Fate, HoldTime, Numbered, PathId, Resequencer, Segment, SeqNo, Settings};
use braid_types::{FiveTuple, Time};

use super::copies::Copies;
use super::frame::{Frame, MAX_LISTED, Mark, Parity, Part, Payload, Place, Stamp};
use super::pacer::{self, Pacer};
use super::parity::Recovery;
use super::parts::Parts;
use super::playout::Playout;
use super::repair::Missing;
use crate::endpoint::MAX_PATHS;

/// The greatest number of flows that are resequenced at once.
const FLOWS: u32 = 16_384;
/// How long packets are held for others that are on their way: at least, at most, and before any have come late.
const LEAST_HOLD: Duration = Duration::from_millis(60);
const MOST_HOLD: Duration = Duration::from_millis(600);
const FIRST_HOLD: Duration = Duration::from_millis(150);
/// A request may be sent for each packet that comes, and so many of those that were not needed later: answers to a few packets
/// are never many.
const SAVED_REQUESTS: u8 = 64;
/// After so many round trips and this much more, a packet is asked for again.
const ASK_ROUND_TRIPS: f64 = 1.25;
const ASK_MARGIN: Duration = Duration::from_millis(10);
const UNKNOWN_ROUND_TRIP: Duration = Duration::from_millis(100);
/// That other paths are used is heeded so often at most, as it concerns every flow; later packets say it again.
const FORGET_INTERVAL: Duration = Duration::from_millis(100);

/// The receiving half of a bond.
#[derive(Debug)]
pub(super) struct Incoming {
    /// By the number that the peer gives a path.
    paths: [Counted; MAX_PATHS],
    /// By the number here, bytes received.
    bytes: [u32; MAX_PATHS],
    used: u8,
    /// When that changed last.
    used_since: Option<Time>,
    round_trip: Duration,
    /// Whether a packet was overtaken by one that was sent later.
    has_come_late: bool,
    resequencer: Resequencer<(Stamp, Vec<u8>)>,
    parts: Parts,
    copies: Copies,
    pacer: Pacer,
    playout: Playout,
    packets: VecDeque<Vec<u8>>,
    received: u64,
    recovered: u64,
    /// Requests that may be sent.
    requests: u8,
}

#[derive(Debug, Default)]
struct Counted {
    received: u32,
    missing: Missing,
    recovery: Recovery,
}

impl Incoming {
    pub(super) fn new(seed: u64) -> Self {
        let hold = HoldTime::Measured { least: LEAST_HOLD, most: MOST_HOLD };
        Self {
            paths: Default::default(),
            bytes: [0; MAX_PATHS],
            used: 1,
            used_since: None,
            round_trip: UNKNOWN_ROUND_TRIP,
            has_come_late: false,
            resequencer: Resequencer::new(Settings { flows: FLOWS, hold, ..Settings::default() }, seed),
            parts: Parts::default(),
            copies: Copies::default(),
            pacer: Pacer::default(),
            playout: Playout::default(),
            packets: VecDeque::new(),
            received: 0,
            recovered: 0,
            requests: 0,
        }
    }

    pub(super) fn note_bytes(&mut self, path: u8, length: usize) {
        if let Some(bytes) = self.bytes.get_mut(usize::from(path)) {
            *bytes = bytes.wrapping_add(u32::try_from(length).unwrap_or(u32::MAX));
        }
    }

    pub(super) fn handle_packet(&mut self, now: Time, mark: Mark, seq: u32, payload: Payload<Vec<u8>>) {
        let Some(path) = self.paths.get_mut(usize::from(mark.path)) else { return };
        path.received = path.received.wrapping_add(1);
        self.requests = self.requests.saturating_add(1).min(SAVED_REQUESTS);
        let is_first = path.missing.note(now, seq, mark.shows_losses);
        self.set_used(now, mark.paths);
        if is_first {
            self.deliver(now, mark.path, payload);
        }
    }

    /// The content of a packet that has come by this path of the peer.
    pub(super) fn note_content(&mut self, now: Time, path: u8, seq: u32, content: &[u8]) {
        let path = self.paths.get_mut(usize::from(path));
        path.into_iter().for_each(|path| path.recovery.note(now, seq, content));
    }

    /// A parity packet has come.
    pub(super) fn handle_parity(&mut self, now: Time, parity: &Parity<'_>) {
        let path = self.paths.get_mut(usize::from(parity.path));
        if let Some(Counted { missing, recovery, .. }) = path {
            missing.note_parity(now);
            recovery.note_parity(now, missing.next(), parity);
        }
        self.recover(now, parity.path);
    }

    /// Passes on lost packets that were computed.
    pub(super) fn recover(&mut self, now: Time, path: u8) {
        let poll = |it: &mut Self| it.paths.get_mut(usize::from(path))?.recovery.poll();
        while let Some((seq, content)) = poll(self) {
            let Some(Frame::Packet { payload, .. }) = Frame::read(&content) else { continue };
            let payload = payload.map(<[u8]>::len).within(content);
            // It may be the last one that was sent.
            let path_in = self.paths.get_mut(usize::from(path));
            path_in.into_iter().for_each(|path| path.missing.note_sent(now, seq.wrapping_add(1), false));
            let is_new = self.fill(now, Place { path, seq }, payload);
            self.recovered = self.recovered.saturating_add(is_new.into());
        }
    }

    /// A packet that was lost has come; a second time it is not passed on.
    pub(super) fn handle_again(&mut self, now: Time, place: Place, payload: Payload<Vec<u8>>) {
        self.fill(now, place, payload);
    }

    /// Delivers a packet if it is missing, which it says.
    fn fill(&mut self, now: Time, place: Place, payload: Payload<Vec<u8>>) -> bool {
        let path = self.paths.get_mut(usize::from(place.path));
        let is_missing = path.is_some_and(|path| path.missing.take(place.seq));
        if is_missing {
            self.deliver(now, place.path, payload);
        }
        is_missing
    }

    /// A probe has come, before which so many packets were sent by its path.
    pub(super) fn handle_probe(&mut self, now: Time, mark: Mark, sent: u32) {
        let path = self.paths.get_mut(usize::from(mark.path));
        path.into_iter().for_each(|path| path.missing.note_sent(now, sent, mark.shows_losses));
    }

    /// The packets that have come by a path, as the peer numbers it.
    pub(super) fn packets_by(&self, path: u8) -> u32 {
        self.paths.get(usize::from(path)).map_or(0, |path| path.received)
    }

    /// The bytes that have come by a path, as it is numbered here.
    pub(super) fn bytes_by(&self, path: u8) -> u32 {
        self.bytes.get(usize::from(path)).copied().unwrap_or(0)
    }

    /// These packets will not come.
    pub(super) fn abandon(&mut self, now: Time, path: u8, seqs: &[u32]) {
        self.paths.get_mut(usize::from(path)).into_iter().for_each(|path| path.missing.abandon(seqs));
        self.settle(now);
    }

    /// Packets to ask for, and their path.
    pub(super) fn poll_missing(&mut self, now: Time, round_trip: Option<Duration>) -> Option<(u8, Vec<u32>)> {
        self.round_trip = round_trip.unwrap_or(UNKNOWN_ROUND_TRIP);
        if self.paths.iter().all(|path| path.missing.is_empty()) {
            return None;
        }
        let again = self.ask_again();
        let polled =
            (0..).zip(&mut self.paths).map(|(path, it)| (path, it.missing.poll(now, again, MAX_LISTED)));
        polled.into_iter().find(|(_, seqs)| !seqs.is_empty())
    }

    /// Whether a request may be sent, which counts; what is not asked for now may be later.
    pub(super) fn may_ask(&mut self) -> bool {
        let may_ask = self.requests > 0;
        self.requests = self.requests.saturating_sub(1);
        may_ask
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        if self.resequencer.poll_timeout().is_some_and(|due| due <= now) {
            self.settle(now);
            self.resequencer.handle_timeout(now);
        }
        self.paths.iter_mut().for_each(|path| path.recovery.handle_timeout(now));
        self.release(now);
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        let missing = self.paths.iter().filter_map(|path| path.missing.poll_timeout());
        let recovery = self.paths.iter().filter_map(|path| path.recovery.poll_timeout());
        missing.chain(recovery).chain(self.resequencer.poll_timeout()).chain(self.pacer.poll_timeout()).min()
    }

    pub(super) fn poll_packet(&mut self) -> Option<Vec<u8>> {
        self.packets.pop_front()
    }

    pub(super) const fn received(&self) -> u64 {
        self.received
    }

    /// Lost packets that were computed.
    pub(super) const fn recovered(&self) -> u64 {
        self.recovered
    }

    fn ask_again(&self) -> Duration {
        self.round_trip.mul_f64(ASK_ROUND_TRIPS).saturating_add(ASK_MARGIN)
    }

    fn set_used(&mut self, now: Time, paths: u8) {
        let is_due = self.used_since.is_none_or(|since| now.since(since) >= FORGET_INTERVAL);
        if paths != self.used && is_due {
            (self.used, self.used_since) = (paths, Some(now));
            // A path that is no longer used would be waited for.
            self.resequencer.forget_paths();
        }
    }

    fn deliver(&mut self, now: Time, path: u8, payload: Payload<Vec<u8>>) {
        match payload {
            Payload::Urgent(packet) => self.pass_on(packet),
            Payload::Copy { number, packet } => {
                if self.copies.is_first(number) {
                    self.pass_on(packet);
                }
            }
            Payload::Numbered { part: Part::Whole, numbered, sent, packet } => {
                self.put_in_order(now, path, numbered, sent, packet);
            }
            Payload::Numbered { part, numbered, sent, packet } => {
                if let Some(packet) = self.parts.join(numbered, part, &packet) {
                    self.put_in_order(now, path, numbered, sent, packet);
                }
            }
        }
    }

    fn pass_on(&mut self, packet: Vec<u8>) {
        self.received = self.received.saturating_add(1);
        self.packets.push_back(packet);
    }

    fn put_in_order(&mut self, now: Time, path: u8, numbered: Numbered, sent: Stamp, packet: Vec<u8>) {
        self.received = self.received.saturating_add(1);
        let is_datagram = pacer::is_datagram(&packet);
        if is_datagram {
            self.pacer.note_arrival(now);
            self.playout.note_arrival(now, sent);
        }
        self.settle(now);
        let segment = Segment { seq: SeqNo(numbered.number), payload: 1, ..Segment::default() };
        let size = u32::try_from(packet.len()).unwrap_or(u32::MAX);
        let mut packet = Some(packet);
        let hold = || (sent, packet.take().unwrap_or_default());
        let late = self.resequencer.path(PathId(path)).late;
        let fate = self.resequencer.offer(now, &name(numbered.key), segment, PathId(path), size, hold);
        self.has_come_late |= self.resequencer.path(PathId(path)).late > late;
        match packet.filter(|_| fate == Fate::Forward) {
            Some(packet) if is_datagram => self.pace(now, sent, packet),
            packet => self.packets.extend(packet),
        }
        self.release(now);
    }

    /// While repairs may come, gaps are held open for them; else a gap that all paths have passed is given up.
    fn settle(&mut self, now: Time) {
        let wait = self.ask_again().saturating_mul(4);
        let wait = wait.min(MOST_HOLD);
        let is_awaited = self.paths.iter().any(|path| {
            let missing = &path.missing;
            !missing.is_empty() && missing.is_awaited(now, wait)
        });
        let (paths, hold) = if is_awaited {
            (0, HoldTime::Measured { least: wait, most: MOST_HOLD })
        } else {
            let most = if self.has_come_late { MOST_HOLD } else { FIRST_HOLD };
            (self.used, HoldTime::Measured { least: LEAST_HOLD, most })
        };
        let settings = self.resequencer.settings();
        if settings.paths != paths || settings.hold != hold {
            self.resequencer.change(Settings { paths, hold, ..*settings });
        }
    }

    /// Passes on a datagram that was sent at `sent`, and before which none is missing.
    fn pace(&mut self, now: Time, sent: Stamp, datagram: Vec<u8>) {
        let hold = self.playout.hold(now, sent);
        self.pacer.push(now + hold, datagram);
    }

    fn release(&mut self, now: Time) {
        while let Some((sent, packet)) = self.resequencer.poll_packet() {
            match pacer::is_datagram(&packet) {
                true => self.pace(now, sent, packet),
                false => self.packets.push_back(packet),
            }
        }
        while let Some(packet) = self.pacer.poll(now) {
            self.packets.push_back(packet);
        }
    }
}

/// The flow's name as the resequencer wants it.
const fn name(key: u32) -> FiveTuple {
    let address = IpAddr::V4(Ipv4Addr::from_bits(key));
    FiveTuple { src: address, dst: address, src_port: 0, dst_port: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets with these numbers, one a millisecond, of a sender that says each time that it uses another number of paths.
    fn after(numbers: impl Iterator<Item = u32>) -> (Incoming, u32) {
        let (mut incoming, mut changes) = (Incoming::new(1), 0);
        for (turn, number) in (0..).zip(numbers) {
            let used = incoming.used;
            let mark = Mark { path: 0, paths: 1 + turn as u8 % 2, shows_losses: false };
            incoming.handle_packet(Time::from_millis(turn), mark, number, Payload::Urgent(Vec::new()));
            changes += u32::from(incoming.used != used);
        }
        (incoming, changes)
    }

    #[test]
    fn a_peer_makes_all_flows_forget_their_paths_no_more_than_ten_times_a_second() {
        let (_, changes) = after(0..2_000);
        assert!((10..=20).contains(&changes), "{changes}");
    }

    #[test]
    fn few_packets_are_answered_by_few_requests_whatever_they_skip() {
        let requests = |numbers: &[u32]| {
            let (mut incoming, _) = after(numbers.iter().copied());
            let now = Time::from_millis(100);
            let polled = std::iter::from_fn(|| incoming.poll_missing(now, None)).collect::<Vec<_>>();
            assert!(polled.len() >= 10);
            polled.iter().filter(|_| incoming.may_ask()).count()
        };
        assert_eq!(requests(&[0, 10_000]), 2);
        let all: Vec<u32> = (0..100).chain([10_000]).collect();
        assert!(requests(&all) >= 10, "of what is lost after many packets, all is asked for");
    }
}
