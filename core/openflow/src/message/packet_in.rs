use braid_types::PortNo;

use crate::id::{BufferId, Cookie, TableId};
use crate::oxm::Match;
use crate::wire::{Bytes, wire_enum, wire_struct};

wire_struct! {
    /// A packet that the switch passes to the controller. OpenFlow 1.3.5 §7.4.1.
    pub struct PacketIn<'a> {
        /// The packet, if it waits in the switch.
        pub buffer_id: BufferId,
        /// Bytes of the whole packet, of which `data` may be only the first.
        pub total_len: u16,
        /// Why it came.
        pub reason: PacketInReason,
        /// The table that sent it.
        pub table_id: TableId,
        /// The cookie of the flow that sent it; all ones if none did.
        pub cookie: Cookie,
        /// What the switch knew about it, its ingress port above all.
        #[serde(rename = "match")]
        pub matching: Match<'a>; pad 2,
        /// The Ethernet frame, or its front.
        pub data: Bytes<'a>,
    }
}

impl PacketIn<'_> {
    /// The port on which the packet came in, which every switch must tell.
    pub fn in_port(&self) -> Option<PortNo> {
        self.matching.in_port()
    }
}

wire_enum! {
    /// Why a packet comes to the controller. OpenFlow 1.3.5 §7.4.1.
    pub enum PacketInReason(u8) {
        /// A table-miss flow sent it.
        NoMatch = 0,
        /// An output action sent it.
        Action = 1,
        /// Its time to live is over.
        InvalidTtl = 2,
    }
}
