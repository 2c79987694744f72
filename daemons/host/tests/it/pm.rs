//! The path managers of a real kernel.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use braid_api::SubflowEnds;
use braid_host::pm::{Endpoint, EndpointFlag, Event, Events, Limits, PathManager, Token};
use braid_host::sysctl::Setting;
use socket2::Protocol;

use crate::namespace::{ip, namespace};
use crate::traffic::{TIMEOUT, connect};

fn events(manager: &PathManager) -> Events {
    let events = manager.events().unwrap();
    events.set_receive_timeout(TIMEOUT).unwrap();
    events
}

/// Waits until the client's end of a connection is established.
fn established(events: &mut Events) -> Token {
    loop {
        if let Event::Established(connection) = events.wait().unwrap()
            && !connection.server_side
        {
            return connection.token;
        }
    }
}

#[test]
fn endpoints_and_limits_are_as_they_were_set() {
    let Some(namespace) = namespace() else { return };
    namespace.inside(|| {
        let mut manager = PathManager::open().unwrap();
        let wanted = Limits { subflows: 8, accepted_addresses: 3 };
        manager.set_limits(wanted).unwrap();
        assert_eq!(manager.limits().unwrap(), wanted);
        for (id, address) in [(3, "10.0.0.1"), (7, "fd00::1")] {
            let flags = [EndpointFlag::Signal, EndpointFlag::Backup].into_iter().collect();
            let address = address.parse().unwrap();
            let endpoint = Endpoint { id, address, port: None, flags, interface: 1 };
            manager.add_endpoint(&endpoint).unwrap();
            assert!(manager.endpoints().unwrap().contains(&endpoint));
        }
        manager.remove_endpoint(3).unwrap();
        let left: Vec<_> = manager.endpoints().unwrap().into_iter().map(|it| it.id).collect();
        assert_eq!(left, [7]);
    });
}

#[test]
fn kernel_says_why_it_refuses() {
    let Some(namespace) = namespace() else { return };
    namespace.inside(|| {
        let mut manager = PathManager::open().unwrap();
        let error = manager.set_limits(Limits { subflows: 1_000, accepted_addresses: 0 }).unwrap_err();
        assert!(
            error.to_string().starts_with("the kernel refuses to set the limits: limit greater"),
            "{error}"
        );
        assert!(manager.remove_endpoint(9).unwrap_err().refusal().is_some());
    });
}

#[test]
fn four_subflows_open_between_two_addresses_from_chosen_ports() {
    let Some(namespace) = namespace() else { return };
    namespace.inside(|| {
        ip("address add 10.0.0.1/32 dev lo");
        ip("address add 10.0.0.2/32 dev lo");
        ip("address add fd00::1/128 dev lo nodad");
        ip("address add fd00::2/128 dev lo nodad");
        let _setting = Setting::change("net.mptcp.pm_type", "1").unwrap();
        let mut manager = PathManager::open().unwrap();
        for [local, remote] in [["10.0.0.1", "10.0.0.2"], ["fd00::1", "fd00::2"]] {
            subflows_between(&mut manager, local.parse().unwrap(), remote.parse().unwrap());
        }
    });
}

fn subflows_between(manager: &mut PathManager, local: IpAddr, remote: IpAddr) {
    let mut events = events(manager);
    let mut pair = connect(Protocol::MPTCP, (local, 0).into(), (remote, 0).into());
    // Joins wait until both have heard more than the handshake.
    pair.transfer(1_000);
    let token = established(&mut events);
    let ports: BTreeSet<u16> = (20_001..=20_003).collect();
    for (id, port) in (1..).zip(&ports) {
        let ends = SubflowEnds { local: SocketAddr::new(local, *port), remote: pair.remote() };
        manager.open_subflow(token, ends, id).unwrap();
    }
    let mut opened = BTreeSet::new();
    while opened != ports {
        match events.wait().unwrap() {
            Event::SubflowEstablished(subflow) if subflow.token == token => {
                assert_eq!(subflow.ends.remote, pair.remote());
                opened.insert(subflow.ends.local.port());
            }
            _ => {}
        }
    }
    let first = SubflowEnds { local: SocketAddr::new(local, 20_001), remote: pair.remote() };
    manager.close_subflow(token, first).unwrap();
    pair.transfer(1 << 20);
}
