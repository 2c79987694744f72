//! The switch configuration: fragment handling and the length of packet-ins. OpenFlow 1.3.5 §7.3.2.

use crate::id::MaxLen;
use crate::wire::{wire_enum, wire_struct};

wire_struct! {
    /// How a switch treats packets. OpenFlow 1.3.5 §7.3.2.
    pub struct SwitchConfig {
        /// How it treats IP fragments.
        pub flags: FragHandling,
        /// How much of a packet goes to the controller when no flow says how much.
        pub miss_send_len: MaxLen,
    }
}

wire_enum! {
    /// How a switch treats IP fragments. OpenFlow 1.3.5 §7.3.2.
    pub enum FragHandling(u16) {
        /// Like other packets.
        FragNormal = 0,
        /// It drops them.
        FragDrop = 1,
        /// It reassembles them.
        FragReasm = 2,
    }
}
