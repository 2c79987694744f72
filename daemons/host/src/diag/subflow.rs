//! The counters of a subflow: `struct tcp_info` of `linux/tcp.h`, and what MPTCP adds to it.

use std::time::Duration;

use braid_api::SubflowEnds;

use super::{Fields, INFO, MESSAGE, ULP_INFO, ends};
use crate::netlink::Attributes;
use crate::pm::Token;

const ULP_MPTCP: u16 = 3;
const TOKEN_LOC: u16 = 2;
const FLAGS: u16 = 8;
/// Backup for the peer, or for this host.
const BACKUP: u32 = 1 << 4 | 1 << 5;
const FULLY_ESTABLISHED: u32 = 1 << 6;

/// The counters of a subflow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SubflowInfo {
    /// Its connection, as this host names it.
    pub token: Token,
    /// Its ends.
    pub ends: SubflowEnds,
    /// Whether it carries data only without others, as either host has said.
    pub is_backup: bool,
    /// The bytes that the peer has acknowledged.
    pub acknowledged: u64,
    /// The bytes sent, retransmissions included.
    pub sent: u64,
    /// The bytes sent again.
    pub retransmitted: u64,
    /// The bytes that it was given and has not sent yet.
    pub unsent: u64,
    /// The segments sent that are not acknowledged.
    pub in_flight: u32,
    /// The smoothed round-trip time.
    pub rtt: Duration,
}

impl SubflowInfo {
    /// From a `struct inet_diag_msg` with `struct tcp_info`; `None` for other TCP sockets, and before the subflow is
    /// fully established.
    #[must_use]
    pub fn decode(message: &[u8]) -> Option<Self> {
        let attributes = Attributes(message.get(MESSAGE..)?);
        let mptcp = attributes.find(ULP_INFO)?.nested().find(ULP_MPTCP)?.nested();
        let flags = mptcp.find(FLAGS)?.u32()?;
        if flags & FULLY_ESTABLISHED == 0 {
            return None;
        }
        let info = Fields(attributes.find(INFO)?.payload);
        Some(Self {
            token: Token(mptcp.find(TOKEN_LOC)?.u32()?),
            ends: ends(message)?,
            is_backup: flags & BACKUP != 0,
            acknowledged: info.u64(120)?,
            sent: info.u64(200)?,
            retransmitted: info.u64(208)?,
            unsent: info.u32(144)?.into(),
            in_flight: info.u32(24)?,
            rtt: Duration::from_micros(info.u32(68)?.into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::message;
    use super::*;
    use crate::netlink::Writer;

    fn about(flags: u32) -> Vec<u8> {
        let mut info = vec![0; 248];
        let mut put = |at: usize, bytes: &[u8]| info[at..at + bytes.len()].copy_from_slice(bytes);
        put(24, &3_u32.to_ne_bytes());
        put(68, &25_000_u32.to_ne_bytes());
        put(120, &5_000_u64.to_ne_bytes());
        put(144, &600_u32.to_ne_bytes());
        put(200, &7_000_u64.to_ne_bytes());
        put(208, &800_u64.to_ne_bytes());
        let mptcp = Writer::default().u32(TOKEN_LOC, 7).u32(FLAGS, flags);
        let ulp = Writer::default().text(1, "mptcp").nested(ULP_MPTCP, &mptcp);
        message(&Writer::default().bytes(INFO, &info).nested(ULP_INFO, &ulp))
    }

    #[test]
    fn subflow_is_read_with_its_counters() {
        let subflow = SubflowInfo::decode(&about(FULLY_ESTABLISHED)).unwrap();
        assert_eq!((subflow.token, subflow.is_backup, subflow.in_flight), (Token(7), false, 3));
        assert_eq!((subflow.acknowledged, subflow.sent, subflow.retransmitted), (5_000, 7_000, 800));
        assert_eq!((subflow.unsent, subflow.rtt), (600, Duration::from_millis(25)));
        assert!(SubflowInfo::decode(&about(FULLY_ESTABLISHED | 1 << 5)).unwrap().is_backup);
    }

    #[test]
    fn sockets_that_are_no_subflows_yet_are_left_out() {
        assert_eq!(SubflowInfo::decode(&about(0)), None);
        assert_eq!(SubflowInfo::decode(&message(&Writer::default().bytes(INFO, &[0; 248]))), None);
    }
}
