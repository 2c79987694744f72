//! A running transfer of a fixed number of bytes over one connection.

use std::time::Duration;

use super::super::counters::retransmits;
use super::super::transfer::{Finding, Transfer};
use super::RunningTransfer;
use super::copy::{Copy, Outcome};
use super::iperf::Measured;
use crate::error::LabError;

/// One connection that carries a number of bytes.
pub(super) struct Copying<'a> {
    transfer: Transfer<'a>,
    /// The running copy, and the client's retransmitted segments at its start.
    running: Option<(Copy, u64)>,
}

impl<'a> Copying<'a> {
    pub(super) const fn new(transfer: Transfer<'a>) -> Self {
        Self { transfer, running: None }
    }
}

impl RunningTransfer for Copying<'_> {
    fn begin(&mut self) -> Result<(), LabError> {
        let transfer = &self.transfer;
        let (client, server) = (transfer.client_namespace(), transfer.server_namespace());
        let before = retransmits(&client)?;
        let (mode, bytes) = (transfer.setting.mode, transfer.setting.work.bytes);
        let copy = Copy::start(mode, transfer.direction, [&client, &server], transfer.port, bytes)?;
        self.running = Some((copy, before));
        Ok(())
    }

    fn sample(&mut self, elapsed: Duration, _: u64) {
        if let Some((copy, _)) = &mut self.running {
            copy.sample(elapsed);
        }
    }

    fn is_finished(&mut self) -> Result<bool, LabError> {
        Ok(self.running.as_ref().is_none_or(|(copy, _)| copy.is_finished()))
    }

    // A transfer that is not complete in time is stopped and not intact.
    fn finish(mut self: Box<Self>, elapsed: Duration) -> Result<Option<Finding>, LabError> {
        self.sample(elapsed, 0);
        let Some((copy, before)) = self.running else { return Ok(None) };
        let ports = Some(vec![copy.port()]);
        let outcome = copy.finish().map_err(|why| self.transfer.failed(&why))?;
        let after = retransmits(&self.transfer.client_namespace())?;
        let Outcome { goodput_bps, seconds, intervals, delivery } = outcome;
        let measured = Measured { goodput_bps, seconds, datagrams_lost: None, intervals };
        let (retransmits, delivery) = (after.saturating_sub(before), Some(delivery));
        Ok(Some(Finding { measured, retransmits, ports, connections: 1, delivery }))
    }
}
