//! A tunnel of an edge: its ends, the next hop to the other one, and how long packets may be.

use super::device::Device;
use super::frame::Around;
use super::pmtu_cache::PathMtu;
use super::rewriting::Rewriting;
use crate::tunnel::Ends;

/// A tunnel over an uplink.
#[derive(Debug)]
pub(super) struct Tunnel {
    pub(super) ends: Ends,
    /// The place of its uplink.
    pub(super) device: usize,
    /// The next hop, by its place among the device's neighbours.
    pub(super) next_hop: usize,
    /// The longest packet that gets through, as a router has said.
    pub(super) path_mtu: Option<PathMtu>,
    /// The connections that cross it without GRE, if it rewrites.
    pub(super) rewriting: Option<Rewriting>,
}

impl Tunnel {
    /// The longest packet that goes by it; 0 if that is unknown.
    pub(super) fn mtu(&self, device: &Device) -> u32 {
        self.path_mtu.map_or(device.mtu, |known| known.mtu.min(device.mtu))
    }

    /// What is around the frames that it carries; `None` while nobody passes them on.
    pub(super) fn around(&self, device: &Device) -> Option<Around> {
        let dst = device.neighbours.mac(self.next_hop).filter(|_| device.is_up)?;
        Some(Around { ends: self.ends, src: device.mac, dst })
    }
}
