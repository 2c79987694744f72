//! All copied lists, and how a new copy replaces or updates them.

use std::sync::Arc;

use braid_control::view::{EdgeView, TransferRecord};
use braid_steering::Policies;
use braid_types::Time;

use super::{Table, Tabled};
use crate::state_copy::{List, StateCopy, Totals, TransferChanges, item_lists};

macro_rules! define {
    ($($name:ident: $list:ident, $item:ty;)*) => {
        /// The copied state, each list as it was copied last.
        #[derive(Debug, Default)]
        pub(in crate::http) struct Tables {
            $(pub(in crate::http) $name: Table<$item>,)*
            pub(in crate::http) edges: Table<EdgeView>,
            pub(in crate::http) transfers: Table<TransferRecord>,
            /// And when it was copied.
            pub(in crate::http) policy: (Time, Arc<Policies>),
            pub(in crate::http) totals: Totals,
        }

        impl Tables {
            /// Takes over what was copied.
            pub(in crate::http) fn take(&mut self, copy: StateCopy) {
                let (now, lists, items) = (copy.now, copy.lists, copy.items);
                $(if lists.has(List::$list) {
                    self.$name.replace(now, items.$name);
                })*
                if lists.has(List::Edges) {
                    self.edges.replace(now, copy.edges);
                }
                if lists.has(List::Transfers) {
                    self.take_transfers(now, copy.transfers);
                }
                if lists.has(List::Policy) {
                    self.policy = (now, copy.policy);
                }
                if lists.has(List::Totals) {
                    self.totals = copy.totals;
                }
            }
        }

        $(impl_tabled!($name: $list, $item);)*
    };
}

macro_rules! impl_tabled {
    ($name:ident: $list:ident, $item:ty) => {
        impl Tabled for $item {
            const LIST: List = List::$list;

            fn table(tables: &Tables) -> &Table<Self> {
                &tables.$name
            }
        }
    };
}

item_lists!(define);
impl_tabled!(edges: Edges, EdgeView);
impl_tabled!(transfers: Transfers, TransferRecord);

impl Tables {
    fn take_transfers(&mut self, now: Time, changes: TransferChanges) {
        let TransferChanges { are_all, mut counts, changed } = changes;
        // Transfers that follow each other lie together; of counts of one, the last one counts.
        counts.sort_by_key(|count| count.transfer);
        for count in counts {
            self.transfers.change(&count.transfer, |transfer| transfer.count(&count));
        }
        // Newer than what was counted.
        self.transfers.update(now, are_all, changed);
    }
}
