//! Forward error correction: behind each block of packets the sender puts parity packets, from which the receiver computes as many lost
//! ones without asking for them. Reed-Solomon over shards: a packet's content without its mark and number, which the block says.

mod block;
mod recovery;

pub(super) use block::Block;
pub(super) use recovery::Recovery;

/// The most packets in a block.
pub(super) const MAX_PACKETS: u8 = 32;
/// The most parity packets for it.
pub(super) const MAX_PARITY: u8 = 4;

/// Kind, mark, number: what a shard leaves out.
const OMITTED_BYTES: usize = 6;
/// What a shard has instead: the kind, and the length of the rest.
const SHARD_HEAD: usize = 2;
const LENGTH_BITS: u32 = 13;
/// Longer contents are in no block.
const MAX_CONTENT: usize = OMITTED_BYTES + (1 << LENGTH_BITS) - 1;

/// The shard of a content, not yet padded; `None` if it is too long.
fn shard(content: &[u8]) -> Option<Vec<u8>> {
    let (kind, rest) = (content.first()?, content.get(OMITTED_BYTES..)?);
    let length = u16::try_from(rest.len()).ok().filter(|length| length >> LENGTH_BITS == 0)?;
    let head = u16::from(*kind) << LENGTH_BITS | length;
    Some([&head.to_be_bytes()[..], rest].concat())
}

/// Whether bytes can be those of a shard: a whole number of the code's symbols of 16 bits, and no more than a content has.
fn is_shard(bytes: &[u8]) -> bool {
    let longest = (SHARD_HEAD + MAX_CONTENT).next_multiple_of(2);
    (SHARD_HEAD..=longest).contains(&bytes.len()) && bytes.len().is_multiple_of(2)
}

/// The content of a shard, as the packet with this number of this path.
fn content(shard: &[u8], path: u8, seq: u32) -> Option<Vec<u8>> {
    let (head, rest) = shard.split_first_chunk::<SHARD_HEAD>()?;
    let head = u16::from_be_bytes(*head);
    let (kind, length) = ((head >> LENGTH_BITS) as u8, usize::from(head & ((1 << LENGTH_BITS) - 1)));
    Some([&[kind, path], &seq.to_be_bytes()[..], rest.get(..length)?].concat())
}

/// Pads shards to one length, which is even.
fn pad<'a>(shards: impl IntoIterator<Item = &'a mut Vec<u8>>, length: usize) {
    shards.into_iter().for_each(|shard| shard.resize(length.next_multiple_of(2), 0));
}

#[cfg(test)]
mod tests {
    use braid_types::{SplitMix64, Time};

    use super::*;
    use crate::bond::frame::{Frame, Parity};

    /// Contents of packets with numbers from `first` on, of several lengths.
    fn contents(first: u32, count: u32) -> Vec<Vec<u8>> {
        let content = |number: u32| {
            let fill = (0..50 + number % 7 * 10).map(|at| (number ^ at) as u8);
            [&[1, 3], &first.wrapping_add(number).to_be_bytes()[..]]
                .concat()
                .into_iter()
                .chain(fill)
                .collect()
        };
        (0..count).map(content).collect()
    }

    /// What is computed of a block from the packets and the parity packets that `keep` keeps, in a random order.
    fn recovered(count: u32, parity: u8, keep: impl Fn(u32) -> bool, seed: u64) -> Vec<Vec<u8>> {
        let first = u32::MAX - 3;
        let sent = contents(first, count);
        let mut block = Block::default();
        for (seq, content) in (0..count).map(|number| first.wrapping_add(number)).zip(&sent) {
            block.add(Time::ZERO, seq, content.clone().into());
        }
        let parity = block.take(parity, 3);
        let longest = sent.iter().map(Vec::len).max().unwrap();
        assert!(
            parity.iter().all(|frame| frame.len() <= longest.next_multiple_of(2)),
            "it is no longer than a packet"
        );
        let mut all: Vec<_> =
            (0..).zip(sent.into_iter().chain(parity)).filter(|(place, _)| keep(*place)).collect();
        all.sort_by_key(|(place, _)| SplitMix64::new(seed ^ u64::from(*place)).next_u64());
        let mut recovery = Recovery::default();
        recovery.begin(Time::ZERO);
        let mut found = Vec::new();
        for (place, content) in all {
            match Frame::read(&content) {
                Some(Frame::Parity(parity)) => {
                    recovery.note_parity(Time::ZERO, first.wrapping_add(count), &parity);
                }
                _ => recovery.note(Time::ZERO, first.wrapping_add(place), &content),
            }
            found.extend(std::iter::from_fn(|| recovery.poll()).map(|(_, content)| content));
        }
        found.sort();
        found
    }

    #[test]
    fn as_many_lost_packets_as_there_are_parity_packets_are_computed_in_any_order() {
        for seed in 0..50 {
            let mut sent = contents(u32::MAX - 3, 20);
            let lost = [3, 11, 19];
            let found = recovered(20, 3, |place| !lost.contains(&place), seed);
            let mut expected: Vec<_> =
                lost.iter().map(|at| std::mem::take(&mut sent[*at as usize])).collect();
            expected.sort();
            assert_eq!(found, expected);
        }
        assert_eq!(
            recovered(20, 2, |place| ![3, 11, 19].contains(&place), 1),
            Vec::<Vec<u8>>::new(),
            "too many"
        );
        assert_eq!(recovered(1, 1, |place| place == 1, 1).len(), 1);
        assert_eq!(recovered(32, 4, |place| place >= 4, 1).len(), 4);
    }

    #[test]
    fn packets_of_an_earlier_start_with_the_same_numbers_are_no_part_of_a_block() {
        let mut recovery = Recovery::default();
        recovery.begin(Time::ZERO);
        for (seq, content) in (0..).zip(contents(0, 4)) {
            recovery.note(Time::ZERO, seq, &content);
        }
        let (mut block, now) = (Block::default(), Time::from_millis(1_500));
        let sent: Vec<Vec<u8>> =
            contents(0, 4).into_iter().map(|content| [content, vec![7; 9]].concat()).collect();
        for (seq, content) in (0..).zip(&sent) {
            block.add(now, seq, content.clone().into());
        }
        sent.iter().take(2).zip(0..).for_each(|(content, seq)| recovery.note(now, seq, content));
        for parity in block.take(2, 3) {
            let Some(Frame::Parity(parity)) = Frame::read(&parity) else { unreachable!() };
            recovery.note_parity(now, 4, &parity);
        }
        let found: Vec<_> = std::iter::from_fn(|| recovery.poll()).collect();
        assert_eq!(found, [(2, sent[2].clone()), (3, sent[3].clone())]);
    }

    #[test]
    fn strange_parity_gives_nothing_and_is_soon_forgotten() {
        let mut recovery = Recovery::default();
        for turn in 0..10_000_u32 {
            let bytes = vec![turn as u8; turn as usize % 40];
            let (path, first, count) = (0, turn as u16, (turn % 300) as u8);
            let parity = Parity { path, count, first, index: turn as u8, bytes: &bytes };
            let now = Time::from_millis(turn.into());
            recovery.note_parity(now, turn, &parity);
            recovery.note(now, turn.wrapping_add(3), &[1, 2, 3, 4, 5, 6, 7]);
            assert!(recovery.waiting() <= 64);
            while recovery.poll().is_some() {}
        }
    }

    #[test]
    fn so_many_blocks_are_solved_in_a_second_and_everything_is_forgotten_in_silence() {
        let mut recovery = Recovery::default();
        let mut solved = |now: Time, first: u32| {
            for seq in first..first + 400 {
                let mut block = Block::default();
                contents(seq, 1).into_iter().for_each(|content| _ = block.add(now, seq, content.into()));
                let parity = block.take(1, 3).pop().unwrap();
                let Some(Frame::Parity(parity)) = Frame::read(&parity) else { unreachable!() };
                recovery.note_parity(now, seq + 1, &parity);
            }
            std::iter::from_fn(|| recovery.poll()).count()
        };
        assert_eq!(solved(Time::ZERO, 0), 150);
        assert_eq!(solved(Time::from_millis(100), 1_000), 15);
        assert_eq!(solved(Time::from_millis(1_500), 2_000), 150);
        let due = recovery.poll_timeout().unwrap();
        assert!(recovery.waiting() == 0 && due == Time::from_millis(4_500));
        let bytes = [0xff; 2];
        let lone = Parity { path: 3, count: 2, first: 9_000, index: 0, bytes: &bytes };
        recovery.note_parity(Time::from_millis(1_500), 9_000, &lone);
        assert_eq!(recovery.waiting(), 1);
        recovery.handle_timeout(due);
        assert_eq!((recovery.waiting(), recovery.poll_timeout()), (0, None));
    }

    #[test]
    fn parity_that_is_no_shard_is_dropped() {
        for length in [0, 1, 3, 8_201, 8_400, 60_000] {
            let (mut recovery, bytes) = (Recovery::default(), vec![0; length]);
            let parity = Parity { path: 3, count: 2, first: 7, index: 0, bytes: &bytes };
            recovery.note_parity(Time::ZERO, 7, &parity);
            assert_eq!(recovery.waiting(), 0, "{length} bytes");
        }
    }

    #[test]
    fn shards_are_read_as_they_are_made_and_strange_ones_not_at_all() {
        let [content] = contents(9, 1).try_into().unwrap();
        assert_eq!(super::content(&shard(&content).unwrap(), 3, 9), Some(content));
        assert_eq!(shard(&[1; 5]), None);
        assert_eq!(shard(&[1; 9_000]), None, "too long");
        for strange in [&[][..], &[0xff], &[0xff, 0xff, 1]] {
            assert_eq!(super::content(strange, 3, 9), None);
        }
    }
}
