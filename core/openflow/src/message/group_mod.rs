//! Group-mod messages with their commands and group types. OpenFlow 1.3.5 §7.3.4.2.

use crate::bucket::Bucket;
use crate::id::GroupId;
use crate::wire::{List, wire_enum, wire_struct};

wire_struct! {
    /// Adds, changes or deletes a group. OpenFlow 1.3.5 §7.3.4.2.
    pub struct GroupMod<'a> {
        /// The command.
        pub command: GroupModCommand,
        /// The group's type.
        pub group_type: GroupType; pad 1,
        /// The group.
        pub group_id: GroupId,
        /// Its buckets.
        pub buckets: List<'a, Bucket<'a>>,
    }
}

wire_enum! {
    /// The command of a group-mod. OpenFlow 1.3.5 §7.3.4.2.
    pub enum GroupModCommand(u16) {
        /// Add it.
        Add = 0,
        /// Change it.
        Modify = 1,
        /// Delete it.
        Delete = 2,
        /// Add or change it, whichever applies: an extension of Open vSwitch.
        AddOrMod = 0x8000,
    }
}

wire_enum! {
    /// The type of a group: how it chooses among its buckets. OpenFlow 1.3.5 §7.3.4.2.
    pub enum GroupType(u8) {
        /// It applies all.
        All = 0,
        /// It chooses one, by weight.
        Select = 1,
        /// It has one.
        Indirect = 2,
        /// It uses the first that is live.
        Ff = 3,
    }
}
