//! The content of data datagrams: a kind, and what belongs to it.

/// Below are contents of whoever uses the tunnel; from here on, those of the tunnel itself.
pub(crate) const FIRST_OWN_KIND: u8 = 0xf0;
const PING: u8 = 0xf0;
const PONG: u8 = 0xf1;
const MTU_PROBE: u8 = 0xf2;
const MTU_ANSWER: u8 = 0xf3;

/// What the tunnel says to its other end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Own {
    Ping,
    Pong,
    /// Fills a datagram of this length.
    MtuProbe(u16),
    MtuAnswer(u16),
}

impl Own {
    pub(crate) fn read(content: &[u8]) -> Option<Self> {
        let size = || Some(u16::from_be_bytes(content.get(1..3)?.try_into().ok()?));
        match *content.first()? {
            PING => Some(Self::Ping),
            PONG => Some(Self::Pong),
            MTU_PROBE => size().map(Self::MtuProbe),
            MTU_ANSWER => size().map(Self::MtuAnswer),
            _ => None,
        }
    }

    /// The content; `room` is what fits into a datagram of a probe's length.
    pub(crate) fn content(self, room: impl FnOnce(u16) -> usize) -> Vec<u8> {
        match self {
            Self::Ping => vec![PING],
            Self::Pong => vec![PONG],
            Self::MtuProbe(size) => {
                let mut content = with_size(MTU_PROBE, size);
                content.resize(room(size), 0);
                content
            }
            Self::MtuAnswer(size) => with_size(MTU_ANSWER, size),
        }
    }
}

fn with_size(kind: u8, size: u16) -> Vec<u8> {
    let [high, low] = size.to_be_bytes();
    vec![kind, high, low]
}
