//! The resequencer of a group, and the paths by which packets arrive.

use std::time::Duration;

use braid_edge_protocol::telemetry::ResequenceReport;
use braid_openflow::GroupId;
use braid_spray::{Fate, PathId, Resequencer, Segment, SegmentCounts, Settings};
use braid_types::{DatapathId, FiveTuple, MacAddr, PortNo, Time};

use crate::packets::{Packet, PacketContext};

/// The greatest number of paths that are distinguished.
const MAX_PATHS: usize = 8;
/// A group that has not probed for this long gives its place to another.
const QUIET: Duration = Duration::from_secs(1);

/// Resequences packets, and identifies the paths by which they arrive.
#[derive(Debug)]
pub(crate) struct GroupResequencer {
    buffer: Resequencer<HeldPacket>,
    paths: Vec<(PortNo, MacAddr)>,
    /// The group whose probes are followed, and when the last one arrived.
    probed: Option<(Series, Time)>,
}

/// Probes that are numbered together: their edge, group and secret.
type Series = (DatapathId, GroupId, u64);

/// A probe that has arrived from another edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArrivedProbe {
    pub(crate) from: DatapathId,
    pub(crate) group: GroupId,
    pub(crate) secret: u64,
    pub(crate) number: u32,
    /// The segments that were sent and received before it.
    pub(crate) counts: SegmentCounts,
}

/// A held packet, and the port by which it arrived.
#[derive(Debug)]
pub(crate) struct HeldPacket {
    pub(crate) in_port: PortNo,
    pub(crate) packet: Packet,
}

impl GroupResequencer {
    pub(super) fn new(settings: Settings, seed: u64) -> Self {
        Self { buffer: Resequencer::new(settings, seed), paths: Vec::new(), probed: None }
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

    /// Notes a probe that arrived by a path of data; returns whether packets are released.
    pub(super) fn note_probe(&mut self, now: Time, path: (PortNo, MacAddr), probe: &ArrivedProbe) -> bool {
        let Some(place) = self.paths.iter().position(|known| *known == path) else { return false };
        if !self.follows(now, probe) {
            return false;
        }
        self.buffer.note_probe(now, PathId(place as u8), probe.number, probe.counts);
        self.buffer.has_released()
    }

    /// Whether probes of this group are compared: those of one, as groups number theirs independently.
    fn follows(&mut self, now: Time, probe: &ArrivedProbe) -> bool {
        let series = (probe.from, probe.group, probe.secret);
        let is_other = |(followed, _): (Series, Time)| followed != series;
        // A group that is set up anew numbers its probes anew, with another secret.
        let is_same_group = |(from, group, _): Series| (from, group) == (probe.from, probe.group);
        let stays = |(followed, at)| now.since(at) < QUIET && !is_same_group(followed);
        if self.probed.is_some_and(|it| is_other(it) && stays(it)) {
            return false;
        }
        if self.probed.is_some_and(is_other) {
            self.buffer.forget_probes();
        }
        self.probed = Some((series, now));
        true
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
