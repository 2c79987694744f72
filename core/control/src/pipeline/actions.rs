//! Actions that several messages have: outputs of hops, and new addresses.

use braid_openflow::{Action, Masked, OxmField};
use braid_types::MacAddr;

use super::group_ids::protection_group_id;
use super::hop::{Exit, Hop};

/// Output to a port, or to the group that protects it or spreads packets or flows.
pub(super) fn leave(hop: Hop) -> Action<'static> {
    match hop.exit {
        Exit::Plain => Action::output(hop.port),
        Exit::Protected { from } => Action::Group(protection_group_id(hop.port, from)),
        Exit::Sprayed { group } => Action::Group(group.id()),
        Exit::Balanced { group } => Action::Group(group.id()),
    }
}

pub(super) fn set_eth_src(mac: MacAddr) -> Action<'static> {
    Action::SetField(OxmField::EthSrc(Masked::exact(mac)))
}

pub(super) fn set_eth_dst(mac: MacAddr) -> Action<'static> {
    Action::SetField(OxmField::EthDst(Masked::exact(mac)))
}
