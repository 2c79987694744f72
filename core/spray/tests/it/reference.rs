//! The resequencer against a reference that is easy to believe: it does not wrap, sorts a list each time, and searches all of it.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_spray::{Fate, HoldTime, Settings};
use braid_types::Time;
use proptest::prelude::*;

use crate::common::{Bench, data};

const HOLD: u64 = 30;
const THRESHOLD: u64 = 6_000;
const ROOM: usize = 12;
const LRF: u64 = 5;
const PATHS: usize = 2;

#[derive(Clone, Copy, Debug)]
struct Packet {
    id: u64,
    seq: u64,
    end: u64,
    arrival: u64,
}

impl Packet {
    /// Its frame, and what the buffer counts besides.
    fn charge(&self) -> u64 {
        let frame = self.end - self.seq + 54;
        frame + frame / 8 + 128
    }
}

#[derive(Default)]
struct Reference {
    next: Option<u64>,
    held: Vec<Packet>,
    furthest: BTreeMap<u8, u64>,
    out: Vec<u64>,
}

impl Reference {
    fn offer(&mut self, packet: Packet, path: u8) {
        let Some(next) = self.next else {
            self.next = Some(packet.end);
            self.furthest.insert(path, packet.end);
            return self.out.push(packet.id);
        };
        let furthest = self.furthest.entry(path).or_insert(packet.end);
        if packet.seq >= *furthest {
            *furthest = packet.end;
        }
        let begins_before =
            self.held.iter().filter(|held| held.seq <= packet.seq).max_by_key(|held| held.seq);
        if packet.end <= next || begins_before.is_some_and(|held| packet.seq > next && held.end >= packet.end)
        {
            return self.out.push(packet.id);
        }
        if packet.seq <= next {
            self.out.push(packet.id);
            self.next = Some(packet.end);
            self.release(|_, _| false);
            return self.passed();
        }
        if self.held.len() == ROOM {
            let first = self.held[0].id;
            self.release(|held, _| held.id == first);
            if packet.seq <= self.next.unwrap_or(0) {
                self.out.push(packet.id);
                self.next = self.next.max(Some(packet.end));
                return self.release(|_, _| false);
            }
        }
        self.held.push(packet);
        // Packets of one number go in the order in which they came.
        self.held.sort_by_key(|held| held.seq);
        if self.held.iter().map(Packet::charge).sum::<u64>() > THRESHOLD {
            let last = self.held[self.held.len() - 1];
            self.release(|_, _| true);
            self.next = self.next.map(|next| next + LRF * (last.end - last.seq));
        } else {
            self.passed();
        }
    }

    /// Releases packets from the first on, as long as they are `wanted` or nothing is missing before them.
    fn release(&mut self, wanted: impl Fn(&Packet, &Self) -> bool) {
        while let Some(first) = self.held.first().copied() {
            if first.seq > self.next.unwrap_or(0) && !wanted(&first, self) {
                return;
            }
            self.held.remove(0);
            self.out.push(first.id);
            self.next = self.next.max(Some(first.end));
        }
    }

    fn passed(&mut self) {
        self.release(|first, it| {
            it.furthest.len() >= PATHS && it.furthest.values().all(|furthest| *furthest > first.seq)
        });
    }

    fn timeout(&mut self, now: u64) {
        let due = self.held.iter().filter(|held| held.arrival + HOLD <= now).map(|held| held.seq).max();
        if let Some(due) = due {
            self.release(|held, _| held.seq <= due);
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// A packet that is `.0` numbers after the front (or before it), of `.1` bytes, by path `.2`.
    Near(i64, u64, u8),
    /// The packet that the front waits for.
    Front(u64, u8),
    /// Milliseconds pass.
    Wait(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let bytes = || prop_oneof![Just(100_u64), 1..1_460_u64];
    let ahead =
        (0..12_i64, bytes(), 0..2_u8).prop_map(|(count, bytes, path)| Step::Near(count * 100, bytes, path));
    let odd =
        (-900..2_000_i64, bytes(), 0..2_u8).prop_map(|(ahead, bytes, path)| Step::Near(ahead, bytes, path));
    let front = (bytes(), 0..2_u8).prop_map(|(bytes, path)| Step::Front(bytes, path));
    let wait = (1..40_u64).prop_map(Step::Wait);
    prop::collection::vec(prop_oneof![5 => ahead, 2 => odd, 2 => front, 1 => wait], 1..200)
}

proptest! {
    #[test]
    fn packets_leave_as_in_the_reference(start in any::<u32>(), steps in steps()) {
        let settings = Settings {
            threshold: THRESHOLD as u32,
            loss_recovery: LRF as u32,
            hold: HoldTime::Fixed(Duration::from_millis(HOLD)),
            paths: PATHS as u8,
            horizon: 1 << 20,
            flows: 16,
            packets: ROOM as u32,
            bytes: 1 << 20,
        };
        let (mut bench, mut reference, mut now) = (Bench::new(settings), Reference::default(), 0_u64);
        for (id, step) in (0_u64..).zip(steps) {
            // Far enough from zero that nothing is before it.
            let front = reference.next.unwrap_or(1 << 32);
            let (seq, bytes, path) = match step {
                Step::Near(ahead, bytes, path) => (front.saturating_add_signed(ahead), bytes, path),
                Step::Front(bytes, path) => (front, bytes, path),
                Step::Wait(millis) => {
                    now += millis;
                    bench.timeout(Time::from_millis(now));
                    reference.timeout(now);
                    prop_assert_eq!(&bench.out, &reference.out);
                    continue;
                }
            };
            let held = reference.held.len();
            reference.offer(Packet { id, seq, end: seq + bytes, arrival: now }, path);
            let segment = data((seq as u32).wrapping_add(start), bytes as u32);
            let fate = bench.offer(Time::from_millis(now), id, segment, path);
            prop_assert_eq!(&bench.out, &reference.out);
            prop_assert_eq!(bench.buffer.gauge().packets as usize, reference.held.len());
            prop_assert!(fate == Fate::Taken || reference.held.len() <= held);
        }
    }
}
