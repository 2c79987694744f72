use braid_types::{MacAddr, PortNo};

use crate::packet::Packet;

/// Paths that are counted at once, in each direction.
const MOST: usize = 64;

/// How many TCP segments and other packets have left, or come in, by a port with a destination address: of paths that are probed.
#[derive(Debug, Default)]
pub(crate) struct Tallies {
    // Sorted by when they were last probed, those of late last.
    counts: Vec<Count>,
}

#[derive(Clone, Copy, Debug)]
struct Count {
    port: PortNo,
    label: [u8; 6],
    segments: u32,
}

impl Tallies {
    /// Counts a packet, if its path is probed.
    pub(crate) fn count(&mut self, port: PortNo, packet: &Packet) {
        if self.counts.is_empty() {
            return;
        }
        let label = packet.data.first_chunk();
        let count = self.counts.iter_mut().find(|it| it.port == port && Some(&it.label) == label);
        if let Some(count) = count {
            count.segments = count.segments.wrapping_add(packet.segments());
        }
    }

    /// How many there were before a probe that passes now; they are counted from the first probe on.
    pub(crate) fn probed(&mut self, port: PortNo, label: MacAddr) -> u32 {
        let label = label.octets();
        let place = self.counts.iter().position(|it| it.port == port && it.label == label);
        let count = match place {
            Some(place) => self.counts.remove(place),
            None => {
                if self.counts.len() >= MOST {
                    self.counts.remove(0);
                }
                Count { port, label, segments: 0 }
            }
        };
        self.counts.push(count);
        count.segments
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Offload;

    fn packet(label: u8, length: usize, gso_size: u16) -> Packet {
        let offload =
            Offload { gso_type: u8::from(gso_size > 0), gso_size, header_len: 54, ..Offload::default() };
        Packet { data: [&[label; 6][..], &vec![0; length - 6]].concat(), offload }
    }

    #[test]
    fn segments_of_paths_that_are_probed_are_counted() {
        let (mut tallies, label) = (Tallies::default(), MacAddr::new([7; 6]));
        tallies.count(PortNo(1), &packet(7, 100, 0));
        assert_eq!(tallies.probed(PortNo(1), label), 0);
        tallies.count(PortNo(1), &packet(7, 100, 0));
        tallies.count(PortNo(1), &packet(7, 54 + 2_001, 1_000));
        tallies.count(PortNo(2), &packet(7, 100, 0));
        tallies.count(PortNo(1), &packet(8, 100, 0));
        assert_eq!(tallies.probed(PortNo(1), label), 4);
        (0..100).for_each(|port| _ = tallies.probed(PortNo(9), MacAddr::new([port; 6])));
        assert_eq!((tallies.counts.len(), tallies.probed(PortNo(1), label)), (MOST, 0));
    }
}
