//! Malformed frames and messages: nothing panics.

use braid_edge_protocol::extension::Extension;
use braid_openflow::{Action, GroupId, GroupType};
use braid_packet::{TcpFlags, build};
use braid_spray::Settings;
use braid_switch::{Offload, Packet};
use braid_types::PortNo;
use proptest::prelude::*;

use crate::bench::{Bench, CONTROLLER, output, tuple};

/// Everything is done to a packet that can be; it is too long for port 3.
fn busy() -> Bench {
    let mut bench = Bench::new();
    bench.limit(3, 90);
    let deliver = [output(2)];
    bench.group(1, GroupType::Indirect, &[braid_openflow::Bucket::new(&deliver)]);
    bench.extend(&Extension::SetResequence { group: GroupId(1), settings: Some(Settings::default()) });
    let v4 = |text: &str| text.parse::<std::net::Ipv4Addr>().unwrap().into();
    let v6 = |text: &str| text.parse::<std::net::Ipv6Addr>().unwrap().into();
    use braid_openflow::OxmField as Field;
    let fields = [
        Field::Ipv4Src(v4("10.1.1.1")),
        Field::Ipv6Dst(v6("fd00::9")),
        Field::TcpSrc(1.into()),
        Field::UdpDst(1.into()),
        Field::VlanPcp(3),
    ];
    let mut actions: Vec<_> = fields.into_iter().map(Action::SetField).collect();
    actions.extend([Action::PopVlan, Action::DecNwTtl, Action::PushVlan(braid_openflow::EthType::VLAN)]);
    actions.extend([Action::output(PortNo::CONTROLLER), output(3), Action::Group(GroupId(1))]);
    bench.all_do(&actions);
    bench
}

proptest! {
    #[test]
    fn any_frame_is_survived(
        cut in 0..400_usize, at in 0..80_usize, byte in any::<u8>(), six in any::<bool>(),
        header in any::<[u8; 10]>(), payload in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let tuple = if six { tuple("fd00::1", "fd00::2") } else { tuple("10.0.0.1", "10.0.0.2") };
        let mut data = build::tcp(tuple).flags(TcpFlags::ACK).payload(&payload).frame();
        data.truncate(cut);
        if let Some(place) = data.get_mut(at) {
            *place = byte;
        }
        let mut bench = busy();
        bench.switch.handle_packet(bench.now, PortNo(1), Packet { data, offload: Offload::from_bytes(header) });
    }

    #[test]
    fn any_message_is_survived(kind in 0..31_u8, body in prop::collection::vec(any::<u8>(), 0..120)) {
        let length = (body.len() + 8) as u16;
        let [high, low] = length.to_be_bytes();
        let message = [&[4, kind, high, low, 0, 0, 0, 1], body.as_slice()].concat();
        let mut bench = busy();
        bench.switch.handle_message(bench.now, CONTROLLER, &message);
        bench.passes(1, &crate::bench::tcp_v4(0));
    }
}
