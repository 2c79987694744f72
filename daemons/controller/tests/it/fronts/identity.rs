//! A switch proves to its front who it is, and keeps its place at the leader for as long as that holds.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use braid_controller::SwitchIdentities;
use braid_tls::{TlsStream, Transport};
use rustix::process::{Signal, getpid, kill_process};

use super::switch::FakeSwitch;
use super::{served, wait_until_served};
use crate::cluster::{Etcd, member_with, standby};
use crate::openflow_tls::{LOOPBACK, Pki, alarm};
use crate::support::{Running, wait_for};

const LISTED: &str = "[[switch]]\ncertificate = \"sw7\"\ndatapath_ids = [\"0000000000000007\"]\n";
const LISTED_OTHERWISE: &str = "[[switch]]\ncertificate = \"other\"\ndatapath_ids = [\"0000000000000007\"]\n";

/// Two members to which switches must prove who they are.
struct Scene {
    pki: Pki,
    leader: Running,
    front: Running,
    front_name: &'static str,
    _etcd: Etcd,
}

impl Scene {
    fn start() -> Option<Self> {
        let (etcd, pki) = (Etcd::start()?, Pki::new());
        let [a, b] = ["a", "b"].map(|name| {
            let identities = SwitchIdentities::read(Some(pki.file("identities.toml", LISTED)), None);
            member_with(&etcd.url, name, Some(pki.openflow_tls(true, identities.expect("valid"))))
        });
        let is_of_a = std::ptr::eq(standby([("a", &a), ("b", &b)]), &raw const b);
        let (leader, front, front_name) = if is_of_a { (a, b, "b") } else { (b, a, "a") };
        Some(Self { pki, leader, front, front_name, _etcd: etcd })
    }

    /// A switch that reaches the standby alone, with this certificate.
    fn switch(&self, dpid: u64, certificate: &str) -> FakeSwitch {
        let switch = FakeSwitch::new(dpid);
        switch.obey_over(through_tls(&self.pki, self.front.openflow, certificate), 1);
        switch
    }
}

/// A connection whose other end speaks TLS with a controller.
fn through_tls(pki: &Pki, to: SocketAddr, certificate: &str) -> TcpStream {
    let listener = TcpListener::bind(LOOPBACK).expect("a port");
    let near = TcpStream::connect(listener.local_addr().expect("an address")).expect("it listens");
    let (far, _) = listener.accept().expect("a connection");
    far.set_nonblocking(true).expect("a socket");
    let tls = pki.connect(to, certificate);
    thread::spawn(move || pass_on(far, tls));
    near
}

/// Passes on what either end says, until one closes.
fn pass_on(mut plain: TcpStream, mut tls: Transport) {
    let mut room = vec![0; TlsStream::MIN_ROOM];
    let [mut up, mut down] = [Vec::new(), Vec::new()];
    while takes(plain.read(&mut room), &room, &mut up)
        && takes(tls.read(&mut room), &room, &mut down)
        && gives(tls.write(&up), &mut up)
        && gives(plain.write(&down), &mut down)
    {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Whether the end is open; keeps what was read.
fn takes(read: io::Result<usize>, room: &[u8], taken: &mut Vec<u8>) -> bool {
    if let Ok(read) = read {
        taken.extend_from_slice(&room[..read]);
    }
    read.map_or_else(|error| error.kind() == ErrorKind::WouldBlock, |read| read > 0)
}

/// Whether the end is open; drops what was written.
fn gives(written: io::Result<usize>, left: &mut Vec<u8>) -> bool {
    if let Ok(written) = written {
        left.drain(..written);
    }
    written.map_or_else(|error| error.kind() == ErrorKind::WouldBlock, |_| true)
}

#[test]
fn a_switch_is_served_through_a_standby_as_the_datapath_that_its_certificate_entitles_it_to() {
    let Some(scene) = Scene::start() else { return };
    let thief = scene.switch(7, "thief");
    assert!(alarm(&scene.front, "foreign_datapath_id").contains("\"thief\""));
    wait_for(|| thief.seen().ended == [1], || "the thief is not disconnected".to_owned());
    let switch = scene.switch(7, "sw7");
    wait_until_served(&scene.leader, &switch, Some(scene.front_name));
    assert_eq!(thief.last(), None, "it was never written to");
}

#[test]
fn a_relayed_switch_that_may_no_longer_be_its_datapath_is_disconnected() {
    let Some(scene) = Scene::start() else { return };
    let switch = scene.switch(7, "sw7");
    wait_until_served(&scene.leader, &switch, Some(scene.front_name));
    scene.pki.file("identities.toml", LISTED_OTHERWISE);
    kill_process(getpid(), Signal::HUP).expect("a signal");
    wait_for(|| switch.seen().ended == [1], || "the switch is not disconnected".to_owned());
    wait_for(|| served(&scene.leader, &switch).is_none(), || format!("{:?}", scene.leader.list("switches")));
}
