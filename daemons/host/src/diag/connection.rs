//! The counters of an MPTCP connection: `struct mptcp_info` of `linux/mptcp.h`.

use super::{Fields, INFO, MESSAGE};
use crate::netlink::Attributes;
use crate::pm::Token;

/// The counters of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConnectionInfo {
    /// Its token on this host.
    pub token: Token,
    /// The bytes of data that the peer has acknowledged.
    pub acknowledged: u64,
    /// The bytes that the application has written and no subflow was given yet.
    pub unsent: u64,
}

impl ConnectionInfo {
    /// From a `struct inet_diag_msg` with `struct mptcp_info`; `None` where the kernel does not count bytes.
    #[must_use]
    pub fn decode(message: &[u8]) -> Option<Self> {
        let info = Fields(Attributes(message.get(MESSAGE..)?).find(INFO)?.payload);
        let (written, first_unacknowledged) = (info.u64(16)?, info.u64(24)?);
        let (sent, acknowledged) = (info.u64(56)?, info.u64(72)?);
        let in_flight = sent.saturating_sub(acknowledged);
        let unsent = written.wrapping_sub(first_unacknowledged).saturating_sub(in_flight);
        Some(Self { token: Token(info.u32(12)?), acknowledged, unsent })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::message;
    use super::*;
    use crate::netlink::Writer;

    fn info() -> Vec<u8> {
        let mut info = vec![0; 12];
        info.extend(7_u32.to_ne_bytes());
        // Sequence numbers begin anywhere, and may have passed zero.
        for value in [4_000_u64, 1_000_u64.wrapping_sub(2_000), 0, 0, 0, 9_000, 0, 6_000] {
            info.extend(value.to_ne_bytes());
        }
        info
    }

    #[test]
    fn data_waits_that_is_written_and_not_sent() {
        let decoded = ConnectionInfo::decode(&message(&Writer::default().bytes(INFO, &info()))).unwrap();
        assert_eq!(decoded, ConnectionInfo { token: Token(7), acknowledged: 6_000, unsent: 2_000 });
    }

    #[test]
    fn kernel_that_counts_no_bytes_tells_nothing() {
        assert_eq!(ConnectionInfo::decode(&message(&Writer::default().bytes(INFO, &info()[..44]))), None);
        assert_eq!(ConnectionInfo::decode(&message(&Writer::default())), None);
    }
}
