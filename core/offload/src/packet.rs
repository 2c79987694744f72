//! Packets with their offload state: pending checksums and segmentation (virtio-net header).

use braid_types::MacAddr;

use crate::checksum::complete;

/// A frame with its offload state.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Packet {
    /// From the destination address on, without the frame check sequence.
    pub data: Vec<u8>,
    /// The work that remains to be done.
    pub offload: Offload,
}

/// The remaining work for a frame: `struct virtio_net_hdr` of `linux/virtio_net.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Offload {
    /// Whether the checksum at `csum_start + csum_offset` holds only the sum of the pseudo-header.
    pub needs_checksum: bool,
    /// Whether the checksum was found valid.
    pub checksum_valid: bool,
    /// The segmentation of a GSO packet: `VIRTIO_NET_HDR_GSO_*`; 0 for other packets.
    pub gso_type: u8,
    /// The length of each part's headers.
    pub header_len: u16,
    /// The bytes of payload in each part.
    pub gso_size: u16,
    /// The start of the data under the checksum.
    pub csum_start: u16,
    /// The position of the checksum from there.
    pub csum_offset: u16,
}

const NEEDS_CHECKSUM: u8 = 1;
/// `VIRTIO_NET_HDR_GSO_TCPV4`.
pub const GSO_TCPV4: u8 = 1;
/// `VIRTIO_NET_HDR_GSO_TCPV6`.
pub const GSO_TCPV6: u8 = 4;
/// `VIRTIO_NET_HDR_GSO_UDP_L4`: datagrams of one flow.
pub const GSO_UDP: u8 = 5;
/// `VIRTIO_NET_HDR_GSO_ECN`: a flag beside the kind.
pub const GSO_ECN: u8 = 0x80;
/// The position of the UDP checksum in its header.
pub(crate) const UDP_CHECKSUM: usize = 6;
const DATA_VALID: u8 = 2;

impl Offload {
    /// Its length on the wire.
    pub const LEN: usize = 10;

    /// Parses the kernel's structure, in the machine's byte order.
    pub fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        let [flags, gso_type, a, b, c, d, e, f, g, h] = bytes;
        let word = |a, b| u16::from_ne_bytes([a, b]);
        Self {
            needs_checksum: flags & NEEDS_CHECKSUM != 0,
            checksum_valid: flags & DATA_VALID != 0,
            gso_type,
            header_len: word(a, b),
            gso_size: word(c, d),
            csum_start: word(e, f),
            csum_offset: word(g, h),
        }
    }

    /// Writes the kernel's structure.
    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let flags = if self.needs_checksum { NEEDS_CHECKSUM } else { 0 };
        let [a, b] = self.header_len.to_ne_bytes();
        let [c, d] = self.gso_size.to_ne_bytes();
        let [e, f] = self.csum_start.to_ne_bytes();
        let [g, h] = self.csum_offset.to_ne_bytes();
        [flags, self.gso_type, a, b, c, d, e, f, g, h]
    }

    /// Adjusts to headers that have grown by `by` bytes, or shrunk.
    pub fn shift(&mut self, by: i16) {
        let shift = |value: &mut u16| *value = value.saturating_add_signed(by);
        if self.gso_type != 0 {
            shift(&mut self.header_len);
        }
        if self.needs_checksum {
            shift(&mut self.csum_start);
        }
    }
}

impl Packet {
    /// A packet without remaining work.
    pub fn complete(data: Vec<u8>) -> Self {
        Self { data, offload: Offload::default() }
    }

    /// Gives it these Ethernet addresses.
    pub fn put_addresses(&mut self, dst: MacAddr, src: MacAddr) {
        let addresses = [dst, src].map(MacAddr::octets).concat();
        if let Some(place) = self.data.get_mut(..addresses.len()) {
            place.copy_from_slice(&addresses);
        }
    }

    /// The number of frames after segmentation.
    pub fn segments(&self) -> u32 {
        let Offload { gso_type, gso_size, .. } = self.offload;
        if gso_type == 0 || gso_size == 0 {
            return 1;
        }
        let payload = self.data.len().saturating_sub(self.header_length());
        u32::try_from(payload.div_ceil(gso_size.into())).unwrap_or(u32::MAX)
    }

    /// The length of the longest frame after segmentation.
    pub fn longest_part(&self) -> usize {
        match self.offload.gso_type {
            0 => self.data.len(),
            _ => self.data.len().min(self.header_length() + usize::from(self.offload.gso_size)),
        }
    }

    /// The length of a GSO packet's headers. The value in the offload may be longer: for one made by a card, by a
    /// segment.
    fn header_length(&self) -> usize {
        let Offload { gso_type, header_len, csum_start, needs_checksum, .. } = self.offload;
        let start = usize::from(csum_start);
        let transport = match gso_type & !GSO_ECN {
            GSO_UDP => Some(8),
            _ => self.data.get(start + 12).map(|byte| 4 * usize::from(byte >> 4)),
        };
        transport.filter(|_| needs_checksum).map_or(header_len.into(), |length| start + length)
    }

    /// Frees unused memory, before the packet is kept.
    pub fn settle(&mut self) {
        let length = self.data.len();
        if self.data.capacity() - length > length / 8 + 128 {
            self.data.shrink_to_fit();
        }
    }

    /// Computes the checksum that was left to the network card. A GSO packet's is left: it would be wrong for its parts.
    pub fn finish_checksum(&mut self) {
        let Offload { needs_checksum, gso_type, csum_start, csum_offset, .. } = self.offload;
        if !needs_checksum || gso_type != 0 {
            return;
        }
        let covered = usize::from(csum_start);
        if complete(&mut self.data, covered, covered + usize::from(csum_offset)).is_some() {
            self.offload = Offload { checksum_valid: true, ..Offload::default() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_that_was_left_over_is_made() {
        // RFC 1071's example, with the place for the checksum behind it.
        let data = vec![9, 9, 0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7, 0, 0];
        let offload = Offload { needs_checksum: true, csum_start: 2, csum_offset: 8, ..Offload::default() };
        let mut packet = Packet { data, offload };
        packet.finish_checksum();
        assert_eq!(packet.data[10..], [0x22, 0x0d]);
        assert!(!packet.offload.needs_checksum);
        let out_of_range = Offload { needs_checksum: true, csum_start: 900, ..Offload::default() };
        Packet { data: vec![0; 20], offload: out_of_range }.finish_checksum();
    }

    #[test]
    fn segments_are_counted_by_the_headers_and_not_by_what_a_card_says_of_them() {
        // Ethernet, IPv4 and TCP with 32 bytes, and ten segments of which the first lies with the headers.
        let mut data = vec![0; 14 + 20 + 32 + 10 * 1_448];
        data[34 + 12] = 8 << 4;
        let offload = Offload {
            needs_checksum: true,
            gso_type: 1 | GSO_ECN,
            header_len: 66 + 1_448,
            gso_size: 1_448,
            csum_start: 34,
            csum_offset: 16,
            ..Offload::default()
        };
        assert_eq!(Packet { data: data.clone(), offload }.segments(), 10);
        let datagrams = Offload { gso_type: GSO_UDP, csum_offset: 6, gso_size: 1_000, ..offload };
        data.truncate(14 + 20 + 8 + 3_500);
        assert_eq!(Packet { data, offload: datagrams }.segments(), 4);
        let short = Packet { data: vec![0; 20], offload };
        assert_eq!(short.segments(), 0);
    }

    #[test]
    fn offloads_are_written_as_they_are_read() {
        let offload = Offload {
            needs_checksum: true,
            checksum_valid: false,
            gso_type: 1,
            header_len: 66,
            gso_size: 1_448,
            csum_start: 34,
            csum_offset: 16,
        };
        assert_eq!(Offload::from_bytes(offload.to_bytes()), offload);
    }
}
