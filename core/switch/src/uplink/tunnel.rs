//! A tunnel of an edge: its ends, the next hop to the other one, and how long packets may be.

use braid_types::Time;

use super::device::Device;
use super::frame::{Around, ETHERNET};
use super::parts::Parts;
use super::pmtu_cache::PathMtu;
use super::rewriting::Rewriting;
use crate::packets::Packet;
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
    /// Frames that are too long for GRE, if the other end rewrites, too.
    pub(super) parts: Parts,
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

    /// Whether the other end is known to rewrite.
    pub(super) fn is_welcome(&self, now: Time) -> bool {
        self.rewriting.as_ref().is_some_and(|it| it.is_welcome(now))
    }

    /// The outer frames of frames that are no longer than `room`, or in two parts; `None` if that is not possible.
    pub(super) fn enclose(
        &mut self,
        now: Time,
        around: &Around,
        frames: &[Packet],
        room: usize,
    ) -> Option<Vec<Packet>> {
        let has_parts = self.is_welcome(now);
        let mut out = Vec::with_capacity(frames.len());
        for frame in frames {
            if frame.data.len() <= room {
                out.push(Packet::complete(around.put(frame)?));
            } else if has_parts {
                for part in self.parts.split(&frame.data, room)? {
                    out.push(Packet::complete(around.put_part(&part)?));
                }
            } else {
                return None;
            }
        }
        Some(out)
    }

    /// The longest frame that goes by it without GRE.
    pub(super) fn longest_frame(&self, device: &Device) -> usize {
        self.mtu(device) as usize + ETHERNET
    }
}
