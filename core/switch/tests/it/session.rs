//! Controller sessions: roles, port status, port-mods and controllers that do not read.

use braid_openflow::{ControllerRole, FlowMod, Message, PortConfig, PortFeatures, PortMod, Role};
use braid_switch::ConnectionId;
use braid_types::{MacAddr, PortNo};

use crate::bench::{Bench, output, tcp_v4};

fn role(role: ControllerRole, generation_id: u64) -> Message<'static> {
    Message::RoleRequest(Role { role, generation_id })
}

#[test]
fn a_slave_may_not_write_and_a_master_makes_slaves_of_others() {
    let mut bench = Bench::new();
    assert_eq!(bench.say(&role(ControllerRole::Slave, 5))[0]["role"], "slave");
    assert_eq!(bench.say(&Message::FlowMod(FlowMod::default()))[0]["error"]["bad_request"], "is_slave");
    assert_eq!(bench.say(&role(ControllerRole::Master, 6))[0]["role"], "master");
    bench.tell(&Message::FlowMod(FlowMod::default()));
    assert_eq!(bench.say(&role(ControllerRole::Master, 5))[0]["error"]["role_request_failed"], "stale");

    bench.switch.connect(ConnectionId(2));
    let mut bytes = Vec::new();
    role(ControllerRole::Master, 7).encode(braid_openflow::Xid(1), &mut bytes).unwrap();
    bench.switch.handle_message(bench.now, ConnectionId(2), &bytes);
    assert_eq!(bench.say(&Message::FlowMod(FlowMod::default()))[0]["error"]["bad_request"], "is_slave");
}

#[test]
fn ports_that_come_go_and_change_are_told_of() {
    let mut bench = Bench::new();
    bench.port(9, true);
    bench.port(9, true);
    bench.port(9, false);
    bench.switch.remove_port(PortNo(9));
    let reasons: Vec<_> = bench.heard().iter().map(|it| it["reason"].clone()).collect();
    assert_eq!(reasons, ["add", "modify", "delete"]);
}

#[test]
fn a_port_is_closed_and_opened_by_the_controller() {
    let mut bench = Bench::new();
    bench.all_do(&[output(2)]);
    let change = |config, mac| {
        Message::PortMod(PortMod {
            port_no: PortNo(2),
            hw_addr: MacAddr::from_u64(mac),
            config,
            mask: PortConfig::PORT_DOWN,
            advertise: PortFeatures::NONE,
        })
    };
    let heard = bench.say(&change(PortConfig::PORT_DOWN, 0));
    assert_eq!(heard[0]["error"]["port_mod_failed"], "bad_hw_addr");
    assert_eq!(bench.say(&change(PortConfig::PORT_DOWN, 0x0200_0000_0002))[0]["type"], "port_status");
    assert!(bench.passes(1, &tcp_v4(0)).is_empty());
    bench.say(&change(PortConfig::NONE, 0x0200_0000_0002));
    assert_eq!(bench.ports(1, &tcp_v4(0)), [2]);
}

#[test]
fn a_controller_that_does_not_read_does_not_fill_memory() {
    let mut bench = Bench::new();
    bench.all_do(&[braid_openflow::Action::output(PortNo::CONTROLLER)]);
    for seq in 0..20_000 {
        bench.passes(1, &tcp_v4(seq));
    }
    assert!(bench.switch.poll_bytes(crate::bench::CONTROLLER).unwrap().len() < 2 << 20);
}
