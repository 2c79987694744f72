//! Reassembly of one direction of a TCP connection.

use std::collections::BTreeMap;

/// Bytes that may wait for missing bytes before them.
const MAX_WAITING_BYTES: usize = 1 << 24;

/// A part of a stream, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Piece {
    /// The next bytes.
    Bytes(Vec<u8>),
    /// This many bytes are not in the capture.
    Missing(u64),
}

/// Reassembles one direction of a TCP connection. Drain [`Self::poll`] after every other call.
///
/// Invariant: `waiting` holds nothing that ends at or before `position`, once it is drained.
#[derive(Debug)]
pub(super) struct Reassembly {
    /// The sequence number of the first byte.
    start: u32,
    /// Bytes passed on or missing.
    position: u64,
    /// Segments by the position of their first byte.
    waiting: BTreeMap<u64, Vec<u8>>,
    /// The bytes in `waiting`.
    waiting_bytes: usize,
    /// The receiver has everything before this position, whether it was captured or not.
    acknowledged: u64,
    /// The end of the stream, once the sender's FIN is seen.
    end: Option<u64>,
    /// The capture has ended.
    finished: bool,
}

impl Reassembly {
    /// A stream whose first byte has the sequence number `start`.
    pub(super) const fn new(start: u32) -> Self {
        Self {
            start,
            position: 0,
            waiting: BTreeMap::new(),
            waiting_bytes: 0,
            acknowledged: 0,
            end: None,
            finished: false,
        }
    }

    /// The sequence number of the first byte.
    pub(super) const fn start(&self) -> u32 {
        self.start
    }

    /// Adds the payload of a segment, some or all of which may be known.
    pub(super) fn receive(&mut self, seq: u32, payload: &[u8]) {
        let known = usize::try_from(self.distance(seq).min(0).unsigned_abs()).unwrap_or(usize::MAX);
        let Some(new) = payload.get(known..).filter(|new| !new.is_empty()) else { return };
        let place = self.place(seq);
        let waiting = self.waiting.entry(place).or_default();
        if waiting.len() < new.len() {
            let more = new.len().saturating_sub(waiting.len());
            self.waiting_bytes = self.waiting_bytes.saturating_add(more);
            *waiting = new.to_vec();
        }
    }

    /// Notes that the receiver has everything before `seq`.
    pub(super) fn acknowledge(&mut self, seq: u32) {
        self.acknowledged = self.acknowledged.max(self.place(seq));
    }

    /// Notes that the sender ends the stream before `seq`.
    pub(super) fn close(&mut self, seq: u32) {
        self.end = Some(self.place(seq));
    }

    /// Gives up waiting for missing bytes.
    pub(super) fn finish(&mut self) {
        self.finished = true;
    }

    /// The next piece that is certain.
    pub(super) fn poll(&mut self) -> Option<Piece> {
        loop {
            let Some((start, mut bytes)) = self.waiting.pop_first() else { return self.skip_to_end() };
            if start > self.position {
                return self.wait_or_skip(start, bytes);
            }
            self.waiting_bytes = self.waiting_bytes.saturating_sub(bytes.len());
            let known = usize::try_from(self.position.saturating_sub(start)).unwrap_or(usize::MAX);
            if known < bytes.len() {
                bytes.drain(..known);
                self.position = self.position.saturating_add(bytes.len() as u64);
                return Some(Piece::Bytes(bytes));
            }
        }
    }

    fn wait_or_skip(&mut self, start: u64, bytes: Vec<u8>) -> Option<Piece> {
        self.waiting.insert(start, bytes);
        let hopeless = self.finished || self.acknowledged >= start || self.is_full();
        hopeless.then(|| self.skip_to(start))
    }

    /// Bytes that existed but were not captured.
    fn skip_to_end(&mut self) -> Option<Piece> {
        let end = self.end.unwrap_or(self.acknowledged);
        (self.finished && end > self.position).then(|| self.skip_to(end))
    }

    fn skip_to(&mut self, position: u64) -> Piece {
        let missing = position.saturating_sub(self.position);
        self.position = position;
        Piece::Missing(missing)
    }

    const fn is_full(&self) -> bool {
        self.waiting_bytes > MAX_WAITING_BYTES
    }

    /// The offset of `seq` in the stream; earlier ones count as the next byte.
    const fn place(&self, seq: u32) -> u64 {
        let ahead = self.distance(seq);
        if ahead > 0 { self.position.saturating_add_signed(ahead) } else { self.position }
    }

    /// The distance of `seq` from the next byte, with wrapping sequence numbers.
    const fn distance(&self, seq: u32) -> i64 {
        // The truncation implements the wrapping.
        let next = self.start.wrapping_add(self.position as u32);
        seq.wrapping_sub(next).cast_signed() as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(stream: &mut Reassembly) -> Vec<Piece> {
        std::iter::from_fn(|| stream.poll()).collect()
    }

    fn bytes(text: &str) -> Piece {
        Piece::Bytes(text.into())
    }

    #[test]
    fn segments_come_out_in_order_across_the_wrap_of_sequence_numbers() {
        let mut stream = Reassembly::new(u32::MAX - 1);
        stream.receive(1, b"def");
        assert_eq!(drain(&mut stream), []);
        stream.receive(u32::MAX - 1, b"abc");
        assert_eq!(drain(&mut stream), [bytes("abc"), bytes("def")]);
    }

    #[test]
    fn retransmission_gives_only_what_is_new() {
        let mut stream = Reassembly::new(0);
        stream.receive(0, b"abc");
        assert_eq!(drain(&mut stream), [bytes("abc")]);
        stream.receive(0, b"abc");
        stream.receive(1, b"bcde");
        stream.receive(2, b"cd");
        assert_eq!(drain(&mut stream), [bytes("de")]);
    }

    #[test]
    fn longer_of_two_waiting_segments_is_kept() {
        let mut stream = Reassembly::new(0);
        stream.receive(2, b"cdef");
        stream.receive(2, b"c");
        stream.receive(0, b"ab");
        assert_eq!(drain(&mut stream), [bytes("ab"), bytes("cdef")]);
    }

    #[test]
    fn gap_is_given_up_once_the_receiver_has_it() {
        let mut stream = Reassembly::new(0);
        stream.receive(0, b"ab");
        stream.receive(5, b"fg");
        assert_eq!(drain(&mut stream), [bytes("ab")]);
        stream.acknowledge(4);
        assert_eq!(drain(&mut stream), []);
        stream.acknowledge(7);
        assert_eq!(drain(&mut stream), [Piece::Missing(3), bytes("fg")]);
    }

    #[test]
    fn gap_is_given_up_at_the_end() {
        let mut stream = Reassembly::new(0);
        stream.receive(1, b"b");
        stream.finish();
        assert_eq!(drain(&mut stream), [Piece::Missing(1), bytes("b")]);
    }

    #[test]
    fn what_is_missing_at_the_end_is_told_without_the_number_that_the_fin_takes() {
        let mut stream = Reassembly::new(0);
        stream.receive(0, b"ab");
        stream.close(5);
        stream.acknowledge(6);
        assert_eq!(drain(&mut stream), [bytes("ab")]);
        stream.finish();
        assert_eq!(drain(&mut stream), [Piece::Missing(3)]);
    }

    #[test]
    fn bytes_that_wait_are_counted_once_however_they_come_and_go() {
        let mut stream = Reassembly::new(0);
        for seq in [9, 3, 5, 3, 9, 4] {
            stream.receive(seq, &[7; 3]);
            stream.receive(seq, &[7; 4]);
            drain(&mut stream);
            assert_eq!(stream.waiting_bytes, stream.waiting.values().map(Vec::len).sum::<usize>());
        }
        stream.receive(0, &[7; 5]);
        stream.finish();
        drain(&mut stream);
        assert_eq!((stream.waiting_bytes, stream.waiting.len()), (0, 0));
    }

    #[test]
    fn gap_is_given_up_when_too_much_waits() {
        let mut stream = Reassembly::new(0);
        stream.receive(1, &vec![0; MAX_WAITING_BYTES]);
        assert_eq!(drain(&mut stream), []);
        stream.receive(u32::try_from(MAX_WAITING_BYTES).unwrap() + 1, b"x");
        assert_eq!(drain(&mut stream).first(), Some(&Piece::Missing(1)));
    }
}
