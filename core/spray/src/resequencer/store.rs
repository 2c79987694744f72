//! The held packets of all flows, in order of arrival and bounded in number and bytes.

use braid_types::Time;

use super::PathId;
use super::table::FlowId;
use crate::segment::SeqNo;

/// The overhead of a packet: its slot, its place in the flow, the allocator's share. An eighth is added because
/// buffers are a little longer than their contents.
const OVERHEAD: u32 = 128;

/// The held packets of all flows, in order of arrival; bounded in number and bytes.
///
/// A slot is free or in the list of arrivals. Slots are made when first needed and then used again.
#[derive(Clone, Debug)]
pub(super) struct Store<P> {
    slots: Vec<Slot<P>>,
    free: Vec<u32>,
    ends: Ends,
    count: u32,
    bytes: u64,
    max_packets: u32,
    max_bytes: u64,
}

#[derive(Clone, Debug)]
struct Slot<P> {
    entry: Option<Entry<P>>,
    before: Option<u32>,
    after: Option<u32>,
}

/// A packet that waits.
#[derive(Clone, Debug)]
pub(super) struct Entry<P> {
    pub(super) arrival: Time,
    pub(super) flow: FlowId,
    pub(super) seq: SeqNo,
    /// The path by which it arrived, and the count of probes before it.
    pub(super) path: PathId,
    pub(super) probes: u64,
    pub(super) charge: u32,
    /// Whether it waits in send order, and not yet for missing segments before it.
    pub(super) is_ordered: bool,
    pub(super) packet: P,
}

#[derive(Clone, Debug, Default)]
struct Ends {
    first: Option<u32>,
    last: Option<u32>,
}

/// The charge of a packet of `size` bytes.
pub(super) const fn charge(size: u32) -> u32 {
    size.saturating_add(size / 8).saturating_add(OVERHEAD)
}

impl<P> Store<P> {
    pub(super) fn new(max_packets: u32, max_bytes: u64) -> Self {
        let (slots, free, ends) = (Vec::new(), Vec::new(), Ends::default());
        Self { slots, free, ends, count: 0, bytes: 0, max_packets, max_bytes }
    }

    pub(super) fn resize(&mut self, max_packets: u32, max_bytes: u64) {
        (self.max_packets, self.max_bytes) = (max_packets, max_bytes);
    }

    pub(super) fn has_room(&self, charge: u32) -> bool {
        self.count < self.max_packets && self.bytes.saturating_add(charge.into()) <= self.max_bytes
    }

    pub(super) const fn count(&self) -> u32 {
        self.count
    }

    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The packet held longest.
    pub(super) fn oldest(&self) -> Option<&Entry<P>> {
        self.entry(self.ends.first?)
    }

    /// Its slot.
    pub(super) const fn oldest_slot(&self) -> Option<u32> {
        self.ends.first
    }

    pub(super) fn entry(&self, slot: u32) -> Option<&Entry<P>> {
        self.slots.get(slot as usize)?.entry.as_ref()
    }

    pub(super) fn entry_mut(&mut self, slot: u32) -> Option<&mut Entry<P>> {
        self.slots.get_mut(slot as usize)?.entry.as_mut()
    }

    /// Adds the latest arrival; returns its slot.
    pub(super) fn push(&mut self, entry: Entry<P>) -> u32 {
        self.count = self.count.saturating_add(1);
        self.bytes = self.bytes.saturating_add(entry.charge.into());
        let slot = Slot { entry: Some(entry), before: self.ends.last, after: None };
        let index = self.place(slot);
        match self.ends.last.replace(index) {
            Some(last) => self.slot(last, |slot| slot.after = Some(index)),
            None => self.ends.first = Some(index),
        }
        index
    }

    fn place(&mut self, slot: Slot<P>) -> u32 {
        if let Some(index) = self.free.pop() {
            self.slot(index, |place| *place = slot);
            return index;
        }
        // At most 2²⁴ packets.
        let index = self.slots.len() as u32;
        self.slots.push(slot);
        index
    }

    fn slot(&mut self, index: u32, change: impl FnOnce(&mut Slot<P>)) {
        if let Some(slot) = self.slots.get_mut(index as usize) {
            change(slot);
        }
    }

    /// Removes a packet.
    pub(super) fn remove(&mut self, index: u32) -> Option<Entry<P>> {
        let slot = self.slots.get_mut(index as usize)?;
        let entry = slot.entry.take()?;
        let (before, after) = (slot.before, slot.after);
        match before {
            Some(before) => self.slot(before, |slot| slot.after = after),
            None => self.ends.first = after,
        }
        match after {
            Some(after) => self.slot(after, |slot| slot.before = before),
            None => self.ends.last = before,
        }
        self.free.push(index);
        self.count = self.count.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(entry.charge.into());
        Some(entry)
    }
}
