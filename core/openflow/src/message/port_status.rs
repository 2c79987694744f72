//! Port-status messages: a port was added, changed or removed. OpenFlow 1.3.5 §7.4.3.

use crate::port::Port;
use crate::wire::{wire_enum, wire_struct};

wire_struct! {
    /// A port came, went or changed. OpenFlow 1.3.5 §7.4.3.
    pub struct PortStatus<'a> {
        /// The reason.
        pub reason: PortReason; pad 7,
        /// The port as it is now, or was last.
        pub desc: Port<'a>,
    }
}

wire_enum! {
    /// The reason of a port-status message. OpenFlow 1.3.5 §7.4.3.
    pub enum PortReason(u8) {
        /// It came.
        Add = 0,
        /// It went.
        Delete = 1,
        /// It changed.
        Modify = 2,
    }
}
