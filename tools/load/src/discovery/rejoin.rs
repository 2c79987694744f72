//! Switches whose connections end and come back while their ports stay up: one after the other, as in an upgrade, or a pod
//! at once.

use std::time::Instant;

use serde::Serialize;

use crate::layout::Layout;
use crate::network::Network;

/// What became of switches that left and joined again.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Rejoin {
    /// Switches that left.
    pub switches: usize,
    /// Those of them that had joined again at the end.
    pub joined: usize,
    /// Connections that were opened for that.
    pub attempts: u64,
    /// Connections that the controller closed meanwhile.
    pub closures: u64,
    /// Directed links that the controller had to lose at most, because one of their switches was away.
    pub expected_losses: u64,
    /// Directed links that it lost.
    pub lost_links: u64,
    /// Seconds for which a lost link was unknown, on average; `None` if none was lost.
    pub unknown_for: Option<f64>,
    /// Seconds from the first that left to the last.
    pub seconds: f64,
    /// Seconds from then until all had joined; `None` if not within the limit.
    pub joined_after: Option<f64>,
    /// Seconds from then until the map was complete; `None` if not within the limit.
    pub complete_after: Option<f64>,
}

impl Rejoin {
    /// What should not have happened, each as a failure.
    pub(super) fn failures(&self, name: &str) -> impl Iterator<Item = String> {
        let lasting =
            self.complete_after.is_none().then(|| format!("{name}: the map was not complete again"));
        let counts = [
            ((self.switches - self.joined) as u64, "switches did not join again"),
            (self.lost_links.saturating_sub(self.expected_losses), "links of switches that stayed were lost"),
            (self.closures, "connections of switches were closed"),
        ];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        lasting.into_iter().chain(counts.map(move |(count, what)| format!("{name}: {count} {what}")))
    }
}

/// Switches that leave and join again.
pub(super) struct Leavers {
    switches: Vec<usize>,
    /// How many leave in a second.
    rate: f64,
    start: Instant,
    left_at: Instant,
    noted_at: Instant,
    /// How long directed links were unknown, all together.
    unknown: f64,
    attempts_before: u64,
    closures_before: u64,
    seen: Rejoin,
}

impl Leavers {
    /// From now on, `rate` of these leave in a second.
    pub(super) fn new(network: &Network, switches: Vec<usize>, rate: f64) -> Self {
        let now = Instant::now();
        Self {
            switches,
            rate,
            start: now,
            left_at: now,
            noted_at: now,
            unknown: 0.0,
            attempts_before: network.reconnections,
            closures_before: network.closures,
            seen: Rejoin::default(),
        }
    }

    /// Has those leave that are due.
    pub(super) fn leave(&mut self, network: &mut Network) {
        let due = ((self.start.elapsed().as_secs_f64() * self.rate) as usize).saturating_add(1);
        while self.seen.switches < due.min(self.switches.len()) {
            self.seen.expected_losses += network.disconnect(self.switches[self.seen.switches]) as u64;
            self.seen.switches += 1;
            self.left_at = Instant::now();
        }
    }

    /// So many directed links are unknown now.
    pub(super) fn note(&mut self, network: &Network, unknown: u64) {
        self.unknown += unknown as f64 * self.noted_at.elapsed().as_secs_f64();
        self.noted_at = Instant::now();
        self.seen.joined = self.switches.iter().filter(|index| network.switches[**index].is_up).count();
        if self.are_back() {
            self.seen.joined_after.get_or_insert(self.left_at.elapsed().as_secs_f64());
        }
    }

    /// Whether all have left and joined again.
    pub(super) fn are_back(&self) -> bool {
        self.seen.switches == self.switches.len() && self.seen.joined == self.switches.len()
    }

    pub(super) fn left_at(&self) -> Instant {
        self.left_at
    }

    pub(super) fn result(&self, network: &Network, lost_links: u64, is_complete: bool) -> Rejoin {
        Rejoin {
            attempts: network.reconnections - self.attempts_before,
            closures: network.closures - self.closures_before,
            lost_links,
            unknown_for: (lost_links > 0).then(|| self.unknown / lost_links as f64),
            seconds: (self.left_at - self.start).as_secs_f64(),
            complete_after: is_complete.then(|| self.left_at.elapsed().as_secs_f64()),
            ..self.seen
        }
    }
}

/// The switches of the first group that has hosts: of a FatTree, a pod.
pub(super) fn pod(layout: &Layout) -> Vec<usize> {
    let group = layout.hosts.iter().find_map(|(index, _)| layout.groups[*index].as_ref());
    let is_in = |index: &usize| group.is_some() && layout.groups[*index].as_ref() == group;
    (0..layout.groups.len()).filter(is_in).collect()
}

#[cfg(test)]
mod tests {
    use braid_topology::generate::{Links, fat_tree};

    use super::*;

    #[test]
    fn a_pod_of_a_fat_tree_has_half_of_its_switches_with_hosts() {
        let layout = Layout::from(&fat_tree(4, Links::default()).expect("a size that there is"));
        let pod = pod(&layout);
        let has_hosts = |index: &&usize| layout.hosts.iter().any(|(at, _)| at == *index);
        assert_eq!((pod.len(), pod.iter().filter(has_hosts).count()), (4, 2));
    }

    #[test]
    fn what_is_lost_beyond_the_links_of_those_that_left_is_a_failure() {
        let fine = Rejoin {
            switches: 4,
            joined: 4,
            attempts: 5,
            expected_losses: 16,
            lost_links: 15,
            complete_after: Some(1.0),
            ..Rejoin::default()
        };
        assert_eq!(fine.failures("pod").count(), 0);
        let wrong = Rejoin { joined: 3, lost_links: 18, closures: 1, complete_after: None, ..fine };
        let expected = [
            "pod: the map was not complete again",
            "pod: 1 switches did not join again",
            "pod: 2 links of switches that stayed were lost",
            "pod: 1 connections of switches were closed",
        ];
        assert_eq!(wrong.failures("pod").collect::<Vec<_>>(), expected);
    }
}
