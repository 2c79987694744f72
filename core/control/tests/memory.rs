//! Memory of ended streams: the brain uses no more after many streams than after some.

mod counting;
mod two_switches;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use braid_control::pipeline::Rule;
use braid_control::{Brain, Command, Commands, Cookie, Event, Settings};
use braid_packet::{TcpFlags, build};
use braid_types::{DatapathId, FiveTuple, Time};
use counting::in_use;
use two_switches::{HOST_PORT, MP_CAPABLE, follows, mac, switch, v4};

/// The most streams at a time. Beyond this, the oldest end.
const STREAMS: usize = 100;

/// Two switches joined by four links, a host with two addresses at each.
struct Network {
    brain: Brain,
    now: Time,
    /// The cookies of streams, in the order in which they opened.
    streams: VecDeque<(DatapathId, Cookie)>,
    opened: u32,
}

impl Network {
    fn start() -> Self {
        let settings = Settings { punt_rate: 0, new_streams: 0, ..Settings::default() };
        let (brain, now) = (Brain::new(settings), Time::from_millis(1));
        let mut network = Self { brain, now, streams: VecDeque::new(), opened: 0 };
        (1..=2).for_each(|dpid| network.tell(&Event::SwitchUp(switch(dpid))));
        network.pass(Duration::from_secs(3));
        for (from, to) in [(1, 2), (2, 1)] {
            for ip in [v4, v6] {
                let tuple = FiveTuple { src: ip(from), dst: ip(to), src_port: 7, dst_port: 7 };
                network.send(
                    from,
                    &build::tcp(tuple).macs(mac(from), mac(to)).flags(TcpFlags::ACK).frame(),
                    2,
                );
            }
        }
        network
    }

    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now = self.now + Duration::from_millis(100);
            self.tell(&Event::Tick);
        }
    }

    fn send(&mut self, from: u8, frame: &[u8], table: u8) {
        let (dpid, data) = (DatapathId(u64::from(from)), Cow::Borrowed(frame));
        self.tell(&Event::PacketIn { dpid, in_port: HOST_PORT, table, data });
    }

    /// Handles an event. Discovery frames cross the links, barriers are answered, and excess streams end.
    fn tell(&mut self, event: &Event<'_>) {
        let mut commands = Commands::default();
        self.brain.handle(self.now, event, &mut commands);
        for command in &commands {
            if let Some(event) = follows(command, &commands) {
                self.tell(&event);
            }
            if let Command::Add { dpid, rule: rule @ Rule::Stream { reverse: false, .. } } = command {
                self.streams.push_back((*dpid, Cookie::new(rule.purpose())));
            }
        }
        while self.streams.len() > STREAMS {
            let Some((dpid, cookie)) = self.streams.pop_front() else { return };
            self.tell(&Event::FlowRemoved { dpid, cookie, bytes: 74 });
        }
    }

    /// Opens connections from either host, over both protocols in turn, with a tick for every 20.
    fn open(&mut self, count: u32) {
        for _ in 0..count {
            self.opened += 1;
            let (from, ip) = (1 + (self.opened % 2) as u8, if self.opened % 4 < 2 { v4 } else { v6 });
            let (src_port, dst_port) = (1_024 + (self.opened % 60_000) as u16, 5_201);
            let tuple = FiveTuple { src: ip(from), dst: ip(3 - from), src_port, dst_port };
            let syn = build::tcp(tuple).macs(mac(from), mac(3 - from)).flags(TcpFlags::SYN);
            self.send(from, &syn.options(&MP_CAPABLE).frame(), 0);
            if self.opened.is_multiple_of(20) {
                self.pass(Duration::from_millis(100));
            }
        }
    }
}

fn v6(host: u8) -> IpAddr {
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, u16::from(host)))
}

#[test]
fn streams_that_have_ended_take_no_memory() {
    let mut network = Network::start();
    // Fills the tables to their needed capacity, and the time windows.
    network.open(10_000);
    let before = in_use();
    network.open(10_000);
    let (sizes, grown) = (network.brain.sizes(), in_use() - before);
    assert_eq!((sizes.streams, sizes.transfers), (STREAMS as u64, STREAMS as u64), "each has opened");
    assert!(grown < 4 << 10, "{grown} bytes more after 10,000 streams");
}
