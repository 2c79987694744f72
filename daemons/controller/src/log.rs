use braid_control::Notice;
use tracing::{debug, info, warn};

/// Logs what the brain tells.
pub(crate) fn notice(notice: &Notice) {
    match notice {
        Notice::LinkDown { .. }
        | Notice::LinkDamped { .. }
        | Notice::SwitchLeft { .. }
        | Notice::Alarm { .. }
        | Notice::PortHeld { .. }
        | Notice::Refused { .. }
        | Notice::Full { .. }
        | Notice::InstallFailed { .. } => warn!("{notice}"),
        // One for each connection would be more than any log can take.
        Notice::TransferOpened { .. }
        | Notice::TransferEnded { .. }
        | Notice::StreamPlaced { .. }
        | Notice::StreamEnded { .. }
        | Notice::AddressSeen { .. } => debug!("{notice}"),
        _ => info!("{notice}"),
    }
}
