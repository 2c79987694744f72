//! What travels inside of sessions: packets, parts of packets, repairs of lost ones, probes and their answers.

mod payload;
mod stamp;

use crate::endpoint::MAX_PATHS;
use crate::wire::take;
pub(super) use payload::{Part, Payload};
pub(super) use stamp::{Delay, Stamp};

/// Kind, mark, sequence number of the path, key, number, when it was sent.
pub(super) const NUMBERED_HEAD: usize = 16;
/// The most packets that one frame asks for, or gives up.
pub(super) const MAX_LISTED: usize = 64;

/// Added to the kind of a packet that is sent again.
const AGAIN: u8 = 0x10;
const PROBE: u8 = 0x20;
const ANSWER: u8 = 0x21;
const MISSING: u8 = 0x22;
const ABANDONED: u8 = 0x23;
const TRAIN: u8 = 0x24;
const PASSED: u8 = 0x25;
/// And the index above.
const PARITY: u8 = 0x28;
/// The length of a frame of a train.
const TRAIN_FRAME: usize = 1_200;

const INDEX_BITS: u8 = 0x03;
const PATH_BITS: u8 = 0x07;
const PATHS_SHIFT: u32 = 3;
const VISIBLE: u8 = 0x80;

/// The path of a packet as its sender numbers it, and what the receiver may expect.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Mark {
    pub(super) path: u8,
    /// The number of paths that carry packets in order of flows.
    pub(super) paths: u8,
    /// Whether lost packets of this path stay lost, so that hosts notice that the path is full.
    pub(super) shows_losses: bool,
}

/// Where a packet was sent first: by which path of its sender, and as which of its packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub(super) path: u8,
    pub(super) seq: u32,
}

/// What the other end says to a probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Answer {
    pub(super) number: u32,
    /// When the probe arrived, by the other end's clock.
    pub(super) arrived: u64,
    /// Packets sent before the probe, and received before it.
    pub(super) sent: u32,
    pub(super) received: u32,
    /// Bytes received before it.
    pub(super) bytes: u32,
}

/// A parity packet of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Parity<'a> {
    pub(super) path: u8,
    /// The packets of the block, of which `first` are the lower bits of the first one's number.
    pub(super) count: u8,
    pub(super) first: u16,
    /// Which one of the block's, from 0 to 3.
    pub(super) index: u8,
    pub(super) bytes: &'a [u8],
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Frame<'a> {
    Packet {
        mark: Mark,
        seq: u32,
        payload: Payload<&'a [u8]>,
    },
    /// A packet that was lost, once more.
    Again {
        place: Place,
        payload: Payload<&'a [u8]>,
    },
    /// All packets before `sent` were sent before it; `cost` is that of the uplink which sends it.
    Probe {
        mark: Mark,
        number: u32,
        sent: u32,
        cost: u8,
    },
    Answer(Answer),
    /// Packets of a path of the receiver of this that have not come.
    Missing {
        path: u8,
        seqs: Vec<u32>,
    },
    /// Packets of a path of the sender of this that will not be sent again.
    Abandoned {
        path: u8,
        seqs: Vec<u32>,
    },
    Parity(Parity<'a>),
    /// One of several long frames that are sent together, of which the last has this place.
    Train {
        place: u8,
        last: u8,
    },
    /// So many bytes of a train have come in so many nanoseconds behind its first frame.
    Passed {
        bytes: u32,
        nanos: u64,
    },
}

impl Mark {
    const fn read(byte: u8) -> Self {
        let (path, paths) = (byte & PATH_BITS, ((byte & !VISIBLE) >> PATHS_SHIFT).saturating_add(1));
        Self { path, paths, shows_losses: byte & VISIBLE != 0 }
    }

    fn byte(self) -> u8 {
        let paths = self.paths.clamp(1, MAX_PATHS as u8).saturating_sub(1);
        self.path & PATH_BITS | paths << PATHS_SHIFT | if self.shows_losses { VISIBLE } else { 0 }
    }
}

impl<'a> Frame<'a> {
    pub(super) fn read(content: &'a [u8]) -> Option<Self> {
        let (kind, mut rest) = content.split_first()?;
        let rest = &mut rest;
        match *kind {
            PROBE => {
                let ([mark], number, sent, [cost]) = (take(rest)?, word(rest)?, word(rest)?, take(rest)?);
                Some(Self::Probe { mark: Mark::read(mark), number, sent, cost })
            }
            ANSWER => {
                let (number, arrived) = (word(rest)?, u64::from_be_bytes(take(rest)?));
                let (sent, received, bytes) = (word(rest)?, word(rest)?, word(rest)?);
                Some(Self::Answer(Answer { number, arrived, sent, received, bytes }))
            }
            TRAIN => {
                let ([place], [last]) = (take(rest)?, take(rest)?);
                Some(Self::Train { place, last })
            }
            PASSED => {
                let (bytes, nanos) = (word(rest)?, u64::from_be_bytes(take(rest)?));
                Some(Self::Passed { bytes, nanos })
            }
            MISSING | ABANDONED => {
                let [path] = take(rest)?;
                let seqs = std::iter::from_fn(|| word(rest)).take(MAX_LISTED).collect();
                let path = path & PATH_BITS;
                Some(if *kind == MISSING {
                    Self::Missing { path, seqs }
                } else {
                    Self::Abandoned { path, seqs }
                })
            }
            kind if kind & !INDEX_BITS == PARITY => {
                let ([mark], first) = (take(rest)?, u16::from_be_bytes(take(rest)?));
                let (path, count) = (mark & PATH_BITS, (mark >> PATHS_SHIFT).saturating_add(1));
                Some(Self::Parity(Parity { path, count, first, index: kind & INDEX_BITS, bytes: rest }))
            }
            kind => {
                let ([mark], seq) = (take(rest)?, word(rest)?);
                let payload = Payload::read(kind & !AGAIN, rest)?;
                let (mark, path) = (Mark::read(mark), mark & PATH_BITS);
                Some(match kind & AGAIN {
                    0 => Self::Packet { mark, seq, payload },
                    _ => Self::Again { place: Place { path, seq }, payload },
                })
            }
        }
    }

    pub(super) fn content(&self) -> Vec<u8> {
        match self {
            Self::Packet { mark, seq, payload } => {
                let mut content = Vec::new();
                payload.put(*mark, *seq, &mut content);
                content
            }
            Self::Again { place: Place { path, seq }, payload } => {
                let mut content = Vec::new();
                payload.put(Mark { path: *path, ..Mark::default() }, *seq, &mut content);
                Self::again(&content, *path)
            }
            Self::Probe { mark, number, sent, cost } => {
                [&[PROBE, mark.byte()], &number.to_be_bytes()[..], &sent.to_be_bytes(), &[*cost]].concat()
            }
            Self::Answer(Answer { number, arrived, sent, received, bytes }) => {
                let words = [sent, received, bytes].map(|word| word.to_be_bytes()).concat();
                [&[ANSWER], &number.to_be_bytes()[..], &arrived.to_be_bytes(), &words].concat()
            }
            Self::Train { place, last } => {
                let mut content = vec![TRAIN, *place, *last];
                content.resize(TRAIN_FRAME, 0);
                content
            }
            Self::Passed { bytes, nanos } => {
                [&[PASSED], &bytes.to_be_bytes()[..], &nanos.to_be_bytes()].concat()
            }
            Self::Parity(Parity { path, count, first, index, bytes }) => {
                let mark = path & PATH_BITS | count.saturating_sub(1) << PATHS_SHIFT;
                [&[PARITY | index & INDEX_BITS, mark], &first.to_be_bytes()[..], bytes].concat()
            }
            Self::Missing { path, seqs } => list(MISSING, *path, seqs),
            Self::Abandoned { path, seqs } => list(ABANDONED, *path, seqs),
        }
    }

    /// Makes of a packet's content the one with which it is sent again; it stays as long.
    pub(super) fn again(content: &[u8], path: u8) -> Vec<u8> {
        let mut content = content.to_vec();
        if let [kind, mark, ..] = content.as_mut_slice() {
            (*kind, *mark) = (*kind | AGAIN, path & PATH_BITS);
        }
        content
    }
}

fn word(rest: &mut &[u8]) -> Option<u32> {
    take(rest).map(u32::from_be_bytes)
}

fn list(kind: u8, path: u8, seqs: &[u32]) -> Vec<u8> {
    let seqs = seqs.iter().take(MAX_LISTED).flat_map(|seq| seq.to_be_bytes());
    [kind, path & PATH_BITS].into_iter().chain(seqs).collect()
}

#[cfg(test)]
mod tests {
    use braid_spray::Numbered;

    use super::*;

    #[test]
    fn frames_are_read_as_they_are_written() {
        let numbered = Numbered { key: 7, number: u32::MAX };
        let parts = [Part::Whole, Part::First, Part::Second];
        let payloads = parts.map(|part| Payload::Numbered {
            part,
            numbered,
            sent: Stamp::read([0x12, 0x34]),
            packet: &[1, 2][..],
        });
        let mark = Mark { path: 7, paths: 8, shows_losses: true };
        let more = [Payload::Urgent(&[9][..]), Payload::Copy { number: numbered, packet: &[8, 9] }];
        let packets = payloads.into_iter().chain(more).flat_map(|payload| {
            let place = Place { path: 5, seq: 77 };
            [Frame::Packet { mark, seq: 3, payload }, Frame::Again { place, payload }]
        });
        let others = [
            Frame::Probe {
                mark: Mark { path: 1, paths: 1, shows_losses: false },
                number: 2,
                sent: 3,
                cost: 4,
            },
            Frame::Answer(Answer { number: 2, arrived: 1 << 40, sent: 4, received: 5, bytes: 6 }),
            Frame::Missing { path: 3, seqs: vec![1, u32::MAX] },
            Frame::Abandoned { path: 2, seqs: Vec::new() },
            Frame::Train { place: 3, last: 15 },
            Frame::Parity(Parity { path: 7, count: 32, first: 0x1234, index: 3, bytes: &[1, 2, 3] }),
            Frame::Parity(Parity { path: 0, count: 1, first: 0, index: 0, bytes: &[] }),
            Frame::Passed { bytes: 18_000, nanos: 1 << 40 },
        ];
        for frame in packets.chain(others) {
            assert_eq!(Frame::read(&frame.content()), Some(frame));
        }
        for strange in [&[][..], &[1, 2, 3], &[0x20], &[0x21; 9], &[0x77, 0], &[0x12, 0, 0, 0]] {
            assert_eq!(Frame::read(strange), None);
        }
    }

    #[test]
    fn a_packet_that_is_sent_again_is_as_long_and_has_its_first_place() {
        let payload = Payload::Urgent(&[1, 2, 3][..]);
        let first = Frame::Packet { mark: Mark { path: 4, paths: 2, shows_losses: true }, seq: 9, payload };
        let again = Frame::again(&first.content(), 4);
        assert_eq!(Frame::read(&again), Some(Frame::Again { place: Place { path: 4, seq: 9 }, payload }));
        assert_eq!(again.len(), first.content().len());
    }
}
