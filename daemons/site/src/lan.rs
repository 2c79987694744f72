//! The local network's side: a TUN between routed networks, or a TAP in a bridge.

use std::io;
use std::net::Ipv6Addr;
use std::process::Command;

use braid_packet_io::{TunnelDevice, TunnelKind};
use braid_types::IpPrefix;

use crate::config::LanConfig;
use crate::error::SiteError;

/// What the device begins with, and never has less: IPv6 needs so much. Longer packets than a path carries go in two.
const MIN_MTU: usize = 1_280;
const MAX_MTU: usize = 1_500;
/// The Ethernet header of a frame, with a tag.
const FRAME_HEADER: usize = 18;

pub(crate) struct LanDevice {
    pub(crate) device: TunnelDevice,
    name: String,
    is_bridged: bool,
    pub(crate) mtu: usize,
}

impl LanDevice {
    /// Makes the device and brings it up, with its address and the routes to `networks`.
    pub(crate) fn open<'a>(
        config: &LanConfig,
        networks: impl Iterator<Item = &'a IpPrefix>,
    ) -> Result<Self, SiteError> {
        let kind = if config.bridge.is_some() { TunnelKind::Frames } else { TunnelKind::Packets };
        let name = config.device.clone();
        let device = TunnelDevice::open(&name, kind).map_err(|source| SiteError::Device {
            device: name.clone(),
            what: "making it",
            source,
        })?;
        let mtu = if config.bridge.is_some() { MAX_MTU } else { MIN_MTU };
        let lan = Self { device, name, is_bridged: config.bridge.is_some(), mtu };
        let device = lan.name.as_str();
        ip(&["link", "set", "dev", device, "mtu", &mtu.to_string(), "up"])?;
        if let Some(bridge) = &config.bridge {
            ip(&["link", "set", "dev", device, "master", bridge])?;
        }
        if let Some(address) = &config.address {
            ip(&["address", "replace", address, "dev", device])?;
        }
        for network in networks.flat_map(|it| halves(*it)) {
            ip(&["route", "replace", &network.to_string(), "dev", device])?;
        }
        Ok(lan)
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

    /// Room for the longest packet or frame.
    pub(crate) const fn buffer() -> usize {
        MAX_MTU + FRAME_HEADER
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

/// Whether a problem of opening a device is that the caller may not.
pub(crate) fn is_privilege(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

#[cfg(test)]
mod tests {
    use super::*;

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
