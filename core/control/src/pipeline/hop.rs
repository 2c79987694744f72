//! Hops: the next port of a path, and how packets leave by it.

use braid_openflow::GroupId;
use braid_types::PortNo;
use serde::{Deserialize, Serialize};

use super::group_ids::{EcmpGroup, EdgeGroup, protection_group_id};
use crate::label::Label;

/// A labelled path and the port that leads to its next switch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Hop {
    /// The path's label.
    pub label: Label,
    /// The port to the next switch.
    pub port: PortNo,
    /// How packets leave by it.
    #[serde(default, skip_serializing_if = "Exit::is_plain")]
    pub exit: Exit,
}

/// How packets of a path leave by a port.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// By plain output, even if the port is down.
    #[default]
    Plain,
    /// Through a fast-failover group, which uses the link's bypass while the port is down.
    Protected {
        /// The ingress port, to which plain output does not return packets; 0 for hosts' packets.
        from: PortNo,
    },
    /// Through a group that sprays them over several paths, each with its own label.
    Sprayed {
        /// The group.
        group: EdgeGroup,
    },
    /// Through a group that spreads flows over equal-cost paths, each with its own label.
    Balanced {
        /// The group.
        group: EcmpGroup,
    },
}

/// A fast-failover group that outputs to `port` while it is up, else to a bypass.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ProtectedPort {
    /// The watched port.
    pub port: PortNo,
    /// The ingress port of the packets; 0 for hosts' packets.
    pub from: PortNo,
    /// Its bypass, if there is one.
    pub bypass: Option<BypassEntry>,
}

/// How packets enter a bypass.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct BypassEntry {
    /// The label of the bypass.
    pub label: Label,
    /// Its first port.
    pub port: PortNo,
}

/// A port that must be protected for packets from another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Protection {
    pub(crate) port: PortNo,
    /// The ingress port; 0 for hosts' packets.
    pub(crate) from: PortNo,
}

impl Hop {
    /// A placeholder for rules whose hop does not matter.
    pub(crate) const ANY: Self = Self { label: Label(0), port: PortNo::ANY, exit: Exit::Plain };

    /// A hop over several paths, whose labels the group sets.
    pub(crate) const fn sprayed(group: EdgeGroup) -> Self {
        Self { label: Label(0), port: PortNo::ANY, exit: Exit::Sprayed { group } }
    }

    /// A hop over equal-cost paths, whose labels the group sets.
    pub(crate) const fn balanced(group: EcmpGroup) -> Self {
        Self { label: Label(0), port: PortNo::ANY, exit: Exit::Balanced { group } }
    }

    /// Whether it only serves a group's packets from one ingress port. Such rules have priority.
    pub(crate) const fn is_from_one_port_of_group(&self) -> bool {
        self.label.is_group() && matches!(self.exit, Exit::Protected { from } if from.0 != 0)
    }

    /// The port that must be protected for it.
    pub(crate) const fn protected(&self) -> Option<Protection> {
        match self.exit {
            Exit::Protected { from } => Some(Protection { port: self.port, from }),
            Exit::Plain | Exit::Sprayed { .. } | Exit::Balanced { .. } => None,
        }
    }

    /// The group by which packets leave.
    pub(super) fn group(&self) -> Option<GroupId> {
        match self.exit {
            Exit::Plain => None,
            Exit::Protected { from } => Some(protection_group_id(self.port, from)),
            Exit::Sprayed { group } => Some(group.id()),
            Exit::Balanced { group } => Some(group.id()),
        }
    }

    /// Whether it leads to a spray group.
    pub(crate) const fn is_sprayed(&self) -> bool {
        matches!(self.exit, Exit::Sprayed { .. })
    }

    /// Whether it leads to a group that sets the labels.
    pub(crate) const fn is_over_several_paths(&self) -> bool {
        matches!(self.exit, Exit::Sprayed { .. } | Exit::Balanced { .. })
    }
}

impl Exit {
    const fn is_plain(&self) -> bool {
        matches!(self, Self::Plain)
    }
}
