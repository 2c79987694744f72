//! Log lines and levels of the brain's notices.

use braid_control::{AlarmSource, Notice};
use tracing::{debug, info, warn};

/// Logs a notice at its level.
///
/// The limit on repeated lines tells kinds by their place here, and switches by the field: one that floods the log leaves
/// room for others.
pub(crate) fn notice(notice: &Notice) {
    match (notice, level(notice)) {
        (Notice::Refused { dpid, .. }, _) => warn!(%dpid, "{notice}"),
        (Notice::Alarm { source: AlarmSource::Port(at), .. }, _) => warn!(dpid = %at.dpid, "{notice}"),
        (Notice::Alarm { source: AlarmSource::Peer(peer), .. }, _) => warn!(%peer, "{notice}"),
        (Notice::SwitchJoined { dpid, .. }, _) => info!(%dpid, "{notice}"),
        (Notice::SwitchLeft { dpid }, _) => warn!(%dpid, "{notice}"),
        (Notice::InstalledStateRead { dpid, .. }, _) => info!(%dpid, "{notice}"),
        (Notice::LinkDown { .. }, _) => warn!("{notice}"),
        (Notice::LinkUp { .. }, _) => info!("{notice}"),
        (Notice::HostSeen { at, .. } | Notice::HostMoved { to: at, .. }, _) => {
            info!(dpid = %at.dpid, "{notice}");
        }
        (Notice::InstallFailed { .. }, _) => warn!("{notice}"),
        (_, level) => other(notice, level),
    }
}

fn other(notice: &Notice, level: &str) {
    match level {
        "warning" => warn!("{notice}"),
        "debug" => debug!("{notice}"),
        _ => info!("{notice}"),
    }
}

/// The level of a notice: `debug`, `info` or `warning`.
pub(crate) const fn level(notice: &Notice) -> &'static str {
    match notice {
        Notice::LinkDown { .. }
        | Notice::LinkDamped { .. }
        | Notice::SwitchLeft { .. }
        | Notice::Alarm { .. }
        | Notice::PortHeld { .. }
        | Notice::Refused { .. }
        | Notice::Full { .. }
        | Notice::InstallFailed { .. } => "warning",
        // A line per connection is too much for the default level.
        Notice::TransferOpened { .. }
        | Notice::TransferEnded { .. }
        | Notice::StreamPlaced { .. }
        | Notice::StreamEnded { .. }
        | Notice::AddressSeen { .. } => "debug",
        _ => "info",
    }
}
