//! The resequencer of a group, and the paths by which packets arrive.

use braid_edge_protocol::telemetry::ResequenceReport;
use braid_spray::{Fate, PathId, Resequencer, Segment, Settings};
use braid_types::{FiveTuple, MacAddr, PortNo, Time};

use crate::packets::{Packet, PacketContext};

/// The greatest number of paths that are distinguished.
const MAX_PATHS: usize = 8;

/// Resequences packets, and identifies the paths by which they arrive.
#[derive(Debug)]
pub(crate) struct GroupResequencer {
    buffer: Resequencer<HeldPacket>,
    paths: Vec<(PortNo, MacAddr)>,
}

/// A held packet, and the port by which it arrived.
#[derive(Debug)]
pub(crate) struct HeldPacket {
    pub(crate) in_port: PortNo,
    pub(crate) packet: Packet,
}

impl GroupResequencer {
    pub(super) fn new(settings: Settings, seed: u64) -> Self {
        Self { buffer: Resequencer::new(settings, seed), paths: Vec::new() }
    }

    pub(super) const fn settings(&self) -> &Settings {
        self.buffer.settings()
    }

    /// Applies other settings. Paths may have changed: if there is no room for more, they are learned anew.
    pub(super) fn change(&mut self, settings: Settings) {
        if self.paths.len() >= MAX_PATHS {
            self.paths.clear();
            self.buffer.forget_paths();
        }
        self.buffer.change(settings);
    }

    /// The ports and labels by which packets arrived.
    pub(super) fn paths(&self) -> &[(PortNo, MacAddr)] {
        &self.paths
    }

    pub(super) fn report(&self) -> ResequenceReport {
        ResequenceReport::of(&self.buffer, &self.paths)
    }

    /// Offers a packet of a flow to the resequencer, which holds it or lets it pass.
    pub(crate) fn offer(
        &mut self,
        now: Time,
        flow: &FiveTuple,
        segment: Segment,
        context: &mut PacketContext,
    ) -> Fate {
        let path = self.path(context.in_port, context.label);
        let size = u32::try_from(context.packet.data.len()).unwrap_or(u32::MAX);
        let hold = || {
            let mut packet = context.take_packet();
            packet.settle();
            HeldPacket { in_port: context.in_port, packet }
        };
        self.buffer.offer(now, flow, segment, path, size, hold)
    }

    /// The number of a path. The ninth and later share one.
    fn path(&mut self, in_port: PortNo, label: MacAddr) -> PathId {
        let place = self.paths.iter().position(|path| *path == (in_port, label));
        let place = place.unwrap_or_else(|| {
            if self.paths.len() < MAX_PATHS {
                self.paths.push((in_port, label));
                self.paths.len() - 1
            } else {
                MAX_PATHS
            }
        });
        PathId(place as u8)
    }

    pub(crate) fn flush(&mut self, now: Time) {
        self.buffer.flush(now);
    }

    pub(super) fn poll_packet(&mut self) -> Option<HeldPacket> {
        self.buffer.poll_packet()
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        self.buffer.poll_timeout()
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        self.buffer.handle_timeout(now);
    }
}
