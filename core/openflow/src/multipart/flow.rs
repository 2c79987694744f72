//! Statistics of single flows and of sums over flows. OpenFlow 1.3.5 §7.3.5.2, §7.3.5.3.

use std::time::Duration;

use braid_types::PortNo;

use crate::id::{Cookie, GroupId, Seconds, TableId};
use crate::instruction::Instruction;
use crate::message::FlowModFlags;
use crate::oxm::Match;
use crate::wire::{List, wire_struct};

wire_struct! {
    /// Asks for flows, or for their sum. OpenFlow 1.3.5 §7.3.5.2, §7.3.5.3.
    pub struct FlowStatsRequest<'a> {
        /// The table, or `ALL`.
        pub table_id: TableId; pad 3,
        /// Only flows with an output to this port, unless `ANY`.
        pub out_port: PortNo,
        /// Only flows that use this group, unless `ANY`.
        pub out_group: GroupId; pad 4,
        /// Only flows with this cookie in the bits of the mask.
        pub cookie: Cookie,
        /// The bits of the cookie that count.
        pub cookie_mask: Cookie,
        /// Only flows that this covers.
        #[serde(rename = "match")]
        pub matching: Match<'a>,
    }
}

/// All flows of all tables.
impl Default for FlowStatsRequest<'_> {
    fn default() -> Self {
        Self {
            table_id: TableId::ALL,
            out_port: PortNo::ANY,
            out_group: GroupId::ANY,
            cookie: Cookie(0),
            cookie_mask: Cookie(0),
            matching: Match::ANY,
        }
    }
}

wire_struct! {
    /// A flow and what it has counted. OpenFlow 1.3.5 §7.3.5.2.
    pub struct FlowStats<'a> [FlowStats, length at 0] {
        /// Its table.
        pub table_id: TableId; pad 1,
        /// Whole seconds since it was added.
        pub duration_sec: u32,
        /// Nanoseconds beyond them.
        pub duration_nsec: u32,
        /// Its priority.
        pub priority: u16,
        /// It ends when it matched nothing for so long.
        pub idle_timeout: Seconds,
        /// It ends after so long.
        pub hard_timeout: Seconds,
        /// Its flags.
        pub flags: FlowModFlags; pad 4,
        /// Its cookie.
        pub cookie: Cookie,
        /// Packets that it matched; all ones if not counted.
        pub packet_count: u64,
        /// Bytes of these packets; all ones if not counted.
        pub byte_count: u64,
        /// The packets.
        #[serde(rename = "match")]
        pub matching: Match<'a>,
        /// The instructions.
        pub instructions: List<'a, Instruction<'a>>,
    }
}

impl FlowStats<'_> {
    /// The time since it was added.
    pub fn duration(&self) -> Duration {
        Duration::new(u64::from(self.duration_sec), self.duration_nsec)
    }
}

wire_struct! {
    /// The sum of flows. OpenFlow 1.3.5 §7.3.5.3.
    pub struct AggregateStats {
        /// Packets that they matched; all ones if not counted.
        pub packet_count: u64,
        /// Bytes of these packets; all ones if not counted.
        pub byte_count: u64,
        /// The number of flows.
        pub flow_count: u32; pad 4,
    }
}
