//! ICMP echo: an uplink answers its neighbours. RFC 792, RFC 4443 §4.1.

use std::net::IpAddr;

use super::device::Device;
use super::frame;
use crate::packets::Packet;
use crate::packets::key;
use crate::packets::rewrite::adjust;
use braid_types::PortNo;

/// What asks, and what answers, of ICMP and ICMPv6.
const KINDS: [(u64, u64, u8); 2] = [(1, 8, 0), (58, 128, 129)];

/// The answer to one who is next to the uplink, and asks one of its addresses. What comes from farther away may be for a host
/// whose address was rewritten.
pub(super) fn answer(device: &Device, packet: &Packet) -> Option<Packet> {
    let (key, layout) = key::read(PortNo(0), &packet.data);
    let (network, transport) = (layout.network?, layout.transport?);
    let kind = (key.get(key::IP_PROTO), key.get(key::ICMP_TYPE));
    let (_, asked, answered) = KINDS.into_iter().find(|(proto, asked, _)| (*proto, *asked) == kind)?;
    let (src, dst) = frame::addresses(&packet.data)?;
    let is_whole = packet.offload.gso_type == 0 && !packet.offload.needs_checksum;
    device.address(dst).filter(|own| is_whole && own.is_near(src))?;
    let mut answer = Packet::complete(packet.data.clone());
    swap(&mut answer.data, network, dst)?;
    let asker = braid_types::MacAddr::new(*packet.data.get(6..)?.first_chunk()?);
    answer.put_addresses(asker, device.mac);
    *answer.data.get_mut(transport)? = answered;
    // The type is the high byte of its word.
    let difference = (u64::from(answered) << 8) + u64::from(!((asked as u16) << 8));
    adjust(&mut answer, transport + 2, difference, false);
    Some(answer)
}

/// Swaps the addresses of an IP header, which no checksum notices.
fn swap(data: &mut [u8], network: usize, family: IpAddr) -> Option<()> {
    let (at, length) = if family.is_ipv4() { (network + 12, 4) } else { (network + 8, 16) };
    let addresses = data.get_mut(at..at + 2 * length)?;
    let (src, dst) = addresses.split_at_mut(length);
    src.swap_with_slice(dst);
    Some(())
}
