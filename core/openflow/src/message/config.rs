//! The switch configuration: fragment handling and the length of packet-ins. OpenFlow 1.3.5 §7.3.2.

use crate::id::MaxLen;
use crate::wire::{wire_enum, wire_struct};

wire_struct! {
    /// The configuration of a switch. OpenFlow 1.3.5 §7.3.2.
    pub struct SwitchConfig {
        /// The handling of IP fragments.
        pub flags: FragHandling,
        /// Bytes of a packet sent to the controller, unless a flow gives a number.
        pub miss_send_len: MaxLen,
    }
}

wire_enum! {
    /// The handling of IP fragments. OpenFlow 1.3.5 §7.3.2.
    pub enum FragHandling(u16) {
        /// Like other packets.
        FragNormal = 0,
        /// It drops them.
        FragDrop = 1,
        /// It reassembles them.
        FragReasm = 2,
    }
}
