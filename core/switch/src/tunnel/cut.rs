use crate::key::{self, Key, Layout};
use crate::packet::{GSO_UDP, Offload, Packet, fold, sum};

const UDP: u64 = 17;
const UDP_HEADER: usize = 8;

/// The datagrams of a super-frame, each with its checksum yet to be made; `None` if it is none of datagrams.
pub(crate) fn cut_datagrams(packet: &Packet, key: &Key, layout: &Layout) -> Option<Vec<Packet>> {
    let Offload { gso_type, gso_size, .. } = packet.offload;
    if gso_type != GSO_UDP || gso_size == 0 || key.get(key::IP_PROTO) != UDP {
        return None;
    }
    let (network, transport) = (layout.network?, layout.transport?);
    let (headers, rest) = packet.data.split_at_checked(transport + UDP_HEADER)?;
    let payload = rest.get(..layout.end.checked_sub(headers.len())?)?;
    let parts = payload.chunks(gso_size.into()).zip(0..);
    parts.map(|(payload, number)| datagram(headers, payload, number, network, transport)).collect()
}

fn datagram(headers: &[u8], payload: &[u8], number: u16, network: usize, transport: usize) -> Option<Packet> {
    let mut data = [headers, payload].concat();
    let is_v4 = data.get(network)? >> 4 == 4;
    let length = u16::try_from(UDP_HEADER + payload.len()).ok()?;
    if is_v4 {
        let total = u16::try_from(data.len() - network).ok()?;
        put(&mut data, network + 2, total)?;
        let id = u16::from_be_bytes(data.get(network + 4..network + 6)?.try_into().ok()?);
        put(&mut data, network + 4, id.wrapping_add(number))?;
        put(&mut data, network + 10, 0)?;
        let checksum = !fold(sum(data.get(network..transport)?));
        put(&mut data, network + 10, checksum)?;
    } else {
        let length = u16::try_from(data.len() - network - 40).ok()?;
        put(&mut data, network + 4, length)?;
    }
    put(&mut data, transport + 4, length)?;
    let addresses = data.get(network + if is_v4 { 12 } else { 8 }..)?.get(..if is_v4 { 8 } else { 32 })?;
    let pseudo = fold(sum(addresses) + UDP + u64::from(length));
    put(&mut data, transport + 6, pseudo)?;
    let offload = Offload {
        needs_checksum: true,
        csum_start: u16::try_from(transport).ok()?,
        csum_offset: 6,
        ..Offload::default()
    };
    Some(Packet { data, offload })
}

fn put(data: &mut [u8], at: usize, value: u16) -> Option<()> {
    data.get_mut(at..at + 2)?.copy_from_slice(&value.to_be_bytes());
    Some(())
}
