//! A switch dies: its connection closes, its neighbours report their ports, and the controller repairs.

use std::time::{Duration, Instant};

use braid_types::DatapathId;
use serde::Serialize;

use crate::layout::Layout;
use crate::network::Network;

/// The repair is over when nothing has changed for so long.
const QUIET: Duration = Duration::from_secs(5);

/// What a switch's death caused.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Death {
    /// The switch.
    pub dpid: DatapathId,
    /// Directed links that went with it.
    pub directed_links: usize,
    /// Changes of rules and groups in other switches.
    pub changes: u64,
    /// Seconds from the death to the last of them; `None` if there was none.
    pub last_change_after: Option<f64>,
}

/// The death while it is watched.
pub(super) struct Watch {
    dpid: DatapathId,
    directed_links: usize,
    start: Instant,
    changes: u64,
    last: Option<Instant>,
}

impl Watch {
    /// Lets the switch die.
    pub(super) fn kill(network: &mut Network, index: usize) -> Self {
        let (dpid, start) = (network.switches[index].dpid, Instant::now());
        let links = network.kill(index);
        Self { dpid, directed_links: 2 * links, start, changes: 0, last: None }
    }

    pub(super) fn note(&mut self, changes: u64) {
        if changes > 0 {
            self.changes += changes;
            self.last = Some(Instant::now());
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.last.unwrap_or(self.start).elapsed() > QUIET
    }

    pub(super) fn result(&self) -> Death {
        let last_change_after = self.last.map(|last| (last - self.start).as_secs_f64());
        let Self { dpid, directed_links, changes, .. } = *self;
        Death { dpid, directed_links, changes, last_change_after }
    }
}

/// The switch to lose: in the middle of the network, without hosts and if possible without neighbours that have hosts.
pub(super) fn victim(layout: &Layout) -> usize {
    let mut distance = vec![2; layout.dpids.len()];
    layout.hosts.iter().for_each(|(index, _)| distance[*index] = 0);
    for ((a, _), (b, _)) in &layout.links {
        for (near, far) in [(*a, *b), (*b, *a)] {
            if distance[near] == 0 && distance[far] > 0 {
                distance[far] = 1;
            }
        }
    }
    (0..distance.len()).max_by_key(|index| distance[*index]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use braid_topology::generate::{Links, fat_tree};

    use super::*;

    #[test]
    fn a_core_switch_of_a_fat_tree_dies() {
        let layout = Layout::from(&fat_tree(4, Links::default()).expect("a size that there is"));
        let victim = victim(&layout);
        let with_hosts: Vec<_> = layout.hosts.iter().map(|(index, _)| *index).collect();
        for ((a, _), (b, _)) in &layout.links {
            assert!(*a != victim || !with_hosts.contains(b));
            assert!(*b != victim || !with_hosts.contains(a));
        }
        assert!(!with_hosts.contains(&victim));
    }
}
