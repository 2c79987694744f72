//! Log lines and levels of the brain's notices.

use braid_control::Notice;
use tracing::{debug, info, warn};

/// Logs a notice at its level.
pub(crate) fn notice(notice: &Notice) {
    match level(notice) {
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
