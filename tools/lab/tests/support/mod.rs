//! Labs for tests: unique names, a folder of their own, and a check for leftovers.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{self, Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use braid_lab::{Control, LabName, Labs, Scenario};
use nix::sched::{CloneFlags, setns};
use tempfile::TempDir;

pub(crate) const CHAIN: &str = "\
scenario: chain
topology:
  hosts:
    - { name: a, interfaces: [{ name: eth0, addresses: [10.9.0.1/24, 2001:db8::1/64] }], congestion_control: reno }
    - { name: b, interfaces: [{ name: eth0, addresses: [10.9.0.2/24, 2001:db8::2/64] }], congestion_control: reno }
  switches: [s, t]
  links:
    - { between: [a.eth0, s], rate: 1Gbit }
    - { between: [b.eth0, t], rate: 1Gbit }
    - { between: [s, t], rate: 100Mbit }
";

pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    pub(crate) labs: Labs,
}

/// `None`, with a word on stderr, where labs cannot be made.
pub(crate) fn bench() -> Option<Bench> {
    if !nix::unistd::Uid::effective().is_root() {
        eprintln!("skipped: labs need root");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let labs = Labs::at(folder.path());
    Some(Bench { folder, labs })
}

pub(crate) fn fresh_name() -> LabName {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("t{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed)).parse().unwrap()
}

pub(crate) fn chain() -> Scenario {
    Scenario::parse(CHAIN, "chain.yaml").unwrap()
}

/// Every switch of the chain learns addresses by itself.
pub(crate) fn learning() -> Control {
    learning_at(&["s", "t"])
}

/// These switches learn addresses by themselves.
pub(crate) fn learning_at(switches: &[&str]) -> Control {
    let normal = |switch: &&str| ((*switch).to_owned(), vec!["actions=NORMAL".to_owned()]);
    Control::Rules(switches.iter().map(normal).collect())
}

/// Namespaces and processes that carry the name of the lab.
pub(crate) fn left_of(name: &LabName, folder: &Path) -> Vec<String> {
    let prefix = format!("bl-{name}");
    let namespaces = fs::read_dir("/run/netns").into_iter().flatten().flatten();
    let namespaces = namespaces.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut left: Vec<_> =
        namespaces.filter(|it| *it == prefix || it.starts_with(&format!("{prefix}."))).collect();
    left.extend(daemons(&folder.join(name.as_str())));
    left
}

fn daemons(folder: &Path) -> Vec<String> {
    let folder = folder.to_string_lossy().into_owned();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|it| it.contains(&folder))
        .collect()
}

pub(crate) fn in_namespace<T: Send>(name: &str, action: impl FnOnce() -> T + Send) -> T {
    let file = fs::File::open(format!("/run/netns/{name}")).unwrap();
    thread::scope(|scope| {
        let inside = scope.spawn(|| {
            setns(file, CloneFlags::CLONE_NEWNET).unwrap();
            action()
        });
        inside.join().unwrap()
    })
}

/// Sends `bytes` over TCP from a host to an address of another; what arrived.
pub(crate) fn transfer(from: &str, to: &str, address: &str, bytes: &[u8]) -> Vec<u8> {
    let address: SocketAddr = address.parse().unwrap();
    let listener = in_namespace(to, || TcpListener::bind(address).unwrap());
    let mut sender = in_namespace(from, || TcpStream::connect(address).unwrap());
    let (mut receiver, _) = listener.accept().unwrap();
    thread::scope(|scope| {
        scope.spawn(move || sender.write_all(bytes).unwrap());
        let mut received = Vec::new();
        receiver.read_to_end(&mut received).unwrap();
        received
    })
}

/// Runs one test of this file in a process of its own, which reads its task from `BRAID_LAB_TEST`.
pub(crate) fn start_helper(helper: &str, bench: &Bench, name: &LabName) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", helper, "--nocapture"]);
    command.env("BRAID_LAB_TEST", format!("{} {name}", bench.folder.path().display()));
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// What `start_helper` said; `None` in a test that it did not start.
pub(crate) fn helper_task() -> Option<(Labs, LabName)> {
    let task = std::env::var("BRAID_LAB_TEST").ok()?;
    let (folder, name) = task.split_once(' ').unwrap();
    Some((Labs::at(folder), name.parse().unwrap()))
}
