//! Flow-mod messages with their commands and flags. OpenFlow 1.3.5 §7.3.4.1.

use braid_types::PortNo;

use crate::id::{BufferId, Cookie, GroupId, Seconds, TableId};
use crate::instruction::Instruction;
use crate::oxm::Match;
use crate::wire::{List, wire_enum, wire_flags, wire_struct};

wire_struct! {
    /// Adds, changes or deletes flows. OpenFlow 1.3.5 §7.3.4.1.
    pub struct FlowMod<'a> {
        /// The flow's cookie.
        pub cookie: Cookie,
        /// The bits of the cookie that a flow must share to be changed or deleted.
        pub cookie_mask: Cookie,
        /// The table; `ALL` only to delete.
        pub table_id: TableId,
        /// The command.
        pub command: FlowModCommand,
        /// The flow ends when it matched nothing for so long.
        pub idle_timeout: Seconds,
        /// The flow ends after so long.
        pub hard_timeout: Seconds,
        /// The priority: the highest one among matching flows counts.
        pub priority: u16,
        /// A waiting packet that the new flow is to treat.
        pub buffer_id: BufferId,
        /// Only flows with an output to this port are deleted.
        pub out_port: PortNo,
        /// Only flows that use this group are deleted.
        pub out_group: GroupId,
        /// How.
        pub flags: FlowModFlags; pad 2,
        /// The packets.
        #[serde(rename = "match")]
        pub matching: Match<'a>,
        /// The instructions.
        pub instructions: List<'a, Instruction<'a>>,
    }
}

impl FlowMod<'_> {
    /// The priority halfway up, which people use when they need none.
    pub const DEFAULT_PRIORITY: u16 = 0x8000;
}

/// Adds to table 0 a flow that matches every packet, drops it and stays.
impl Default for FlowMod<'_> {
    fn default() -> Self {
        Self {
            cookie: Cookie(0),
            cookie_mask: Cookie(0),
            table_id: TableId(0),
            command: FlowModCommand::Add,
            idle_timeout: Seconds::PERMANENT,
            hard_timeout: Seconds::PERMANENT,
            priority: Self::DEFAULT_PRIORITY,
            buffer_id: BufferId::NO_BUFFER,
            out_port: PortNo::ANY,
            out_group: GroupId::ANY,
            flags: FlowModFlags::NONE,
            matching: Match::ANY,
            instructions: List::EMPTY,
        }
    }
}

wire_enum! {
    /// The command of a flow-mod. OpenFlow 1.3.5 §7.3.4.1.
    pub enum FlowModCommand(u8) {
        /// Add one, in place of one with the same match and priority.
        Add = 0,
        /// Change those that the match covers.
        Modify = 1,
        /// Change the one with this match and priority.
        ModifyStrict = 2,
        /// Delete those that the match covers.
        Delete = 3,
        /// Delete the one with this match and priority.
        DeleteStrict = 4,
    }
}

wire_flags! {
    /// The flags of a flow-mod. OpenFlow 1.3.5 §7.3.4.1.
    pub struct FlowModFlags(u16) {
        /// Notify the controller when it ends.
        SEND_FLOW_REM = 1 << 0,
        /// Refuse it if another flow of the same priority could match the same packet.
        CHECK_OVERLAP = 1 << 1,
        /// Start its counters at zero.
        RESET_COUNTS = 1 << 2,
        /// Do not count packets.
        NO_PKT_COUNTS = 1 << 3,
        /// Do not count bytes.
        NO_BYT_COUNTS = 1 << 4,
    }
}
