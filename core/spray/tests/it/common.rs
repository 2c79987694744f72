//! A resequencer with one flow, and the packets that it has released.

use std::time::Duration;

use braid_spray::{Fate, HoldTime, PathId, Resequencer, Segment, SegmentCounts, SeqNo, Settings};
use braid_types::{FiveTuple, Time};

/// One flow's buffer, and what has come out of it.
pub(crate) struct Bench {
    pub(crate) buffer: Resequencer<u64>,
    pub(crate) out: Vec<u64>,
    flow: FiveTuple,
}

pub(crate) fn settings() -> Settings {
    Settings { hold: HoldTime::Fixed(Duration::from_millis(50)), paths: 0, flows: 64, ..Settings::default() }
}

pub(crate) fn flow(number: u16) -> FiveTuple {
    let [src, dst] = ["10.0.0.1", "10.0.0.2"].map(|it| it.parse().unwrap());
    FiveTuple { src, dst, src_port: number, dst_port: 5_201 }
}

pub(crate) fn data(seq: u32, payload: u32) -> Segment {
    Segment { seq: SeqNo(seq), payload, ..Segment::default() }
}

impl Bench {
    pub(crate) fn new(settings: Settings) -> Self {
        Self { buffer: Resequencer::new(settings, 1), out: Vec::new(), flow: flow(1) }
    }

    /// Offers a packet of 54 bytes of headers; what comes out is in `out` then.
    pub(crate) fn offer(&mut self, now: Time, id: u64, segment: Segment, path: u8) -> Fate {
        let size = segment.payload + 54;
        let fate = self.buffer.offer(now, &self.flow, segment, PathId(path), size, || id);
        if fate == Fate::Forward {
            self.out.push(id);
        }
        self.drain();
        fate
    }

    pub(crate) fn timeout(&mut self, now: Time) {
        self.buffer.handle_timeout(now);
        self.drain();
    }

    /// A probe arrives by a path whose counts are all the same, as it loses nothing.
    pub(crate) fn probe(&mut self, now: Time, number: u32, path: u8) {
        self.buffer.note_probe(now, PathId(path), number, SegmentCounts::default());
        self.drain();
    }

    /// What came out since the last time.
    pub(crate) fn taken(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.out)
    }

    fn drain(&mut self) {
        self.out.extend(std::iter::from_fn(|| self.buffer.poll_packet()));
    }
}
