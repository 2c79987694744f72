//! Sequence numbers modulo 2³², and the part of a TCP segment that resequencing needs.

use std::fmt;

/// A TCP sequence number. Comparisons are modulo 2³². RFC 9293 §3.4.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SeqNo(pub u32);

impl SeqNo {
    /// How far it is ahead of `other`; negative if it is behind.
    pub const fn ahead_of(self, other: Self) -> i32 {
        self.0.wrapping_sub(other.0).cast_signed()
    }

    /// `count` sequence numbers later.
    #[must_use]
    pub const fn plus(self, count: u32) -> Self {
        Self(self.0.wrapping_add(count))
    }

    /// Whichever of the two is ahead.
    #[must_use]
    pub const fn furthest(self, other: Self) -> Self {
        if self.ahead_of(other) < 0 { other } else { self }
    }
}

impl fmt::Debug for SeqNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The fields of a TCP segment that resequencing needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Segment {
    /// The sequence number of the first byte, or of SYN.
    pub seq: SeqNo,
    /// Bytes of data; of a GSO packet, those of all its segments.
    pub payload: u32,
    /// Opens a connection.
    pub syn: bool,
    /// Ends the sender's direction.
    pub fin: bool,
    /// Ends the connection.
    pub rst: bool,
    /// The sender's clock at the time of sending, if given. RFC 7323 §3.
    pub timestamp: Option<u32>,
}

impl Segment {
    /// The sequence number after its last one. SYN and FIN take one each.
    pub const fn end(&self) -> SeqNo {
        self.seq.plus(self.payload).plus(self.syn as u32).plus(self.fin as u32)
    }

    /// Whether it takes no sequence number: a mere acknowledgement.
    pub const fn is_empty(&self) -> bool {
        self.payload == 0 && !self.syn && !self.fin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beyond_the_wrap_are_ahead() {
        let last = SeqNo(u32::MAX);
        assert_eq!(last.plus(1), SeqNo(0));
        assert_eq!(SeqNo(9).ahead_of(last), 10);
        assert_eq!(last.ahead_of(SeqNo(9)), -10);
        assert_eq!(last.furthest(SeqNo(9)), SeqNo(9));
    }

    #[test]
    fn syn_and_fin_take_a_number_each() {
        let segment =
            Segment { seq: SeqNo(u32::MAX), payload: 3, syn: true, fin: true, ..Segment::default() };
        assert_eq!(segment.end(), SeqNo(4));
        assert!(!segment.is_empty());
    }
}
