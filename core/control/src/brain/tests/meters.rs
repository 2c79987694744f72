//! Meters: limits enforced by switches.

use std::collections::BTreeMap;

use super::network::{HOST_PORT, Network, dpid};
use crate::command::Command;
use crate::pipeline::{PuntClass, Rule};
use crate::settings::Settings;

const PAIR: [(u64, u64); 1] = [(1, 2)];

fn restart(network: &mut Network, packet_ins: u32) {
    network.kill();
    network.start_again_with(Settings { punt_rate: packet_ins, ..Settings::default() });
    for number in network.numbers() {
        network.connect(number);
    }
    network.advance(network.brain.settings().reconcile_timeout * 2);
}

#[test]
fn every_port_of_hosts_is_metered_and_no_other() {
    let mut network = Network::start(&PAIR, &[1]);
    let rate = network.brain.settings().punt_rate;
    assert_eq!(network.switch(1).meters(), BTreeMap::from([(HOST_PORT, rate)]));
    assert!(network.switch(2).meters().is_empty());
    for class in PuntClass::ALL {
        assert!(network.switch(1).has(Rule::Metered { port: HOST_PORT, class }), "{class:?}");
    }
}

#[test]
fn a_port_that_goes_down_leaves_no_meter() {
    let mut network = Network::start(&PAIR, &[1]);
    network.set_port(braid_types::SwitchPort::new(dpid(1), HOST_PORT), false);
    assert!(network.switch(1).meters().is_empty());
    assert!(!network.switch(1).has(Rule::Metered { port: HOST_PORT, class: PuntClass::Arp }));
}

#[test]
fn meters_stay_as_they_are_when_the_controller_starts_again() {
    let mut network = Network::start(&PAIR, &[1]);
    let rate = network.brain.settings().punt_rate;
    restart(&mut network, rate);
    assert!(
        network.changes.iter().all(|change| matches!(change, Command::Barrier { .. })),
        "{:?}",
        network.changes
    );
}

#[test]
fn a_limit_that_is_another_now_changes_the_meter_and_nothing_else() {
    let mut network = Network::start(&PAIR, &[1]);
    restart(&mut network, 7);
    let set = Command::SetMeter { dpid: dpid(1), port: HOST_PORT, rate: 7, known: true };
    assert_eq!(network.changes, [set]);
}

#[test]
fn without_a_limit_no_meter_is_left() {
    let mut network = Network::start(&PAIR, &[1]);
    restart(&mut network, 0);
    assert!(network.switch(1).meters().is_empty());
    assert!(!network.switch(1).has(Rule::Metered { port: HOST_PORT, class: PuntClass::Arp }));
}
