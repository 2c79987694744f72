//! What travels inside of sessions: packets, parts of packets, probes and their answers.

use braid_spray::Numbered;

use crate::wire::take;

/// Kind, paths in use, key, number.
pub(super) const NUMBERED_HEAD: usize = 10;

const NUMBERED: u8 = 1;
const URGENT: u8 = 2;
const FIRST_PART: u8 = 3;
const SECOND_PART: u8 = 4;
const PROBE: u8 = 0x20;
const ANSWER: u8 = 0x21;

/// Which part of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    Whole,
    First,
    Second,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Frame<'a> {
    Numbered { part: Part, paths: u8, numbered: Numbered, packet: &'a [u8] },
    Urgent(&'a [u8]),
    Probe { epoch: u8, number: u32, sent: u32 },
    Answer { epoch: u8, number: u32, arrived: u64, sent: u32, received: u32 },
}

impl<'a> Frame<'a> {
    pub(super) fn read(content: &'a [u8]) -> Option<Self> {
        let (kind, mut rest) = content.split_first()?;
        let rest = &mut rest;
        let word = |rest: &mut &[u8]| take(rest).map(u32::from_be_bytes);
        match *kind {
            NUMBERED | FIRST_PART | SECOND_PART => {
                let part = match *kind {
                    FIRST_PART => Part::First,
                    SECOND_PART => Part::Second,
                    _ => Part::Whole,
                };
                let [paths] = take(rest)?;
                let numbered = Numbered { key: word(rest)?, number: word(rest)? };
                Some(Self::Numbered { part, paths, numbered, packet: rest })
            }
            URGENT => Some(Self::Urgent(rest)),
            PROBE => {
                let [epoch] = take(rest)?;
                Some(Self::Probe { epoch, number: word(rest)?, sent: word(rest)? })
            }
            ANSWER => {
                let [epoch] = take(rest)?;
                let (number, arrived) = (word(rest)?, u64::from_be_bytes(take(rest)?));
                Some(Self::Answer { epoch, number, arrived, sent: word(rest)?, received: word(rest)? })
            }
            _ => None,
        }
    }

    pub(super) fn content(self) -> Vec<u8> {
        match self {
            Self::Numbered { part, paths, numbered, packet } => {
                let kind = match part {
                    Part::Whole => NUMBERED,
                    Part::First => FIRST_PART,
                    Part::Second => SECOND_PART,
                };
                let Numbered { key, number } = numbered;
                [&[kind, paths], &key.to_be_bytes()[..], &number.to_be_bytes(), packet].concat()
            }
            Self::Urgent(packet) => [&[URGENT], packet].concat(),
            Self::Probe { epoch, number, sent } => {
                [&[PROBE, epoch], &number.to_be_bytes()[..], &sent.to_be_bytes()].concat()
            }
            Self::Answer { epoch, number, arrived, sent, received } => {
                let words = [number.to_be_bytes(), sent.to_be_bytes(), received.to_be_bytes()];
                [&[ANSWER, epoch], &words[0][..], &arrived.to_be_bytes(), &words[1], &words[2]].concat()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_are_written() {
        let numbered = Numbered { key: 7, number: u32::MAX };
        let parts = [Part::Whole, Part::First, Part::Second];
        let packets = parts.map(|part| Frame::Numbered { part, paths: 2, numbered, packet: &[1, 2] });
        let others = [
            Frame::Urgent(&[9]),
            Frame::Probe { epoch: 1, number: 2, sent: 3 },
            Frame::Answer { epoch: 1, number: 2, arrived: 1 << 40, sent: 4, received: 5 },
        ];
        for frame in packets.into_iter().chain(others) {
            assert_eq!(Frame::read(&frame.content()), Some(frame));
        }
        for strange in [&[][..], &[1, 2, 3], &[0x20], &[0x21; 9], &[0x77, 0]] {
            assert_eq!(Frame::read(strange), None);
        }
    }
}
