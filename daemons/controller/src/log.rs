//! Log lines and levels of the brain's notices.

use braid_control::Notice;
use tracing::{debug, info, warn};

/// Logs what the brain tells.
pub(crate) fn notice(notice: &Notice) {
    match level(notice) {
        "warning" => warn!("{notice}"),
        "debug" => debug!("{notice}"),
        _ => info!("{notice}"),
    }
}

/// How much it matters: `debug`, `info` or `warning`.
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
        // One for each connection would be more than any log can take.
        Notice::TransferOpened { .. }
        | Notice::TransferEnded { .. }
        | Notice::StreamPlaced { .. }
        | Notice::StreamEnded { .. }
        | Notice::AddressSeen { .. } => "debug",
        _ => "info",
    }
}
