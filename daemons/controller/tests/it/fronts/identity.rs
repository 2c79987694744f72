//! A switch proves to its front who it is, and keeps its place at the leader for as long as that holds.

use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use braid_controller::{IdentityFileError, SwitchIdentities};
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
    /// Members with a list of identities.
    fn listed() -> Option<Self> {
        Self::start(true, |pki, _| SwitchIdentities::read(Some(pki.file("identities.toml", LISTED)), None))
    }

    /// Members each of which pins ids, in a file of its own.
    fn pinning(is_required: bool) -> Option<Self> {
        Self::start(is_required, |pki, name| SwitchIdentities::read(None, Some(pins(pki, name))))
    }

    fn start(
        is_required: bool,
        identities: impl Fn(&Pki, &str) -> Result<SwitchIdentities, IdentityFileError>,
    ) -> Option<Self> {
        let (etcd, pki) = (Etcd::start()?, Pki::new());
        let [a, b] = ["a", "b"].map(|name| {
            let identities = identities(&pki, name).expect("valid");
            member_with(&etcd.url, name, Some(pki.openflow_tls(is_required, identities)))
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

    /// Another certificate is refused at the standby, and the owner's switch served through it.
    fn expect_to_serve_the_owner_alone(&self) {
        let thief = self.switch(7, "thief");
        assert!(alarm(&self.front, "foreign_datapath_id").contains("\"thief\""));
        wait_for(|| thief.seen().ended == [1], || "the thief is not disconnected".to_owned());
        let switch = self.switch(7, "sw7");
        wait_until_served(&self.leader, &switch, Some(self.front_name));
        assert_eq!(thief.last(), None, "it was never written to");
    }

    /// Has the leader pin a datapath id to the certificate of a switch, which then goes; waits until the standby knows it.
    fn pin(&self, dpid: u64, certificate: &str) {
        let (switch, connection) =
            (FakeSwitch::new(dpid), through_tls(&self.pki, self.leader.openflow, certificate));
        let closed = connection.try_clone().expect("a socket");
        switch.obey_over(connection, 1);
        wait_until_served(&self.leader, &switch, None);
        closed.shutdown(Shutdown::Both).expect("an open socket");
        self.wait_until_pinned(certificate);
    }

    /// Waits until both members have written that they gave an id to this certificate.
    fn wait_until_pinned(&self, certificate: &str) {
        let pinned = || ["a", "b"].map(|name| fs::read_to_string(pins(&self.pki, name)).unwrap_or_default());
        let has_pinned = |text: &String| text.contains(&format!("{certificate:?}"));
        wait_for(|| pinned().iter().all(has_pinned), || format!("{:?}", pinned()));
    }
}

/// The file in which this member pins ids.
fn pins(pki: &Pki, member: &str) -> PathBuf {
    pki.path(&format!("pins-of-{member}.toml"))
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
    let Some(scene) = Scene::listed() else { return };
    scene.expect_to_serve_the_owner_alone();
}

#[test]
fn a_relayed_switch_that_may_no_longer_be_its_datapath_is_disconnected() {
    let Some(scene) = Scene::listed() else { return };
    let switch = scene.switch(7, "sw7");
    wait_until_served(&scene.leader, &switch, Some(scene.front_name));
    scene.pki.file("identities.toml", LISTED_OTHERWISE);
    kill_process(getpid(), Signal::HUP).expect("a signal");
    wait_for(|| switch.seen().ended == [1], || "the switch is not disconnected".to_owned());
    wait_for(|| served(&scene.leader, &switch).is_none(), || format!("{:?}", scene.leader.list("switches")));
}

#[test]
fn an_id_that_the_leader_has_pinned_is_nobody_elses_at_a_standby() {
    let Some(scene) = Scene::pinning(true) else { return };
    scene.pin(7, "sw7");
    scene.expect_to_serve_the_owner_alone();
}

#[test]
fn an_id_that_the_leader_has_pinned_is_not_that_of_plain_tcp_at_a_standby() {
    let Some(scene) = Scene::pinning(false) else { return };
    scene.pin(7, "sw7");
    let thief = FakeSwitch::new(7);
    thief.obey(scene.front.openflow, 1);
    assert!(alarm(&scene.front, "foreign_datapath_id").contains("plain TCP"));
    wait_for(|| thief.seen().ended == [1], || "the thief is not disconnected".to_owned());
    let other = FakeSwitch::new(8);
    other.obey(scene.front.openflow, 1);
    wait_until_served(&scene.leader, &other, Some(scene.front_name));
}

#[test]
fn first_use_through_a_standby_pins_the_id_at_both_members() {
    let Some(scene) = Scene::pinning(true) else { return };
    let switch = scene.switch(7, "sw7");
    wait_until_served(&scene.leader, &switch, Some(scene.front_name));
    scene.wait_until_pinned("sw7");
    let thief = FakeSwitch::new(7);
    thief.obey_over(through_tls(&scene.pki, scene.leader.openflow, "thief"), 1);
    assert!(alarm(&scene.leader, "foreign_datapath_id").contains("\"thief\""));
    assert_eq!(served(&scene.leader, &switch), Some(scene.front_name.into()));
}
