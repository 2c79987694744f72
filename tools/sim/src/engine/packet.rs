//! A simulated packet in half a cache line.

use super::Picos;

/// A simulated packet, in half a cache line.
///
/// Numbers count segments, not bytes. What a field means depends on the direction, which the route says.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Packet {
    /// When it arrives at the end of the link on which it is.
    pub arrival: Picos,
    /// That link's place in the table of routes.
    pub at: u32,
    /// Data: its number in the subflow. Acknowledgement: the next number that the receiver expects.
    pub seq: u32,
    /// Data: its number in the connection. Acknowledgement: the next such number that the receiver expects.
    pub dsn: u32,
    /// Data: when it was sent. Acknowledgement: the same of the segment that it answers.
    pub stamp: Stamp,
    /// Acknowledgement: the segment that caused it; with its received neighbours, the first block of SACK.
    pub cause: u32,
    /// The number of segments received just below `cause`; 255 stands for at least so many.
    pub below: u8,
    /// As `below`, above it.
    pub above: u8,
    /// Bytes of the frame, with [`LOST`] if it gets lost; see [`Packet::size`].
    pub(super) size: u16,
}

/// A time in units of 2¹⁴ ps (16 ns), which begins again after 70 s: for round trips that is enough.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Stamp(u32);

/// Replaces the number of data in the packets of a handshake.
pub(crate) const HANDSHAKE: u32 = u32::MAX;

/// A frame that is lost is in its link until it would have arrived.
const LOST: u16 = 1 << 15;

impl Packet {
    /// The longest frame in bytes.
    pub(crate) const MAX_SIZE: u16 = LOST - 1;

    pub(crate) fn new(at: u32, size: u16, now: Picos) -> Self {
        Self { at, size: size & Self::MAX_SIZE, stamp: Stamp::of(now), ..Self::default() }
    }

    /// Bytes of the frame.
    pub(crate) const fn size(&self) -> u16 {
        self.size & !LOST
    }

    pub(crate) const fn is_lost(&self) -> bool {
        self.size & LOST != 0
    }

    pub(crate) const fn lose(&mut self) {
        self.size |= LOST;
    }
}

impl Stamp {
    pub(crate) const fn of(time: Picos) -> Self {
        Self((time.0 >> 14) as u32)
    }

    /// How long ago it is.
    pub(crate) const fn age(self, now: Picos) -> Picos {
        Picos((Self::of(now).0.wrapping_sub(self.0) as u64) << 14)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packet_is_half_a_cache_line() {
        assert_eq!(size_of::<Packet>(), 32);
    }

    #[test]
    fn stamps_tell_round_trips_also_when_they_begin_again() {
        for sent in [0, 69_000_000_000_000, 70_368_744_177_000] {
            let age = Stamp::of(Picos(sent)).age(Picos(sent + 400_000_000_000));
            assert!(age.0.abs_diff(400_000_000_000) < 1 << 14, "{age:?}");
        }
    }
}
