//! Counters of flow tables. OpenFlow 1.3.5 §7.3.5.4.

use crate::id::TableId;
use crate::wire::wire_struct;

wire_struct! {
    /// Counters of a table. OpenFlow 1.3.5 §7.3.5.4.
    pub struct TableStats {
        /// The table.
        pub table_id: TableId; pad 3,
        /// Flows in it.
        pub active_count: u32,
        /// Packets looked up.
        pub lookup_count: u64,
        /// Packets that a flow matched.
        pub matched_count: u64,
    }
}
