//! The receiver's half: packets are kept for as long as parity packets come, and lost ones computed.

use std::collections::VecDeque;
use std::time::Duration;

use braid_types::{RateLimit, Time};

use super::{MAX_CONTENT, MAX_PACKETS, MAX_PARITY, content, is_shard, pad, shard};
use crate::bond::frame::Parity;

/// Packets that are kept.
const MAX_KEPT_PACKETS: usize = 1_024;
/// Blocks that wait for one more packet.
const MAX_BLOCKS: usize = 64;
/// Without parity packets for this long, none is kept.
const PARITY_MEMORY: Duration = Duration::from_secs(3);
/// A block that still lacks something then is given up.
const BLOCK_TIMEOUT: Duration = Duration::from_secs(1);
/// Blocks that are solved in a second. Each costs the same, however short it is, and the other end makes as many as it likes; a path of
/// 100 Mbit/s that loses 1 % needs 85.
const MAX_SOLVED_PER_SECOND: u32 = 150;
/// Older packets are of no block whose parity comes now, but perhaps of another start of the sender, which numbers anew.
const MAX_KEPT_AGE: Duration = Duration::from_secs(1);

/// The packets of a path that came lately, and the blocks of which some are missing.
#[derive(Clone, Debug, Default)]
pub(in crate::bond) struct Recovery {
    /// By number, modulo their count; none while there is no parity.
    kept: Vec<Option<Kept>>,
    blocks: VecDeque<Incomplete>,
    heard: Option<Time>,
    found: VecDeque<(u32, Vec<u8>)>,
    solved: RateLimit,
}

#[derive(Clone, Debug)]
struct Kept {
    seq: u32,
    at: Time,
    content: Vec<u8>,
}

#[derive(Clone, Debug)]
struct Incomplete {
    path: u8,
    first: u32,
    /// A bit for each packet that has not come.
    missing: u32,
    count: u8,
    parity: Vec<(u8, Vec<u8>)>,
    since: Time,
}

impl Incomplete {
    /// The place of a packet in it.
    fn place(&self, seq: u32) -> Option<u32> {
        Some(seq.wrapping_sub(self.first)).filter(|place| *place < u32::from(self.count))
    }

    fn note_parity(&mut self, index: u8, bytes: &[u8]) {
        if self.parity.iter().all(|(other, known)| *other != index && known.len() == bytes.len()) {
            self.parity.push((index, bytes.to_vec()));
        }
    }

    fn is_solvable(&self) -> bool {
        usize::try_from(self.missing.count_ones()).is_ok_and(|missing| missing <= self.parity.len())
    }
}

impl Recovery {
    /// A packet has come.
    pub(in crate::bond) fn note(&mut self, now: Time, seq: u32, content: &[u8]) {
        if !self.is_active(now) {
            return;
        }
        self.keep(now, seq, content);
        for block in &mut self.blocks {
            if let Some(place) = block.place(seq) {
                block.missing &= !(1 << place);
            }
        }
        self.solve(now);
    }

    /// A parity packet has come; `next` is about the number of the path's next packet.
    pub(in crate::bond) fn note_parity(&mut self, now: Time, next: u32, parity: &Parity<'_>) {
        if !is_shard(parity.bytes) {
            return;
        }
        self.begin(now);
        let first = around(next, parity.first);
        let (count, index) = (parity.count.clamp(1, MAX_PACKETS), parity.index.min(MAX_PARITY - 1));
        let known = self.blocks.iter_mut().find(|block| block.first == first && block.count == count);
        if let Some(block) = known {
            block.note_parity(index, parity.bytes);
        } else {
            let missing = self.missing(now, first, count);
            if missing == 0 {
                return;
            }
            if self.blocks.len() >= MAX_BLOCKS {
                self.blocks.pop_front();
            }
            let parity_packets = vec![(index, parity.bytes.to_vec())];
            let path = parity.path;
            let block = Incomplete { path, first, missing, count, parity: parity_packets, since: now };
            self.blocks.push_back(block);
        }
        self.solve(now);
    }

    /// Packets are kept from now on.
    pub(in crate::bond) fn begin(&mut self, now: Time) {
        self.heard = Some(now);
        if self.kept.is_empty() {
            self.kept.resize(MAX_KEPT_PACKETS, None);
        }
    }

    /// The next packet that was computed, and its number.
    pub(in crate::bond) fn poll(&mut self) -> Option<(u32, Vec<u8>)> {
        self.found.pop_front()
    }

    /// The blocks of which packets are missing.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.blocks.len()
    }

    fn is_active(&self, now: Time) -> bool {
        self.heard.is_some_and(|heard| now.since(heard) < PARITY_MEMORY)
    }

    /// When to call [`Self::handle_timeout`]; `None` while nothing is kept.
    pub(in crate::bond) fn poll_timeout(&self) -> Option<Time> {
        self.heard.map(|heard| heard + PARITY_MEMORY)
    }

    /// Forgets everything once no parity packets come.
    pub(in crate::bond) fn handle_timeout(&mut self, now: Time) {
        if self.heard.is_some() && !self.is_active(now) {
            *self = Self::default();
        }
    }

    fn keep(&mut self, at: Time, seq: u32, content: &[u8]) {
        if content.len() > MAX_CONTENT {
            return;
        }
        let Some(place) = self.kept.get_mut(seq as usize % MAX_KEPT_PACKETS) else { return };
        let mut memory = place.take().map(|kept| kept.content).unwrap_or_default();
        memory.clear();
        memory.extend_from_slice(content);
        *place = Some(Kept { seq, at, content: memory });
    }

    fn kept(&self, seq: u32) -> Option<&Kept> {
        self.kept.get(seq as usize % MAX_KEPT_PACKETS)?.as_ref().filter(|kept| kept.seq == seq)
    }

    fn missing(&self, now: Time, first: u32, count: u8) -> u32 {
        let has_come = |seq| self.kept(seq).is_some_and(|kept: &Kept| now.since(kept.at) < MAX_KEPT_AGE);
        let places = (0..u32::from(count)).filter(|place| !has_come(first.wrapping_add(*place)));
        places.fold(0, |missing, place| missing | 1 << place)
    }

    /// Computes what can be, and forgets what is complete or too old.
    fn solve(&mut self, now: Time) {
        while let Some(place) = self.blocks.iter().position(|block| {
            block.missing == 0 || block.is_solvable() || now.since(block.since) >= BLOCK_TIMEOUT
        }) {
            let Some(block) = self.blocks.remove(place) else { return };
            let is_due = block.missing != 0 && block.is_solvable();
            if is_due && self.solved.take(now, MAX_SOLVED_PER_SECOND, Duration::from_secs(1)) {
                let found = self.computed(&block).unwrap_or_default();
                found.iter().for_each(|(seq, content)| self.keep(now, *seq, content));
                self.found.extend(found);
            }
        }
    }

    fn computed(&self, block: &Incomplete) -> Option<Vec<(u32, Vec<u8>)>> {
        let length = block.parity.first()?.1.len();
        let seq = |place: u32| block.first.wrapping_add(place);
        let came = (0..u32::from(block.count)).filter(|place| block.missing >> place & 1 == 0);
        let mut came: Vec<_> = came
            .map(|place| Some((place as usize, shard(&self.kept(seq(place))?.content)?)))
            .collect::<Option<_>>()?;
        if came.iter().any(|(_, shard)| shard.len() > length) {
            return None;
        }
        pad(came.iter_mut().map(|(_, shard)| shard), length);
        let parity = block.parity.iter().map(|(index, bytes)| (usize::from(*index), bytes));
        let (count, most) = (block.count.into(), MAX_PARITY.into());
        let computed = reed_solomon_simd::decode(count, most, came, parity).ok()?;
        let contents = computed.into_iter().map(|(place, shard)| {
            let seq = seq(u32::try_from(place).ok()?);
            Some((seq, content(&shard, block.path, seq)?))
        });
        contents.collect()
    }
}

/// The number nearest to `near` that ends in these bits.
const fn around(near: u32, low: u16) -> u32 {
    let ahead = low.wrapping_sub(near as u16).cast_signed();
    near.wrapping_add_signed(ahead as i32)
}
