//! Packets cut to the size of a tunnel, and the MSS of TCP clamped to it.

use braid_types::PortNo;

use super::frame::{ETHERNET, GRE};
use crate::packets::Packet;
use crate::packets::key::{self, Key, Layout};
use crate::packets::numbers::IPV4;
use crate::packets::rewrite::adjust;
use crate::tunnel::Ends;

const TCP_HEADER: usize = 20;
const TCP_CHECKSUM: usize = 16;
const SYN: u64 = 2;
const MSS: u8 = 2;
const NO_OPERATION: u8 = 1;
const END: u8 = 0;
/// No TCP takes less. RFC 9293 §3.7.1 has 536 as what nobody needs to say.
const LEAST: u16 = 536;

/// How long a frame may be inside a tunnel over an uplink with this MTU.
pub(super) fn room(mtu: u32, ends: Ends) -> usize {
    let outer = if ends.src.is_ipv4() { 20 } else { 40 };
    (mtu as usize).saturating_sub(outer + GRE)
}

/// The frames of a packet, each with its checksums; `None` if it is a GSO packet of what cannot be cut.
///
/// `longest` is how long a frame with a segment of TCP is to be, by whether it is of IPv4.
pub(super) fn whole(packet: Packet, longest: impl Fn(bool) -> usize) -> Option<Vec<Packet>> {
    let (key, layout) = key::read(PortNo(0), &packet.data);
    let mut parts = if packet.offload.gso_type == 0 { vec![packet] } else { packet.cut()? };
    for part in &mut parts {
        clamp(part, &key, &layout, &longest);
        part.finish_checksum();
    }
    Some(parts)
}

/// Lets no SYN ask for segments that would not fit. RFC 4459 §3.2.
fn clamp(packet: &mut Packet, key: &Key, layout: &Layout, longest: impl Fn(bool) -> usize) -> Option<()> {
    layout.segment.filter(|_| key.get(key::TCP_FLAGS) & SYN != 0)?;
    let (network, transport) = (layout.network?, layout.transport?);
    let room = longest(key.get(key::ETH_TYPE) == IPV4);
    // What a tag takes is in front of the IP header, too.
    let headers = network.max(ETHERNET) + (transport - network) + TCP_HEADER;
    let most = u16::try_from(room.saturating_sub(headers)).unwrap_or(u16::MAX).max(LEAST);
    let at = mss(packet, transport)?;
    let old = u16::from_be_bytes(*packet.data.get(at..)?.first_chunk()?);
    if old <= most {
        return None;
    }
    packet.data.get_mut(at..at + 2)?.copy_from_slice(&most.to_be_bytes());
    if !packet.offload.needs_checksum {
        // A word that begins at an odd place counts with its bytes swapped. RFC 1071 §2.
        let word = |value: u16| if (at - transport) % 2 == 0 { value } else { value.swap_bytes() };
        adjust(packet, transport + TCP_CHECKSUM, u64::from(word(most)) + u64::from(!word(old)), false);
    }
    Some(())
}

/// Where the greatest segment stands among the options.
fn mss(packet: &Packet, transport: usize) -> Option<usize> {
    let end = transport + usize::from(packet.data.get(transport + 12)? >> 4) * 4;
    let mut at = transport + TCP_HEADER;
    while at < end {
        match *packet.data.get(at)? {
            END => return None,
            NO_OPERATION => at += 1,
            MSS if packet.data.get(at + 1) == Some(&4) && at + 4 <= end => return Some(at + 2),
            _ => at += usize::from(*packet.data.get(at + 1)?).max(2),
        }
    }
    None
}
