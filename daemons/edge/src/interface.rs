//! A Linux interface as port or uplink: receive ring, coalescing, and batched sending.

use std::io::IoSlice;

use braid_packet_io::{Offloads, Port};
use braid_switch::{Arrival, Coalesced, Offload, Packet, PortDescription, Switch, Uplinks};
use braid_types::{BitsPerSec, MacAddr, PortNo, Time};

use crate::buffers::Buffers;
use crate::error::EdgeError;

/// Frames received from one interface in a turn.
const MAX_READ_BATCH: usize = 128;
/// Packets sent with one system call, each a frame or a GSO packet.
const MAX_SEND_BATCH: usize = 64;
/// Frames in a receive ring: 30 ms of full frames at 1 Gbit/s.
const RING_SLOTS: u32 = 2_048;

/// A Linux interface as a port of the switch, an uplink, or both.
pub(crate) struct Interface {
    /// Its port, if it is one.
    pub(crate) number: Option<PortNo>,
    /// Its uplinks.
    pub(crate) uplink: Option<usize>,
    pub(crate) device: String,
    kbps: u32,
    pub(crate) port: Port,
    queue: Vec<Packet>,
}

impl Interface {
    pub(crate) fn open(device: &str, rate: Option<BitsPerSec>) -> Result<Self, EdgeError> {
        let device = device.to_owned();
        let port = Port::open(&device, RING_SLOTS, Offloads::Kept);
        let port =
            port.map_err(|(what, source)| EdgeError::Device { device: device.clone(), what, source })?;
        Ok(Self { number: None, uplink: None, device, kbps: kbps(rate), port, queue: Vec::new() })
    }

    /// The interface's MTU; 0 if the interface is gone.
    pub(crate) fn mtu(&self) -> u32 {
        self.port.socket.mtu(&self.device).unwrap_or(0)
    }

    /// The port's description and state; an interface that is gone is down.
    pub(crate) fn describe(&self) -> PortDescription {
        let (mac, up) = self.port.socket.state(&self.device).unwrap_or_default();
        let (name, mac, mtu) = (self.device.clone(), MacAddr::new(mac), self.mtu());
        PortDescription { name, mac, up, kbps: self.kbps, mtu, segment_mtu: 0, is_tunnel: false }
    }

    /// Passes received frames through the switch, at most a batch. Returns whether there were any.
    pub(crate) fn receive(
        &mut self,
        now: Time,
        switch: &mut Switch,
        uplinks: &mut Uplinks,
        buffers: &mut Buffers,
    ) -> bool {
        for count in 0..MAX_READ_BATCH {
            let Some(packet) = self.next(buffers) else { return count > 0 };
            let arrival = packet.map(|packet| match self.uplink {
                Some(uplink) => uplinks.handle_packet(now, uplink, packet),
                None => Arrival::Other(packet),
            });
            match (arrival, self.number) {
                (Some(Arrival::Inner(port, packet)), _) => switch.handle_packet(now, port, packet),
                (Some(Arrival::Other(packet)), Some(number)) => switch.handle_packet(now, number, packet),
                _ => {}
            }
        }
        true
    }

    /// The next frame; `Some(None)` for one that was truncated.
    fn next(&mut self, buffers: &mut Buffers) -> Option<Option<Packet>> {
        let Some(frame) = self.port.ring.receive() else {
            self.port.socket.clear_error();
            return None;
        };
        let length = frame.length() as usize;
        let mut data = buffers.take(length);
        let mut header = frame.header();
        let tag = frame.tag();
        if frame.is_elsewhere() {
            match self.port.socket.receive_whole(length, &mut data) {
                Ok(before) => header = before,
                Err(_) => return Some(None),
            }
            put_tag(&mut data, tag);
        } else if frame.is_cut() {
            return Some(None);
        } else {
            frame.copy_to(&mut data);
        }
        let mut offload = Offload::from_bytes(header);
        if tag.is_some() {
            offload.shift(4);
        }
        Some(Some(Packet { data, offload }))
    }

    pub(crate) fn enqueue(&mut self, packet: Packet) {
        self.queue.push(packet);
    }

    /// Sends the queue. The lengths of refused packets go to `refused`.
    pub(crate) fn send(&mut self, buffers: &mut Buffers, mut refused: impl FnMut(u64)) {
        let mut rest = self.queue.as_mut_slice();
        while !rest.is_empty() {
            let batch = Batch::coalesce(rest);
            let (now, later) = std::mem::take(&mut rest).split_at_mut(batch.packets);
            batch.send(&self.port, now, &mut refused);
            rest = later;
        }
        self.queue.drain(..).for_each(|packet| buffers.give_back(packet.data));
    }
}

/// The rate in kbit/s, as OpenFlow describes ports; 0 if it is unknown.
pub(crate) fn kbps(rate: Option<BitsPerSec>) -> u32 {
    rate.map_or(0, |rate| (rate.0 / 1_000).try_into().unwrap_or(u32::MAX))
}

/// The packets of one system call, coalesced into GSO packets where possible.
struct Batch {
    frames: Vec<Coalesced>,
    /// The number of packets in them.
    packets: usize,
}

impl Batch {
    /// Coalesces the first of `packets`.
    fn coalesce(packets: &mut [Packet]) -> Self {
        let (mut frames, mut done) = (Vec::with_capacity(MAX_SEND_BATCH), 0);
        while let Some(rest) =
            packets.get_mut(done..).filter(|rest| !rest.is_empty() && frames.len() < MAX_SEND_BATCH)
        {
            let coalesced = Coalesced::coalesce(rest);
            done += coalesced.packets;
            frames.push(coalesced);
        }
        Self { frames, packets: done.min(packets.len()) }
    }

    /// Sends the packets from which it was made; the lengths of those that were refused go to `refused`.
    fn send(&self, port: &Port, packets: &[Packet], refused: &mut impl FnMut(u64)) {
        let mut rest = packets;
        let parts = self.frames.iter().filter_map(|coalesced| {
            let (now, later) = rest.split_at_checked(coalesced.packets)?;
            rest = later;
            Some((now.first()?, now.get(1..)?, coalesced.headers))
        });
        let parts: Vec<_> = parts.collect();
        let headers: Vec<_> = parts.iter().map(|(first, ..)| first.offload.to_bytes()).collect();
        let frames = headers.iter().zip(&parts).map(|(header, (first, others, from))| {
            let payloads = others.iter().map(|it| IoSlice::new(it.data.get(*from..).unwrap_or_default()));
            [IoSlice::new(header), IoSlice::new(&first.data)].into_iter().chain(payloads).collect()
        });
        let frames: Vec<Vec<_>> = frames.collect();
        braid_packet_io::send(&port.socket, &frames, |place| {
            let packets = parts.get(place).map(|(first, others, _)| [*first].into_iter().chain(*others));
            packets.into_iter().flatten().for_each(|packet| refused(packet.data.len() as u64));
        });
    }
}

fn put_tag(data: &mut Vec<u8>, tag: Option<[u8; 4]>) {
    if let Some(tag) = tag.filter(|_| data.len() >= 12) {
        data.splice(12..12, tag);
    }
}
