//! What the sending host knows of a connection at one moment.

use std::time::Duration;

/// The counters of a connection and of its subflows. They begin anywhere and only grow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reading<K> {
    /// The bytes of data that the peer has acknowledged, each counted once whatever subflows have carried it.
    pub acknowledged: u64,
    /// Whether data waits to be sent: the paths are the limit, not the application.
    pub is_greedy: bool,
    /// The established subflows.
    pub subflows: Vec<Subflow<K>>,
}

/// The counters of a subflow, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subflow<K> {
    /// Its name, unique among those of its connection.
    pub id: K,
    /// Acknowledged.
    pub acknowledged: u64,
    /// Sent, retransmissions included.
    pub sent: u64,
    /// Sent again.
    pub retransmitted: u64,
    /// The smoothed round-trip time.
    pub rtt: Duration,
    /// Whether all that it was given to send is acknowledged.
    pub is_drained: bool,
}

impl<K: Copy + Ord> Reading<K> {
    pub(crate) fn subflow(&self, id: K) -> Option<&Subflow<K>> {
        self.subflows.iter().find(|it| it.id == id)
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = K> {
        self.subflows.iter().map(|it| it.id)
    }
}
