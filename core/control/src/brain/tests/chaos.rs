//! Random failures of links, switches and the controller. After each, all reachable hosts are reached.
//!
//! The network itself checks for loops.
//!
//! `BRAID_CHAOS_SEEDS=FIRST..END cargo test -p braid-control chaos` runs other seeds.

#![expect(clippy::disallowed_methods, reason = "seeds of more runs are given by the environment")]

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;

use braid_packet::TcpFlags;
use braid_types::SplitMix64;

use super::network::{Network, ip, tuple};
use super::records::TransferCopy;
use crate::settings::Settings;

/// Some of the networks are sparse, with bridges and rings, and others dense.
const SEEDS: Range<u64> = 0..24;
const ECMP_SEEDS: Range<u64> = 24..36;
const FAULTS: usize = 12;

type LinkEnds = (u64, u64);

/// A spanning tree of the switches, and more links.
fn links(random: &mut SplitMix64) -> Vec<LinkEnds> {
    let switches = 4 + random.below(6) as u64;
    let mut links: BTreeSet<LinkEnds> =
        (2..=switches).map(|it| (1 + random.below(it as usize - 1) as u64, it)).collect();
    for _ in 0..random.below(2 * switches as usize) {
        let (a, b) = (1 + random.below(switches as usize) as u64, 1 + random.below(switches as usize) as u64);
        if a != b {
            links.insert((a.min(b), a.max(b)));
        }
    }
    links.into_iter().collect()
}

struct Chaos {
    seed: u64,
    random: SplitMix64,
    network: Network,
    links: Vec<LinkEnds>,
    hosts: Vec<u64>,
    /// Broken links, and whether their switches have noticed.
    broken: BTreeMap<LinkEnds, bool>,
    log: Vec<String>,
    streams: u16,
}

impl Chaos {
    fn start(seed: u64, has_ecmp: bool) -> Self {
        let mut random = SplitMix64::new(seed);
        let links = links(&mut random);
        let last = links.iter().map(|(_, b)| *b).max().unwrap_or(1);
        let hosts = vec![1, 1 + last / 2, last];
        let groups = if random.below(4) == 0 { 0 } else { u32::MAX };
        let network = match has_ecmp {
            true => Network::start_with_ecmp(groups > 0, Settings::default(), &links, &hosts),
            false => Network::start_on(groups, Settings::default(), &links, &hosts),
        };
        let log = vec![format!("{links:?}, hosts at {hosts:?}, {groups} groups")];
        let mut chaos =
            Self { seed, random, network, links, hosts, broken: BTreeMap::new(), log, streams: 0 };
        chaos.open_streams();
        chaos
    }

    fn open_streams(&mut self) {
        let pairs = self.pairs();
        for (from, to) in pairs {
            self.streams += 1;
            let stream = tuple(ip(from), 1000 + self.streams, ip(to));
            self.network.send_tcp(from, to, stream, TcpFlags::SYN, &[30, 4, 1, 1]);
        }
    }

    fn pairs(&self) -> Vec<LinkEnds> {
        let all = self.hosts.iter().flat_map(|from| self.hosts.iter().map(move |to| (*from, *to)));
        all.filter(|(from, to)| from != to).collect()
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        all.get(self.random.below(all.len())).copied()
    }

    fn fault(&mut self) {
        let link = self.one_of(&self.links.clone()).expect("a link");
        let switch = self.one_of(&self.network.numbers()).expect("a switch");
        let what = match (self.random.below(8), self.broken.get(&link).copied()) {
            (0..=4, Some(_)) => {
                self.broken.remove(&link);
                self.network.plug(link.0, link.1);
                format!("{link:?} is mended")
            }
            (0..=3, None) => {
                self.broken.insert(link, true);
                self.network.unplug(link.0, link.1);
                format!("{link:?} is cut")
            }
            (4, None) => {
                self.broken.insert(link, false);
                self.network.cut_silently(link.0, link.1);
                format!("{link:?} swallows everything")
            }
            (5, _) => {
                self.network.break_channel(switch);
                self.network.connect(switch);
                format!("the channel of {switch} breaks")
            }
            (6, _) => {
                self.network.disconnect(switch);
                self.network.connect(switch);
                format!("{switch} loses its rules")
            }
            _ => {
                self.network.kill();
                self.network.start_again();
                self.network.numbers().into_iter().for_each(|number| self.network.connect(number));
                "the controller starts again".to_owned()
            }
        };
        self.log.push(what);
    }

    /// Whether two hosts are joined by links that work.
    fn joined(&self, from: u64, to: u64) -> bool {
        let mut reached = BTreeSet::from([from]);
        loop {
            let whole = self.links.iter().filter(|link| !self.broken.contains_key(link));
            let ends = whole.flat_map(|(a, b)| [(*a, *b), (*b, *a)]);
            let new: Vec<_> = ends.filter(|(a, b)| reached.contains(a) && !reached.contains(b)).collect();
            if new.is_empty() {
                return reached.contains(&to);
            }
            reached.extend(new.into_iter().map(|(_, b)| b));
        }
    }

    /// Checks that every connected pair of hosts communicates, with new and old streams and without one.
    fn check(&mut self) {
        for (from, to) in self.pairs().into_iter().filter(|(from, to)| from < to) {
            if !self.joined(from, to) {
                continue;
            }
            // Several flows without a path of their own, which may take several paths.
            let plain = (7..11).map(|port| tuple(ip(from), port, ip(to)));
            for stream in plain.chain([tuple(ip(from), 1000 + self.streams, ip(to))]) {
                for (from, to, stream) in [(from, to, stream), (to, from, stream.reversed())] {
                    self.network.send_tcp(from, to, stream, TcpFlags::ACK, &[]);
                    let arrived = self.network.received(to).len();
                    assert_eq!(arrived, 1, "{from} to {to}");
                }
            }
        }
    }

    /// Checks that a detectable link failure is bypassed before the controller reacts.
    fn check_failover(&mut self) {
        let whole: Vec<_> =
            self.links.iter().filter(|link| !self.broken.contains_key(link)).copied().collect();
        let Some(link) = self.one_of(&whole).filter(|_| self.broken.is_empty() && self.is_protected()) else {
            return;
        };
        self.broken.insert(link, true);
        self.log.push(format!("{link:?} is cut without a controller"));
        self.network.kill();
        self.network.unplug(link.0, link.1);
        self.check();
        self.network.plug(link.0, link.1);
        self.broken.clear();
        self.network.start_again();
        self.network.numbers().into_iter().for_each(|number| self.network.connect(number));
    }

    fn is_protected(&self) -> bool {
        !self.log.first().is_some_and(|first| first.ends_with(" 0 groups"))
    }
}

/// Prints the seed and log of a failed run.
impl Drop for Chaos {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {}: {:#?}", self.seed, self.log);
        }
    }
}

/// The seeds of a run.
fn seeds(usual: Range<u64>) -> Range<u64> {
    let seeds = std::env::var("BRAID_CHAOS_SEEDS").ok();
    let range = seeds.as_deref().and_then(|range| {
        let (first, end) = range.split_once("..")?;
        Some(first.parse().ok()?..end.parse().ok()?)
    });
    range.unwrap_or(usual)
}

fn run(seed: u64, has_ecmp: bool) {
    let (mut chaos, mut copy) = (Chaos::start(seed, has_ecmp), TransferCopy::default());
    for _ in 0..FAULTS {
        chaos.fault();
        // Silent links are detected, and reconciliation has ended.
        chaos.network.advance(Duration::from_secs(16));
        chaos.hosts.clone().into_iter().for_each(|host| chaos.network.announce(host));
        chaos.check();
        // The new routes get their bypasses.
        chaos.network.advance(Duration::from_secs(1));
        chaos.check_failover();
        copy.update(&mut chaos.network.brain);
        assert_eq!(copy.views(), chaos.network.brain.transfers());
        chaos.network.check_leases();
        chaos.network.advance(Duration::from_secs(16));
        chaos.open_streams();
    }
}

#[test]
fn after_any_faults_all_that_are_joined_reach_each_other() {
    seeds(SEEDS).for_each(|seed| run(seed, false));
}

#[test]
fn so_they_do_over_equal_cost_paths() {
    seeds(ECMP_SEEDS).for_each(|seed| run(seed, true));
}
