//! Consistency of path changes under traffic with slow switches: no packet is lost, duplicated or looped.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use braid_packet::{Frame, TcpFlags, build};
use braid_types::FiveTuple;

use super::mptcp::{add, open};
use super::network::{Network, dpid, ip, mac, tuple};
use crate::brain::{Brain, Dispatch, context, stream_deps};
use crate::command::Commands;
use crate::event::Event;
use crate::fabric::Replaces;
use crate::routing::RoutingChange;
use crate::settings::Settings;
use crate::streams::PlaceOn;

/// Four edge-disjoint paths from 1 to 9.
const FOUR_WAYS: [(u64, u64); 10] =
    [(1, 9), (1, 2), (2, 9), (1, 3), (3, 4), (4, 9), (1, 5), (5, 6), (6, 7), (7, 9)];

/// Marsaglia's xorshift, which gives the same numbers on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }
}

struct Run {
    network: Network,
    random: Random,
    sent: BTreeMap<u32, u64>,
    received: BTreeSet<u32>,
}

impl Run {
    fn start(seed: u64) -> Self {
        let settings = Settings {
            label_linger: Duration::ZERO,
            install_timeout: Duration::from_millis(60),
            path_suspend_time: Duration::from_millis(200),
            counters_interval: Duration::from_millis(30),
            ..Settings::default()
        };
        let mut network = Network::start_with(settings, &FOUR_WAYS, &[1, 9]);
        open(&mut network, tuple(ip(1), 1000, ip(9)));
        (1001..1003).for_each(|port| add(&mut network, tuple(ip(1), port, ip(9))));
        network.send_tcp(1, 9, tuple(ip(1), 7, ip(9)), TcpFlags::ACK, &[]);
        network.send_tcp(9, 1, tuple(ip(9), 7, ip(1)), TcpFlags::ACK, &[]);
        network.take_received(1);
        network.take_received(9);
        network.late = Some(BTreeMap::new());
        Self { network, random: Random(seed), sent: BTreeMap::new(), received: BTreeSet::new() }
    }

    /// Sends a packet in either direction, of a stream or not.
    fn send(&mut self) {
        let number = self.sent.len() as u32;
        let there = tuple(ip(1), [7, 1000, 1001, 1002][self.random.below(4)], ip(9));
        let (from, to, tuple): (u64, u64, FiveTuple) =
            if self.random.below(2) == 0 { (1, 9, there) } else { (9, 1, there.reversed()) };
        let frame =
            build::tcp(tuple).macs(mac(from), mac(to)).flags(TcpFlags::ACK).numbers(number, 0).frame();
        self.sent.insert(number, to);
        self.network.inject(from, &frame);
    }

    /// Changes the path of a stream, or of other traffic.
    fn change(&mut self) {
        let (choice, now) = (self.random.below(usize::MAX), self.network.now);
        let mut commands = Commands::default();
        change(&mut self.network.brain, now, choice, &mut commands);
        self.network.carry_out_all(&commands);
    }

    /// A millisecond with events in random order.
    fn step(&mut self, new_packets: bool) {
        for _ in 0..self.random.below(16) {
            let choice = self.random.below(usize::MAX);
            match self.random.below(5) {
                0 if new_packets => self.send(),
                1 | 2 => self.network.fly(choice),
                _ => self.network.act_late(choice),
            }
        }
        self.network.now = self.network.now + Duration::from_millis(1);
        self.network.apply_late();
        if self.random.below(4) == 0 {
            (0..self.network.flying() * 16).for_each(|choice| self.network.fly(choice));
        }
        self.network.tell(&Event::Tick);
        self.check_arrivals();
    }

    fn check_arrivals(&mut self) {
        for host in [1, 9] {
            for (frame, way) in self.network.take_received(host) {
                // Hosts receive discovery frames too.
                let Some(number) = Frame::parse(&frame).expect("a frame").tcp().map(|tcp| tcp.seq) else {
                    continue;
                };
                assert_eq!(self.sent.get(&number), Some(&host), "packet {number} is at the wrong host");
                assert!(self.received.insert(number), "packet {number} arrives twice");
                let distinct: BTreeSet<_> = way.iter().collect();
                assert_eq!(distinct.len(), way.len(), "packet {number} passes a switch twice: {way:?}");
            }
        }
    }

    fn finish(mut self) -> (usize, usize) {
        while !self.network.is_quiet() {
            self.step(false);
        }
        let lost: Vec<_> = self.sent.keys().filter(|number| !self.received.contains(number)).collect();
        assert!(lost.is_empty(), "lost: {lost:?}");
        (self.sent.len(), self.network.changes.len())
    }
}

fn change(brain: &mut Brain, now: braid_types::Time, choice: usize, out: &mut Commands) {
    let ids: Vec<_> = brain.transfers.streams().map(|stream| stream.id).collect();
    let paths = brain.paths.disjoint(dpid(1), dpid(9));
    let Some(path) = paths.paths.get(choice / 8 % paths.paths.len().max(1)) else { return };
    let path = path.clone();
    let dispatch = Dispatch { brain, now, out };
    match ids.get(choice % 4) {
        Some(id) => {
            let (deps, mut batch) = (&mut stream_deps!(dispatch), Commands::default());
            if let Some(hops) = dispatch.brain.streams.place(deps, *id, PlaceOn::Path(&path), &mut batch) {
                dispatch.brain.streams.submit(deps, &hops, batch, Replaces::Working);
            }
        }
        None => {
            dispatch.brain.paths.suspend(path, now + Duration::from_millis(50));
            let cx = &mut context!(dispatch);
            dispatch.brain.routing.handle_change(cx, &mut dispatch.brain.fabric, RoutingChange::Graph);
        }
    }
}

#[test]
fn a_thousand_changes_of_paths_lose_and_double_nothing() {
    for seed in [0x9e37_79b9, 0x7f4a_7c15, 0xf39c_c060, 0x5ced_c834] {
        let mut run = Run::start(seed);
        for _ in 0..250 {
            run.change();
            for _ in 0..run.random.below(40) {
                run.step(true);
            }
        }
        let (sent, changes) = run.finish();
        assert!(
            sent > 4_000 && changes > 500,
            "{sent} packets, {changes} changes of rules: too little to tell"
        );
    }
}
