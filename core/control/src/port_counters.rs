//! Port counters in Braid's own form, with absent counters told apart from zero. OpenFlow 1.3.5 §7.3.5.6.

use std::time::Duration;

use braid_openflow::PortStats;
use braid_types::PortNo;
use serde::{Deserialize, Serialize};

/// What a port has counted since it came; `None` where a switch does not count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PortCounters {
    /// Its number.
    pub port: PortNo,
    /// How long it has been counting, on the switch's clock; zero where the switch does not say.
    pub counting: Duration,
    /// Packets that came in.
    pub packets_in: Option<u64>,
    /// Packets that went out.
    pub packets_out: Option<u64>,
    /// Bytes of frames that went out.
    pub bytes_out: Option<u64>,
    /// Packets dropped on the way in.
    pub dropped_in: Option<u64>,
    /// Packets dropped on the way out.
    pub dropped_out: Option<u64>,
    /// Packets with errors, both ways.
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

/// All ones stand for a counter that is not there. OpenFlow 1.3.5 §7.3.5.6.
fn counted(counter: u64) -> Option<u64> {
    (counter != u64::MAX).then_some(counter)
}
