//! Log lines and levels of the brain's notices.

use braid_control::{AlarmSource, Notice, Text};
use tracing::{debug, info, warn};

use crate::names::Names;

/// Logs a notice at its level.
///
/// The limit on repeated lines tells kinds by their place here, and switches by the field: one that floods the log leaves
/// room for others.
pub(crate) fn notice(notice: &Notice, names: &Names) {
    let text = notice.text(names);
    match (notice, level(notice)) {
        (Notice::Refused { dpid, .. }, _) => warn!(%dpid, "{text}"),
        (Notice::Alarm { source: AlarmSource::Port(at), .. }, _) => warn!(dpid = %at.dpid, "{text}"),
        (Notice::Alarm { source: AlarmSource::Peer(peer), .. }, _) => warn!(%peer, "{text}"),
        (Notice::SwitchJoined { dpid, .. }, _) => info!(%dpid, "{text}"),
        (Notice::SwitchLeft { dpid }, _) => warn!(%dpid, "{text}"),
        (Notice::InstalledStateRead { dpid, .. }, _) => info!(%dpid, "{text}"),
        (Notice::LinkDown { src, dst, .. }, _) => warn!(%src, %dst, "{text}"),
        (Notice::LinkUp { src, dst }, _) => info!(%src, %dst, "{text}"),
        (Notice::HostSeen { at, .. } | Notice::HostMoved { to: at, .. }, _) => {
            info!(dpid = %at.dpid, port = %at.port, "{text}");
        }
        (Notice::InstallFailed { .. }, _) => warn!("{text}"),
        (_, level) => other(text, level),
    }
}

fn other(text: Text<'_, Notice>, level: &str) {
    match level {
        "warning" => warn!("{text}"),
        "debug" => debug!("{text}"),
        _ => info!("{text}"),
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
