use std::io::IoSlice;

use braid_ports::{HEADER, Offloads, Port};
use braid_switch::{Offload, Packet, PortDescription, Switch};
use braid_types::{MacAddr, PortNo, Time};

use crate::error::EdgeError;
use crate::options::PortOption;

/// How many frames are taken before others have their turn.
const READ: usize = 128;
/// How many are sent with one call.
const SEND: usize = 64;
/// Frames in a ring: 30 ms of full frames at 1 Gbit/s.
const SLOTS: u32 = 2_048;
/// The longest super-frame, with Ethernet's header and a tag.
const LONGEST: usize = 65_536 + 64;

/// A Linux interface as a port of the switch.
pub(crate) struct Interface {
    pub(crate) number: PortNo,
    device: String,
    kbps: u32,
    pub(crate) port: Port,
    queue: Vec<Packet>,
    whole: Vec<u8>,
}

impl Interface {
    pub(crate) fn open(option: &PortOption, number: PortNo) -> Result<Self, EdgeError> {
        let device = option.device.clone();
        let port = Port::open(&device, SLOTS, Offloads::Kept);
        let port =
            port.map_err(|(what, source)| EdgeError::Device { device: device.clone(), what, source })?;
        let kbps = option.rate.map_or(0, |rate| (rate.0 / 1_000).try_into().unwrap_or(u32::MAX));
        Ok(Self { number, device, kbps, port, queue: Vec::new(), whole: vec![0; HEADER + LONGEST] })
    }

    /// As it is now; gone, it is down.
    pub(crate) fn describe(&self) -> PortDescription {
        let (mac, up) = self.port.socket.state(&self.device).unwrap_or_default();
        PortDescription { name: self.device.clone(), mac: MacAddr::new(mac), up, kbps: self.kbps }
    }

    /// Passes what has arrived through the switch, but no more than its turn; whether there was something.
    pub(crate) fn receive(&mut self, now: Time, switch: &mut Switch) -> bool {
        for count in 0..READ {
            let Some(packet) = self.next() else { return count > 0 };
            if let Some(packet) = packet {
                switch.handle_packet(now, self.number, packet);
            }
        }
        true
    }

    /// The next frame; `Some(None)` for one that could not be had whole.
    fn next(&mut self) -> Option<Option<Packet>> {
        let Some(frame) = self.port.ring.receive() else {
            self.port.socket.clear_error();
            return None;
        };
        let mut data = Vec::new();
        let mut header = frame.header();
        let tag = frame.tag();
        if frame.is_elsewhere() {
            // A descriptor of its own, so that the slot may be held meanwhile.
            let length = self.port.socket.receive_whole(&mut self.whole).unwrap_or(0);
            let whole = self.whole.get(..length).unwrap_or_default();
            let Some((before, frame)) = whole.split_first_chunk::<HEADER>() else { return Some(None) };
            header = *before;
            data.extend_from_slice(frame);
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

    /// Sends what is in the queue; the lengths of what was refused go to `refused`.
    pub(crate) fn send(&mut self, mut refused: impl FnMut(u64)) {
        for packets in self.queue.chunks(SEND) {
            let headers: Vec<_> = packets.iter().map(|packet| packet.offload.to_bytes()).collect();
            let frames = headers.iter().zip(packets);
            let frames: Vec<_> =
                frames.map(|(header, packet)| [IoSlice::new(header), IoSlice::new(&packet.data)]).collect();
            braid_ports::send(&self.port.socket, &frames, |place| {
                refused(packets.get(place).map_or(0, |packet| packet.data.len() as u64));
            });
        }
        self.queue.clear();
    }
}

fn put_tag(data: &mut Vec<u8>, tag: Option<[u8; 4]>) {
    if let Some(tag) = tag.filter(|_| data.len() >= 12) {
        data.splice(12..12, tag);
    }
}
