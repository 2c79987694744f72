//! Uplinks: sockets that are opened again when an interface comes back, and notice of its addresses.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use braid_packet_io::{Datagrams, DeviceSocket, Offloads, Outgoing};
use nix::errno::Errno;
use nix::ifaddrs::getifaddrs;
use nix::net::if_::{InterfaceFlags, if_nametoindex};
use nix::sys::socket::SockaddrIn6;

use crate::config::UplinkConfig;

/// One uplink, which may be absent.
pub(crate) struct Uplink {
    pub(crate) interface: String,
    port: u16,
    offloads: Offloads,
    /// For IPv4 and IPv6.
    sockets: Vec<(bool, DeviceSocket)>,
    seen: State,
    /// What the next [`Self::flush`] sends.
    outgoing: Vec<(SocketAddr, Vec<u8>)>,
    pub(crate) counters: UplinkCounters,
}

/// Datagrams since the start.
#[derive(Clone, Copy, Default)]
pub(crate) struct UplinkCounters {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// Those that the kernel did not take: no route, no room, or no interface.
    pub(crate) refused: u64,
}

/// What of an interface matters to datagrams.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct State {
    index: Option<u32>,
    is_up: bool,
    addresses: BTreeSet<IpAddr>,
}

impl Uplink {
    pub(crate) fn new(config: &UplinkConfig, port: u16, offloads: Offloads) -> Self {
        let interface = config.interface.clone();
        let (seen, counters) = (State::default(), UplinkCounters::default());
        Self { interface, port, offloads, sockets: Vec::new(), seen, outgoing: Vec::new(), counters }
    }

    /// Looks at the interface; whether it has changed.
    pub(crate) fn look(&mut self, now: State) -> bool {
        let is_another = now.index != self.seen.index;
        if is_another {
            self.sockets.clear();
        }
        let has_changed = now != self.seen;
        if now.index.is_some() && self.sockets.len() < 2 {
            self.open(has_changed);
        }
        if has_changed {
            self.log(&now);
            self.seen = now;
        }
        has_changed
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.seen.is_up && !self.seen.addresses.is_empty() && !self.sockets.is_empty()
    }

    pub(crate) fn sockets(&self) -> impl Iterator<Item = &DeviceSocket> {
        self.sockets.iter().map(|(_, socket)| socket)
    }

    /// The next datagrams of one of its sockets.
    pub(crate) fn receive<'a>(&mut self, socket: usize, buffer: &'a mut [u8]) -> Option<Datagrams<'a>> {
        let received = self.sockets.get(socket)?.1.receive(buffer)?;
        self.counters.received += received.iter().count() as u64;
        Some(received)
    }

    /// Has a datagram go with the next [`Self::flush`].
    pub(crate) fn push(&mut self, to: SocketAddr, bytes: Vec<u8>) {
        self.outgoing.push((to, bytes));
    }

    /// Sends all, in order; their memory goes to `recycle`.
    pub(crate) fn flush(&mut self, recycle: impl FnMut(Vec<u8>)) {
        for is_v6 in [false, true] {
            let family = self.outgoing.iter().filter(|(to, _)| to.is_ipv6() == is_v6);
            let datagrams: Vec<_> = family.map(|(to, bytes)| Outgoing { to: *to, bytes }).collect();
            let socket = self.sockets.iter().find(|(family, _)| *family == is_v6);
            let refused = socket.map_or(datagrams.len(), |(_, socket)| socket.send(&datagrams)) as u64;
            self.counters.refused += refused;
            self.counters.sent += datagrams.len() as u64 - refused;
        }
        self.outgoing.drain(..).map(|(_, bytes)| bytes).for_each(recycle);
    }

    fn open(&mut self, is_news: bool) {
        for is_v6 in [false, true] {
            if self.sockets.iter().any(|(family, _)| *family == is_v6) {
                continue;
            }
            match DeviceSocket::open(&self.interface, self.port, is_v6, self.offloads) {
                Ok(socket) => self.sockets.push((is_v6, socket)),
                // A machine may have no IPv6.
                Err(error) if is_v6 => tracing::debug!(uplink = self.interface, "no IPv6: {error}"),
                Err(error) if is_news => {
                    tracing::warn!(uplink = self.interface, port = self.port, "cannot bind: {error}");
                }
                Err(_) => {}
            }
        }
    }

    fn log(&self, now: &State) {
        let uplink = self.interface.as_str();
        match now {
            State { index: None, .. } => tracing::warn!(uplink, "there is no such interface; waiting for it"),
            State { is_up: false, .. } => tracing::warn!(uplink, "the interface is down"),
            State { addresses, .. } if addresses.is_empty() => {
                tracing::warn!(uplink, "it has no address yet");
            }
            State { addresses, .. } => {
                tracing::info!(uplink, ?addresses, "ready");
                if is_strict(uplink) {
                    tracing::warn!(
                        uplink,
                        "this machine drops what arrives here unless its best route leads here, too; \
                         set net.ipv4.conf.{uplink}.rp_filter=2 by sysctl"
                    );
                }
            }
        }
    }
}

/// Whether the kernel's reverse path filter is strict; the greater of both settings holds.
fn is_strict(interface: &str) -> bool {
    let setting = |name: &str| {
        let text = std::fs::read_to_string(format!("/proc/sys/net/ipv4/conf/{name}/rp_filter")).ok()?;
        text.trim().parse::<u8>().ok()
    };
    ["all", interface].into_iter().filter_map(setting).max() == Some(1)
}

/// The states of interfaces, in the order of their names; `None` if they cannot be looked at just now.
pub(crate) fn states<'a>(interfaces: impl Iterator<Item = &'a str>) -> Vec<Option<State>> {
    let all: Option<Vec<_>> = getifaddrs().ok().map(Iterator::collect);
    let state = |name: &str| {
        let all = all.as_ref()?;
        let index = match if_nametoindex(name) {
            Ok(index) => Some(index),
            Err(Errno::ENODEV | Errno::ENXIO | Errno::EINVAL) => None,
            Err(_) => return None,
        };
        let mut state = State { index, ..State::default() };
        for entry in all.iter().filter(|entry| entry.interface_name == name) {
            state.is_up |= entry.flags.contains(InterfaceFlags::IFF_UP | InterfaceFlags::IFF_RUNNING);
            let address = entry.address.as_ref();
            let v4 = address.and_then(|it| it.as_sockaddr_in()).map(|it| IpAddr::V4(it.ip()));
            let v6 = address.and_then(|it| it.as_sockaddr_in6()).map(SockaddrIn6::ip);
            let v6 = v6.filter(|it| !it.is_unicast_link_local()).map(IpAddr::V6);
            state.addresses.extend(v4.into_iter().chain(v6));
        }
        Some(state)
    };
    interfaces.map(state).collect()
}
