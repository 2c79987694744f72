//! Connections that hosts open at a rate, whether or not the controller keeps up.

use std::time::Instant;

use serde::Serialize;

use crate::layout::Placed;
use crate::network::Network;
use crate::packets::{ADMIT, MP_CAPABLE, packet_in, syn};
use crate::switch::Received;

/// Packets that a switch keeps for the controller; it drops what comes beyond (Open vSwitch 3.1, `connmgr.c`).
const QUEUE: usize = 100;
/// Streams at a time; of more, the oldest end.
const STREAMS: usize = 20_000;
/// First packets that hosts send before the network is served again, so that it is served often.
const AT_ONCE: u64 = 2_000;
/// Source ports of a host.
const PORTS: u64 = 32_768;

/// What came of connections.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Connections {
    /// First packets that hosts sent.
    pub offered: u64,
    /// Those that found no room in the queue of their switch.
    pub dropped: u64,
    /// Packets that the controller sent on.
    pub answered: u64,
    /// Rules that it installed.
    pub rules: u64,
    /// For how long hosts sent.
    pub seconds: f64,
}

impl Connections {
    /// How many times more was offered than the controller answered.
    pub fn overload(&self) -> f64 {
        self.offered as f64 / self.answered.max(1) as f64
    }
}

/// Hosts that open MPTCP connections with each other.
pub(super) struct Openers<'a> {
    hosts: &'a [Placed],
    /// Connections a second.
    rate: f64,
    start: Instant,
    /// The number of connections that were opened before.
    before: u64,
    /// Bytes of packets that a switch keeps.
    queue: usize,
    seen: Connections,
}

impl<'a> Openers<'a> {
    /// From now on, `rate` connections a second; the first `before` have been there.
    pub(super) fn new(hosts: &'a [Placed], rate: f64, before: u64) -> Self {
        let queue = QUEUE * first_packet(hosts, 0).len();
        Self { hosts, rate, start: Instant::now(), before, queue, seen: Connections::default() }
    }

    /// Has hosts send the first packets that are due.
    pub(super) fn open(&mut self, network: &mut Network) {
        let due = (self.start.elapsed().as_secs_f64() * self.rate) as u64;
        let most = self.sent() + AT_ONCE;
        while self.seen.offered < due && self.sent() < most {
            let number = self.before + self.seen.offered;
            let (index, _) = self.hosts[(number % self.hosts.len() as u64) as usize];
            if network.waiting_at(index) < self.queue {
                network.send(index, &first_packet(self.hosts, number));
            } else {
                self.seen.dropped += 1;
            }
            self.seen.offered += 1;
        }
        network.end_streams(STREAMS);
    }

    /// Those that found room.
    const fn sent(&self) -> u64 {
        self.seen.offered - self.seen.dropped
    }

    pub(super) fn note(&mut self, received: &Received) {
        self.seen.answered += received.packets;
        self.seen.rules += received.rules.iter().sum::<u64>();
    }

    /// What has come of it by now.
    pub(super) fn result(&self) -> Connections {
        Connections { seconds: self.start.elapsed().as_secs_f64(), ..self.seen }
    }
}

/// The first packet of a connection that differs from those of other numbers. Every host opens them with the host half the
/// network away, so that each is the partner of one.
fn first_packet(hosts: &[Placed], number: u64) -> Vec<u8> {
    let count = hosts.len() as u64;
    let (from, round) = (number % count, number / count);
    let to = (from + count / 2) % count;
    let [(_, from), (_, to)] = [from, to].map(|place| hosts[place as usize]);
    let ports = (1_024 + (round % PORTS) as u16, 5_201 + (round / PORTS) as u16);
    packet_in(from.port, ADMIT, &syn(from, to, ports, &MP_CAPABLE))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use braid_topology::generate::{Links, fat_tree};

    use super::*;
    use crate::Layout;

    #[test]
    fn every_connection_is_another_one() {
        let layout = Layout::from(&fat_tree(4, Links::default()).expect("a size that there is"));
        let packets: BTreeSet<_> = (0..1_000).map(|number| first_packet(&layout.hosts, number)).collect();
        assert_eq!(packets.len(), 1_000);
    }
}
