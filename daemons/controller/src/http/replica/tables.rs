//! All copied lists, and how a new copy replaces or updates them.

use std::net::IpAddr;
use std::sync::Arc;

use braid_control::view::{EdgeView, LinkView, TransferRecord};
use braid_steering::{Policies, TransferId};
use braid_types::Time;
use tokio::time::Instant;

use super::coverage::Span;
use super::{Naming, Replica, Table, Tabled};
use crate::http::item_lists;
use crate::http::problem::Problem;
use crate::state_copy::{List, Lists, Part, StateCopy, Totals, TransferChanges};

macro_rules! define {
    ($($name:ident: $item:ty, $renew:ident;)*) => {
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
            /// Everything is encoded anew.
            fn rename(&mut self) {
                $(self.$name.rename();)*
                self.first_links.rename();
                self.edges.rename();
                self.transfers.rename();
            }
        }

        $(impl_tabled!($name: $item, |replica, after, since| replica.$renew::<$item>(after, since));)*
    };
}

macro_rules! impl_tabled {
    ($name:ident: $item:ty, |$replica:ident, $after:pat_param, $since:pat_param| $renew:expr) => {
        impl Tabled for $item {
            fn table(tables: &Tables) -> &Table<Self> {
                &tables.$name
            }

            fn table_mut(tables: &mut Tables) -> &mut Table<Self> {
                &mut tables.$name
            }

            async fn renew(
                $replica: &Replica,
                $after: Option<Self::Key>,
                $since: Instant,
            ) -> Result<(), Problem> {
                $renew.await
            }
        }
    };
}

item_lists!(define);
impl_tabled!(edges: EdgeView, |replica, _, _| replica.refresh(Lists::of(&[List::Edges])));
impl_tabled!(transfers: TransferRecord, |replica, _, _| replica.refresh(Lists::of(&[List::Transfers])));

impl Tables {
    /// Takes over what was copied, after it was asked for then.
    pub(in crate::http) fn take(&mut self, copy: StateCopy, asked_at: Instant) {
        let (now, lists) = (copy.now, copy.lists);
        let is_renamed = self.naming.take(copy.names);
        if lists.has(List::Switches) {
            self.switches.replace(Span::whole(now, asked_at), copy.switches);
        }
        if lists.has(List::Hosts) {
            self.hosts.replace(Span::whole(now, asked_at), copy.hosts);
        }
        self.release_unread();
        if lists.has(List::FirstLinks) {
            self.first_links.replace(Span::whole(now, asked_at), copy.first_links);
        }
        if lists.has(List::Edges) {
            self.edges.replace(Span::whole(now, asked_at), copy.edges);
        }
        if lists.has(List::Transfers) {
            self.take_transfers(Span::whole(now, asked_at), copy.transfers);
        }
        if lists.has(List::Policy) {
            self.policy = (now, copy.policy);
        }
        if lists.has(List::Totals) {
            self.totals = copy.totals;
        }
        self.name_anew(is_renamed, lists.has(List::Hosts));
    }

    /// Takes over what was copied of a list, as [`take`](Self::take).
    pub(super) fn take_part<T: Tabled>(&mut self, after: Option<T::Key>, part: Part<T>, asked_at: Instant) {
        let is_renamed = self.naming.take(part.names);
        let end = part.items.last().filter(|_| !part.is_last).map(T::key);
        T::table_mut(self).replace_part(after, Span { end, now: part.now, asked_at }, part.items);
        self.release_unread();
        self.name_anew(is_renamed, false);
    }

    /// Encodes everything anew if names are others, or hosts are that give interfaces their names.
    fn name_anew(&mut self, is_renamed: bool, has_hosts: bool) {
        let is_grouped = (is_renamed || has_hosts) && self.naming.group(&self.hosts);
        if is_renamed || is_grouped {
            self.rename();
        }
    }

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

    fn take_transfers(&mut self, span: Span<TransferId>, changes: TransferChanges) {
        let TransferChanges { are_all, mut counts, ended, changed } = changes;
        // Transfers that follow each other lie together; of counts of one, the last one counts.
        counts.sort_by_key(|count| count.transfer);
        for count in counts {
            self.transfers.change(&count.transfer, |transfer| transfer.count(&count));
        }
        // Newer than what was counted.
        if are_all {
            return self.transfers.replace(span, changed);
        }
        self.transfers.update(span, &ended, changed);
    }
}
