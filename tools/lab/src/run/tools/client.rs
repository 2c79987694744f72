//! The client process of a running transfer, and the count of retransmitted segments.

use std::path::Path;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use super::super::counters::retransmits;
use super::process::{self, spawn};
use crate::error::LabError;
use crate::system::{Namespace, Tool};

/// The tool of a transfer.
pub(super) struct Client {
    child: Child,
    start: Instant,
    ended: Option<(ExitStatus, Duration)>,
    sender: Namespace,
    /// The sender's retransmitted segments at the start.
    retransmits: u64,
}

impl Client {
    pub(super) fn start(tool: Tool, log: &Path, sender: Namespace) -> Result<Self, LabError> {
        let retransmits = retransmits(&sender)?;
        let child = spawn(tool, log)?;
        Ok(Self { child, start: Instant::now(), ended: None, sender, retransmits })
    }

    /// Its exit status and duration; `None` while it runs.
    pub(super) fn ended(&mut self) -> Result<Option<(ExitStatus, Duration)>, LabError> {
        if self.ended.is_none() {
            self.ended = process::ended(&mut self.child)?.map(|status| (status, self.start.elapsed()));
        }
        Ok(self.ended)
    }

    /// The number of retransmitted segments since the start.
    pub(super) fn retransmits(&self) -> Result<u64, LabError> {
        Ok(retransmits(&self.sender)?.saturating_sub(self.retransmits))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
