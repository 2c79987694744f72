//! Actions that several messages have: outputs of hops, and new addresses.

use braid_openflow::{Action, Masked, OxmField};
use braid_types::MacAddr;

use super::hop::Hop;

/// Output to a port, or to the group that protects it or spreads packets or flows.
pub(super) fn leave(hop: Hop) -> Action<'static> {
    hop.group().map_or_else(|| Action::output(hop.port), Action::Group)
}

pub(super) fn set_eth_src(mac: MacAddr) -> Action<'static> {
    Action::SetField(OxmField::EthSrc(Masked::exact(mac)))
}

pub(super) fn set_eth_dst(mac: MacAddr) -> Action<'static> {
    Action::SetField(OxmField::EthDst(Masked::exact(mac)))
}
