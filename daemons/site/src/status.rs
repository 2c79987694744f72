//! How a running site is: a JSON document at a Unix socket that only its owner opens.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use braid_tunnel::Site;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::error::SiteError;
use crate::uplinks::Uplink;

const SCHEMA: &str = "braid/v1";
/// A site that runs answers at once.
const STATUS_TIMEOUT: Duration = Duration::from_secs(3);

/// How a site is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StatusDocument {
    /// `braid/v1`.
    pub schema: String,
    /// The site's public key.
    pub public_key: String,
    /// The local device.
    pub device: String,
    /// Its MTU.
    pub mtu: usize,
    /// Whether its file was used when it was read last; otherwise the one before is.
    pub reloaded: bool,
    /// The interfaces towards the Internet.
    pub uplinks: Vec<UplinkDocument>,
    /// The other sites.
    pub peers: Vec<PeerDocument>,
    /// Datagrams that were forged, changed or sent before.
    pub forged: u64,
    /// Datagrams of no protocol or session that is known.
    pub strange: u64,
    /// Beginnings of sessions beyond the limits.
    pub limited: u64,
    /// Handshakes with keys that no peer has.
    pub unknown_keys: u64,
    /// Packets of the local network for no peer's networks.
    pub unroutable: u64,
    /// Packets of peers with senders outside of their networks.
    pub spoofed: u64,
}

/// An uplink.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct UplinkDocument {
    /// Its interface.
    pub interface: String,
    /// Whether it is up, with an address.
    pub ready: bool,
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams received.
    pub received: u64,
    /// Datagrams that the kernel did not take.
    pub refused: u64,
}

/// Another site.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PeerDocument {
    /// Its name.
    pub name: String,
    /// Its public key.
    pub public_key: String,
    /// Packets sent to it.
    pub sent: u64,
    /// Packets received from it.
    pub received: u64,
    /// Packets dropped as no path was up.
    pub no_path: u64,
    /// Packets sent in two parts.
    pub split: u64,
    /// Packets sent again, as a path had lost them.
    pub repaired: u64,
    /// Parity packets sent, from which it computes packets that a path loses.
    #[serde(default)]
    pub parity: u64,
    /// Lost packets that were computed here.
    #[serde(default)]
    pub recovered: u64,
    /// Packets sent by the quickest path, before those that waited.
    pub urgent: u64,
    /// Packets sent by two paths.
    pub duplicated: u64,
    /// Packets dropped as too many waited.
    pub overflowed: u64,
    /// Its paths.
    pub paths: Vec<PathDocument>,
}

/// A path.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PathDocument {
    /// The interface here.
    pub uplink: String,
    /// The other end's address as seen from here.
    pub remote: Option<SocketAddr>,
    /// Whether it can be used.
    pub up: bool,
    /// Whether it is up and carries no packets, as they arrive sooner by the others.
    pub suspended: bool,
    /// Its part of the packets sent, from 0 to 1.
    pub share: f64,
    /// The round trip, while there is traffic.
    pub round_trip_us: Option<u64>,
    /// The time that packets wait in its queue, while there is traffic.
    pub queue_us: Option<u64>,
    /// How long what waits here for it takes.
    pub waiting_us: u64,
    /// What it carries in bits a second, while more is sent than that.
    pub rate_bps: Option<u64>,
    /// What its uplinks cost, here and there.
    pub cost: u16,
    /// The part of packets lost, while there is traffic.
    pub loss: Option<f64>,
    /// The longest packet that it carries whole.
    pub mtu: usize,
    /// Sessions since the start.
    pub sessions: u64,
    /// The cipher of the present one.
    #[serde(default)]
    pub cipher: Option<String>,
}

impl StatusDocument {
    pub(crate) fn of(
        site: &Site,
        (config, reloaded): (&Config, bool),
        uplinks: &[Uplink],
        mtu: usize,
    ) -> Self {
        let (refused, counters) = site.counters();
        let peers = site.peers().zip(&config.peers);
        let uplink = |it: &Uplink| UplinkDocument {
            interface: it.interface.clone(),
            ready: it.is_ready(),
            sent: it.counters.sent,
            received: it.counters.received,
            refused: it.counters.refused,
        };
        Self {
            schema: SCHEMA.to_owned(),
            public_key: config.key.public().to_string(),
            device: config.lan.device.clone(),
            mtu,
            reloaded,
            uplinks: uplinks.iter().map(uplink).collect(),
            peers: peers.map(|(peer, known)| PeerDocument::of(&peer, &known.name, uplinks)).collect(),
            forged: refused.forged,
            strange: refused.strange,
            limited: refused.limited,
            unknown_keys: refused.unknown_keys,
            unroutable: counters.unroutable,
            spoofed: counters.spoofed,
        }
    }
}

impl PeerDocument {
    fn of(peer: &braid_tunnel::PeerStatus, name: &str, uplinks: &[Uplink]) -> Self {
        let total = peer.shares.iter().map(|share| f64::from(share.share)).sum::<f64>().max(1.0);
        let path = |(number, path): (u8, &braid_tunnel::PathStatus)| {
            let share = peer.shares.iter().find(|share| share.path == number);
            let report = share.and_then(|share| share.report);
            let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
            PathDocument {
                uplink: uplinks
                    .get(usize::from(path.uplink))
                    .map(|it| it.interface.clone())
                    .unwrap_or_default(),
                remote: path.remote.map(plain),
                up: path.is_up,
                suspended: path.is_up && share.is_some_and(|share| share.share == 0),
                share: share.map_or(0.0, |share| f64::from(share.share) / total),
                round_trip_us: report.map(|report| micros(report.round_trip)),
                queue_us: report.map(|report| micros(report.queue)),
                waiting_us: share.map_or(0, |share| micros(share.waiting)),
                rate_bps: share.and_then(|share| share.rate).map(|rate| rate.0),
                cost: share.map_or(0, |share| share.cost),
                loss: report.map(|report| report.loss),
                mtu: path.max_packet,
                sessions: path.sessions,
                cipher: path.suite.map(|suite| suite.name().to_owned()),
            }
        };
        Self {
            name: name.to_owned(),
            public_key: peer.key.to_string(),
            sent: peer.counters.sent,
            received: peer.counters.received,
            no_path: peer.counters.no_path,
            split: peer.counters.split,
            repaired: peer.counters.repaired,
            parity: peer.counters.parity,
            recovered: peer.counters.recovered,
            urgent: peer.counters.urgent,
            duplicated: peer.counters.duplicated,
            overflowed: peer.counters.overflowed,
            paths: (0..).zip(&peer.paths).map(path).collect(),
        }
    }
}

fn plain(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V6(ip) => SocketAddr::new(ip.to_canonical(), address.port()),
        IpAddr::V4(_) => address,
    }
}

/// Asks the site at this socket how it is.
///
/// # Errors
///
/// No site runs there, or the caller may not ask.
pub fn status(path: &Path) -> io::Result<StatusDocument> {
    let mut stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(STATUS_TIMEOUT))?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    serde_json::from_str(&text).map_err(io::Error::other)
}

/// The socket at which a site answers.
pub(crate) struct StatusSocket {
    listener: UnixListener,
    path: PathBuf,
}

impl StatusSocket {
    /// Takes the place of a site that runs no more, but not of one that does.
    pub(crate) fn open(path: &Path) -> Result<Self, SiteError> {
        let refuse = |source| SiteError::Status { path: path.to_owned(), source };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(refuse)?;
        }
        if UnixStream::connect(path).is_ok() {
            return Err(refuse(io::Error::new(io::ErrorKind::AddrInUse, "another site answers there")));
        }
        if std::fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_socket()) {
            std::fs::remove_file(path).map_err(refuse)?;
        }
        let listener = UnixListener::bind(path).map_err(refuse)?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(refuse)?;
        listener.set_nonblocking(true).map_err(refuse)?;
        Ok(Self { listener, path: path.to_owned() })
    }

    /// Answers one that asks. It gets what fits into its socket: the site waits for nobody.
    pub(crate) fn answer(&self, document: &StatusDocument) {
        let Ok((mut stream, _)) = self.listener.accept() else { return };
        let text = serde_json::to_vec(document).unwrap_or_default();
        let sent = stream.set_nonblocking(true).and_then(|()| stream.write_all(&text));
        if let Err(error) = sent {
            tracing::debug!("nobody has taken the status: {error}");
        }
    }
}

impl AsFd for StatusSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

impl Drop for StatusSocket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_left_behind_is_replaced_and_one_in_use_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/site.sock");
        let first = StatusSocket::open(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(StatusSocket::open(&path).is_err());
        drop(first);
        assert!(!path.exists());
        drop(UnixListener::bind(&path).unwrap());
        assert!(path.exists() && StatusSocket::open(&path).is_ok());
        std::fs::write(&path, "a file of somebody").unwrap();
        assert!(StatusSocket::open(&path).is_err());
        assert!(path.exists(), "what is no socket is left alone");
    }
}
