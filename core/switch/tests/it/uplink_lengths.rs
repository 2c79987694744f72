//! Path MTUs of tunnels, as routers report them.

use std::time::Duration;

use braid_packet::TooBig;
use braid_switch::{Arrival, Packet, Uplinks};

use crate::bench::NOW;
use crate::uplinks::{PORT, ready, sent, through};

#[test]
fn a_tunnel_is_as_long_as_routers_on_its_way_say_and_tried_again_later() {
    for v6 in [false, true] {
        let (mut near, mut far) = (ready(v6, false), ready(v6, true));
        let (outside, least) = if v6 { (58, 1_342) } else { (38, 1_322) };
        let mtu = |uplinks: &Uplinks| uplinks.ports(NOW).next().unwrap().mtu;
        assert_eq!(mtu(&near), 1_500 - outside);
        assert!(near.send(NOW, PORT, Packet::complete(vec![0; 1_456])));
        let lost = sent(&mut near).pop().unwrap();
        let said = |link| Packet::complete(TooBig::answer(&lost, link).unwrap());
        assert_eq!(near.handle_packet(NOW, 0, said(1_400)), Arrival::Taken);
        assert_eq!(mtu(&near), 1_400 - outside);
        assert!(!near.send(NOW, PORT, Packet::complete(vec![0; 1_456])));
        let fits = vec![0; 1_400 - outside as usize + 14];
        assert_eq!(through(&mut near, &mut far, Packet::complete(fits.clone())), [fits]);
        // Nobody makes it less than hosts may expect, nor longer than it was.
        near.handle_packet(NOW, 0, said(1_280));
        assert_eq!(mtu(&near), least - outside);
        near.handle_packet(NOW, 0, said(9_000));
        assert_eq!(mtu(&near), least - outside);
        let over = near.poll_timeout().unwrap();
        assert!(over <= NOW + Duration::from_secs(600));
        near.handle_timeout(NOW + Duration::from_secs(600));
        assert_eq!(mtu(&near), 1_500 - outside);
    }
}

#[test]
fn what_strangers_say_of_lengths_is_not_believed() {
    let mut near = ready(false, false);
    assert!(near.send(NOW, PORT, Packet::complete(vec![0; 1_400])));
    let lost = sent(&mut near).pop().unwrap();
    let told = TooBig::answer(&lost, 1_390).unwrap();
    // Of what went elsewhere, from elsewhere, of another protocol, or corrupted.
    for (at, byte) in [(30 + 3, 71), (26 + 3, 7), (23, 17), (50, 1)] {
        let mut other = lost.clone();
        other[at] = byte;
        let mut strange = if at == 50 { told.clone() } else { TooBig::answer(&other, 1_390).unwrap() };
        strange[50] = if at == 50 { byte } else { strange[50] };
        near.handle_packet(NOW, 0, Packet::complete(strange));
        assert_eq!(near.ports(NOW).next().unwrap().mtu, 1_462, "byte {at}");
    }
    near.handle_packet(NOW, 0, Packet::complete(told));
    assert_eq!(near.ports(NOW).next().unwrap().mtu, 1_352);
}
