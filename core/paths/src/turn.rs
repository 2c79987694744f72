use braid_types::{DatapathId, PortNo};

/// Settles ties by a hash of the two ends of a search.
///
/// Of several sets that are equally good a search finds the one over the switches that it looks at first. Were those the
/// same for all pairs of switches, a fabric's sets would meet on a few of its links.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn(u64);

impl Turn {
    /// The same for the same two switches, in every graph.
    pub(crate) const fn between(ingress: DatapathId, egress: DatapathId) -> Self {
        Self(mix(mix(ingress.0) ^ egress.0))
    }

    /// Where, in the order of paths that are as long, the one comes that begins at this port.
    pub(crate) const fn rank(self, port: PortNo) -> u64 {
        mix(self.0 ^ port.0 as u64)
    }

    /// A number below `count` for each switch.
    pub(crate) const fn draw(self, switch: DatapathId, count: usize) -> usize {
        // Lemire (2019): without a division. Counts are those of ports.
        (((mix(self.0 ^ switch.0) >> 32) * count as u64) >> 32) as usize
    }

    /// What switches' numbers are multiplied by so that their order is another.
    pub(crate) const fn factor(self) -> u32 {
        self.0 as u32 | 1
    }
}

/// Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators, 2014.
const fn mix(bits: u64) -> u64 {
    let bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
