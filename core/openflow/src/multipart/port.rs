//! Counters of ports. OpenFlow 1.3.5 §7.3.5.6.

use std::time::Duration;

use braid_types::PortNo;

use crate::wire::wire_struct;

wire_struct! {
    /// Asks for the counters of a port. OpenFlow 1.3.5 §7.3.5.6.
    pub struct PortStatsRequest {
        /// The port, or `ANY` for all.
        pub port_no: PortNo; pad 4,
    }
}

wire_struct! {
    /// Counters of a port; all ones if it does not count. OpenFlow 1.3.5 §7.3.5.6.
    pub struct PortStats {
        /// The port.
        pub port_no: PortNo; pad 4,
        /// Packets received.
        pub rx_packets: u64,
        /// Packets sent.
        pub tx_packets: u64,
        /// Bytes received.
        pub rx_bytes: u64,
        /// Bytes sent.
        pub tx_bytes: u64,
        /// Packets dropped on receiving.
        pub rx_dropped: u64,
        /// Packets dropped on sending.
        pub tx_dropped: u64,
        /// Errors on receiving, of any kind.
        pub rx_errors: u64,
        /// Errors on sending, of any kind.
        pub tx_errors: u64,
        /// Frames not aligned.
        pub rx_frame_err: u64,
        /// Packets lost to overrun.
        pub rx_over_err: u64,
        /// Frames with a wrong checksum.
        pub rx_crc_err: u64,
        /// Collisions.
        pub collisions: u64,
        /// Whole seconds since the port came.
        pub duration_sec: u32,
        /// Nanoseconds beyond them.
        pub duration_nsec: u32,
    }
}

impl PortStats {
    /// The time since the port came: of the switch's own clock, so that rates can be had from two readings.
    pub fn duration(&self) -> Duration {
        Duration::new(u64::from(self.duration_sec), self.duration_nsec)
    }
}
