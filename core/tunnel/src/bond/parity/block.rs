//! The sender's half: packets are collected, and parity packets made of them.

use std::sync::Arc;
use std::time::Duration;

use braid_types::Time;

use super::{MAX_PACKETS, MAX_PARITY, pad, shard};
use crate::bond::frame::{Frame, Parity};

/// A block that is not full gets its parity packets after this time.
const MAX_BLOCK_AGE: Duration = Duration::from_millis(30);

/// The packets of a path behind its last parity packets.
#[derive(Clone, Debug, Default)]
pub(in crate::bond) struct Block {
    first: u32,
    packets: Vec<Arc<Vec<u8>>>,
    since: Time,
}

impl Block {
    /// Adds the next packet; whether the block is full.
    pub(in crate::bond) fn add(&mut self, now: Time, seq: u32, content: Arc<Vec<u8>>) -> bool {
        let next = u32::try_from(self.packets.len()).map(|count| self.first.wrapping_add(count));
        if self.packets.is_empty() || next != Ok(seq) {
            self.packets.clear();
            (self.first, self.since) = (seq, now);
        }
        self.packets.push(content);
        self.packets.len() >= usize::from(MAX_PACKETS)
    }

    pub(in crate::bond) fn count(&self) -> usize {
        self.packets.len()
    }

    /// When it gets its parity packets though it is not full.
    pub(in crate::bond) fn due(&self) -> Option<Time> {
        (!self.packets.is_empty()).then(|| self.since + MAX_BLOCK_AGE)
    }

    /// The contents of so many parity packets for this path; the next block begins.
    pub(in crate::bond) fn take(&mut self, parity: u8, path: u8) -> Vec<Vec<u8>> {
        let packets = std::mem::take(&mut self.packets);
        let Ok(count) = u8::try_from(packets.len()) else { return Vec::new() };
        let shards: Option<Vec<_>> = packets.iter().map(|packet| shard(packet)).collect();
        let Some(mut shards) = shards else { return Vec::new() };
        let length = shards.iter().map(Vec::len).max().unwrap_or(0);
        pad(&mut shards, length);
        let made = reed_solomon_simd::encode(shards.len(), MAX_PARITY.into(), &shards);
        let first = self.first as u16;
        let frame = |(index, bytes): (u8, &Vec<u8>)| {
            Frame::Parity(Parity { path, count, first, index, bytes }).content()
        };
        let made = made.unwrap_or_default();
        (0..parity).zip(&made).map(frame).collect()
    }

    pub(in crate::bond) fn clear(&mut self) {
        self.packets.clear();
    }
}
