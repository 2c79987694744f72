//! What transfers have in common while they go on, whatever tool makes them.

mod client;
pub(super) mod copy;
mod copying;
mod download;
mod gridftp;
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

/// A transfer whose server listens.
pub(super) trait Going {
    /// Begins to send.
    fn begin(&mut self) -> Result<(), LabError>;
    /// Notes what has arrived so long after the start; `acked` is what the receiver has acknowledged as far as sockets tell.
    fn sample(&mut self, elapsed: Duration, acked: u64);
    /// Whether both ends are done.
    fn is_finished(&mut self) -> Result<bool, LabError>;
    /// What came of it; `None` if it is not done and cannot be stopped.
    fn finish(self: Box<Self>, elapsed: Duration) -> Result<Option<Finding>, LabError>;
}

/// Has the server listen; `index` numbers the files that the tools write.
pub(super) fn prepare<'a>(
    transfer: Transfer<'a>,
    index: usize,
    interrupt: &Interrupt,
) -> Result<Box<dyn Going + 'a>, LabError> {
    Ok(match transfer.setting.work.tool {
        Tool::Iperf3 => Box::new(IperfPair::listen(transfer, index, interrupt)?),
        Tool::Copy => Box::new(Copying::new(transfer)),
        Tool::Gridftp => Box::new(Gridftp::listen(transfer, index, interrupt)?),
        Tool::Http | Tool::Ftp => Box::new(Download::listen(transfer, index, interrupt)?),
    })
}
