//! Counters of queues. OpenFlow 1.3.5 §7.3.5.8.

use std::time::Duration;

use braid_types::PortNo;

use crate::id::QueueId;
use crate::wire::wire_struct;

wire_struct! {
    /// Asks for the counters of queues. OpenFlow 1.3.5 §7.3.5.8.
    pub struct QueueStatsRequest {
        /// The port, or `ANY` for all.
        pub port_no: PortNo,
        /// The queue, or `ALL`.
        pub queue_id: QueueId,
    }
}

wire_struct! {
    /// Counters of a queue; all ones if it does not count. OpenFlow 1.3.5 §7.3.5.8.
    pub struct QueueStats {
        /// The port.
        pub port_no: PortNo,
        /// The queue.
        pub queue_id: QueueId,
        /// Bytes sent.
        pub tx_bytes: u64,
        /// Packets sent.
        pub tx_packets: u64,
        /// Packets lost to overrun.
        pub tx_errors: u64,
        /// Whole seconds since the queue came.
        pub duration_sec: u32,
        /// Nanoseconds beyond them.
        pub duration_nsec: u32,
    }
}

impl QueueStats {
    /// The time since the queue came.
    pub fn duration(&self) -> Duration {
        Duration::new(u64::from(self.duration_sec), self.duration_nsec)
    }
}
