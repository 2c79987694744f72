//! The reasons for which a connection closes.

use std::io;

use braid_control::{SessionError, Threat};
use braid_types::DatapathId;

use crate::engine::JoinError;
use crate::openflow_tls::ClaimError;

/// The reason for which a channel closes.
#[derive(Debug, thiserror::Error)]
pub(in crate::channels) enum ChannelError {
    #[error("the controller stops")]
    Stopped,
    #[error("the switch closed the connection")]
    Closed,
    #[error("the switch closed the connection in mid-message")]
    ClosedInMessage,
    #[error("connection lost: {0}")]
    Io(#[from] io::Error),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Join(#[from] JoinError),
    #[error(transparent)]
    Claim(#[from] ClaimError),
    #[error("its handshake was not done when a newer connection needed the place")]
    Displaced,
    #[error("the switch does not read: too many bytes wait for it")]
    Overfull,
    #[error("the switch does not answer, and a standby reaches it")]
    Unreached,
    #[error("the standby says that it is switch {expected}, and it claims to be {claimed}")]
    OtherSwitch { expected: DatapathId, claimed: DatapathId },
}

impl ChannelError {
    pub(super) const fn is_misbehaviour(&self) -> bool {
        let is_loss = matches!(self, Self::Stopped | Self::Closed | Self::Io(_) | Self::Unreached);
        !is_loss && !matches!(self, Self::Join(JoinError::NotNeeded))
    }

    pub(super) fn threat(&self) -> Threat {
        match self {
            Self::Join(JoinError::Duplicate(duplicate)) => duplicate.threat(),
            Self::Claim(claim) => claim.threat(),
            other => Threat::RefusedConnection { why: other.to_string() },
        }
    }
}
