use serde::Serialize;

/// What became of packets and gaps since the start.
///
/// Every packet that was offered is in `forwarded` or in `held`; every held one is in the buffer still or was released.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Counters {
    /// Packets that passed at once.
    pub forwarded: u64,
    /// Packets that had to wait.
    pub held: u64,
    /// Of `forwarded`: those of flows that there was no room to know.
    pub unknown: u64,
    /// Of `forwarded`: too far from what was expected to be believed.
    pub stray: u64,
    /// Of `forwarded`: retransmissions and duplicates, as far as the buffer can tell.
    pub old: u64,
    /// Of `old`: those that came late on their path, after others had been let go without them.
    pub spurious: u64,
    /// Gaps that closed because the packet came.
    pub gaps_filled: u64,
    /// Gaps given up because every path had delivered something later.
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
}

/// What is inside now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Gauge {
    /// Flows that are known.
    pub flows: u32,
    /// Packets that wait.
    pub packets: u32,
    /// Their bytes, with what each takes besides.
    pub bytes: u64,
}
