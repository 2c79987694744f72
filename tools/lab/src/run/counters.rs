//! MPTCP and TCP counters of a host's kernel, and the check that MPTCP was used.

use std::fs;

use super::report::MptcpUse;
use crate::error::LabError;
use crate::system::Namespace;

/// MPTCP counters of a host's kernel as a client; see `include/net/mptcp.h` of Linux.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct MptcpCounters {
    /// Connections on which the server accepted MPTCP.
    pub connections: u64,
    /// Additional subflows that the server accepted.
    pub joins: u64,
    /// Connections that fell back to TCP.
    pub fallbacks: u64,
}

impl MptcpCounters {
    pub(super) fn of(namespace: &Namespace) -> Result<Self, LabError> {
        let path = "/proc/thread-self/net/netstat";
        let text = namespace.run(|| fs::read_to_string(path).map_err(|error| LabError::io(path, error)))?;
        Ok(Self::parse(&text))
    }

    /// The difference since `earlier`.
    pub(super) fn since(self, earlier: &Self) -> Self {
        Self {
            connections: self.connections.saturating_sub(earlier.connections),
            joins: self.joins.saturating_sub(earlier.joins),
            fallbacks: self.fallbacks.saturating_sub(earlier.fallbacks),
        }
    }

    /// Checks that `wanted` connections used MPTCP; after a fallback the result would be that of plain TCP.
    pub(super) fn check(&self, wanted: u64) -> Result<(), String> {
        let Self { connections, fallbacks, .. } = self;
        if *connections >= wanted && *fallbacks == 0 {
            return Ok(());
        }
        Err(format!(
            "MPTCP was not used: {connections} of {wanted} connections negotiated it, {fallbacks} fell back to TCP"
        ))
    }

    fn parse(text: &str) -> Self {
        let value = |wanted| value(text, "MPTcpExt: ", wanted);
        Self {
            connections: value("MPCapableSYNACKRX"),
            joins: value("MPJoinSynAckRx"),
            fallbacks: value("MPCapableFallbackSYNACK"),
        }
    }
}

/// The number of TCP segments that a host has retransmitted.
pub(super) fn retransmits(namespace: &Namespace) -> Result<u64, LabError> {
    let path = "/proc/thread-self/net/snmp";
    let text = namespace.run(|| fs::read_to_string(path).map_err(|error| LabError::io(path, error)))?;
    Ok(value(&text, "Tcp: ", "RetransSegs"))
}

// A line of names is followed by a line of values with the same prefix. A missing counter is zero.
fn value(text: &str, table: &str, wanted: &str) -> u64 {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(table));
    let (names, values) = (lines.next().unwrap_or(""), lines.next().unwrap_or(""));
    let mut pairs = names.split_whitespace().zip(values.split_whitespace());
    let found = pairs.find(|(name, _)| *name == wanted);
    found.and_then(|(_, value)| value.parse().ok()).unwrap_or(0)
}

impl MptcpCounters {
    /// For the report, with the number of packet-ins for joins.
    pub(super) const fn with_packet_ins(self, join_packet_ins: u64) -> MptcpUse {
        let Self { connections, joins, fallbacks } = self;
        MptcpUse { connections, joins, fallbacks, join_packet_ins }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_under_their_names() {
        let text = "TcpExt: SyncookiesSent\nTcpExt: 9\n\
            MPTcpExt: MPCapableSYNACKRX MPCapableFallbackSYNACK MPJoinSynAckRx\nMPTcpExt: 4 1 3\n";
        assert_eq!(MptcpCounters::parse(text), MptcpCounters { connections: 4, joins: 3, fallbacks: 1 });
    }

    #[test]
    fn a_fallback_or_a_plain_connection_is_no_multipath_tcp() {
        let counters = MptcpCounters { connections: 2, joins: 0, fallbacks: 0 };
        assert_eq!(counters.check(2), Ok(()));
        let error = MptcpCounters { connections: 1, fallbacks: 1, ..counters }.check(2).unwrap_err();
        assert_eq!(error, "MPTCP was not used: 1 of 2 connections negotiated it, 1 fell back to TCP");
        assert!(counters.check(3).is_err());
        assert!(MptcpCounters { fallbacks: 1, ..counters }.check(2).is_err());
    }

    #[test]
    fn a_kernel_without_multipath_tcp_counts_nothing() {
        for text in
            ["", "TcpExt: A\nTcpExt: 1\n", "MPTcpExt: MPCapableSYNACKRX\n", "MPTcpExt: A B\nMPTcpExt: x\n"]
        {
            assert_eq!(MptcpCounters::parse(text), MptcpCounters::default(), "{text}");
        }
    }
}
