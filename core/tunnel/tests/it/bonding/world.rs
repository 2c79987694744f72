//! One flow between two bonds over two lines of the link model, in virtual time.

use std::time::Duration;

use braid_link_model::{OneWay, Parameters};
use braid_tunnel::{Bond, BondCounters, UplinkSettings};
use braid_types::Time;

const STEP: Duration = Duration::from_micros(200);
/// Headers of IP, UDP and Ethernet, and what a session adds.
const AROUND: usize = 20 + 8 + 14 + 32;
/// What a line carries in one datagram.
const ROOM: usize = 1_500 - 20 - 8 - 32;
const PACKET: usize = 1_360;
const PAYLOAD: usize = PACKET - 40;

/// Both ends of a flow that sends as much as it may.
pub(crate) trait Transport {
    /// The number of the protocol above IP.
    const PROTOCOL: u8;

    fn new() -> Self;

    /// The number of the next packet that may be sent now.
    fn poll(&mut self, now: Time) -> Option<u32>;

    /// A packet has come; the number before which nothing is missing.
    fn receive(&mut self, number: u32) -> u32;

    /// The packet is acknowledged, and all before `expected`.
    fn acknowledge(&mut self, now: Time, number: u32, expected: u32);

    /// The packets that the application has.
    fn delivered(&self) -> u32;
}

pub(crate) struct World<T> {
    now: Time,
    /// Of the sending side and the receiving side.
    bonds: [Bond; 2],
    /// By the side that sends, each line.
    links: [Vec<OneWay<Vec<u8>>>; 2],
    pub(crate) flow: T,
}

impl<T: Transport> World<T> {
    /// A flow over these lines, alike in both directions.
    pub(crate) fn new(lines: &[Parameters], seed: u64) -> Self {
        let links = |side: u64| {
            let seeds = (0..).map(move |line| seed * 100 + side * 10 + line);
            lines.iter().zip(seeds).map(|(line, seed)| OneWay::new(*line, seed)).collect()
        };
        let bond = |side| {
            let mut bond = Bond::new(Time::ZERO, seed + side);
            (0..lines.len())
                .for_each(|line| bond.set_path(Time::ZERO, line as u8, true, UplinkSettings::default()));
            bond
        };
        Self { now: Time::ZERO, bonds: [bond(0), bond(1)], links: [links(0), links(1)], flow: T::new() }
    }

    /// What the application gets in `duration`, in Mbit/s.
    pub(crate) fn goodput(&mut self, duration: Duration) -> f64 {
        let (before, end) = (self.flow.delivered(), self.now + duration);
        while self.now < end {
            self.step();
        }
        f64::from(self.flow.delivered() - before) * PAYLOAD as f64 * 8e-6 / duration.as_secs_f64()
    }

    /// Of the sending side and the receiving side.
    pub(crate) fn counters(&self) -> [BondCounters; 2] {
        self.bonds.each_ref().map(Bond::counters)
    }

    fn step(&mut self) {
        self.now = self.now + STEP;
        while let Some(number) = self.flow.poll(self.now) {
            self.send(0, &packet(T::PROTOCOL, number, None));
        }
        for side in [0, 1] {
            self.arrive(side);
        }
    }

    /// What arrives at a side, and what is due there.
    fn arrive(&mut self, side: usize) {
        for line in 0..self.links[side].len() {
            while let Some(content) = self.links[1 - side][line].poll_arrival(self.now) {
                self.bonds[side].handle_content(self.now, line as u8, content);
            }
        }
        let mut turns = 0;
        while self.bonds[side].poll_timeout(self.now).is_some_and(|due| due <= self.now) {
            self.bonds[side].handle_timeout(self.now);
            turns += 1;
            assert!(turns < 100, "it is always due");
        }
        while let Some(packet) = self.bonds[side].poll_packet() {
            self.receive(side, &packet);
        }
        self.collect(side);
    }

    fn receive(&mut self, side: usize, packet: &[u8]) {
        let number = word(packet, 24);
        if side == 0 {
            self.flow.acknowledge(self.now, number, word(packet, 28));
        } else {
            let expected = self.flow.receive(number);
            self.send(1, &self::packet(T::PROTOCOL, number, Some(expected)));
        }
    }

    fn send(&mut self, side: usize, packet: &[u8]) {
        self.bonds[side].send_ip(self.now, packet, |_| Some(ROOM));
        self.collect(side);
    }

    fn collect(&mut self, side: usize) {
        while let Some((line, content)) = self.bonds[side].poll_content() {
            let size = content.len() + AROUND;
            self.links[side][usize::from(line)].offer(self.now, size as u32, || content.to_vec());
        }
    }
}

/// A packet, or an acknowledgement of it and of all before `expected`.
fn packet(protocol: u8, number: u32, expected: Option<u32>) -> Vec<u8> {
    let length = if expected.is_some() { 40 } else { PACKET };
    let mut packet = vec![0; length];
    packet[0] = 0x45;
    packet[2..4].copy_from_slice(&(length as u16).to_be_bytes());
    (packet[9], packet[15], packet[19]) = (protocol, 1, 2);
    packet[24..28].copy_from_slice(&number.to_be_bytes());
    packet[28..32].copy_from_slice(&expected.unwrap_or(0).to_be_bytes());
    (packet[32], packet[33]) = (0x50, 0x10);
    packet
}

fn word(packet: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(packet[at..at + 4].try_into().unwrap())
}
