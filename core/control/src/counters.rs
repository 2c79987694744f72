//! What is counted, for metrics.

/// Counts since the start, for metrics.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Packets sent up by switches.
    pub packet_ins: u64,
    /// Of these, SYNs of hosts.
    pub syns: u64,
    /// Of the packets, those that open further subflows: SYNs and SYN/ACKs with MP_JOIN.
    pub joins: u64,
    /// Of the packets, frames that could not be read.
    pub unreadable: u64,
    /// Discovery frames that were not believed.
    pub lldp_refused: u64,
    /// Claims of addresses whose holders answered.
    pub claims_refused: u64,
    /// Connections that took the default path, as their port opened too many.
    pub streams_over_limit: u64,
    /// Packets that ports sent up above their limit.
    pub packets_over_limit: u64,
    /// What was done at ports that must not be.
    pub alarms: u64,
}

/// How much the brain knows, for metrics.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sizes {
    /// Switches that are connected.
    pub switches: u64,
    /// Links between switches, each direction counted.
    pub links: u64,
    /// Interfaces of hosts.
    pub hosts: u64,
    /// Transfers in progress.
    pub transfers: u64,
    /// Streams in progress.
    pub streams: u64,
    /// Labelled paths in the switches.
    pub labels: u64,
    /// Default routes in the switches.
    pub routes: u64,
}
