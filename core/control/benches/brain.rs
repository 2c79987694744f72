//! Throughput of packet-ins of new TCP SYNs, from bytes to bytes, on one core.
//!
//! The baseline is a responder that decides nothing: it decodes the packet-in and sends the packet back.

#![expect(clippy::disallowed_methods, reason = "benchmarks take the time")]

mod fat_tree;
#[path = "../tests/two_switches/mod.rs"]
mod two_switches;

use std::borrow::Cow;
use std::hint::black_box;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use braid_control::{Brain, Commands, Encoder, Event, Settings};
use braid_openflow::{
    Action, BufferId, Bytes, Cookie, Match, Message, OxmField, PacketIn, PacketInReason, PacketOut, TableId,
    Xid,
};
use braid_packet::arp::Arp;
use braid_packet::{TcpFlags, build};
use braid_types::{DatapathId, FiveTuple, PortNo, Time};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use two_switches::{HOST_PORT, MP_CAPABLE, follows, mac, switch, v4};

/// The number of streams after which a new brain is used.
const BATCH: u64 = 50_000;

/// Two switches joined by four links, with a host at each.
struct Network {
    brain: Brain,
    now: Time,
    out: Commands,
    encoder: Encoder,
    bytes: Vec<u8>,
}

impl Network {
    fn start() -> Self {
        // The benchmark exceeds the default limits of a host port.
        let settings = Settings { punt_rate: 0, new_streams: 0, ..Settings::default() };
        let encoder = Encoder::new(settings.stream_idle);
        let (brain, now) = (Brain::new(settings), Time::from_millis(1));
        let mut network = Self { brain, now, out: Commands::default(), encoder, bytes: Vec::new() };
        (1..=2).for_each(|dpid| network.tell(&Event::SwitchUp(switch(dpid))));
        for _ in 0..20 {
            network.now = network.now + Duration::from_millis(100);
            network.tell(&Event::Tick);
        }
        (1..=2).for_each(|host| network.announce(host));
        // The first transfers install the labels.
        (0..4).for_each(|port| network.tell(&packet_in(&syn(port, &MP_CAPABLE))));
        network
    }

    fn announce(&mut self, host: u8) {
        let IpAddr::V4(address) = v4(host) else { return };
        let data = Cow::Owned(Arp::request(mac(host), address, address).frame());
        let dpid = DatapathId(u64::from(host));
        self.tell(&Event::PacketIn { dpid, in_port: HOST_PORT, table: 0, data });
    }

    /// Handles an event. Discovery frames cross the links, and barriers are answered.
    fn tell(&mut self, event: &Event<'_>) {
        let mut commands = Commands::default();
        self.brain.handle(self.now, event, &mut commands);
        for command in &commands {
            if let Some(event) = follows(command, &commands) {
                self.tell(&event);
            }
        }
    }

    /// Handles a packet-in as it came from the socket; the reply is in `bytes`.
    fn answer(&mut self, message: &[u8]) {
        let Ok((_, Message::PacketIn(packet))) = Message::decode(message) else { return };
        let Some(in_port) = packet.in_port() else { return };
        let data = Cow::Borrowed(packet.data.0);
        let event = Event::PacketIn { dpid: DatapathId(1), in_port, table: packet.table_id.0, data };
        self.brain.handle(self.now, &event, &mut self.out);
        self.bytes.clear();
        for command in &self.out {
            let _ = self.encoder.encode(command, &self.out, Xid(1), &mut self.bytes);
        }
        self.out.clear();
        black_box(&self.bytes);
    }
}

fn syn(number: u64, options: &[u8]) -> Vec<u8> {
    let (src_port, dst_port) = ((number % 60_000) as u16 + 1_024, (number / 60_000) as u16 + 5_201);
    let tuple = FiveTuple { src: v4(1), dst: v4(2), src_port, dst_port };
    build::tcp(tuple).macs(mac(1), mac(2)).flags(TcpFlags::SYN).options(options).frame()
}

fn packet_in(frame: &[u8]) -> Event<'_> {
    Event::PacketIn { dpid: DatapathId(1), in_port: HOST_PORT, table: 0, data: Cow::Borrowed(frame) }
}

fn message(frame: &[u8]) -> Vec<u8> {
    let fields = [OxmField::InPort(HOST_PORT)];
    let packet = PacketIn {
        buffer_id: BufferId::NO_BUFFER,
        total_len: frame.len() as u16,
        reason: PacketInReason::Action,
        table_id: TableId(0),
        cookie: Cookie(0),
        matching: Match::new(&fields),
        data: Bytes(frame),
    };
    let mut bytes = Vec::new();
    let _ = Message::PacketIn(packet).encode(Xid(0), &mut bytes);
    bytes
}

/// The time for `count` different SYNs.
fn time(count: u64, options: &[u8]) -> Duration {
    let messages: Vec<_> =
        (100..100 + BATCH.min(count)).map(|number| message(&syn(number, options))).collect();
    let (mut left, mut total) = (count, Duration::ZERO);
    while left > 0 {
        let mut network = Network::start();
        let batch = &messages[..left.min(BATCH) as usize];
        let start = Instant::now();
        batch.iter().for_each(|message| network.answer(message));
        total += start.elapsed();
        left -= batch.len() as u64;
    }
    total
}

fn respond(message: &[u8], bytes: &mut Vec<u8>) {
    let Ok((_, Message::PacketIn(packet))) = Message::decode(message) else { return };
    bytes.clear();
    let _ = Message::PacketOut(PacketOut::new(packet.data.0, &[Action::output(PortNo::TABLE)]))
        .encode(Xid(1), bytes);
    black_box(bytes);
}

fn benches(c: &mut Criterion) {
    let mut group = c.benchmark_group("packet_in");
    group.throughput(Throughput::Elements(1));
    let (message, mut bytes) = (message(&syn(0, &MP_CAPABLE)), Vec::new());
    group.bench_function("responder_that_decides_nothing", |b| {
        b.iter(|| respond(black_box(&message), &mut bytes));
    });
    group.bench_function("plain_syn", |b| b.iter_custom(|count| time(count, &[])));
    group.bench_function("mp_capable_syn", |b| b.iter_custom(|count| time(count, &MP_CAPABLE)));
    let mut network = None;
    group.bench_function("mp_capable_syn_and_end_in_a_fat_tree", |b| {
        let network = network.get_or_insert_with(fat_tree::Network::start);
        b.iter(|| network.connect());
    });
    group.finish();
}

criterion_group!(brain, benches);
criterion_main!(brain);
