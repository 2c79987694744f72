//! The flow of a packet, and whether it is urgent.

/// Addresses, protocol and ports of one direction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Flow {
    src: [u8; 16],
    dst: [u8; 16],
    ports: [u8; 4],
    protocol: u8,
}

/// How a packet is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    /// By all paths, in the order of its flow.
    Numbered(Flow),
    /// By the quickest path, and not held at the other end: a lost or overtaken one does no harm.
    Urgent,
}

const TCP: u8 = 6;
const UDP: u8 = 17;
const FIN_SYN_RST: u8 = 0x07;
const SYN: u8 = 0x02;
const DNS: u16 = 53;
const SSH: u16 = 22;

/// The class of a packet that begins with an IP header.
pub(crate) fn of_ip(packet: &[u8]) -> Class {
    read(packet).unwrap_or_else(|| Class::Numbered(Flow::default()))
}

/// The class of an Ethernet frame. What is not IP, as ARP, is urgent.
pub(crate) fn of_frame(frame: &[u8]) -> Class {
    match frame.get(12..14) {
        Some([0x08, 0x00] | [0x86, 0xdd]) => of_ip(frame.get(14..).unwrap_or_default()),
        Some([0x81, 0x00]) => match frame.get(16..18) {
            Some([0x08, 0x00] | [0x86, 0xdd]) => of_ip(frame.get(18..).unwrap_or_default()),
            _ => Class::Urgent,
        },
        _ => Class::Urgent,
    }
}

fn read(packet: &[u8]) -> Option<Class> {
    let (flow, transport, is_fragment) = match packet.first()? >> 4 {
        4 => read_v4(packet)?,
        6 => read_v6(packet)?,
        _ => return None,
    };
    // Only the first fragment has ports: all of a packet's belong to the flow without.
    let Some(ports) = transport.first_chunk::<4>().filter(|_| !is_fragment) else {
        return Some(Class::Numbered(flow));
    };
    let numbers = [u16::from_be_bytes([ports[0], ports[1]]), u16::from_be_bytes([ports[2], ports[3]])];
    let is_urgent = match flow.protocol {
        TCP => numbers.contains(&SSH) || is_control(transport),
        UDP => numbers.contains(&DNS),
        _ => false,
    };
    let ports = if [TCP, UDP].contains(&flow.protocol) { *ports } else { [0; 4] };
    Some(if is_urgent { Class::Urgent } else { Class::Numbered(Flow { ports, ..flow }) })
}

/// Whether a TCP segment opens a connection or only acknowledges.
fn is_control(segment: &[u8]) -> bool {
    let (Some(offset), Some(flags)) = (segment.get(12), segment.get(13)) else { return false };
    let is_empty = segment.len() <= usize::from(offset >> 4) * 4;
    flags & FIN_SYN_RST == SYN || is_empty && flags & FIN_SYN_RST == 0
}

fn read_v4(packet: &[u8]) -> Option<(Flow, &[u8], bool)> {
    let length = usize::from(packet.first()? & 0xf) * 4;
    let total = usize::from(u16::from_be_bytes(packet.get(2..4)?.try_into().ok()?));
    let fragment = u16::from_be_bytes(packet.get(6..8)?.try_into().ok()?) & 0x3fff;
    let mut flow = Flow { protocol: *packet.get(9)?, ..Flow::default() };
    put(&mut flow.src, packet.get(12..16)?);
    put(&mut flow.dst, packet.get(16..20)?);
    // An Ethernet frame may be padded beyond the packet.
    let transport = packet.get(length..total.min(packet.len()))?;
    Some((flow, transport, fragment != 0))
}

fn read_v6(packet: &[u8]) -> Option<(Flow, &[u8], bool)> {
    let length = usize::from(u16::from_be_bytes(packet.get(4..6)?.try_into().ok()?));
    let mut flow = Flow { protocol: *packet.get(6)?, ..Flow::default() };
    put(&mut flow.src, packet.get(8..24)?);
    put(&mut flow.dst, packet.get(24..40)?);
    let transport = packet.get(40..(40 + length).min(packet.len()))?;
    // Behind extension headers the ports are not looked for: the flow is that of the addresses.
    Some((flow, transport, false))
}

fn put(place: &mut [u8; 16], bytes: &[u8]) {
    place.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn packet(protocol: u8, ports: [u16; 2], rest: &[u8]) -> Vec<u8> {
        let transport = [&ports[0].to_be_bytes()[..], &ports[1].to_be_bytes(), rest].concat();
        let length = (20 + transport.len()) as u16;
        let mut packet =
            [[0x45, 0], length.to_be_bytes(), [0, 0], [0x40, 0], [64, protocol], [0, 0]].concat();
        packet.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        [packet, transport].concat()
    }

    fn segment(flags: u8, payload: usize) -> Vec<u8> {
        let mut rest = vec![0; 16 + payload];
        (rest[8], rest[9]) = (0x50, flags);
        rest
    }

    #[test]
    fn openings_acknowledgements_dns_and_ssh_are_urgent_and_data_is_numbered() {
        let class = |protocol, ports, rest: &[u8]| of_ip(&packet(protocol, ports, rest));
        assert_eq!(class(6, [1, 2], &segment(0x02, 0)), Class::Urgent);
        assert_eq!(class(6, [1, 2], &segment(0x10, 0)), Class::Urgent);
        assert_eq!(class(6, [1, 22], &segment(0x18, 90)), Class::Urgent);
        assert_eq!(class(17, [53, 9], &[0; 40]), Class::Urgent);
        for (protocol, rest) in
            [(6, segment(0x10, 5)), (6, segment(0x11, 0)), (17, vec![0; 9]), (1, vec![0; 9])]
        {
            assert!(matches!(class(protocol, [1, 2], &rest), Class::Numbered(_)));
        }
        let frame = [&[0xff; 12][..], &[8, 0], &packet(6, [1, 2], &segment(0x10, 0)), &[0; 6]].concat();
        assert_eq!(of_frame(&frame), Class::Urgent, "padding is no data");
        assert_eq!(of_frame(&[[0xff; 12], [8; 12]].concat()), Class::Urgent, "not IP");
    }

    #[test]
    fn flows_differ_by_ports_and_fragments_go_without() {
        let one = packet(17, [1, 2], &[0; 9]);
        assert_ne!(of_ip(&one), of_ip(&packet(17, [1, 3], &[0; 9])));
        let fragments = [[1_u16, 2], [3, 4]].map(|ports| {
            let mut fragment = packet(17, ports, &[0; 9]);
            fragment[6] = 0x20;
            of_ip(&fragment)
        });
        assert_eq!(fragments[0], fragments[1]);
    }

    proptest! {
        #[test]
        fn whatever_arrives_has_a_class(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
            of_ip(&bytes);
            of_frame(&bytes);
        }
    }
}
