//! Table-mod messages, whose configuration bits version 1.3 leaves unused. OpenFlow 1.3.5 §7.3.3.

use crate::id::TableId;
use crate::wire::wire_struct;

wire_struct! {
    /// Changes a table. OpenFlow 1.3.5 §7.3.3.
    pub struct TableMod {
        /// The table, or `ALL`.
        pub table_id: TableId; pad 3,
        /// A bitmap of which version 1.3 uses no bit.
        pub config: u32,
    }
}
