//! A path that fails under an agent.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::Command;

use braid_api::{Advice, AdviceRequest, SubflowEnds};
use braid_client::Error;
use braid_host::managed::Adviser;
use braid_host::pm::{Endpoint, EndpointFlag, Event, PathManager};
use braid_host::{Agent, Config, Mode};
use socket2::{Domain, Protocol, Socket, Type};

use crate::managed::Stop;
use crate::namespace::{Namespace, ip, namespace};
use crate::traffic::{Pair, TIMEOUT};

const NEAR: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 2, 1));
const FAR: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 2, 2));

/// Wants one subflow over the second link, once.
struct Second;

impl Adviser for Second {
    fn advise(&self, request: &AdviceRequest) -> Result<Advice, Error> {
        let ends = SubflowEnds { local: (NEAR, 20_001).into(), remote: (FAR, 5000).into() };
        let wanted = request.remote_addresses.contains(&ends.remote) && request.failed.is_empty();
        Ok(Advice { subflows: wanted.then_some(ends).into_iter().collect(), ask_again_after: None })
    }
}

/// Two links between two hosts, the second of which announces its second address.
fn hosts() -> Option<[Namespace; 2]> {
    let hosts = [namespace()?, namespace()?];
    hosts[0].inside(|| {
        for link in ["c1", "c2"] {
            let peer = hosts[1].path();
            let words = ["link", "add", link, "type", "veth", "peer", "name", link, "netns", &peer];
            assert!(Command::new("ip").args(words).status().unwrap().success());
        }
    });
    for (host, number) in hosts.iter().zip(1..) {
        host.inside(|| {
            for link in 1..=2 {
                ip(&format!("address add 10.0.{link}.{number}/24 dev c{link}"));
                ip(&format!("link set c{link} up"));
            }
        });
    }
    let flags = [EndpointFlag::Signal].into_iter().collect();
    let endpoint = Endpoint { id: 0, address: FAR, port: None, flags, interface: 0 };
    hosts[1].inside(|| PathManager::open().unwrap().add_endpoint(&endpoint).unwrap());
    Some(hosts)
}

fn connected(hosts: &[Namespace; 2]) -> Pair {
    let socket = || Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::MPTCP)).unwrap();
    let listener = hosts[1].inside(|| {
        let listener = socket();
        listener.bind(&SocketAddr::from((Ipv4Addr::UNSPECIFIED, 5000)).into()).unwrap();
        listener.listen(1).unwrap();
        listener
    });
    let client = hosts[0].inside(socket);
    client.connect(&SocketAddr::from(([10, 0, 1, 2], 5000)).into()).unwrap();
    let server = listener.accept().unwrap().0;
    server.set_read_timeout(Some(TIMEOUT)).unwrap();
    Pair::new(client, server, listener)
}

#[test]
fn subflow_whose_path_died_is_closed_and_the_connection_goes_on() {
    let Some(hosts) = hosts() else { return };
    let (agent, mut events) = hosts[0].inside(|| {
        let events = PathManager::open().unwrap().events().unwrap();
        events.set_receive_timeout(TIMEOUT).unwrap();
        let mode = Some(Mode::Managed { subflows: 1, most: 8, adviser: Some(Box::new(Second)) });
        (Agent::start(Config { mode, ..Config::default() }).unwrap(), events)
    });
    let stop = agent.stopper().unwrap();
    let managing = &hosts[0];
    std::thread::scope(|scope| {
        scope.spawn(move || managing.inside(|| agent.run_until_signalled(&mut || {}).unwrap()));
        let _stop = Stop(stop);
        let mut pair = connected(&hosts);
        pair.transfer(1_000);
        while !matches!(events.wait().unwrap(), Event::SubflowEstablished(it) if it.ends.remote.ip() == FAR) {
        }
        // Frames go on to nobody. So much is sent that the kernel takes both paths.
        hosts[0].inside(|| ip("neighbour replace 10.0.2.2 lladdr 02:00:00:00:00:99 dev c2 nud permanent"));
        pair.transfer(32 << 20);
        while !matches!(events.wait().unwrap(), Event::SubflowClosed(it) if it.ends.remote.ip() == FAR) {}
        pair.transfer(1 << 20);
    });
}
