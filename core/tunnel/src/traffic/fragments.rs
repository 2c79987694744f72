//! Fragments belong to the flow of their packet, though only the first one shows its ports: they keep their place in it.

use std::collections::VecDeque;

use super::{Class, Flow};

/// Packets whose first fragments are remembered; the others follow at once.
const MAX_PACKETS: usize = 64;

/// What a fragment says of its packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fragment {
    /// The packet's number, of its sender.
    pub(super) identification: u32,
    /// Those of both ends, in the first one.
    pub(super) ports: Option<[u16; 2]>,
}

/// The ports of the packets whose first fragments came last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fragments(VecDeque<(Flow, u32, [u16; 2])>);

impl Fragments {
    /// Completes the flow of a packet if it is a fragment; one that comes before the first one stays without ports.
    pub(crate) fn complete(&mut self, class: &mut Class) {
        let Some(Fragment { identification, ports }) = class.fragment else { return };
        if let Some(ports) = ports {
            if self.0.len() >= MAX_PACKETS {
                self.0.pop_front();
            }
            self.0.push_back((class.flow, identification, ports));
        }
        let mut known = self.0.iter().rev();
        let known = known.find(|(flow, number, _)| (flow, number) == (&class.flow, &identification));
        known.into_iter().for_each(|(_, _, ports)| class.flow.ports = *ports);
    }
}
