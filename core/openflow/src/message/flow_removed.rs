//! Flow-removed messages: a flow's reason to end and its final counters. OpenFlow 1.3.5 §7.4.2.

use std::time::Duration;

use crate::id::{Cookie, Seconds, TableId};
use crate::oxm::Match;
use crate::wire::{wire_enum, wire_struct};

wire_struct! {
    /// A flow ended. OpenFlow 1.3.5 §7.4.2.
    pub struct FlowRemoved<'a> {
        /// Its cookie.
        pub cookie: Cookie,
        /// Its priority.
        pub priority: u16,
        /// Why it ended.
        pub reason: FlowRemovedReason,
        /// Its table.
        pub table_id: TableId,
        /// Whole seconds of its life.
        pub duration_sec: u32,
        /// Nanoseconds beyond them.
        pub duration_nsec: u32,
        /// The value of the flow-mod.
        pub idle_timeout: Seconds,
        /// The value of the flow-mod.
        pub hard_timeout: Seconds,
        /// Packets that it matched.
        pub packet_count: u64,
        /// Bytes of these packets.
        pub byte_count: u64,
        /// Its match.
        #[serde(rename = "match")]
        pub matching: Match<'a>,
    }
}

impl FlowRemoved<'_> {
    /// Its duration.
    pub fn duration(&self) -> Duration {
        Duration::new(u64::from(self.duration_sec), self.duration_nsec)
    }
}

wire_enum! {
    /// Why a flow ended. OpenFlow 1.3.5 §7.4.2.
    pub enum FlowRemovedReason(u8) {
        /// It matched nothing for too long.
        IdleTimeout = 0,
        /// Its time was over.
        HardTimeout = 1,
        /// A flow-mod deleted it.
        Delete = 2,
        /// A group that it used was deleted.
        GroupDelete = 3,
    }
}
