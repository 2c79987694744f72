//! One emulated link: two packet sockets and the link model in each direction.

use std::io::IoSlice;
use std::time::Duration;

use braid_link_model::{Amount, Change, OneWay, ParameterError};
use braid_packet_io::{Offloads, PacketSocket, Port};
use braid_types::Time;

use crate::buffers::Buffers;
use crate::clock::Clock;
use crate::control::{DirectionStatus, LinkStatus, PortStatus};
use crate::error::LinkError;
use crate::setup::LinkSetup;

/// Frames read from one port in a turn.
const MAX_READ_BATCH: usize = 256;
/// Frames sent with one system call.
const MAX_SEND_BATCH: usize = 64;

/// Two ports and the link model in each direction between them.
pub(super) struct Link {
    sides: [Side; 2],
    /// The direction from the first port to the second, and the reverse direction.
    directions: [Direction; 2],
    /// The frames sent next; kept for its memory.
    batch: Vec<Vec<u8>>,
}

struct Side {
    device: String,
    port: Port,
    status: PortStatus,
}

struct Direction {
    model: OneWay<Vec<u8>>,
    undeliverable: Amount,
}

impl Link {
    pub(super) fn open(setup: &LinkSetup, slots: u32, seed: u64) -> Result<Self, LinkError> {
        let [first, second] = [0, 1].map(|side| Side::open(&setup.devices[side], slots));
        for (device, direction) in setup.devices.iter().zip(&setup.directions) {
            direction.check().map_err(|source| LinkError::Parameters { device: device.clone(), source })?;
        }
        let direction = |side: usize| Direction {
            model: OneWay::new(setup.directions[side], seed.wrapping_add(side as u64)),
            undeliverable: Amount::default(),
        };
        Ok(Self {
            sides: [first?, second?],
            directions: [direction(0), direction(1)],
            batch: Vec::with_capacity(MAX_SEND_BATCH),
        })
    }

    pub(super) fn ports(&self) -> impl Iterator<Item = &PacketSocket> {
        self.sides.iter().map(|side| &side.port.socket)
    }

    /// The time of the next due frame.
    pub(super) fn next_event(&self) -> Option<Time> {
        self.directions.iter().filter_map(|direction| direction.model.next_event()).min()
    }

    /// The shortest delay of both directions.
    pub(super) fn shortest(&self) -> Duration {
        let shortest = self.directions.iter().map(|direction| direction.model.parameters().shortest());
        shortest.min().unwrap_or_default()
    }

    /// Receives the frames of one side into the model of its direction.
    pub(super) fn receive(&mut self, side: usize, buffers: &mut Buffers) {
        let (Some(side), Some(direction)) = (self.sides.get_mut(side), self.directions.get_mut(side)) else {
            return;
        };
        let clock = Clock::read();
        let mut count = 0;
        while let Some(frame) = side.port.ring.receive() {
            if frame.is_cut() {
                side.status.too_long += 1;
                continue;
            }
            let (seconds, nanos) = frame.stamp();
            direction.model.offer(clock.arrival(seconds, nanos), frame.length(), || {
                let mut buffer = buffers.take();
                frame.copy_to(&mut buffer);
                buffer
            });
            count += 1;
            if count == MAX_READ_BATCH {
                return;
            }
        }
        if count == 0 {
            side.port.socket.clear_error();
        }
    }

    /// Sends the frames due by `now` in both directions.
    pub(super) fn send(&mut self, now: Time, buffers: &mut Buffers) {
        for (direction, side) in self.directions.iter_mut().zip(self.sides.iter().rev()) {
            loop {
                self.batch
                    .extend(std::iter::from_fn(|| direction.model.poll_arrival(now)).take(MAX_SEND_BATCH));
                if self.batch.is_empty() {
                    break;
                }
                let frames: Vec<_> = self.batch.iter().map(|frame| [IoSlice::new(frame)]).collect();
                braid_packet_io::send(&side.port.socket, &frames, |place| {
                    direction.refuse(self.batch.get(place).map_or(0, Vec::len));
                });
                self.batch.drain(..).for_each(|frame| buffers.give_back(frame));
            }
        }
    }

    /// Changes both directions; with an error, neither.
    pub(super) fn change(&mut self, now: Time, changes: &[Change; 2]) -> Result<(), ParameterError> {
        for (direction, change) in self.directions.iter().zip(changes) {
            direction.model.parameters().with(change).check()?;
        }
        self.directions
            .iter_mut()
            .zip(changes)
            .try_for_each(|(direction, change)| direction.model.change(now, change))
    }

    pub(super) fn status(&mut self) -> LinkStatus {
        LinkStatus {
            devices: [0, 1].map(|side| self.sides[side].device.clone()),
            ports: [0, 1].map(|side| self.sides[side].status()),
            directions: [0, 1].map(|side| self.directions[side].status()),
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
        // The kernel's counters restart at each query.
        self.status.missed += u64::from(self.port.socket.missed().unwrap_or(0));
        self.status
    }
}

impl Direction {
    fn refuse(&mut self, bytes: usize) {
        self.undeliverable.frames += 1;
        self.undeliverable.bytes += bytes as u64;
    }

    fn status(&self) -> DirectionStatus {
        DirectionStatus {
            parameters: *self.model.parameters(),
            counters: self.model.counters(),
            inside: self.model.gauge(),
            undeliverable: self.undeliverable,
        }
    }
}
