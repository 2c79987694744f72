//! A temporary namespace with two veth pairs: a0 and a1, b0 and b1.

use std::fs;
use std::os::fd::OwnedFd;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use braid_link::{Engine, LinkSetup, Setup};
use braid_link_model::Parameters;
use nix::ifaddrs::getifaddrs;
use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::{AddressFamily, SockFlag, SockProtocol, SockType, bind, socket};
use std::os::fd::AsRawFd;

pub(crate) fn make() {
    unshare(CloneFlags::CLONE_NEWNET).expect("a network namespace");
    for scope in ["all", "default"] {
        let path = format!("/proc/sys/net/ipv6/conf/{scope}/disable_ipv6");
        fs::write(path, "1").expect("a namespace without IPv6");
    }
    for side in ["a", "b"] {
        let words = format!("link add {side}0 type veth peer name {side}1");
        ip(&words);
        ip(&format!("link set {side}0 up"));
        ip(&format!("link set {side}1 up"));
    }
}

fn ip(words: &str) {
    let status = Command::new("ip").args(words.split(' ')).status().expect("iproute2");
    assert!(status.success(), "ip {words}");
}

/// Joins a1 and b1 until `stop`.
pub(crate) fn link(parameters: Parameters, stop: &AtomicBool) {
    let folder = tempfile::tempdir().expect("a folder");
    let link = LinkSetup { devices: ["a1".to_owned(), "b1".to_owned()], directions: [parameters; 2] };
    let setup = Setup { socket: folder.path().join("socket"), seed: 1, links: vec![link] };
    let mut engine = Engine::new(&setup).expect("a link");
    engine.run_while(|| !stop.load(Ordering::Relaxed)).expect("a link that runs");
}

/// A packet socket that is bound to a device.
pub(crate) fn packet_socket(device: &str) -> OwnedFd {
    let protocol = SockProtocol::EthAll;
    let socket = socket(AddressFamily::Packet, SockType::Raw, SockFlag::empty(), protocol);
    let socket = socket.expect("a packet socket");
    let address = getifaddrs().expect("the interfaces").find_map(|it| {
        let link = it.address?.as_link_addr().copied()?;
        (it.interface_name == device).then_some(link)
    });
    bind(socket.as_raw_fd(), &address.expect("the interface")).expect("a bound socket");
    socket
}

/// How many frames a device received.
pub(crate) fn received(device: &str) -> u64 {
    let table = fs::read_to_string("/proc/thread-self/net/dev").expect("the counters");
    let line = table.lines().find_map(|line| line.trim().strip_prefix(device)?.strip_prefix(':'));
    let word = line.and_then(|line| line.split_whitespace().nth(1));
    word.and_then(|word| word.parse().ok()).expect("a counter")
}
