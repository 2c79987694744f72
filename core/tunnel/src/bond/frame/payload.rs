//! A packet inside a frame, or a part of one.

use braid_spray::Numbered;

use super::{Mark, Stamp, word};
use crate::wire::take;

const NUMBERED: u8 = 1;
const URGENT: u8 = 2;
const FIRST_PART: u8 = 3;
const SECOND_PART: u8 = 4;
const COPY: u8 = 5;

/// Which part of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::bond) enum Part {
    Whole,
    First,
    Second,
}

/// A packet inside a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::bond) enum Payload<P> {
    Numbered {
        part: Part,
        numbered: Numbered,
        sent: Stamp,
        packet: P,
    },
    Urgent(P),
    /// One of several copies, of which the first counts.
    Copy {
        number: Numbered,
        packet: P,
    },
}

impl<P> Payload<P> {
    /// The same with something else in the packet's place.
    pub(in crate::bond) fn map<Q>(self, to: impl FnOnce(P) -> Q) -> Payload<Q> {
        match self {
            Self::Numbered { part, numbered, sent, packet } => {
                Payload::Numbered { part, numbered, sent, packet: to(packet) }
            }
            Self::Urgent(packet) => Payload::Urgent(to(packet)),
            Self::Copy { number, packet } => Payload::Copy { number, packet: to(packet) },
        }
    }
}

impl Payload<usize> {
    /// The payload whose packet is so long and at the end of `content`, in whose memory it stays.
    pub(in crate::bond) fn within(self, mut content: Vec<u8>) -> Payload<Vec<u8>> {
        self.map(|length| {
            content.drain(..content.len().saturating_sub(length));
            content
        })
    }
}

impl<'a> Payload<&'a [u8]> {
    pub(super) fn read(kind: u8, rest: &mut &'a [u8]) -> Option<Self> {
        let part = match kind {
            NUMBERED => Part::Whole,
            FIRST_PART => Part::First,
            SECOND_PART => Part::Second,
            URGENT => return Some(Self::Urgent(rest)),
            COPY => {
                let number = Numbered { key: word(rest)?, number: word(rest)? };
                return Some(Self::Copy { number, packet: rest });
            }
            _ => return None,
        };
        let numbered = Numbered { key: word(rest)?, number: word(rest)? };
        let sent = Stamp::read(take(rest)?);
        Some(Self::Numbered { part, numbered, sent, packet: rest })
    }

    /// Puts a packet's content in the place of `content`.
    pub(in crate::bond) fn put(self, mark: Mark, seq: u32, content: &mut Vec<u8>) {
        let (kind, numbered, sent, packet) = match self {
            Self::Urgent(packet) => (URGENT, None, None, packet),
            Self::Copy { number, packet } => (COPY, Some(number), None, packet),
            Self::Numbered { part: Part::Whole, numbered, sent, packet } => {
                (NUMBERED, Some(numbered), Some(sent), packet)
            }
            Self::Numbered { part: Part::First, numbered, sent, packet } => {
                (FIRST_PART, Some(numbered), Some(sent), packet)
            }
            Self::Numbered { part: Part::Second, numbered, sent, packet } => {
                (SECOND_PART, Some(numbered), Some(sent), packet)
            }
        };
        content.clear();
        content.extend([kind, mark.byte()]);
        content.extend(seq.to_be_bytes());
        if let Some(Numbered { key, number }) = numbered {
            content.extend(key.to_be_bytes());
            content.extend(number.to_be_bytes());
        }
        content.extend(sent.into_iter().flat_map(Stamp::bytes));
        content.extend_from_slice(packet);
    }
}
