//! Rebalancing: streams leave links that cross traffic fills.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_types::{BitsPerSec, DatapathId, FiveTuple, PortNo, SwitchPort};

use super::mptcp::{THREE_WAYS, open_with_key, ways};
use super::network::{Network, dpid, ip, port, tuple};
use crate::cookie::{Cookie, Purpose};
use crate::event::Event;
use crate::notice::Notice;
use crate::port_counters::PortCounters;
use crate::{RebalanceSettings, Settings};

const CAPACITY: u64 = 100_000_000;

/// Streams from host 1 to host 9 that use what cross traffic leaves, as TCP does.
struct Busy {
    network: Network,
    /// The rate of cross traffic, by the sending port of each link.
    others: BTreeMap<SwitchPort, u64>,
    streams: Vec<FiveTuple>,
    /// The most that each stream sends.
    most: u64,
    sent: BTreeMap<FiveTuple, u64>,
    counters: BTreeMap<SwitchPort, u64>,
}

impl Busy {
    fn start(rebalancing: RebalanceSettings, streams: u16) -> Self {
        let ports = THREE_WAYS.iter().flat_map(|(a, b)| [port(*a, *b), port(*b, *a)]);
        let capacities = ports.map(|port| (port, BitsPerSec(CAPACITY))).collect();
        let settings = Settings { rebalancing, capacities, ..Settings::default() };
        let mut network = Network::start_with(settings, &THREE_WAYS, &[1, 9]);
        let streams: Vec<_> = (0..streams).map(|number| tuple(ip(1), 1000 + number, ip(9))).collect();
        for (number, stream) in streams.iter().enumerate() {
            open_with_key(&mut network, *stream, number as u64 + 1);
        }
        let (others, sent, counters) = Default::default();
        Self { network, others, streams, most: u64::MAX, sent, counters }
    }

    fn others_send(&mut self, a: u64, b: u64, rate: u64) {
        self.others.insert(port(a, b), rate);
    }

    fn run(&mut self, seconds: u64) {
        for _ in 0..seconds {
            self.send_for_a_second();
            self.tell_counters();
            self.network.advance(Duration::from_secs(1));
        }
    }

    fn send_for_a_second(&mut self) {
        let ways: Vec<_> = self.streams.clone().into_iter().map(|stream| self.links_of(stream)).collect();
        for (at, rate) in &self.others {
            *self.counters.entry(*at).or_default() += rate / 8;
        }
        for (stream, links) in self.streams.iter().zip(&ways) {
            let share = |at: &SwitchPort| {
                let left = CAPACITY - self.others.get(at).copied().unwrap_or_default();
                left / ways.iter().filter(|way| way.contains(at)).count() as u64
            };
            let bytes = links.iter().map(share).min().unwrap_or_default().min(self.most) / 8;
            *self.sent.entry(*stream).or_default() += bytes;
            links.iter().for_each(|at| *self.counters.entry(*at).or_default() += bytes);
        }
    }

    /// The ports by which a stream's data leaves the switches of its path.
    fn links_of(&mut self, stream: FiveTuple) -> Vec<SwitchPort> {
        let [there, _] = ways(&mut self.network, stream);
        there.windows(2).map(|pair| port(pair[0], pair[1])).collect()
    }

    fn tell_counters(&mut self) {
        let mut of_switches: BTreeMap<DatapathId, Vec<PortCounters>> = BTreeMap::new();
        for (a, b) in THREE_WAYS.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]) {
            let bytes = self.counters.get(&port(a, b)).copied().unwrap_or_default();
            let counters =
                PortCounters { port: PortNo(b as u32), bytes_out: Some(bytes), ..PortCounters::default() };
            of_switches.entry(dpid(a)).or_default().push(counters);
        }
        for (dpid, ports) in of_switches {
            self.network.tell(&Event::PortCounters { dpid, ports });
        }
        let transfers = self.network.brain.transfers();
        let streams = transfers.iter().flat_map(|transfer| &transfer.streams);
        let rules = streams.filter_map(|stream| {
            let cookie = Cookie::new(Purpose::Stream { id: stream.id, reverse: false });
            let tuple = self.streams.iter().find(|tuple| tuple.src_port == stream.src_port)?;
            Some((cookie, *self.sent.get(tuple)?))
        });
        let rules = rules.collect();
        self.network.tell(&Event::StreamCounters { dpid: dpid(1), rules });
    }

    /// The number of links of each stream's path.
    fn hops(&mut self) -> Vec<usize> {
        self.streams.clone().into_iter().map(|stream| self.links_of(stream).len()).collect()
    }

    fn moves(&self) -> usize {
        self.network.notices.iter().filter(|it| matches!(it, Notice::StreamRebalanced { .. })).count()
    }
}

#[test]
fn a_stream_leaves_a_link_that_others_fill_and_stays_where_it_has_room() {
    let mut busy = Busy::start(RebalanceSettings::default(), 1);
    busy.others_send(1, 9, 80_000_000);
    assert_eq!(busy.hops(), [1]);
    busy.run(40);
    assert_eq!((busy.hops(), busy.moves()), (vec![2], 1));
    busy.run(200);
    assert_eq!(busy.moves(), 1, "alone on a full link there is nothing to gain");
}

#[test]
fn streams_that_share_a_link_spread_one_by_one_over_what_is_free() {
    let mut busy = Busy::start(RebalanceSettings::default(), 3);
    assert_eq!(busy.hops(), [1, 1, 1]);
    busy.run(60);
    let mut hops = busy.hops();
    hops.sort_unstable();
    assert_eq!((hops, busy.moves()), (vec![1, 2, 3], 2));
}

#[test]
fn nothing_moves_where_no_other_path_has_room() {
    let mut busy = Busy::start(RebalanceSettings::default(), 2);
    for (a, b, rate) in [(1, 9, 60_000_000), (1, 2, 80_000_000), (1, 3, 80_000_000)] {
        busy.others_send(a, b, rate);
    }
    busy.run(120);
    assert_eq!((busy.hops(), busy.moves()), (vec![1, 1], 0));
}

#[test]
fn short_bursts_move_nothing() {
    let mut busy = Busy::start(RebalanceSettings::default(), 1);
    busy.most = 4_000_000;
    for _ in 0..10 {
        busy.others_send(1, 9, 96_000_000);
        busy.run(3);
        busy.others_send(1, 9, 0);
        busy.run(10);
    }
    assert_eq!(busy.moves(), 0);
    busy.others_send(1, 9, 96_000_000);
    busy.run(20);
    assert_eq!(busy.moves(), 1, "but one that lasts does");
}

#[test]
fn moves_are_few_and_a_limit_of_none_is_kept() {
    let limited = RebalanceSettings { moves_per_minute: 1, ..RebalanceSettings::default() };
    let mut busy = Busy::start(limited, 3);
    busy.run(55);
    assert_eq!(busy.moves(), 1);
    busy.run(30);
    assert_eq!(busy.moves(), 2);
    let mut still = Busy::start(RebalanceSettings { moves_per_minute: 0, ..RebalanceSettings::default() }, 3);
    still.run(60);
    assert_eq!((still.hops(), still.moves()), (vec![1, 1, 1], 0));
}

#[test]
fn what_is_said_names_the_link_and_the_reason() {
    let mut busy = Busy::start(RebalanceSettings::default(), 1);
    busy.others_send(1, 9, 80_000_000);
    busy.run(40);
    let mut told = busy.network.notices.iter().filter(|it| matches!(it, Notice::StreamRebalanced { .. }));
    let text = told.next().expect("a move").to_string();
    assert!(
        text.starts_with("stream 1 leaves the link at 0000000000000001:9, which is full with "),
        "{text}"
    );
    assert!(text.ends_with("another path has room for 100.0"), "{text}");
}
