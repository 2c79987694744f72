//! The speed of links that nobody has configured or measured: of their ports, and of the queues before them.

use std::collections::BTreeMap;

use braid_topology::{Link, Topology};
use braid_types::{BitsPerSec, SwitchPort};

use super::Measurement;
use crate::event::ShapedPort;

/// The speed of a link whose switches report none.
const UNKNOWN: BitsPerSec = BitsPerSec(10_000_000_000);

/// The rates to which switches shape what leaves their ports.
#[derive(Debug, Default)]
pub(super) struct Shaping(BTreeMap<SwitchPort, BitsPerSec>);

impl Shaping {
    /// The lowest of both ports' speeds and the rate to which the sender is shaped.
    pub(super) fn speed(&self, topology: &Topology, link: &Link) -> BitsPerSec {
        let ports = [link.src, link.dst].into_iter().filter_map(|at| topology.port(at));
        let speeds = ports.map(|port| port.speed).filter(|speed| speed.0 > 0);
        speeds.chain(self.0.get(&link.src).copied()).min().unwrap_or(UNKNOWN)
    }
}

impl Measurement {
    /// These ports are shaped, and no others. What was measured under another rate does not count any more.
    pub(crate) fn handle_shaped_ports(&mut self, ports: &[ShapedPort]) {
        let rates = ports.iter().map(|shaped| (shaped.port, shaped.rate)).collect();
        let before = std::mem::replace(&mut self.shaping.0, rates);
        for (link, meter) in &mut self.links {
            if before.get(&link.src) != self.shaping.0.get(&link.src) {
                meter.capacity = None;
            }
        }
        self.revision = None;
    }
}
