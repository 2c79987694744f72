//! The features reply: datapath id, tables and capabilities of a switch. OpenFlow 1.3.5 §7.3.1.

use braid_types::DatapathId;

use crate::wire::{wire_flags, wire_struct};

wire_struct! {
    /// The identity and features of a switch. OpenFlow 1.3.5 §7.3.1.
    pub struct SwitchFeatures {
        /// The switch.
        pub datapath_id: DatapathId,
        /// The number of packets that it can buffer.
        pub n_buffers: u32,
        /// The number of its tables.
        pub n_tables: u8,
        /// Which of its connections this is; 0 is the main one.
        pub auxiliary_id: u8; pad 2,
        /// Its capabilities.
        pub capabilities: Capabilities,
        /// Not used.
        pub reserved: u32,
    }
}

wire_flags! {
    /// The capabilities of a switch. OpenFlow 1.3.5 §7.3.1.
    pub struct Capabilities(u32) {
        /// Count what flows match.
        FLOW_STATS = 1 << 0,
        /// Count what tables match.
        TABLE_STATS = 1 << 1,
        /// Count what ports carry.
        PORT_STATS = 1 << 2,
        /// Count what groups carry.
        GROUP_STATS = 1 << 3,
        /// Reassemble IP fragments.
        IP_REASM = 1 << 5,
        /// Count what queues carry.
        QUEUE_STATS = 1 << 6,
        /// Block ports that form loops.
        PORT_BLOCKED = 1 << 8,
    }
}
