//! Port counters in Braid's form, which distinguishes absent counters from zero. OpenFlow 1.3.5 §7.3.5.6.

use std::time::Duration;

use braid_openflow::PortStats;
use braid_types::PortNo;
use serde::{Deserialize, Serialize};

/// The counters of a port since it was added; `None` for those that the switch does not support.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PortCounters {
    /// Its number.
    pub port: PortNo,
    /// How long it has been counting, by the switch's clock; zero if unknown.
    pub counting: Duration,
    /// Packets received.
    pub packets_in: Option<u64>,
    /// Packets sent.
    pub packets_out: Option<u64>,
    /// Bytes of frames sent.
    pub bytes_out: Option<u64>,
    /// Received packets that were dropped.
    pub dropped_in: Option<u64>,
    /// Packets dropped before sending.
    pub dropped_out: Option<u64>,
    /// Packets with errors, in both directions.
    pub errors: Option<u64>,
}

impl From<&PortStats> for PortCounters {
    fn from(stats: &PortStats) -> Self {
        let errors =
            [stats.rx_errors, stats.tx_errors].into_iter().filter_map(counted).reduce(u64::saturating_add);
        Self {
            port: stats.port_no,
            counting: stats.duration(),
            packets_in: counted(stats.rx_packets),
            packets_out: counted(stats.tx_packets),
            bytes_out: counted(stats.tx_bytes),
            dropped_in: counted(stats.rx_dropped),
            dropped_out: counted(stats.tx_dropped),
            errors,
        }
    }
}

/// All ones stand for an unsupported counter. OpenFlow 1.3.5 §7.3.5.6.
fn counted(counter: u64) -> Option<u64> {
    (counter != u64::MAX).then_some(counter)
}
