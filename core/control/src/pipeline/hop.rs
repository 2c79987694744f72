//! Where a packet of a path goes on, and how it leaves.

use braid_types::PortNo;
use serde::{Deserialize, Serialize};

use super::spray::EdgeGroup;
use crate::label::Label;

/// A labelled path and the port that leads to its next switch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Hop {
    /// The path.
    pub label: Label,
    /// Where it goes on.
    pub port: PortNo,
    /// How packets leave there.
    #[serde(default, skip_serializing_if = "Exit::is_plain")]
    pub exit: Exit,
}

/// How packets of a path leave through a port.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// Whether it is up or not.
    #[default]
    Plain,
    /// Through a group that goes round the link of a port that is down.
    Protected {
        /// The port by which they come in, as an output does not send them back there; 0 for those of hosts.
        from: PortNo,
    },
    /// Through a group that spreads them over several paths, each with its label.
    Sprayed {
        /// The group.
        group: EdgeGroup,
    },
}

/// A group of a switch that sends packets out of `port` if that is up, and else by a bypass.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ProtectedPort {
    /// The port that is watched.
    pub port: PortNo,
    /// The port by which the packets come in; 0 for those of hosts.
    pub from: PortNo,
    /// The way round, if there is one, and the port where it begins.
    pub bypass: Option<(Label, PortNo)>,
}

impl Hop {
    /// Stands for any hop where none counts.
    pub(crate) const NOWHERE: Self = Self { label: Label(0), port: PortNo::ANY, exit: Exit::Plain };

    /// By several paths, whose labels the group knows.
    pub(crate) const fn sprayed(group: EdgeGroup) -> Self {
        Self { label: Label(0), port: PortNo::ANY, exit: Exit::Sprayed { group } }
    }

    /// Whether it is that of a group's packets from one port, which go before the others'.
    pub(crate) const fn is_from_one_port_of_group(&self) -> bool {
        self.label.is_group() && matches!(self.exit, Exit::Protected { from } if from.0 != 0)
    }

    /// Whether it leads to several paths.
    pub(crate) const fn is_sprayed(&self) -> bool {
        matches!(self.exit, Exit::Sprayed { .. })
    }
}

impl Exit {
    const fn is_plain(&self) -> bool {
        matches!(self, Self::Plain)
    }
}
