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
    /// Bytes of frames received.
    #[serde(default)]
    pub bytes_in: Option<u64>,
    /// Bytes of frames sent.
    pub bytes_out: Option<u64>,
    /// Received packets that were dropped.
    pub dropped_in: Option<u64>,
    /// Packets dropped before sending.
    pub dropped_out: Option<u64>,
    /// Packets with errors, in both directions.
    pub errors: Option<u64>,
    /// Received packets that were damaged: those with errors, except overruns.
    #[serde(default)]
    pub damaged_in: Option<u64>,
}

impl From<&PortStats> for PortCounters {
    fn from(stats: &PortStats) -> Self {
        let errors =
            [stats.rx_errors, stats.tx_errors].into_iter().filter_map(counted).reduce(u64::saturating_add);
        // Some switches do not count damaged frames among all errors.
        let errors_in = counted(stats.rx_errors)
            .map(|errors| errors.saturating_sub(counted(stats.rx_over_err).unwrap_or_default()));
        Self {
            damaged_in: errors_in.max(counted(stats.rx_crc_err)).max(counted(stats.rx_frame_err)),
            port: stats.port_no,
            counting: stats.duration(),
            packets_in: counted(stats.rx_packets),
            packets_out: counted(stats.tx_packets),
            bytes_in: counted(stats.rx_bytes),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn damaged([rx_errors, rx_over_err, rx_frame_err, rx_crc_err]: [u64; 4]) -> Option<u64> {
        let stats = PortStats {
            port_no: PortNo(1),
            rx_packets: 0,
            tx_packets: 0,
            rx_bytes: 0,
            tx_bytes: 0,
            rx_dropped: 0,
            tx_dropped: 0,
            rx_errors,
            tx_errors: 9,
            rx_frame_err,
            rx_over_err,
            rx_crc_err,
            collisions: 0,
            duration_sec: 0,
            duration_nsec: 0,
        };
        PortCounters::from(&stats).damaged_in
    }

    #[test]
    fn overruns_are_no_damage_and_each_damaged_frame_counts_once() {
        const NONE: u64 = u64::MAX;
        assert_eq!(damaged([10, 4, 3, 2]), Some(6));
        assert_eq!(damaged([5, NONE, 0, 5]), Some(5));
        assert_eq!(damaged([0, 0, 0, 3]), Some(3));
        assert_eq!(damaged([NONE, 4, NONE, NONE]), None);
    }
}
