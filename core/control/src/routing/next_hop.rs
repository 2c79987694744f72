//! A route: its key, and where it leads.

use std::collections::BTreeSet;
use std::net::IpAddr;

use braid_types::DatapathId;

use crate::label::Label;
use crate::pipeline::{EcmpGroup, Exit, Hop, Rule};

/// The key of a route: a destination address at a switch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct RouteKey {
    pub(crate) dst: IpAddr,
    pub(crate) dpid: DatapathId,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) wanted: NextHop,
    /// The installed next hop until the path of `wanted` is confirmed.
    pub(super) written: Option<NextHop>,
}

/// The next hop of a route. There may be a million, so it is small.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NextHop {
    /// The host is at this switch.
    Here,
    /// By a label.
    By(Hop),
    /// By a group over equal-cost paths.
    Spread(EcmpGroup),
}

impl NextHop {
    /// The next hop in a route's rule; `None` for other rules.
    pub(crate) const fn of(rule: &Rule) -> Option<Self> {
        match *rule {
            Rule::LocalRoute { .. } => Some(Self::Here),
            Rule::Route { hop: Hop { exit: Exit::Balanced { group }, .. }, .. } => Some(Self::Spread(group)),
            Rule::Route { hop, .. } => Some(Self::By(hop)),
            _ => None,
        }
    }

    pub(super) const fn rule(self, dst: IpAddr) -> Rule {
        match self {
            Self::Here => Rule::LocalRoute { dst },
            Self::By(hop) => Rule::Route { dst, hop },
            Self::Spread(group) => Rule::Route { dst, hop: Hop::balanced(group) },
        }
    }

    pub(super) const fn hop(self) -> Option<Hop> {
        match self {
            Self::Here | Self::Spread(_) => None,
            Self::By(hop) => Some(hop),
        }
    }

    pub(super) const fn group(self) -> Option<EcmpGroup> {
        match self {
            Self::Spread(group) => Some(group),
            Self::Here | Self::By(_) => None,
        }
    }

    pub(super) fn takes(self, labels: &BTreeSet<Label>) -> bool {
        self.hop().is_some_and(|hop| labels.contains(&hop.label))
    }
}

impl Entry {
    /// Whether the route is installed as desired: packets may take it.
    pub(super) fn is_written(&self) -> bool {
        self.written == Some(self.wanted)
    }

    /// The wanted next hop, and the installed one if it is another.
    pub(super) fn next_hops(&self) -> impl Iterator<Item = NextHop> + use<> {
        let wanted = self.wanted;
        [Some(wanted), self.written.filter(|written| *written != wanted)].into_iter().flatten()
    }

    pub(super) fn labels(&self) -> impl Iterator<Item = Label> + use<> {
        self.next_hops().filter_map(NextHop::hop).map(|hop| hop.label)
    }

    pub(super) fn groups(&self) -> impl Iterator<Item = EcmpGroup> + use<> {
        self.next_hops().filter_map(NextHop::group)
    }
}
