//! Counters for metrics.

use std::time::Duration;

/// Counts since the start, for metrics.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Packets that switches sent to the controller.
    pub packet_ins: u64,
    /// Of these packets, SYNs of hosts.
    pub syns: u64,
    /// Of these packets, SYNs and SYN/ACKs with MP_JOIN, which open further subflows.
    pub joins: u64,
    /// Of these joins, SYN/ACKs.
    pub join_answers: u64,
    /// Of these joins, those of subflows that were advised, which pass without the controller unless a rule is missing.
    pub advised_joins: u64,
    /// Of these packets, frames that could not be parsed.
    pub unreadable: u64,
    /// Discovery frames that failed validation.
    pub lldp_refused: u64,
    /// Address conflicts whose holders answered.
    pub claims_refused: u64,
    /// Connections on the default path because their port opened too many.
    pub streams_over_limit: u64,
    /// Packets above the limit of their port.
    pub packets_over_limit: u64,
    /// Alarms raised.
    pub alarms: u64,
    /// Directed links lost, for any reason.
    pub links_lost: u64,
    /// How often paths, routes and streams were compared with the links.
    pub graph_updates: u64,
    /// Default paths that were compared with the shortest paths after a change of the network.
    pub routes_compared: u64,
    /// The time in which the controller could not listen to switches.
    pub stalled: Duration,
}

/// Counts of what the brain holds, for metrics.
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
    /// Default paths in the switches.
    pub routes: u64,
}
