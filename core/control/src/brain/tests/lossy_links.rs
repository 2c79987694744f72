//! Links that lose frames without going down: found, avoided, left, and taken back.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_packet::TcpFlags;
use braid_types::{PortNo, SwitchPort};

use super::facts::{connect_all, known, settle, take_all, take_over};
use super::mptcp::{THREE_WAYS, add, open, ways};
use super::network::{Network, dpid, ip, mac, port, tuple};
use crate::event::Event;
use crate::notice::Notice;
use crate::port_counters::PortCounters;
use crate::settings::{HealthSettings, Settings};
use crate::threat::Threat;
use crate::view::LinkView;

/// Frames a second on every link.
const RATE: f64 = 1_000.0;

/// Busy links whose switches count frames.
struct Lossy {
    network: Network,
    links: Vec<(u64, u64)>,
    /// Frames a second on every link.
    rate: f64,
    /// The share of frames that is lost after they left a port.
    losses: BTreeMap<SwitchPort, f64>,
    /// Frames that were sent from each port, and that arrived from there.
    counts: BTreeMap<SwitchPort, (f64, f64)>,
}

impl Lossy {
    fn start(links: &[(u64, u64)]) -> Self {
        Self::start_with(Settings::default(), links)
    }

    fn start_with(settings: Settings, links: &[(u64, u64)]) -> Self {
        let network = Network::start_with(settings, links, &[1, 9]);
        let (losses, counts) = Default::default();
        let mut lossy = Self { network, links: links.to_vec(), rate: RATE, losses, counts };
        lossy.run(Duration::from_secs(5));
        lossy
    }

    fn lose(&mut self, a: u64, b: u64, share: f64) {
        self.losses.insert(port(a, b), share);
    }

    fn run(&mut self, duration: Duration) {
        let end = self.network.now + duration;
        while self.network.now < end {
            self.network.advance(Duration::from_millis(100));
            self.carry();
            self.tell_counters();
        }
    }

    fn carry(&mut self) {
        let ends = self.links.iter().flat_map(|(a, b)| [port(*a, *b), port(*b, *a)]);
        for from in ends {
            let tested = self.network.tested.remove(&from).unwrap_or_default();
            let frames = self.rate / 10.0 + tested as f64;
            let count = self.counts.entry(from).or_default();
            count.0 += frames;
            count.1 += frames * (1.0 - self.losses.get(&from).unwrap_or(&0.0));
        }
    }

    fn tell_counters(&mut self) {
        for asked in std::mem::take(&mut self.network.asked) {
            let pairs = self.links.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]);
            let ports = pairs.filter(|(a, _)| dpid(*a) == asked).map(|(a, b)| {
                let of = |at| self.counts.get(&at).copied().unwrap_or_default();
                PortCounters {
                    port: PortNo(b as u32),
                    packets_out: Some(of(port(a, b)).0 as u64),
                    packets_in: Some(of(port(b, a)).1 as u64),
                    ..PortCounters::default()
                }
            });
            let ports = ports.collect();
            self.network.tell(&Event::PortCounters { dpid: asked, ports });
        }
    }

    fn link(&self, a: u64, b: u64) -> LinkView {
        self.network.brain.links().into_iter().find(|link| link.src == port(a, b)).expect("such a link")
    }

    fn alarms(&self) -> Vec<SwitchPort> {
        let threats = self.network.notices.iter().filter_map(|notice| match notice {
            Notice::Alarm { threat: Threat::LossyLink { to, .. }, .. } => Some(*to),
            _ => None,
        });
        threats.collect()
    }
}

#[test]
fn a_running_stream_leaves_a_lossy_link_and_new_ones_avoid_it() {
    let mut lossy = Lossy::start(&THREE_WAYS);
    let [first, second] = [1000, 1001].map(|port| tuple(ip(1), port, ip(9)));
    open(&mut lossy.network, first);
    assert_eq!(ways(&mut lossy.network, first)[0], [1, 9]);
    lossy.lose(9, 1, 0.01);
    lossy.run(Duration::from_secs(5));
    assert_eq!(lossy.alarms(), [port(1, 9)]);
    let link = lossy.link(9, 1).degraded.expect("degraded");
    assert!((0.005..0.02).contains(&link.evidence.share()), "{link:?}");
    assert_eq!(lossy.link(1, 9).degraded, None, "only one direction loses frames");
    assert_eq!(ways(&mut lossy.network, first), [[1, 2, 9]; 2]);
    add(&mut lossy.network, second);
    assert_eq!(ways(&mut lossy.network, second), [[1, 3, 4, 9]; 2].map(|way| way.to_vec()));
}

#[test]
fn default_paths_avoid_a_lossy_link() {
    let mut lossy = Lossy::start(&THREE_WAYS);
    let stream = tuple(ip(1), 1000, ip(9));
    lossy.network.send_tcp(1, 9, stream, TcpFlags::SYN, &[]);
    assert_eq!(lossy.network.way_to(9), [1, 9]);
    lossy.lose(1, 9, 0.02);
    lossy.run(Duration::from_secs(5));
    assert_eq!(ways(&mut lossy.network, stream), [[1, 2, 9]; 2]);
}

#[test]
fn where_all_paths_are_lossy_the_least_lossy_one_is_used() {
    let mut lossy = Lossy::start(&THREE_WAYS);
    let stream = tuple(ip(1), 1000, ip(9));
    open(&mut lossy.network, stream);
    for (a, b, share) in [(1, 9, 0.2), (1, 2, 0.02), (3, 4, 0.5)] {
        lossy.lose(a, b, share);
    }
    lossy.run(Duration::from_secs(8));
    assert_eq!(lossy.alarms().len(), 3);
    assert_eq!(ways(&mut lossy.network, stream), [[1, 2, 9]; 2]);
}

#[test]
fn broadcast_avoids_a_lossy_link_while_another_leads_there() {
    let mut lossy = Lossy::start(&THREE_WAYS);
    let mut frame = vec![0xff; 6];
    frame.extend(mac(1).octets());
    frame.extend([0x88, 0xb5, 1, 2, 3, 4]);
    lossy.network.send(1, &frame);
    assert_eq!(lossy.network.way_to(9), [1, 9]);
    lossy.lose(9, 1, 0.05);
    lossy.run(Duration::from_secs(8));
    lossy.network.send(1, &frame);
    assert_eq!(lossy.network.way_to(9), [1, 2, 9]);
    lossy.lose(2, 9, 0.05);
    lossy.lose(3, 4, 0.05);
    lossy.run(Duration::from_secs(8));
    lossy.network.send(1, &frame);
    assert_eq!(lossy.network.way_to(9), [1, 9], "one lossy link is as good as another");
}

#[test]
fn bypasses_avoid_a_lossy_link_while_another_leads_there() {
    let mut lossy = Lossy::start(&THREE_WAYS);
    let stream = tuple(ip(1), 1000, ip(9));
    open(&mut lossy.network, stream);
    assert_eq!(ways(&mut lossy.network, stream)[0], [1, 9]);
    lossy.lose(1, 2, 0.05);
    lossy.run(Duration::from_secs(8));
    lossy.network.kill();
    lossy.network.unplug(1, 9);
    assert_eq!(ways(&mut lossy.network, stream)[0], [1, 3, 4, 9]);
}

#[test]
fn a_lossy_link_without_alternative_stays_in_use() {
    let mut lossy = Lossy::start(&[(1, 2), (2, 9)]);
    let stream = tuple(ip(1), 1000, ip(9));
    open(&mut lossy.network, stream);
    lossy.lose(1, 2, 0.3);
    lossy.run(Duration::from_secs(8));
    assert_eq!(lossy.alarms(), [port(2, 1)]);
    assert_eq!(ways(&mut lossy.network, stream), [[1, 2, 9]; 2]);
    let later = tuple(ip(1), 1001, ip(9));
    add(&mut lossy.network, later);
    assert_eq!(ways(&mut lossy.network, later), [[1, 2, 9]; 2]);
}

#[test]
fn a_link_that_was_left_is_tested_and_taken_back_once_it_is_clean() {
    let mut lossy = Lossy::start(&THREE_WAYS);
    let streams = [1000, 1001, 1002].map(|port| tuple(ip(1), port, ip(9)));
    open(&mut lossy.network, streams[0]);
    streams[1..].iter().for_each(|stream| add(&mut lossy.network, *stream));
    lossy.lose(1, 9, 0.05);
    lossy.run(Duration::from_secs(5));
    lossy.rate = 0.0;
    lossy.run(Duration::from_secs(120));
    assert!(lossy.link(1, 9).degraded.is_some(), "test frames are lost");
    assert!(lossy.link(1, 3).degraded.is_none());
    lossy.lose(1, 9, 0.0);
    lossy.run(Duration::from_secs(40));
    assert_eq!(lossy.link(1, 9).degraded, None);
    let recovered = |notice: &&Notice| matches!(notice, Notice::LinkRecovered { .. });
    assert_eq!(lossy.network.notices.iter().filter(recovered).count(), 1);
    let mut paths: Vec<_> = streams.iter().map(|stream| ways(&mut lossy.network, *stream)[0].len()).collect();
    paths.sort_unstable();
    assert_eq!(paths, [2, 3, 4], "streams spread over the link again");
}

#[test]
fn a_degraded_link_that_went_down_is_degraded_when_it_returns() {
    let mut lossy = Lossy::start(&THREE_WAYS);
    lossy.lose(1, 9, 0.05);
    lossy.run(Duration::from_secs(5));
    lossy.network.unplug(1, 9);
    lossy.run(Duration::from_secs(5));
    lossy.network.plug(1, 9);
    lossy.run(Duration::from_secs(5));
    assert!(lossy.link(1, 9).degraded.is_some());
    let stream = tuple(ip(1), 1000, ip(9));
    open(&mut lossy.network, stream);
    assert_eq!(ways(&mut lossy.network, stream), [[1, 2, 9]; 2]);
}

#[test]
fn nothing_is_looked_for_where_that_is_switched_off() {
    let health = HealthSettings { enabled: false, ..HealthSettings::default() };
    let mut lossy = Lossy::start_with(Settings { health, ..Settings::default() }, &THREE_WAYS);
    lossy.lose(1, 9, 0.5);
    lossy.run(Duration::from_secs(20));
    assert!(lossy.alarms().is_empty());
}

#[test]
fn another_controller_that_was_told_avoids_a_lossy_link_from_the_start_and_for_as_long() {
    let mut lossy = Lossy::start(&THREE_WAYS);
    lossy.network.brain.publish_facts(true);
    lossy.lose(9, 1, 0.01);
    lossy.run(Duration::from_secs(5));
    let before = lossy.link(9, 1).degraded.expect("degraded");
    let facts = known(take_all(&mut lossy.network));
    take_over(&mut lossy.network, facts);
    connect_all(&mut lossy.network);
    settle(&mut lossy.network);
    let after = lossy.link(9, 1).degraded.expect("degraded");
    assert_eq!((after.evidence, after.hold), (before.evidence, before.hold));
    assert_eq!(lossy.alarms(), [port(1, 9)], "it says so");
    let stream = tuple(ip(1), 1000, ip(9));
    open(&mut lossy.network, stream);
    assert_eq!(ways(&mut lossy.network, stream), [[1, 2, 9]; 2]);
}
