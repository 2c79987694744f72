//! The write queue of a subflow, with the memory accounting of Linux.

use std::collections::VecDeque;
use std::ops::Range;

use super::Picos;
use crate::transport::Sender;

/// What the kernel's buffers take beside a segment's data, for those that wait, most of them in one buffer, and for those that were
/// sent, two in a buffer.
const BESIDE_WAITING: u32 = 32;
const BESIDE_SENT: u32 = 640;
/// `tcp_sndbuf_expand`: room for twice the window, 10 segments at least; `tcp_wmem` bounds it.
const LEAST_WINDOW: u32 = 10;
const MAX_SEND_BUFFER: u32 = 4 << 20;

/// What a subflow of Linux has been given of its connection's data and has not sent yet, and what is gone by when more is given.
///
/// `sk_wmem_queued`, `sk_sndbuf`, `avg_pacing_rate` and `stale` of net/mptcp. What was given stays given.
#[derive(Clone, Debug)]
pub(crate) struct WriteQueue {
    given: VecDeque<Range<u32>>,
    waiting: u32,
    /// Bytes of data in a segment.
    payload: u16,
    /// In bytes, what is under way counted.
    room: u32,
    /// Bytes a second, a mean over what was given; 0 before anything was.
    pace: u64,
    /// When something was last heard of the subflow, and how often in a row the connection's time-out found that as it was.
    pub(crate) heard: Picos,
    pub(crate) silent: (Picos, u8),
    /// Whether it is given nothing until something is heard.
    pub(crate) stale: bool,
}

impl WriteQueue {
    pub(crate) const fn new(payload: u16) -> Self {
        Self {
            given: VecDeque::new(),
            waiting: 0,
            payload,
            room: room_for(payload, LEAST_WINDOW),
            pace: 0,
            heard: Picos::ZERO,
            silent: (Picos::ZERO, 0),
            stale: false,
        }
    }

    pub(crate) const fn room(&self) -> u32 {
        self.room
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    pub(crate) const fn is_full(&self, sender: &Sender) -> bool {
        self.memory(sender) >= self.room
    }

    /// How long the subflow will take for what it has, in units that all subflows share.
    pub(crate) fn linger(&self, sender: &Sender) -> u64 {
        let pace = if self.pace == 0 { sender.pace(self.payload) } else { self.pace };
        ((self.memory(sender) as u64) << 32) / pace.max(1)
    }

    /// So many segments will be given: their pace counts by what they are of all.
    pub(crate) fn begin_burst(&mut self, segments: u32, sender: &Sender) {
        let bytes = u64::from(segments) * u64::from(self.payload);
        let (memory, pace) = (u64::from(self.memory(sender)), sender.pace(self.payload));
        let before = if self.pace == 0 { pace } else { self.pace };
        self.pace = (before * memory + pace * bytes) / (memory + bytes).max(1);
    }

    pub(crate) fn give(&mut self, data: Range<u32>) {
        self.waiting += data.end - data.start;
        match self.given.back_mut() {
            Some(last) if last.end == data.start => last.end = data.end,
            _ => self.given.push_back(data),
        }
    }

    /// The next to be sent.
    pub(crate) fn take(&mut self) -> Option<u32> {
        let first = self.given.front_mut()?;
        let next = first.start;
        first.start += 1;
        if first.start >= first.end {
            self.given.pop_front();
        }
        self.waiting -= 1;
        Some(next)
    }

    /// The subflow has ended.
    pub(crate) fn clear(&mut self) {
        self.given.clear();
        self.waiting = 0;
    }

    /// The window is not full for want of data: there may be more of it.
    pub(crate) fn expand(&mut self, cwnd: u32) {
        self.room = self.room.max(room_for(self.payload, cwnd));
    }

    /// The connection's time-out passed while the subflow had something to do: whether too much time without a sign of life is over.
    pub(crate) fn is_silent(&mut self, most: u8) -> bool {
        let (since, times) = self.silent;
        self.silent = match times {
            0 => (self.heard, 1),
            _ if since == self.heard => (since, times.saturating_add(1)),
            _ => (since, 0),
        };
        self.silent.1 > most
    }

    /// Whether it may be given anything: one that was stale may when something was heard since.
    pub(crate) fn is_active(&mut self) -> bool {
        self.stale &= self.silent.0 == self.heard;
        !self.stale
    }

    const fn memory(&self, sender: &Sender) -> u32 {
        let payload = self.payload as u32;
        self.waiting * (payload + BESIDE_WAITING) + sender.held() * (payload + BESIDE_SENT)
    }
}

/// What a buffer of the kernel's takes for a segment is a power of two and what describes it.
const fn room_for(payload: u16, window: u32) -> u32 {
    let a_segment = (payload as u32 + 596).next_power_of_two() + 256;
    let window = if window < LEAST_WINDOW { LEAST_WINDOW } else { window };
    let wanted = a_segment.saturating_mul(2).saturating_mul(window);
    if wanted < MAX_SEND_BUFFER { wanted } else { MAX_SEND_BUFFER }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_leaves_in_the_order_in_which_it_was_given() {
        let mut queue = WriteQueue::new(1_428);
        [3..5, 5..6, 9..10].into_iter().for_each(|data| queue.give(data));
        assert_eq!((queue.given.len(), queue.waiting), (2, 4));
        assert_eq!(std::iter::from_fn(|| queue.take()).collect::<Vec<_>>(), [3, 4, 5, 9]);
        assert!(queue.is_empty());
    }

    #[test]
    fn room_is_for_the_window_twice_and_for_ten_segments_at_least() {
        let (mut queue, sender) = (WriteQueue::new(1_428), Sender::default());
        assert_eq!((queue.room(), WriteQueue::new(8_928).room()), (46_080, 332_800));
        queue.give(0..31);
        assert!(!queue.is_full(&sender));
        queue.give(31..32);
        assert!(queue.is_full(&sender), "{} of {}", queue.memory(&sender), queue.room());
        queue.expand(11);
        assert!(!queue.is_full(&sender));
        queue.expand(u32::MAX);
        assert_eq!(queue.room(), MAX_SEND_BUFFER);
    }

    #[test]
    fn subflow_without_a_sign_of_life_is_stale_until_there_is_one() {
        let mut queue = WriteQueue::new(1_428);
        let silent: Vec<_> = (0..6).map(|_| queue.is_silent(4)).collect();
        assert_eq!(silent, [false, false, false, false, true, true]);
        queue.stale = true;
        assert!(!queue.is_active());
        queue.heard = Picos::from_millis(1);
        assert!(queue.is_active() && !queue.is_silent(4));
    }
}
