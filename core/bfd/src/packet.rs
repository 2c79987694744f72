//! Control packets and their bytes. RFC 5880 §4.1.

use std::time::Duration;

const VERSION: u8 = 1;
const LENGTH: usize = 24;
const POLL: u8 = 0x20;
const FINAL: u8 = 0x10;
const AUTHENTICATED: u8 = 0x04;
const MULTIPOINT: u8 = 0x01;

/// The state of a session, as each end tells the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Turned off by people.
    AdminDown,
    /// The other end is not heard, or does not hear this one.
    Down,
    /// The other end is heard.
    Init,
    /// Both ends hear each other.
    Up,
}

/// Why a session was last down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Diagnostic {
    /// It never was up.
    None,
    /// The other end was not heard in time.
    Expired,
    /// The other end said so.
    NeighborDown,
    /// Another reason, by its number.
    Other(u8),
}

/// A control packet without authentication.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ControlPacket {
    /// Why the sender was last down.
    pub diagnostic: Diagnostic,
    /// The state of the sender.
    pub state: State,
    /// Whether the sender wants an answer with `is_final`.
    pub is_poll: bool,
    /// Whether this answers a packet with `is_poll`.
    pub is_final: bool,
    /// So many intervals without a packet of the sender mean that it is not heard.
    pub multiplier: u8,
    /// The sender's number of the session; not 0.
    pub sender: u32,
    /// The receiver's number of the session; 0 if the sender does not know it.
    pub receiver: u32,
    /// The shortest interval at which the sender would send.
    pub min_sent: Duration,
    /// The shortest interval at which the sender can receive; zero: it wants nothing.
    pub min_received: Duration,
}

impl ControlPacket {
    /// Reads the payload of a UDP datagram.
    ///
    /// `None` if it is not a valid packet without authentication. RFC 5880 §6.8.6.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let [first, flags, multiplier, length] = *bytes.first_chunk()?;
        let is_valid = first >> 5 == VERSION
            && flags & (AUTHENTICATED | MULTIPOINT) == 0
            && multiplier != 0
            && (LENGTH..=bytes.len()).contains(&usize::from(length));
        let word = |place: usize| Some(u32::from_be_bytes(*bytes.get(place..)?.first_chunk()?));
        let micros = |place: usize| Some(Duration::from_micros(word(place)?.into()));
        let packet = Self {
            diagnostic: Diagnostic::from_number(first & 0x1f),
            state: State::from_number(flags >> 6),
            is_poll: flags & POLL != 0,
            is_final: flags & FINAL != 0,
            multiplier,
            sender: word(4)?,
            receiver: word(8)?,
            min_sent: micros(12)?,
            min_received: micros(16)?,
        };
        let begins = matches!(packet.state, State::Down | State::AdminDown);
        (is_valid && packet.sender != 0 && (packet.receiver != 0 || begins)).then_some(packet)
    }

    /// The payload of the UDP datagram.
    pub fn bytes(&self) -> [u8; LENGTH] {
        let flag = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
        let flags = self.state.number() << 6 | flag(self.is_poll, POLL) | flag(self.is_final, FINAL);
        let first = VERSION << 5 | self.diagnostic.number();
        let micros = |interval: Duration| u32::try_from(interval.as_micros()).unwrap_or(u32::MAX);
        let words = [self.sender, self.receiver, micros(self.min_sent), micros(self.min_received), 0];
        let mut bytes = [0; LENGTH];
        let all = [first, flags, self.multiplier, LENGTH as u8].into_iter();
        let all = all.chain(words.into_iter().flat_map(u32::to_be_bytes));
        bytes.iter_mut().zip(all).for_each(|(to, from)| *to = from);
        bytes
    }
}

impl State {
    const fn from_number(number: u8) -> Self {
        match number & 3 {
            0 => Self::AdminDown,
            1 => Self::Down,
            2 => Self::Init,
            _ => Self::Up,
        }
    }

    const fn number(self) -> u8 {
        match self {
            Self::AdminDown => 0,
            Self::Down => 1,
            Self::Init => 2,
            Self::Up => 3,
        }
    }
}

impl Diagnostic {
    const fn from_number(number: u8) -> Self {
        match number {
            0 => Self::None,
            1 => Self::Expired,
            3 => Self::NeighborDown,
            other => Self::Other(other),
        }
    }

    const fn number(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Expired => 1,
            Self::NeighborDown => 3,
            Self::Other(number) => number & 0x1f,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What ovs-vswitchd 3.1 sends with `bfd:enable=true bfd:min_rx=25 bfd:min_tx=25`, before it has heard anything.
    const OF_OPEN_VSWITCH: [u8; 24] = [
        0x20, 0x40, 0x03, 0x18, 0x6b, 0x8b, 0x45, 0x67, 0, 0, 0, 0, 0, 0x0f, 0x42, 0x40, 0, 0, 0x61, 0xa8, 0,
        0, 0, 0,
    ];

    fn first() -> ControlPacket {
        ControlPacket {
            diagnostic: Diagnostic::None,
            state: State::Down,
            is_poll: false,
            is_final: false,
            multiplier: 3,
            sender: 0x6b8b_4567,
            receiver: 0,
            min_sent: Duration::from_secs(1),
            min_received: Duration::from_millis(25),
        }
    }

    #[test]
    fn packets_of_open_vswitch_are_read_and_written_alike() {
        assert_eq!(ControlPacket::read(&OF_OPEN_VSWITCH), Some(first()));
        assert_eq!(first().bytes(), OF_OPEN_VSWITCH);
    }

    #[test]
    fn packets_are_read_as_they_are_written() {
        let states = [State::AdminDown, State::Down, State::Init, State::Up];
        let reasons = [Diagnostic::None, Diagnostic::Expired, Diagnostic::NeighborDown, Diagnostic::Other(7)];
        for (state, diagnostic) in states.into_iter().zip(reasons) {
            for (is_poll, is_final) in [(true, false), (false, true)] {
                let packet = ControlPacket { state, diagnostic, is_poll, is_final, receiver: 9, ..first() };
                assert_eq!(ControlPacket::read(&packet.bytes()), Some(packet));
            }
        }
    }

    #[test]
    fn what_the_standard_says_to_discard_is_discarded() {
        let with = |place: usize, value: u8| {
            let mut bytes = OF_OPEN_VSWITCH;
            bytes[place] = value;
            bytes
        };
        for (what, bytes) in [
            ("another version", with(0, 0x40)),
            ("authenticated", with(1, 0x44)),
            ("multipoint", with(1, 0x41)),
            ("no multiplier", with(2, 0)),
            ("too short a length", with(3, 23)),
            ("a length beyond the end", with(3, 25)),
            ("up, but for nobody", with(1, 0xc0)),
        ] {
            assert_eq!(ControlPacket::read(&bytes), None, "{what}");
        }
        let nobody = ControlPacket { sender: 0, ..first() };
        assert_eq!(ControlPacket::read(&nobody.bytes()), None);
    }

    proptest! {
        #[test]
        fn whatever_arrives_is_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Some(packet) = ControlPacket::read(&bytes) {
                prop_assert_eq!(ControlPacket::read(&packet.bytes()), Some(packet));
            }
        }
    }
}
