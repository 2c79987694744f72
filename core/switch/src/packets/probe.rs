//! Probes: frames by which edges measure the paths between them. They take the paths of data, and the other edge answers.

use braid_openflow::GroupId;
use braid_spray::SegmentCounts;
use braid_types::{DatapathId, MacAddr};

/// Local experimental Ethertype 1. IEEE 802.
const ETHER_TYPE: [u8; 2] = [0x88, 0xb5];
const MAGIC: [u8; 4] = [0x00, 0x02, 0xb7, 0xb7];
/// A locally administered address; switches need not learn it.
const SOURCE: [u8; 6] = [0x02, 0xb9, 0, 0, 0, 1];
const HEADER: usize = 14;
const LENGTH: usize = HEADER + 64;
/// The position of the flags that mark missing counts.
const UNCOUNTED: usize = HEADER + 5;
/// The position of the count that is known only when a probe leaves.
const SENT: usize = LENGTH - 8;

/// A probe, or its answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ProbeFrame {
    pub(crate) is_answer: bool,
    /// The edge that handles it.
    pub(crate) to: DatapathId,
    /// The edge that sent the probe.
    pub(crate) from: DatapathId,
    /// A secret of the probing edge: an answer without it is refused.
    pub(crate) secret: u64,
    pub(crate) group: GroupId,
    pub(crate) bucket: u32,
    pub(crate) number: u32,
    /// The destination address of the answer.
    pub(crate) reply_label: MacAddr,
    /// The arrival time of the probe, in nanoseconds of the answering edge's clock.
    pub(crate) arrived: u64,
    /// The packets sent by the path before the probe, and received before it; `None` if an edge has no room to count
    /// them.
    pub(crate) counts: Option<SegmentCounts>,
}

/// Writes the number of segments sent before a departing probe, if they were counted.
pub(crate) fn put_sent(frame: &mut [u8], sent: Option<u32>) {
    if let Some(place) = frame.get_mut(SENT..SENT + 4) {
        place.copy_from_slice(&sent.unwrap_or(0).to_be_bytes());
    }
    if let Some(place) = frame.get_mut(UNCOUNTED) {
        *place = sent.is_none().into();
    }
}

impl ProbeFrame {
    /// The frame to `dst`.
    pub(crate) fn frame(&self, dst: MacAddr) -> Vec<u8> {
        let mut frame = Vec::with_capacity(LENGTH);
        frame.extend(dst.octets());
        frame.extend(SOURCE);
        frame.extend(ETHER_TYPE);
        frame.extend(MAGIC);
        frame.extend([self.is_answer, self.counts.is_none()].map(u8::from));
        frame.extend(self.reply_label.octets());
        frame.extend(self.to.0.to_be_bytes());
        frame.extend(self.from.0.to_be_bytes());
        frame.extend(self.secret.to_be_bytes());
        frame.extend(self.group.0.to_be_bytes());
        frame.extend(self.bucket.to_be_bytes());
        frame.extend(self.number.to_be_bytes());
        frame.extend(self.arrived.to_be_bytes());
        let SegmentCounts { sent, received } = self.counts.unwrap_or_default();
        frame.extend([sent, received].into_iter().flat_map(u32::to_be_bytes));
        frame
    }

    /// Parses a frame; `None` if it is no probe or answer.
    pub(crate) fn read(frame: &[u8]) -> Option<Self> {
        let mut rest = frame.get(12..).filter(|_| frame.len() >= LENGTH)?;
        let (ether_type, magic) = (take::<2>(&mut rest)?, take::<4>(&mut rest)?);
        if ether_type != ETHER_TYPE || magic != MAGIC {
            return None;
        }
        let [answer, uncounted] = take(&mut rest)?;
        let reply_label = MacAddr::new(take(&mut rest)?);
        let mut word = || take(&mut rest).map(u64::from_be_bytes);
        let (to, from, secret) = (DatapathId(word()?), DatapathId(word()?), word()?);
        let mut half = || take(&mut rest).map(u32::from_be_bytes);
        let (group, bucket, number) = (GroupId(half()?), half()?, half()?);
        let arrived = u64::from_be_bytes(take(&mut rest)?);
        let [sent, received] = [take(&mut rest)?, take(&mut rest)?].map(u32::from_be_bytes);
        let counts = (uncounted == 0).then_some(SegmentCounts { sent, received });
        Some(Self {
            is_answer: answer == 1,
            to,
            from,
            secret,
            group,
            bucket,
            number,
            reply_label,
            arrived,
            counts,
        })
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk()?;
    *rest = tail;
    Some(*head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_are_read_as_they_are_written_and_nothing_else_is() {
        let probe = ProbeFrame {
            is_answer: true,
            to: DatapathId(1),
            from: DatapathId(2),
            secret: 3,
            group: GroupId(4),
            bucket: 5,
            number: 6,
            reply_label: MacAddr::from_u64(0x02b7_0000_0007),
            arrived: 8,
            counts: Some(SegmentCounts { sent: 9, received: 10 }),
        };
        let mut frame = probe.frame(MacAddr::from_u64(9));
        assert_eq!(ProbeFrame::read(&frame), Some(probe));
        put_sent(&mut frame, Some(11));
        assert_eq!(
            ProbeFrame::read(&frame).and_then(|it| it.counts),
            Some(SegmentCounts { sent: 11, received: 10 })
        );
        put_sent(&mut frame, None);
        assert_eq!(ProbeFrame::read(&frame), Some(ProbeFrame { counts: None, ..probe }));
        (0..frame.len()).for_each(|length| assert_eq!(ProbeFrame::read(&frame[..length]), None));
        for place in 12..18 {
            let mut other = frame.clone();
            other[place] ^= 1;
            assert_eq!(ProbeFrame::read(&other), None);
        }
    }
}
