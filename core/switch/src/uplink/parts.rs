//! Frames that are too long for GRE, in two parts each.

/// The number of a frame, and which part of it follows.
const HEADER: usize = 3;
const FIRST: u8 = 0;
const LAST: u8 = 1;
/// The longest frame: an IP packet in Ethernet.
const MAX_FRAME: usize = 14 + 65_535;

/// The parts of one direction of a tunnel, and those of the other.
#[derive(Debug, Default)]
pub(super) struct Parts {
    number: u16,
    /// The first part of the last frame, with its number.
    first: Option<(u16, Vec<u8>)>,
}

impl Parts {
    /// The two parts of a frame, each of `longest` bytes at most; `None` if two are too few.
    pub(super) fn split(&mut self, frame: &[u8], longest: usize) -> Option<[Vec<u8>; 2]> {
        let (first, last) = frame.split_at_checked(longest.checked_sub(HEADER)?)?;
        self.number = self.number.wrapping_add(1);
        let [high, low] = self.number.to_be_bytes();
        let part = |place, bytes: &[u8]| [&[high, low, place][..], bytes].concat();
        (last.len() + HEADER <= longest).then(|| [part(FIRST, first), part(LAST, last)])
    }

    /// A part has come; the frame, if it was the last one. Paths keep the order, so a part whose other one is lost is dropped.
    pub(super) fn join(&mut self, part: &[u8]) -> Option<Vec<u8>> {
        let ([high, low, place], bytes) = part.split_first_chunk()?;
        let number = u16::from_be_bytes([*high, *low]);
        let first = self.first.take();
        if *place == FIRST {
            self.first = Some((number, bytes.to_vec()));
            return None;
        }
        let (_, mut frame) = first.filter(|(first, _)| *first == number && *place == LAST)?;
        frame.extend(bytes);
        (frame.len() <= MAX_FRAME).then_some(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_joined_from_its_two_parts_and_from_no_others() {
        let (mut near, mut far) = (Parts::default(), Parts::default());
        let frame: Vec<u8> = (0..100).collect();
        let [first, last] = near.split(&frame, 60).unwrap();
        assert_eq!((first.len(), last.len()), (60, 46));
        assert_eq!([far.join(&first), far.join(&last)], [None, Some(frame.clone())]);
        assert_eq!(far.join(&last), None, "once");
        let [other, _] = near.split(&frame, 60).unwrap();
        assert_eq!([far.join(&other), far.join(&last), far.join(&last)], [const { None }; 3]);
        assert_eq!([far.join(&first[..2]), far.join(&[0, 9, 7, 1])], [None, None]);
        assert_eq!([near.split(&frame, 52), near.split(&frame, 2)], [None, None]);
    }
}
