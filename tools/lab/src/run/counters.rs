//! MPTCP and TCP counters of a host's kernel, and the check that MPTCP was in fact used.

use std::fs;

use super::report::MptcpUse;
use crate::error::LabError;
use crate::system::Namespace;

/// What a host's kernel has counted of Multipath TCP as a client; see `include/net/mptcp.h` of Linux.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct MptcpCounters {
    /// Connections for which the server agreed.
    pub connections: u64,
    /// Further subflows that the server agreed to.
    pub joins: u64,
    /// Connections that became plain TCP.
    pub fallbacks: u64,
}

impl MptcpCounters {
    pub(super) fn of(namespace: &Namespace) -> Result<Self, LabError> {
        let path = "/proc/thread-self/net/netstat";
        let text = namespace.run(|| fs::read_to_string(path).map_err(|error| LabError::io(path, error)))?;
        Ok(Self::parse(&text))
    }

    /// What was counted since `earlier`.
    pub(super) fn since(self, earlier: &Self) -> Self {
        Self {
            connections: self.connections.saturating_sub(earlier.connections),
            joins: self.joins.saturating_sub(earlier.joins),
            fallbacks: self.fallbacks.saturating_sub(earlier.fallbacks),
        }
    }

    /// Whether `wanted` connections used Multipath TCP: a fallback would show plain TCP under a false name.
    pub(super) fn check(&self, wanted: u64) -> Result<(), String> {
        let Self { connections, fallbacks, .. } = self;
        if *connections >= wanted && *fallbacks == 0 {
            return Ok(());
        }
        Err(format!(
            "Multipath TCP was not used: {connections} of {wanted} connections negotiated it, {fallbacks} fell back to TCP"
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

/// How many TCP segments a host has sent again since it is there.
pub(super) fn retransmits(namespace: &Namespace) -> Result<u64, LabError> {
    let path = "/proc/thread-self/net/snmp";
    let text = namespace.run(|| fs::read_to_string(path).map_err(|error| LabError::io(path, error)))?;
    Ok(value(&text, "Tcp: ", "RetransSegs"))
}

// Two lines begin alike: one has the names, the next one the values. A kernel without a counter never counts it.
fn value(text: &str, table: &str, wanted: &str) -> u64 {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(table));
    let (names, values) = (lines.next().unwrap_or(""), lines.next().unwrap_or(""));
    let mut pairs = names.split_whitespace().zip(values.split_whitespace());
    let found = pairs.find(|(name, _)| *name == wanted);
    found.and_then(|(_, value)| value.parse().ok()).unwrap_or(0)
}

impl MptcpCounters {
    /// As a report says it, with how many packets that open further subflows the controller was sent.
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
        assert_eq!(error, "Multipath TCP was not used: 1 of 2 connections negotiated it, 1 fell back to TCP");
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
