//! One emulated link: two packet sockets and the link model in each direction.

use std::io::IoSlice;
use std::time::Duration;

use braid_link_model::{Amount, Change, OneWay, ParameterError};
use braid_packet_io::{Offloads, PacketSocket, Port};
use braid_types::Time;

use crate::buffers::Buffers;
use crate::clock::Clock;
use crate::control::{LinkStatus, PortStatus, WayStatus};
use crate::error::LinkError;
use crate::setup::LinkSetup;

/// How many frames are read before others have their turn.
const READ: usize = 256;
/// How many are sent with one call.
const SEND: usize = 64;

/// Two ports, and a way in each direction between them.
pub(super) struct Link {
    sides: [Side; 2],
    /// From the first port to the second, and back.
    ways: [Way; 2],
    /// What is sent next, kept for its memory.
    batch: Vec<Vec<u8>>,
}

struct Side {
    device: String,
    port: Port,
    status: PortStatus,
}

struct Way {
    model: OneWay<Vec<u8>>,
    undeliverable: Amount,
}

impl Link {
    pub(super) fn open(setup: &LinkSetup, slots: u32, seed: u64) -> Result<Self, LinkError> {
        let [first, second] = [0, 1].map(|side| Side::open(&setup.devices[side], slots));
        for (device, way) in setup.devices.iter().zip(&setup.ways) {
            way.check().map_err(|source| LinkError::Parameters { device: device.clone(), source })?;
        }
        let way = |side: usize| Way {
            model: OneWay::new(setup.ways[side], seed.wrapping_add(side as u64)),
            undeliverable: Amount::default(),
        };
        Ok(Self { sides: [first?, second?], ways: [way(0), way(1)], batch: Vec::with_capacity(SEND) })
    }

    pub(super) fn ports(&self) -> impl Iterator<Item = &PacketSocket> {
        self.sides.iter().map(|side| &side.port.socket)
    }

    /// When something is due.
    pub(super) fn next_event(&self) -> Option<Time> {
        self.ways.iter().filter_map(|way| way.model.next_event()).min()
    }

    /// The least time that a frame takes.
    pub(super) fn shortest(&self) -> Duration {
        let shortest = self.ways.iter().map(|way| way.model.parameters().shortest());
        shortest.min().unwrap_or_default()
    }

    /// Takes what has arrived at a side, to send it through the other.
    pub(super) fn receive(&mut self, side: usize, buffers: &mut Buffers) {
        let (Some(side), Some(way)) = (self.sides.get_mut(side), self.ways.get_mut(side)) else { return };
        let clock = Clock::read();
        let mut count = 0;
        while let Some(frame) = side.port.ring.receive() {
            if frame.is_cut() {
                side.status.too_long += 1;
                continue;
            }
            let (seconds, nanos) = frame.stamp();
            way.model.offer(clock.arrival(seconds, nanos), frame.length(), || {
                let mut buffer = buffers.take();
                frame.copy_to(&mut buffer);
                buffer
            });
            count += 1;
            if count == READ {
                return;
            }
        }
        if count == 0 {
            side.port.socket.clear_error();
        }
    }

    /// Sends what is due by `now`, in both directions.
    pub(super) fn send(&mut self, now: Time, buffers: &mut Buffers) {
        for (way, side) in self.ways.iter_mut().zip(self.sides.iter().rev()) {
            loop {
                self.batch.extend(std::iter::from_fn(|| way.model.poll_arrival(now)).take(SEND));
                if self.batch.is_empty() {
                    break;
                }
                let frames: Vec<_> = self.batch.iter().map(|frame| [IoSlice::new(frame)]).collect();
                braid_packet_io::send(&side.port.socket, &frames, |place| {
                    way.refuse(self.batch.get(place).map_or(0, Vec::len));
                });
                self.batch.drain(..).for_each(|frame| buffers.give_back(frame));
            }
        }
    }

    /// Changes both ways or, with an error, none.
    pub(super) fn change(&mut self, now: Time, changes: &[Change; 2]) -> Result<(), ParameterError> {
        for (way, change) in self.ways.iter().zip(changes) {
            way.model.parameters().with(change).check()?;
        }
        self.ways.iter_mut().zip(changes).try_for_each(|(way, change)| way.model.change(now, change))
    }

    pub(super) fn status(&mut self) -> LinkStatus {
        LinkStatus {
            devices: [0, 1].map(|side| self.sides[side].device.clone()),
            ports: [0, 1].map(|side| self.sides[side].status()),
            ways: [0, 1].map(|side| self.ways[side].status()),
        }
    }
}

impl Side {
    fn open(device: &str, slots: u32) -> Result<Self, LinkError> {
        let port = Port::open(device, slots, Offloads::None);
        let port =
            port.map_err(|(what, source)| LinkError::Device { device: device.to_owned(), what, source })?;
        Ok(Self { device: device.to_owned(), port, status: PortStatus::default() })
    }

    fn status(&mut self) -> PortStatus {
        // The kernel counts from the last question.
        self.status.missed += u64::from(self.port.socket.missed().unwrap_or(0));
        self.status
    }
}

impl Way {
    fn refuse(&mut self, bytes: usize) {
        self.undeliverable.frames += 1;
        self.undeliverable.bytes += bytes as u64;
    }

    fn status(&self) -> WayStatus {
        WayStatus {
            parameters: *self.model.parameters(),
            counters: self.model.counters(),
            inside: self.model.gauge(),
            undeliverable: self.undeliverable,
        }
    }
}
