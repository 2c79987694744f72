//! All copied lists, and how a new copy replaces or updates them.

use std::net::IpAddr;
use std::sync::Arc;

use braid_control::view::{EdgeView, LinkView, TransferRecord};
use braid_steering::Policies;
use braid_types::Time;

use super::{Naming, Table, Tabled};
use crate::http::item_lists;
use crate::state_copy::{List, StateCopy, Totals, TransferChanges};

macro_rules! define {
    ($($name:ident: $list:ident, $item:ty;)*) => {
        /// The copied state, each list as it was copied last.
        #[derive(Debug, Default)]
        pub(in crate::http) struct Tables {
            $(pub(in crate::http) $name: Table<$item>,)*
            /// The first links, which are renewed more often than all.
            pub(in crate::http) first_links: Table<LinkView>,
            pub(in crate::http) edges: Table<EdgeView>,
            pub(in crate::http) transfers: Table<TransferRecord>,
            /// And when it was copied.
            pub(in crate::http) policy: (Time, Arc<Policies>),
            pub(in crate::http) totals: Totals,
            pub(in crate::http) naming: Naming,
        }

        impl Tables {
            /// Takes over what was copied.
            pub(in crate::http) fn take(&mut self, copy: StateCopy) {
                let (now, lists, items) = (copy.now, copy.lists, copy.items);
                let mut is_renamed = self.naming.take(copy.names);
                $(if lists.has(List::$list) {
                    self.$name.replace(now, items.$name);
                })*
                self.release_unread();
                if lists.has(List::FirstLinks) {
                    self.first_links.replace(now, copy.first_links);
                }
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
                is_renamed |= (is_renamed || lists.has(List::Hosts)) && self.naming.group(&self.hosts);
                if is_renamed {
                    self.rename();
                }
            }

            /// Everything is encoded anew.
            fn rename(&mut self) {
                $(self.$name.rename();)*
                self.first_links.rename();
                self.edges.rename();
                self.transfers.rename();
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
    /// Notes which addresses an agent's host has. Those that are not seen in the network may be anybody's.
    pub(super) fn report_host(&mut self, addresses: &[IpAddr]) {
        let seen = self.hosts.items().flat_map(|it| &it.value.addresses);
        let seen: Vec<_> = seen.filter(|address| addresses.contains(address)).copied().collect();
        if self.naming.report(&seen) && self.naming.group(&self.hosts) {
            self.rename();
        }
    }

    /// The large lists take memory only while somebody reads them. Names need the hosts.
    fn release_unread(&mut self) {
        self.links.release_unread();
        self.switches.release_unread();
    }

    fn take_transfers(&mut self, now: Time, changes: TransferChanges) {
        let TransferChanges { are_all, mut counts, ended, changed } = changes;
        // Transfers that follow each other lie together; of counts of one, the last one counts.
        counts.sort_by_key(|count| count.transfer);
        for count in counts {
            self.transfers.change(&count.transfer, |transfer| transfer.count(&count));
        }
        // Newer than what was counted.
        if are_all {
            return self.transfers.replace(now, changed);
        }
        self.transfers.update(now, &ended, changed);
    }
}
