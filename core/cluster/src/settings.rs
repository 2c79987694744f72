//! The times of the protocol.

use std::time::Duration;

/// The times of the protocol. All members of a cluster have the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The interval of heartbeats.
    pub heartbeat: Duration,
    /// A leader that was heard and then is silent for this long is replaced.
    pub silence: Duration,
    /// The time to live of leases. etcd has no shorter one than 1.5 times its election timeout, rounded up: 2 s.
    pub lease: Duration,
    /// The interval in which the store is read while all is well.
    pub read_interval: Duration,
    /// The same while nobody leads.
    pub retry_interval: Duration,
    /// A request to the store without an answer for this long has failed.
    pub store_timeout: Duration,
    /// How long a leader reaches fewer switches than a standby before it steps aside. If it reaches less than half as many,
    /// `silence` is enough. A member that has started, or was asked to lead, does not step aside for as long.
    pub calm: Duration,
    /// A leader that is heard but has lost its lease for this long is replaced by a standby that reaches the store.
    pub leaseless_limit: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            heartbeat: Duration::from_millis(100),
            silence: Duration::from_millis(300),
            lease: Duration::from_secs(2),
            read_interval: Duration::from_millis(500),
            retry_interval: Duration::from_millis(50),
            store_timeout: Duration::from_millis(300),
            calm: Duration::from_secs(10),
            leaseless_limit: Duration::from_secs(2),
        }
    }
}
