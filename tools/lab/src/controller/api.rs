//! A client of the controller's HTTP API, with the few lists that a lab reads.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use braid_types::{DatapathId, FiveTuple, SwitchPort};
use serde::Deserialize;
use serde::de::DeserializeOwned;

const TIMEOUT: Duration = Duration::from_secs(5);

/// What the lab asks of a controller's HTTP interface.
pub(crate) struct Client {
    agent: ureq::Agent,
    address: SocketAddr,
}

/// One direction of a link that the controller has found.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub(crate) struct Link {
    pub src: SwitchPort,
    pub dst: SwitchPort,
    /// What is known of its delay; nothing before it was measured.
    pub delay_us: Option<serde_json::Value>,
}

/// A stream of a transfer, as the host that opened it sees it.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub(crate) struct Stream {
    src: IpAddr,
    src_port: u16,
    dst: IpAddr,
    dst_port: u16,
    /// Empty while it follows the default route.
    pub path: Vec<DatapathId>,
}

/// A part of a list.
#[derive(Deserialize)]
struct Page<T> {
    /// Where the next part begins.
    next_cursor: Option<String>,
    #[serde(flatten)]
    items: T,
}

#[derive(Deserialize)]
struct Switches {
    switches: Vec<Switch>,
}

#[derive(Deserialize)]
struct Switch {
    dpid: DatapathId,
}

#[derive(Deserialize)]
struct Links {
    links: Vec<Link>,
}

#[derive(Deserialize)]
struct Transfers {
    transfers: Vec<Transfer>,
}

#[derive(Deserialize)]
struct Transfer {
    streams: Vec<Stream>,
}

impl Stream {
    pub(crate) fn tuple(&self) -> FiveTuple {
        FiveTuple { src: self.src, dst: self.dst, src_port: self.src_port, dst_port: self.dst_port }
    }
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        let config = ureq::Agent::config_builder().timeout_global(Some(TIMEOUT)).build();
        Self { agent: config.into(), address }
    }

    /// The switches that are connected.
    pub(crate) fn switches(&self) -> Result<Vec<DatapathId>, ureq::Error> {
        let switches = self.list("switches", |page: Switches| page.switches)?;
        Ok(switches.into_iter().map(|switch| switch.dpid).collect())
    }

    /// The links between switches, once in each direction.
    pub(crate) fn links(&self) -> Result<Vec<Link>, ureq::Error> {
        self.list("links", |page: Links| page.links)
    }

    /// The streams of all transfers in progress.
    pub(crate) fn streams(&self) -> Result<Vec<Stream>, ureq::Error> {
        let transfers = self.list("transfers", |page: Transfers| page.transfers)?;
        Ok(transfers.into_iter().flat_map(|transfer| transfer.streams).collect())
    }

    /// How many packets that open further subflows it was sent.
    pub(crate) fn join_packet_ins(&self) -> Result<u64, ureq::Error> {
        let mut answer = self.agent.get(format!("http://{}/metrics", self.address)).call()?;
        let text = answer.body_mut().read_to_string()?;
        let value = text.lines().find_map(|line| line.strip_prefix("braid_join_packet_ins_total "));
        Ok(value.and_then(|value| value.parse().ok()).unwrap_or_default())
    }

    /// All pages of a list.
    fn list<P: DeserializeOwned, T>(
        &self,
        what: &str,
        items: impl Fn(P) -> Vec<T>,
    ) -> Result<Vec<T>, ureq::Error> {
        let (mut all, mut cursor) = (Vec::new(), None);
        loop {
            let request = self.agent.get(format!("http://{}/api/v1/{what}", self.address));
            let mut answer = request.query_pairs(cursor.map(|cursor: String| ("cursor", cursor))).call()?;
            let page = serde_json::from_reader(answer.body_mut().as_reader());
            let page: Page<P> = page.map_err(|error| ureq::Error::Io(error.into()))?;
            all.extend(items(page.items));
            if page.next_cursor.is_none() {
                return Ok(all);
            }
            cursor = page.next_cursor;
        }
    }
}
