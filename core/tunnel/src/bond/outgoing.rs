//! What goes to the peer: urgent packets at once, others in the order of their flows, as fast as paths carry them.

use std::sync::Arc;

use braid_spray::Numbered;
use braid_types::{Time, secret_hash_of};

use super::Bond;
use super::frame::{NUMBERED_HEAD, Part, Payload, Stamp};
use super::line::Line;
use super::lines::Held;
use super::parity::Block;
use crate::endpoint::MAX_PATHS;
use crate::traffic::{Class, Flow, PathChoice};

impl Bond {
    /// Sends a packet of this class.
    pub(crate) fn send(
        &mut self,
        now: Time,
        packet: &[u8],
        class: &Class,
        max_content: impl Fn(u8) -> Option<usize>,
    ) -> bool {
        self.wake(now);
        if class.is_interactive {
            self.lines.note_interactive(now);
        }
        let [first, second] = match class.paths {
            PathChoice::All => [self.lines.pick(now, packet.len(), self.hash_of(&class.flow)), None],
            PathChoice::Quickest => [self.lines.quickest(now, packet.len())[0], None],
            PathChoice::Duplicate => self.lines.quickest(now, packet.len()),
        };
        let Some(path) = first.filter(|path| self.measure(*path, &max_content)) else {
            self.counters.no_path = self.counters.no_path.saturating_add(1);
            return false;
        };
        let second = second.filter(|path| self.measure(*path, &max_content));
        match class.paths {
            PathChoice::All => self.send_in_order(now, path, packet, &class.flow),
            _ => self.send_urgent(now, [Some(path), second], packet, &class.flow),
        }
        self.release(now);
        true
    }

    fn hash_of(&self, flow: &Flow) -> u64 {
        secret_hash_of(self.seed, flow)
    }

    /// Notes how long the contents of a path may be; whether it takes any.
    fn measure(&mut self, path: u8, max_content: impl Fn(u8) -> Option<usize>) -> bool {
        let room = max_content(path);
        let place = self.rooms.get_mut(usize::from(path)).zip(room);
        // Parity packets have an even length.
        place.into_iter().for_each(|(place, room)| *place = room & !1);
        room.is_some()
    }

    /// Sends a packet before all that waits; one that is too long for the path, or that fills it with its like, as others.
    fn send_urgent(&mut self, now: Time, paths: [Option<u8>; 2], packet: &[u8], flow: &Flow) {
        let [Some(path), second] = paths else { return };
        if !self.fits(path, packet.len().saturating_add(NUMBERED_HEAD)) {
            return self.send_in_order(now, path, packet, flow);
        }
        self.counters.urgent = self.counters.urgent.saturating_add(1);
        if self.lines.is_overfull(now, path) {
            return self.hold(path, packet, flow, None);
        }
        self.counters.sent = self.counters.sent.saturating_add(1);
        let second = second.filter(|path| self.fits(*path, packet.len().saturating_add(NUMBERED_HEAD)));
        let Some(second) = second else { return self.push(now, path, Payload::Urgent(packet)) };
        self.counters.duplicated = self.counters.duplicated.saturating_add(1);
        let number = self.next_copy();
        [path, second].into_iter().for_each(|path| self.push(now, path, Payload::Copy { number, packet }));
    }

    fn next_copy(&mut self) -> Numbered {
        let Numbered { key, number } = self.last_copy;
        let next = number.checked_add(1).map(|number| Numbered { key, number });
        self.last_copy = next.unwrap_or(Numbered { key: key.wrapping_add(1), number: 0 });
        self.last_copy
    }

    /// Sends a packet with a number of its flow, or has it wait.
    fn send_in_order(&mut self, now: Time, path: u8, packet: &[u8], flow: &Flow) {
        if !self.lines.is_open(now, path) {
            // What waits has its number: what is dropped must have none, or its place would be waited for.
            let is_admitted = self.lines.may_hold(path, self.hash_of(flow), packet.len());
            let numbered = is_admitted.then(|| self.numbers.next(flow));
            return match numbered {
                Some(numbered) => self.hold(path, packet, flow, Some(numbered)),
                None => self.counters.overflowed = self.counters.overflowed.saturating_add(1),
            };
        }
        self.counters.sent = self.counters.sent.saturating_add(1);
        let numbered = self.numbers.next(flow);
        self.push_numbered(now, path, numbered, packet);
    }

    fn hold(&mut self, path: u8, packet: &[u8], flow: &Flow, numbered: Option<Numbered>) {
        let flow = self.hash_of(flow);
        if numbered.is_none() && !self.lines.may_hold(path, flow, packet.len()) {
            self.counters.overflowed = self.counters.overflowed.saturating_add(1);
            return;
        }
        self.lines.hold(path, Held { flow, numbered, packet: packet.to_vec() });
    }

    /// Sends what waits, as far as paths are open.
    pub(super) fn release(&mut self, now: Time) {
        for path in 0..MAX_PATHS as u8 {
            while let Some(Held { numbered, packet, .. }) = self.lines.poll_held(now, path) {
                match numbered {
                    Some(numbered) => self.push_numbered(now, path, numbered, &packet),
                    None if self.fits(path, packet.len().saturating_add(NUMBERED_HEAD)) => {
                        self.push(now, path, Payload::Urgent(&packet));
                    }
                    None => {
                        // It has waited for a path with more room.
                        self.counters.overflowed = self.counters.overflowed.saturating_add(1);
                        continue;
                    }
                }
                self.counters.sent = self.counters.sent.saturating_add(1);
            }
        }
    }

    fn push_numbered(&mut self, now: Time, path: u8, numbered: Numbered, packet: &[u8]) {
        self.lines.note_used(now, path);
        let sent = Stamp::at(now);
        let payload = |part, packet| Payload::Numbered { part, numbered, sent, packet };
        if self.fits(path, packet.len().saturating_add(NUMBERED_HEAD)) {
            self.push(now, path, payload(Part::Whole, packet));
            return;
        }
        let (first, second) = packet.split_at(packet.len() / 2);
        self.push(now, path, payload(Part::First, first));
        self.push(now, path, payload(Part::Second, second));
        self.counters.split = self.counters.split.saturating_add(1);
    }

    fn push(&mut self, now: Time, path: u8, payload: Payload<&[u8]>) {
        let mark = self.mark(now, path);
        let Some(sent) = self.sent.get_mut(usize::from(path)) else { return };
        let seq = sent.next();
        let content = sent.push(|seq, content| payload.put(mark, seq, content));
        self.lines.note_packet(now, path, content.len());
        self.contents.push_back((path, Arc::clone(&content)));
        self.protect(now, path, seq, content);
    }

    /// Parity packets follow where a path loses packets and repairs would take long.
    fn protect(&mut self, now: Time, path: u8, seq: u32, content: Arc<Vec<u8>>) {
        let Some(block) = self.blocks.get_mut(usize::from(path)) else { return };
        if !self.lines.get(path).is_some_and(Line::needs_parity) {
            block.clear();
        } else if block.add(now, seq, content) {
            self.push_parity(now, path);
        }
    }

    /// Blocks that have waited for more packets get their parity packets.
    pub(super) fn protect_due(&mut self, now: Time) {
        for path in 0..MAX_PATHS as u8 {
            let block = self.blocks.get(usize::from(path));
            if block.and_then(Block::due).is_some_and(|due| due <= now) {
                self.push_parity(now, path);
            }
        }
    }

    fn push_parity(&mut self, now: Time, path: u8) {
        let Some(block) = self.blocks.get_mut(usize::from(path)) else { return };
        let parity = self.lines.get(path).map_or(0, |line| line.parity_for(block.count()));
        for content in block.take(parity, path) {
            if self.fits(path, content.len()) {
                self.lines.note_packet(now, path, content.len());
                self.counters.parity = self.counters.parity.saturating_add(1);
                self.contents.push_back((path, Arc::new(content)));
            }
        }
    }
}
