//! Role requests and replies with their generation id. OpenFlow 1.3.5 §7.3.9.

use crate::wire::{wire_enum, wire_struct};

wire_struct! {
    /// Asks for a role, or gives it. OpenFlow 1.3.5 §7.3.9.
    pub struct Role {
        /// The role.
        pub role: ControllerRole; pad 4,
        /// Grows at every election: a switch refuses `Master` and `Slave` of an older one.
        pub generation_id: u64,
    }
}

wire_enum! {
    /// The role of a controller. OpenFlow 1.3.5 §6.3.4.
    pub enum ControllerRole(u32) {
        /// As before; only to ask.
        Nochange = 0,
        /// Everything, as other controllers may.
        Equal = 1,
        /// Everything, as one controller at most.
        Master = 2,
        /// Only read.
        Slave = 3,
    }
}
