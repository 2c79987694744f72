//! The lab's client of its controller: the few lists and the metric that a lab reads.

use std::net::SocketAddr;
use std::time::Duration;

use braid_api::{Link, Stream, Switch, Transfer};
use braid_client::Error;
use braid_types::DatapathId;

const TIMEOUT: Duration = Duration::from_secs(5);

/// A client of the lab's controller.
pub(crate) struct Client(braid_client::Client);

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self(braid_client::Client::new(&address.into(), TIMEOUT))
    }

    /// The connected switches.
    pub(crate) fn switches(&self) -> Result<Vec<DatapathId>, Error> {
        Ok(self.0.list::<Switch>()?.items.into_iter().map(|switch| switch.dpid).collect())
    }

    /// The directed links between switches.
    pub(crate) fn links(&self) -> Result<Vec<Link>, Error> {
        Ok(self.0.list()?.items)
    }

    /// The streams of all transfers in progress.
    pub(crate) fn streams(&self) -> Result<Vec<Stream>, Error> {
        let transfers = self.0.list::<Transfer>()?.items;
        Ok(transfers.into_iter().flat_map(|transfer| transfer.streams).collect())
    }

    /// The number of packets that opened further subflows and were sent to the controller.
    pub(crate) fn join_packet_ins(&self) -> Result<u64, Error> {
        Ok(self.0.metric("braid_join_packet_ins_total")?.unwrap_or_default() as u64)
    }
}
