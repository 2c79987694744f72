//! The asynchronous configuration: which messages a switch sends unasked, by role. OpenFlow 1.3.5 §7.3.10.

use crate::wire::{wire_flags, wire_struct};

wire_struct! {
    /// Which messages a switch sends of its own accord. OpenFlow 1.3.5 §7.3.10.
    ///
    /// Of each pair, the first counts while the controller is MASTER or EQUAL, the second while it is SLAVE.
    pub struct AsyncConfig {
        /// The reasons for which packets come.
        pub packet_in_mask: [PacketInReasons; 2],
        /// The reported changes of ports.
        pub port_status_mask: [PortReasons; 2],
        /// The reported ends of flows.
        pub flow_removed_mask: [FlowRemovedReasons; 2],
    }
}

wire_flags! {
    /// A set of reasons for packet-ins.
    pub struct PacketInReasons(u32) {
        /// A table-miss flow sent it.
        NO_MATCH = 1 << 0,
        /// An output action sent it.
        ACTION = 1 << 1,
        /// Its time to live is over.
        INVALID_TTL = 1 << 2,
    }
}

wire_flags! {
    /// A set of changes of ports.
    pub struct PortReasons(u32) {
        /// It came.
        ADD = 1 << 0,
        /// It went.
        DELETE = 1 << 1,
        /// It changed.
        MODIFY = 1 << 2,
    }
}

wire_flags! {
    /// A set of reasons for which flows end.
    pub struct FlowRemovedReasons(u32) {
        /// It matched nothing for too long.
        IDLE_TIMEOUT = 1 << 0,
        /// Its time was over.
        HARD_TIMEOUT = 1 << 1,
        /// A flow-mod deleted it.
        DELETE = 1 << 2,
        /// A group that it used was deleted.
        GROUP_DELETE = 1 << 3,
    }
}
