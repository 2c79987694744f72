//! Congestion controls in the kernel.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr};

use braid_congestion::Algorithm;
use braid_host::congestion::{Coupled, is_registered};
use braid_host::sysctl;
use socket2::{Domain, Protocol, Socket, Type};

use crate::namespace::namespace;

const DEFAULT: &str = "net.ipv4.tcp_congestion_control";

/// Sends a megabyte to itself; returns the sender's congestion control.
fn transfer(protocol: Protocol) -> String {
    let socket = || Socket::new(Domain::IPV4, Type::STREAM, Some(protocol)).unwrap();
    let (listener, mut sender) = (socket(), socket());
    listener.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).unwrap();
    listener.listen(1).unwrap();
    sender.connect(&listener.local_addr().unwrap()).unwrap();
    let mut receiver = listener.accept().unwrap().0;
    let used = String::from_utf8(sender.tcp_congestion().unwrap()).unwrap();
    let sent = std::thread::spawn(move || sender.write_all(&vec![7; 1 << 20]).unwrap());
    let mut received = Vec::new();
    receiver.read_to_end(&mut received).unwrap();
    sent.join().unwrap();
    assert_eq!(received.len(), 1 << 20);
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
            assert!(!is_registered(algorithm));
        }
    });
}
