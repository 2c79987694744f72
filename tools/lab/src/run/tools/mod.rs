//! Running transfers: the common interface of all tools.

mod client;
pub(super) mod copy;
mod copying;
mod download;
mod gridftp;
mod http3;
pub(super) mod iperf;
mod iperf_pair;
mod process;
mod samples;
mod whole_file;

use std::time::Duration;

use super::transfer::{Finding, Transfer};
use crate::error::LabError;
use crate::interrupt::Interrupt;
use crate::scenario::Tool;

use copying::Copying;
use download::Download;
use gridftp::Gridftp;
use iperf_pair::IperfPair;

/// A transfer whose server is listening.
pub(super) trait RunningTransfer {
    /// Starts to send.
    fn begin(&mut self) -> Result<(), LabError>;
    /// Takes a sample at this time after the start; `acked` is the bytes acknowledged according to the sockets.
    fn sample(&mut self, elapsed: Duration, acked: u64);
    /// Whether both ends have finished.
    fn is_finished(&mut self) -> Result<bool, LabError>;
    /// The result; `None` if the transfer has not finished and cannot be stopped.
    fn finish(self: Box<Self>, elapsed: Duration) -> Result<Option<Finding>, LabError>;
}

/// Starts the server; `index` numbers the tools' files.
pub(super) fn prepare<'a>(
    transfer: Transfer<'a>,
    index: usize,
    interrupt: &Interrupt,
) -> Result<Box<dyn RunningTransfer + 'a>, LabError> {
    Ok(match transfer.setting.work.tool {
        Tool::Iperf3 => Box::new(IperfPair::listen(transfer, index, interrupt)?),
        Tool::Copy => Box::new(Copying::new(transfer)),
        Tool::Gridftp => Box::new(Gridftp::listen(transfer, index, interrupt)?),
        Tool::Http | Tool::Ftp | Tool::Http3 => Box::new(Download::listen(transfer, index, interrupt)?),
    })
}
