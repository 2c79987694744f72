//! Congestion controls in the kernel.

use std::net::{Ipv4Addr, SocketAddr};
use std::thread;
use std::time::Duration;

use braid_congestion::Algorithm;
use braid_host::congestion::{Coupled, is_registered};
use braid_host::sysctl;
use socket2::Protocol;

use crate::namespace::namespace;
use crate::traffic::connect;

const DEFAULT: &str = "net.ipv4.tcp_congestion_control";

/// Sends a megabyte to itself; returns the sender's congestion control.
fn transfer(protocol: Protocol) -> String {
    let here = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let mut pair = connect(protocol, here, here);
    pair.transfer(1 << 20);
    let used = String::from_utf8(pair.client.tcp_congestion().unwrap()).unwrap();
    used.trim_end_matches('\0').to_owned()
}

// One test, since names of congestion controls are the whole machine's.
#[test]
fn mptcp_is_coupled_and_plain_tcp_left_alone_until_the_end() {
    let Some(namespace) = namespace() else { return };
    namespace.inside(|| {
        let before = sysctl::read(DEFAULT).unwrap();
        for algorithm in Algorithm::ALL {
            let coupled = Coupled::start(algorithm).unwrap();
            assert_eq!(transfer(Protocol::MPTCP), format!("braid_{algorithm}"));
            assert_eq!(transfer(Protocol::TCP), before);
            drop(coupled);
            assert_eq!(sysctl::read(DEFAULT).unwrap(), before);
            // The kernel keeps it until its last connection is gone, which may be a moment later.
            let mut tries = 0..500;
            while is_registered(algorithm) {
                tries.next().expect("it stays registered");
                thread::sleep(Duration::from_millis(10));
            }
        }
    });
}
