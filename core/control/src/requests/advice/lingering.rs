//! Rules that outlive their subflows for a while.
//!
//! Part of a handshake may be underway when a subflow ends: a SYN/ACK whose SYN has just passed, or a repeated SYN in a long queue. It
//! needs no controller either.

use std::collections::VecDeque;
use std::time::Duration;

use braid_types::Time;

use super::Handshake;

/// Linux repeats SYNs and SYN/ACKs after one second, and again within three.
const LINGER: Duration = Duration::from_secs(4);
/// With more, the oldest go.
const MAX_LINGERING: usize = 16_384;

/// Where the first packets of ended subflows pass, in order of time.
#[derive(Debug, Default)]
pub(super) struct Lingering(VecDeque<(Time, Handshake)>);

impl Lingering {
    /// A subflow has ended.
    pub(super) fn push(&mut self, now: Time, handshake: Handshake) {
        self.0.push_back((now + LINGER, handshake));
    }

    /// One whose time is over, or which is one too many.
    pub(super) fn pop_due(&mut self, now: Time) -> Option<Handshake> {
        let (until, _) = *self.0.front()?;
        if until > now && self.0.len() <= MAX_LINGERING {
            return None;
        }
        self.0.pop_front().map(|(_, handshake)| handshake)
    }
}

#[cfg(test)]
mod tests {
    use braid_types::{DatapathId, FiveTuple, PortNo, SwitchPort};

    use super::*;

    fn handshake(src_port: u16) -> Handshake {
        let [src, dst] = [[10, 0, 0, 1], [10, 0, 0, 9]].map(Into::into);
        let tuple = FiveTuple { src, dst, src_port, dst_port: 5201 };
        let at = |dpid| SwitchPort::new(DatapathId(dpid), PortNo(1));
        [(at(1), tuple), (at(9), tuple.reversed())]
    }

    #[test]
    fn rules_go_in_order_when_their_time_is_over_or_there_are_too_many() {
        let (mut lingering, start) = (Lingering::default(), Time::ZERO);
        lingering.push(start, handshake(1));
        lingering.push(start + Duration::from_secs(1), handshake(2));
        assert_eq!(lingering.pop_due(start + Duration::from_secs(3)), None);
        let due = start + LINGER;
        assert_eq!([lingering.pop_due(due), lingering.pop_due(due)], [Some(handshake(1)), None]);
        (0..MAX_LINGERING).for_each(|_| lingering.push(due, handshake(3)));
        assert_eq!([lingering.pop_due(due), lingering.pop_due(due)], [Some(handshake(2)), None]);
    }
}
