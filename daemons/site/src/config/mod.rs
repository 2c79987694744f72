//! A site's file, read whole and checked before anything is opened.

mod changes;
mod destination;
mod file;
mod interface_address;
mod problem;
mod spanned;
mod traffic;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::ops::Range;
use std::path::{Path, PathBuf};

use braid_packet_io::Offloads;
use braid_tunnel::{MAX_PATHS, PrivateKey, PublicKey, Traffic};
use braid_types::{BitsPerSec, IpPrefix, Problem};

use crate::key_file;
pub(crate) use changes::Changes;
pub use destination::Destination;
use file::File;
use interface_address::InterfaceAddress;
pub use problem::ConfigError;
use spanned::Spanned;

const DEFAULT_PORT: u16 = 51_820;
const DEFAULT_DEVICE: &str = "braid0";
/// `IFNAMSIZ` with its end.
const MAX_NAME: usize = 15;
const MAX_UPLINKS: usize = MAX_PATHS;

/// What a site's file says.
#[derive(Clone, Debug)]
pub struct Config {
    /// The file of the private key.
    pub key_file: PathBuf,
    /// The site's private key.
    pub key: PrivateKey,
    /// The UDP port at all uplinks.
    pub port: u16,
    /// The Unix socket at which the site says how it is.
    pub status: PathBuf,
    /// The address at which metrics are served.
    pub metrics: Option<SocketAddr>,
    /// Whether packets of one kind pass the kernel together.
    pub offloads: Offloads,
    /// The interfaces towards the Internet.
    pub uplinks: Vec<UplinkConfig>,
    /// The other sites.
    pub peers: Vec<PeerConfig>,
    /// The local network.
    pub lan: LanConfig,
    /// Which paths which traffic takes.
    pub traffic: Traffic,
}

/// An uplink.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UplinkConfig {
    /// Its interface.
    pub interface: String,
    /// What it carries, until it is measured.
    pub rate: Option<BitsPerSec>,
    /// What it costs: dearer ones are used while the cheaper ones are full or down.
    pub cost: u8,
}

/// Another site.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PeerConfig {
    /// Its name here.
    pub name: String,
    /// Its public key.
    pub key: PublicKey,
    /// The paths that this site dials.
    pub dials: Vec<DialConfig>,
    /// The networks behind it.
    pub networks: Vec<IpPrefix>,
}

/// A path to dial.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DialConfig {
    /// The number of the uplink here.
    pub uplink: u8,
    /// Where the other site is.
    pub to: Destination,
}

/// The local network's side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LanConfig {
    /// The name of the TUN or TAP device.
    pub device: String,
    /// The bridge that the device joins.
    pub bridge: Option<String>,
    /// Whether it carries Ethernet frames, in a bridge or as a port of a switch; packets are routed otherwise.
    pub ethernet: bool,
    /// The device's address.
    pub address: Option<String>,
    /// Whether the addresses of peers' networks are translated towards the Internet.
    pub nat: bool,
}

impl Config {
    /// The JSON schema of a site's file, without what `read` checks of several keys together.
    pub fn schema() -> schemars::Schema {
        schemars::schema_for!(File)
    }

    /// Reads a file and the private key that it names.
    ///
    /// # Errors
    ///
    /// All problems of the file with their lines, or that of the key.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|source| ConfigError::Read { file: path.to_owned(), source })?;
        let folder = path.parent().unwrap_or(Path::new("."));
        Self::parse(&text, folder).map_err(|error| match error {
            Refusal::Content(problems) => ConfigError::Content { file: path.to_owned(), problems },
            Refusal::Key(error) => error,
        })
    }

    /// The networks behind all peers.
    pub(crate) fn networks(&self) -> impl Iterator<Item = &IpPrefix> {
        self.peers.iter().flat_map(|peer| &peer.networks)
    }

    fn parse(text: &str, folder: &Path) -> Result<Self, Refusal> {
        let file = toml::from_str::<File>(text)
            .map_err(|error| Refusal::Content(vec![problem::of_parser(text, &error)]))?;
        let mut reader = Reader { text, problems: Vec::new() };
        let key_path = folder.join(&file.private_key);
        let port = file.port.map_or(DEFAULT_PORT, |port| reader.port(&port));
        let metrics = file.metrics.and_then(|it| reader.value(&it, "an address and port as 127.0.0.1:9468"));
        let offloads = if file.offload.unwrap_or(true) { Offloads::Kept } else { Offloads::None };
        let uplinks = reader.uplinks(file.uplink);
        let lan = reader.lan(file.lan);
        let peers = reader.peers(file.peer, &uplinks, &lan);
        let traffic = reader.traffic(file.traffic);
        let status =
            file.status.unwrap_or_else(|| PathBuf::from(format!("/run/braid/site-{}.sock", lan.device)));
        if !reader.problems.is_empty() {
            reader.problems.sort_by_key(|problem| problem.line);
            return Err(Refusal::Content(reader.problems));
        }
        let key = key_file::read(&key_path).map_err(Refusal::Key)?;
        if let Some(peer) = peers.iter().find(|peer| peer.key == key.public()) {
            let what = format!("peer {:?} has this site's own key: make a key for each site", peer.name);
            return Err(Refusal::Key(ConfigError::Key { file: key_path, what }));
        }
        Ok(Self { key_file: key_path, key, port, status, metrics, offloads, uplinks, peers, lan, traffic })
    }
}

enum Refusal {
    Content(Vec<Problem>),
    Key(ConfigError),
}

/// Where a peer's name and key are in the file.
struct PeerSpans {
    name: Range<usize>,
    key: Range<usize>,
}

struct Reader<'a> {
    text: &'a str,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn add(&mut self, span: &Range<usize>, what: impl Into<String>) {
        self.problems.push(Problem::at(self.text, span, what));
    }

    fn port(&mut self, port: &Spanned<i64>) -> u16 {
        let number = u16::try_from(*port.get_ref()).ok().filter(|port| *port > 0);
        number.unwrap_or_else(|| {
            self.add(&port.span(), format!("port {}: a port is 1 to 65535", port.get_ref()));
            DEFAULT_PORT
        })
    }

    fn uplinks(&mut self, uplinks: Vec<Spanned<file::Uplink>>) -> Vec<UplinkConfig> {
        if uplinks.is_empty() {
            self.add(&(0..0), "there is no [[uplink]]: name the interface of each line to the Internet");
        }
        let mut known = BTreeSet::new();
        let read = |(place, uplink): (usize, Spanned<file::Uplink>)| {
            let uplink = uplink.into_inner();
            let interface = self.device(&uplink.interface);
            if !known.insert(interface.clone()) {
                self.add(&uplink.interface.span(), format!("{interface} is an uplink already"));
            }
            if place == MAX_UPLINKS {
                self.add(&uplink.interface.span(), format!("there are more than {MAX_UPLINKS} uplinks"));
            }
            let rate = uplink.rate.and_then(|rate| self.value(&rate, "a rate as 100Mbit"));
            let cost = uplink.cost.map_or(0, |cost| self.cost(&cost));
            UplinkConfig { interface, rate, cost }
        };
        uplinks.into_iter().enumerate().map(read).collect()
    }

    fn cost(&mut self, cost: &Spanned<i64>) -> u8 {
        u8::try_from(*cost.get_ref()).unwrap_or_else(|_| {
            self.add(&cost.span(), format!("cost {}: a cost is 0 to 255", cost.get_ref()));
            0
        })
    }

    fn peers(
        &mut self,
        peers: Vec<Spanned<file::Peer>>,
        uplinks: &[UplinkConfig],
        lan: &LanConfig,
    ) -> Vec<PeerConfig> {
        if peers.is_empty() {
            self.add(&(0..0), "there is no [[peer]]: name the other site and its public key");
        }
        let (mut names, mut keys) = (BTreeSet::new(), BTreeSet::new());
        let mut all = Vec::new();
        for (place, peer) in peers.into_iter().enumerate() {
            let span = peer.span();
            if lan.ethernet && place == 1 {
                self.add(
                    &span,
                    "a site that carries Ethernet has one peer; route between more, with networks for each",
                );
            }
            let Some((spans, peer)) = self.peer(&span, peer.into_inner(), uplinks, lan) else { continue };
            if !names.insert(peer.name.clone()) {
                self.add(&spans.name, format!("{:?} is the name of another peer", peer.name));
            }
            if !keys.insert(peer.key) {
                self.add(&spans.key, "this is the key of another peer: each site needs its own");
            }
            all.push(peer);
        }
        all
    }

    fn peer(
        &mut self,
        span: &Range<usize>,
        peer: file::Peer,
        uplinks: &[UplinkConfig],
        lan: &LanConfig,
    ) -> Option<(PeerSpans, PeerConfig)> {
        let spans = PeerSpans { name: peer.name.span(), key: peer.public_key.span() };
        let dials = self.dials(&peer, uplinks);
        if dials.len() > MAX_PATHS {
            self.add(
                span,
                format!("{} paths to one peer; name at most {MAX_PATHS} by [[peer.path]]", dials.len()),
            );
        }
        let networks = peer.networks.iter().filter_map(|it| self.value(it, "a network as 10.2.0.0/16"));
        let networks: Vec<IpPrefix> = networks.collect();
        if !lan.ethernet && peer.networks.is_empty() {
            self.add(span, "the peer has no networks: name those behind it, as networks = [\"10.2.0.0/16\"]");
        }
        if let Some(network) = peer.networks.first().filter(|_| lan.ethernet) {
            self.add(&network.span(), "networks are for routed sites; this one carries Ethernet");
        }
        if let Some(place) = networks.iter().position(|it| lan.nat && it.length() == 0) {
            let span = peer.networks.get(place).map_or_else(|| span.clone(), Spanned::span);
            self.add(
                &span,
                "with nat = true, peers reach the Internet by this site: name the networks behind them",
            );
        }
        let key = self.value(&peer.public_key, "a public key, as `braid site keygen` prints it")?;
        Some((spans, PeerConfig { name: peer.name.into_inner(), key, dials, networks }))
    }

    /// Each uplink to each address, or the paths that are named.
    fn dials(&mut self, peer: &file::Peer, uplinks: &[UplinkConfig]) -> Vec<DialConfig> {
        if let Some(address) = peer.addresses.first().filter(|_| !peer.path.is_empty()) {
            self.add(&address.span(), "a peer has either addresses, for all uplinks, or [[peer.path]]s");
        }
        let mut dials = Vec::new();
        for text in &peer.addresses {
            let Some(to) = self.destination(text) else { continue };
            dials.extend((0..).zip(uplinks).map(|(uplink, _)| DialConfig { uplink, to: to.clone() }));
        }
        for path in &peer.path {
            let path = path.get_ref();
            let place = uplinks.iter().position(|uplink| uplink.interface == *path.uplink.get_ref());
            if place.is_none() {
                let names: Vec<_> = uplinks.iter().map(|uplink| uplink.interface.as_str()).collect();
                let what =
                    format!("{} is no [[uplink]]; there are {}", path.uplink.get_ref(), names.join(", "));
                self.add(&path.uplink.span(), what);
            }
            let dial = self.destination(&path.address).zip(place);
            dials.extend(dial.map(|(to, uplink)| DialConfig { uplink: uplink as u8, to }));
        }
        dials
    }

    fn lan(&mut self, lan: Spanned<file::Lan>) -> LanConfig {
        let file::Lan { device, bridge, ethernet, address, nat } = lan.into_inner();
        let device = device.map_or_else(|| DEFAULT_DEVICE.to_owned(), |device| self.device(&device));
        if let Some(address) = address.as_ref() {
            self.value::<InterfaceAddress>(address, "an address with its length, as 10.1.0.1/24");
        }
        let bridge = bridge.map(|bridge| self.device(&bridge));
        if let Some(ethernet) = ethernet.as_ref().filter(|_| bridge.is_some()) {
            self.add(
                &ethernet.span(),
                "a device in a bridge carries Ethernet anyway: remove ethernet, or bridge",
            );
        }
        let ethernet = ethernet.is_some_and(Spanned::into_inner) || bridge.is_some();
        if let Some(nat) = nat.as_ref().filter(|nat| *nat.get_ref() && ethernet) {
            self.add(&nat.span(), "nat is for routed sites; this one carries Ethernet");
        }
        let (address, nat) = (address.map(Spanned::into_inner), nat.is_some_and(Spanned::into_inner));
        LanConfig { device, bridge, ethernet, address, nat }
    }

    fn device(&mut self, name: &Spanned<String>) -> String {
        let text = name.get_ref();
        let is_name = (1..=MAX_NAME).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/');
        if !is_name {
            self.add(
                &name.span(),
                format!("{text:?} is no name of an interface: 1 to {MAX_NAME} characters"),
            );
        }
        text.clone()
    }

    fn destination(&mut self, text: &Spanned<String>) -> Option<Destination> {
        let destination = Destination::parse(text.get_ref(), DEFAULT_PORT);
        if destination.is_none() {
            let what = format!(
                "{:?} is no address or name: give one as 198.51.100.1:51820, [2001:db8::1]:51820 or box.example.org",
                text.get_ref()
            );
            self.add(&text.span(), what);
        }
        destination
    }

    fn value<T: std::str::FromStr>(&mut self, text: &Spanned<String>, wanted: &str) -> Option<T> {
        let value = text.get_ref().parse().ok();
        if value.is_none() {
            self.add(&text.span(), format!("{:?} is not {wanted}", text.get_ref()));
        }
        value
    }
}

#[cfg(test)]
mod tests;
