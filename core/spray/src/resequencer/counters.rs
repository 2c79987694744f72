//! Counters of the resequencer: packets, gaps, and a gauge of its contents.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Counts of the fates of packets and gaps since the start.
///
/// Every packet that was offered is in `forwarded` or in `held`; every held one is in the buffer still or was released.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Packets that passed at once.
    pub forwarded: u64,
    /// Packets that had to wait.
    pub held: u64,
    /// Of `forwarded`: packets of flows for which the table had no room.
    pub unknown: u64,
    /// Of `forwarded`: packets too far from the expected sequence number to be trusted.
    pub stray: u64,
    /// Retransmissions and duplicates, as far as the buffer can detect them.
    pub old: u64,
    /// Of `old`: late on their path, after later packets had been released without them.
    pub spurious: u64,
    /// Gaps that closed because the packet came.
    pub gaps_filled: u64,
    /// Gaps given up because every path had delivered something sent later, a packet or a probe.
    pub gaps_passed: u64,
    /// Gaps given up because a packet had waited long enough.
    pub gaps_timed_out: u64,
    /// Gaps given up because the flow held more than its threshold.
    pub gaps_over_threshold: u64,
    /// Gaps given up because the whole buffer was full.
    pub gaps_overflowed: u64,
    /// Gaps given up because the connection ended or began anew.
    pub gaps_ended: u64,
    /// The time that released packets had waited, in nanoseconds.
    pub waited_nanos: u64,
    /// The longest that one had waited, in nanoseconds.
    pub longest_nanos: u64,
    /// The most packets that have waited at once.
    pub max_packets: u32,
    /// The most bytes that have waited at once, with what packets take besides.
    pub max_bytes: u64,
}

/// The traffic of one path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct PathCounters {
    /// TCP packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Of them: those that packets of other paths had to wait for.
    pub late: u64,
}

impl Counters {
    /// Counts the release of a packet that had `waited`.
    pub(super) fn note_released(&mut self, waited: Duration) {
        let nanos = u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX);
        self.waited_nanos = self.waited_nanos.saturating_add(nanos);
        self.longest_nanos = self.longest_nanos.max(nanos);
    }

    pub(super) fn note_inside(&mut self, gauge: Gauge) {
        self.max_packets = self.max_packets.max(gauge.packets);
        self.max_bytes = self.max_bytes.max(gauge.bytes);
    }
}

/// The current contents.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Gauge {
    /// Known flows.
    pub flows: u32,
    /// Held packets.
    pub packets: u32,
    /// Their bytes, with overhead.
    pub bytes: u64,
}
