//! Trains: long frames that are sent together when a path comes up. How far apart they arrive tells what the path carries.
//!
//! Sender and receiver have nothing else to go by before the first connection begins, which would be slow to grow if its packets
//! took a path that carries little.

use braid_types::Time;

use super::frame::Frame;

/// The frames of a train; together they fill 10 Mbit/s for 15 ms.
const FRAMES: u8 = 16;

/// The frames of a train, in order.
pub(super) fn frames() -> impl Iterator<Item = Frame<'static>> {
    (0..FRAMES).map(|place| Frame::Train { place, last: FRAMES - 1 })
}

/// The train that comes in by a path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Train {
    began: Option<Time>,
    next: u8,
    bytes: u32,
}

impl Train {
    /// Notes a frame; the answer if it is the last one of a train that has come whole and in order.
    pub(super) fn note(&mut self, now: Time, place: u8, last: u8, length: usize) -> Option<Frame<'static>> {
        if place == 0 {
            *self = Self { began: Some(now), next: 1, bytes: 0 };
            return None;
        }
        let began = self.began.filter(|_| place == self.next);
        let Some(began) = began else {
            *self = Self::default();
            return None;
        };
        self.next = self.next.saturating_add(1);
        self.bytes = self.bytes.saturating_add(u32::try_from(length).unwrap_or(u32::MAX));
        if place < last {
            return None;
        }
        let (bytes, nanos) = (self.bytes, u64::try_from(now.since(began).as_nanos()).unwrap_or(u64::MAX));
        *self = Self::default();
        Some(Frame::Passed { bytes, nanos })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is answered to the frames with these places, one a millisecond.
    fn answers(places: impl IntoIterator<Item = u8>) -> Vec<Frame<'static>> {
        let mut train = Train::default();
        let noted = (0..).zip(places);
        noted.filter_map(|(ms, place)| train.note(Time::from_millis(ms), place, 3, 1_000)).collect()
    }

    #[test]
    fn a_train_is_answered_once_and_only_if_it_is_whole() {
        let passed = Frame::Passed { bytes: 3_000, nanos: 3_000_000 };
        assert_eq!(answers(0..4), [passed]);
        for broken in [&[0, 1, 3][..], &[1, 2, 3], &[0, 2, 1, 3], &[3, 3], &[0, 1, 2, 2, 3]] {
            assert_eq!(answers(broken.iter().copied()), [], "{broken:?}");
        }
        assert_eq!(answers([0, 1, 0, 1, 2, 3, 3]).len(), 1);
    }
}
