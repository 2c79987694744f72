//! The local network's side: a TUN between routed networks, or a TAP in a bridge or a switch.

use std::collections::BTreeSet;
use std::io::{self, IoSlice, Write};
use std::net::Ipv6Addr;
use std::path::Path;
use std::process::{Command, Stdio};

use braid_offload::{Coalesced, Offload, Packet, Segments, Start};
use braid_packet_io::{Offloads, TunnelDevice, TunnelKind};
use braid_types::IpPrefix;

use crate::config::LanConfig;
use crate::error::SiteError;

/// What the device begins with, and never has less: IPv6 needs so much. Longer packets than a path carries go in two.
const MIN_MTU: usize = 1_280;
const MAX_MTU: usize = 1_500;

pub(crate) struct LanDevice {
    pub(crate) device: TunnelDevice,
    name: String,
    routes: BTreeSet<IpPrefix>,
    is_bridged: bool,
    /// Whether segments of TCP are coalesced for the kernel, as long as it takes that.
    coalesces: bool,
    buffer: Vec<u8>,
    segment: Vec<u8>,
    outgoing: Vec<Packet>,
    pub(crate) mtu: usize,
}

impl LanDevice {
    /// Makes the device and brings it up, with its address and the routes to `networks`.
    pub(crate) fn open<'a>(
        config: &LanConfig,
        networks: impl Iterator<Item = &'a IpPrefix>,
        offloads: Offloads,
    ) -> Result<Self, SiteError> {
        let kind = if config.ethernet { TunnelKind::Frames } else { TunnelKind::Packets };
        let name = config.device.clone();
        let device = TunnelDevice::open(&name, kind, offloads).map_err(|source| SiteError::Device {
            device: name.clone(),
            what: "making it",
            source,
        })?;
        let mtu = if config.ethernet { MAX_MTU } else { MIN_MTU };
        let mut lan = Self {
            device,
            name,
            routes: BTreeSet::new(),
            is_bridged: config.ethernet,
            coalesces: offloads == Offloads::Kept,
            buffer: vec![0; TunnelDevice::ROOM],
            segment: Vec::new(),
            outgoing: Vec::new(),
            mtu,
        };
        let device = lan.name.as_str();
        if config.ethernet && config.bridge.is_none() && config.address.is_none() {
            be_silent(device)?;
        }
        ip(&["link", "set", "dev", device, "mtu", &mtu.to_string(), "up"])?;
        if let Some(bridge) = &config.bridge {
            ip(&["link", "set", "dev", device, "master", bridge])?;
        }
        if let Some(address) = &config.address {
            ip(&["address", "replace", address, "dev", device])?;
        }
        lan.set_networks(networks)?;
        Ok(lan)
    }

    /// Has routes to these networks and no others. If one cannot be made, those from before stay.
    pub(crate) fn set_networks<'a>(
        &mut self,
        networks: impl Iterator<Item = &'a IpPrefix>,
    ) -> Result<(), SiteError> {
        let routes: BTreeSet<_> = networks.flat_map(|it| halves(*it)).collect();
        // A route that somebody else has made is not taken from him.
        let added: Vec<_> = routes.difference(&self.routes).collect();
        if let Err(error) = ip_batch(&["-batch", "-"], &self.lines("add", &added)) {
            // Those by this device; some were not made.
            let _ = ip_batch(&["-force", "-batch", "-"], &self.lines("delete", &added));
            return Err(error);
        }
        let removed: Vec<_> = self.routes.difference(&routes).collect();
        let removed = ip_batch(&["-force", "-batch", "-"], &self.lines("delete", &removed));
        removed.unwrap_or_else(|error| tracing::warn!("{error}"));
        self.routes = routes;
        Ok(())
    }

    fn lines(&self, action: &str, routes: &[&IpPrefix]) -> Vec<String> {
        routes.iter().map(|route| format!("route {action} {route} dev {}", self.name)).collect()
    }

    /// Follows the longest packet that all paths carry whole. A bridge's MTU is that of its hosts, and stays.
    pub(crate) fn set_mtu(&mut self, room: usize) {
        let mtu = room.clamp(MIN_MTU, MAX_MTU);
        if self.is_bridged || mtu == self.mtu {
            return;
        }
        match ip(&["link", "set", "dev", &self.name, "mtu", &mtu.to_string()]) {
            Ok(()) => {
                tracing::info!(device = self.name, mtu, "the MTU follows what the paths carry");
                self.mtu = mtu;
            }
            Err(error) => tracing::warn!("{error}"),
        }
    }

    /// Receives what the kernel gives next, which may be several packets; how many, or `None` if there is nothing.
    pub(crate) fn receive(&mut self, mut handle: impl FnMut(&[u8])) -> Option<usize> {
        let (header, data) = self.device.receive(&mut self.buffer)?;
        let offload = Offload::from_bytes(header);
        if offload.gso_type == 0 && !offload.needs_checksum {
            handle(data);
            return Some(1);
        }
        let start = if self.is_bridged { Start::Ethernet } else { Start::Ip };
        let (mut segments, mut count) = (Segments::new(data, offload, start), 0);
        while segments.as_mut().is_some_and(|it| it.write_next(&mut self.segment)) {
            handle(&self.segment);
            count += 1;
        }
        // What cannot be cut is dropped, and counts for one.
        Some(count.max(1))
    }

    /// Has a packet go with the next [`Self::flush`].
    pub(crate) fn push(&mut self, packet: Vec<u8>) {
        self.outgoing.push(Packet::complete(packet));
    }

    /// Gives the kernel all packets in order, segments of one flow together; their memory goes to `recycle`.
    pub(crate) fn flush(&mut self, recycle: impl FnMut(Vec<u8>)) {
        let start = if self.is_bridged { Start::Ethernet } else { Start::Ip };
        let mut rest = self.outgoing.as_mut_slice();
        while !rest.is_empty() {
            let coalesced = if self.coalesces {
                Coalesced::verify_and_coalesce(rest, start)
            } else {
                Coalesced { packets: 1, headers: 0 }
            };
            let (now, later) = std::mem::take(&mut rest).split_at_mut(coalesced.packets);
            let sent = send(&self.device, now, coalesced.headers);
            if now.len() > 1 && sent.is_err_and(|error| error.kind() == io::ErrorKind::InvalidInput) {
                // The kernel knows no GSO packets of this kind.
                self.coalesces = false;
                send_singly(now, coalesced.headers, start, |packet| {
                    let _ = send(&self.device, &[Packet::complete(packet.to_vec())], 0);
                });
            }
            rest = later;
        }
        self.outgoing.drain(..).map(|packet| packet.data).for_each(recycle);
    }
}

/// Writes the first of some packets whole, and what the others have behind their headers.
fn send(device: &TunnelDevice, packets: &[Packet], headers: usize) -> io::Result<()> {
    let Some((first, others)) = packets.split_first() else { return Ok(()) };
    let header = first.offload.to_bytes();
    let others = others.iter().filter_map(|packet| packet.data.get(headers..));
    let pieces: Vec<_> =
        [&header[..], first.data.as_slice()].into_iter().chain(others).map(IoSlice::new).collect();
    device.send(&pieces)
}

/// Takes a GSO packet apart that the kernel has refused.
fn send_singly(packets: &[Packet], headers: usize, start: Start, mut send: impl FnMut(&[u8])) {
    let Some((first, others)) = packets.split_first() else { return };
    let others = others.iter().filter_map(|packet| packet.data.get(headers..));
    let whole: Vec<u8> = std::iter::once(first.data.as_slice()).chain(others).flatten().copied().collect();
    let (mut segments, mut segment) = (Segments::new(&whole, first.offload, start), Vec::new());
    while segments.as_mut().is_some_and(|it| it.write_next(&mut segment)) {
        send(&segment);
    }
}

/// All addresses in two halves: a default route would take the place of an uplink's own.
fn halves(network: IpPrefix) -> Vec<IpPrefix> {
    if network.length() > 0 {
        return vec![network];
    }
    let is_v6 = network.contains(Ipv6Addr::LOCALHOST.into());
    let halves = if is_v6 { ["::", "8000::"] } else { ["0.0.0.0", "128.0.0.0"] };
    let halves = halves.into_iter().filter_map(|address| address.parse().ok());
    halves.filter_map(|address| IpPrefix::new(address, 1)).collect()
}

/// Has the port of a switch say nothing by itself, nor listen: what comes in is the switch's alone.
fn be_silent(device: &str) -> Result<(), SiteError> {
    ip(&["link", "set", "dev", device, "addrgenmode", "none"])?;
    for (key, value) in [("net/ipv6/conf", "disable_ipv6=1"), ("net/ipv4/conf", "arp_ignore=8")] {
        let (name, value) = value.split_once('=').unwrap_or_default();
        let path = format!("/proc/sys/{key}/{device}/{name}");
        // The service may not write there.
        if Path::new(&path).exists() && std::fs::write(&path, value).is_err() {
            let key = key.replace('/', ".");
            tracing::warn!(
                "this machine listens on {device}, too; set {key}.{device}.{name}={value} by sysctl"
            );
        }
    }
    Ok(())
}

/// Runs iproute2.
fn ip(arguments: &[&str]) -> Result<(), SiteError> {
    let command = || format!("ip {}", arguments.join(" "));
    let output = Command::new("ip").args(arguments).output();
    let output = output.map_err(|source| SiteError::Ip { command: command(), reason: source.to_string() })?;
    if output.status.success() {
        return Ok(());
    }
    let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(SiteError::Ip { command: command(), reason })
}

/// Runs iproute2 for all lines at once.
fn ip_batch(options: &[&str], lines: &[String]) -> Result<(), SiteError> {
    let refuse = |place: usize, reason: String| {
        let command = lines.get(place).map_or_else(String::new, |line| format!("ip {line}"));
        SiteError::Ip { command, reason }
    };
    if lines.is_empty() {
        return Ok(());
    }
    let mut command = Command::new("ip");
    command.args(options).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let output = command.spawn().and_then(|mut child| {
        // It reads no more after a line that fails, and says which.
        let _ = child.stdin.take().map(|mut stdin| stdin.write_all(lines.join("\n").as_bytes()));
        child.wait_with_output()
    });
    let output = output.map_err(|error| refuse(0, error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(refuse(failed_line(&said).unwrap_or(0), said.lines().next().unwrap_or_default().to_owned()))
}

/// The place of the line of which `ip -batch` says that it failed: `Command failed -:3`.
fn failed_line(said: &str) -> Option<usize> {
    let number = said.lines().find_map(|line| line.strip_prefix("Command failed -:"))?;
    number.trim().parse::<usize>().ok()?.checked_sub(1)
}

/// Whether a problem of opening a device is that the caller may not.
pub(crate) fn is_privilege(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gso_packet_that_the_kernel_refuses_goes_as_the_packets_that_it_was() {
        let ip = [0x45, 0, 0, 0, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 1, 0, 2, 10, 2, 0, 2];
        let tcp = [0, 22, 0, 23, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 1, 0, 0, 0, 0, 0];
        let gso = [&ip[..], &tcp, &[7; 3_500]].concat();
        let offload = Offload {
            needs_checksum: true,
            gso_type: braid_offload::GSO_TCPV4,
            gso_size: 1_000,
            csum_start: 20,
            csum_offset: 16,
            ..Offload::default()
        };
        let (mut segments, mut segment) = (Segments::new(&gso, offload, Start::Ip).unwrap(), Vec::new());
        let packets: Vec<Vec<u8>> =
            std::iter::from_fn(|| segments.write_next(&mut segment).then(|| segment.clone())).collect();
        let mut together: Vec<_> = packets.iter().cloned().map(Packet::complete).collect();
        let coalesced = Coalesced::verify_and_coalesce(&mut together, Start::Ip);
        assert_eq!((coalesced.packets, coalesced.headers), (4, 40));
        let mut sent = Vec::new();
        send_singly(&together, coalesced.headers, Start::Ip, |packet| sent.push(packet.to_vec()));
        assert_eq!(sent, packets);
    }

    #[test]
    fn the_line_that_failed_is_found() {
        let said = "RTNETLINK answers: File exists\nCommand failed -:3\n";
        assert_eq!(
            (failed_line(said), failed_line("what?"), failed_line("Command failed -:0")),
            (Some(2), None, None)
        );
        let lines = ["link show dev lo", "link show dev absent0"].map(str::to_owned);
        let error = ip_batch(&["-batch", "-"], &lines).unwrap_err().to_string();
        assert!(error.contains("ip link show dev absent0"), "{error}");
    }

    #[test]
    fn all_addresses_are_two_routes_and_others_one() {
        let texts = |network: &str| {
            halves(network.parse().unwrap()).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(texts("0.0.0.0/0"), ["0.0.0.0/1", "128.0.0.0/1"]);
        assert_eq!(texts("::/0"), ["::/1", "8000::/1"]);
        assert_eq!(texts("10.0.0.0/8"), ["10.0.0.0/8"]);
    }
}
