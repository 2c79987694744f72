//! What identifies a rule in its table.

use braid_steering::StreamId;
use braid_types::{MacAddr, PortNo};

use super::group_ids::EdgeGroup;
use super::hop::Hop;
use super::rule::Rule;

/// The table and the match of a rule: see [`Rule::match_key`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct MatchKey(Rule);

impl Rule {
    /// Equal for rules with the same match, of which a switch can have only one.
    pub const fn match_key(&self) -> MatchKey {
        MatchKey(match *self {
            Self::Stream { tuple, .. } => {
                Self::Stream { id: StreamId(0), reverse: false, tuple, hop: Hop::ANY }
            }
            Self::Route { dst, .. } | Self::LocalRoute { dst } => Self::LocalRoute { dst },
            Self::ArpRoute { dst, .. } | Self::ArpLocalRoute { dst } => Self::ArpLocalRoute { dst },
            Self::ArpDeliver { dst, .. } => Self::ArpDeliver { dst, mac: MacAddr::ZERO, port: PortNo(0) },
            Self::Transit(hop) if hop.is_from_one_port_of_group() => {
                Self::Transit(Hop { port: PortNo(0), ..hop })
            }
            Self::Transit(Hop { label, .. }) | Self::Egress { label } => Self::Egress { label },
            Self::Bypass { label, .. } | Self::BypassEnd { label } => Self::BypassEnd { label },
            Self::Resequence { tuple, .. } => {
                let (id, reverse, group) = (StreamId(0), false, EdgeGroup::after(None));
                Self::Resequence { id, reverse, tuple, group }
            }
            Self::Deliver { dst, .. } => Self::Deliver { dst, mac: MacAddr::ZERO, port: PortNo(0) },
            other => other,
        })
    }
}
