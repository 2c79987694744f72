//! A namespace with two veth pairs, a0 to a1 and b0 to b1; links join a1 and b1.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use braid_link::{Client, Engine, LinkSetup, LinkStatus, Setup};
use braid_link_model::Parameters;
use nix::errno::Errno;
use nix::ifaddrs::getifaddrs;
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, bind, recv, send, setsockopt, socket, sockopt,
};
use nix::sys::time::TimeVal;
use tempfile::TempDir;

/// Far beyond what anything here takes.
const TIMEOUT: i64 = 20;

pub(crate) struct Bench {
    folder: TempDir,
    namespace: File,
}

/// `None`, with a word on stderr, where links cannot be made.
pub(crate) fn bench() -> Option<Bench> {
    if !nix::unistd::Uid::effective().is_root() {
        eprintln!("skipped: packet sockets need root");
        return None;
    }
    let make = || {
        unshare(CloneFlags::CLONE_NEWNET).unwrap();
        std::fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1").unwrap();
        Bench::veth("a");
        Bench::veth("b");
        File::open("/proc/thread-self/ns/net").unwrap()
    };
    // The namespace ends with its last thread and the file.
    let namespace = thread::spawn(make).join().unwrap();
    Some(Bench { folder: tempfile::tempdir().unwrap(), namespace })
}

pub(crate) fn ip(words: &str) {
    assert!(Command::new("ip").args(words.split(' ')).status().unwrap().success(), "ip {words}");
}

/// So many bytes to nobody, in a protocol for experiments.
pub(crate) fn frame(number: u8, bytes: usize) -> Vec<u8> {
    let mut frame = vec![number; bytes];
    frame[..14].copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5]);
    frame
}

impl Bench {
    /// Makes `name`0 and `name`1 in the thread's namespace.
    pub(crate) fn veth(name: &str) {
        ip(&format!("link add {name}0 type veth peer name {name}1"));
        ip(&format!("link set {name}0 up"));
        ip(&format!("link set {name}1 up"));
    }

    pub(crate) fn inside<T: Send>(&self, action: impl FnOnce() -> T + Send) -> T {
        thread::scope(|scope| {
            let inside = scope.spawn(|| {
                setns(&self.namespace, CloneFlags::CLONE_NEWNET).unwrap();
                action()
            });
            inside.join().unwrap()
        })
    }

    pub(crate) fn control(&self) -> PathBuf {
        self.folder.path().join("control")
    }

    /// Calls `action` while a link of these parameters joins a1 and b1.
    pub(crate) fn run(&self, parameters: Parameters, action: impl FnOnce(&Self, &mut Client)) {
        let devices = ["a1", "b1"].map(str::to_owned);
        self.run_setup(vec![LinkSetup { devices, directions: [parameters; 2] }], action);
    }

    pub(crate) fn run_setup(&self, links: Vec<LinkSetup>, action: impl FnOnce(&Self, &mut Client)) {
        let setup = Setup { socket: self.control(), seed: 1, links };
        let stop = Stop(AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                setns(&self.namespace, CloneFlags::CLONE_NEWNET).unwrap();
                let mut engine = Engine::new(&setup).unwrap();
                engine.run_while(|| !stop.0.load(Ordering::Relaxed)).unwrap();
            });
            let _stop = Stopper(&stop);
            action(self, &mut self.connect());
        });
    }

    fn connect(&self) -> Client {
        let start = Instant::now();
        loop {
            match Client::connect(&self.control()) {
                Ok(client) => return client,
                Err(error) => assert!(start.elapsed().as_secs() < TIMEOUT as u64, "{error}"),
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Asks until the first link is as it should be.
    pub(crate) fn until(&self, client: &mut Client, wanted: impl Fn(&LinkStatus) -> bool) -> LinkStatus {
        let start = Instant::now();
        loop {
            let link = client.status().unwrap().links.remove(0);
            if wanted(&link) {
                return link;
            }
            assert!(start.elapsed().as_secs() < TIMEOUT as u64, "{link:?}");
            thread::sleep(Duration::from_millis(2));
        }
    }

    pub(crate) fn socket(&self, device: &str) -> PacketSocket {
        self.inside(|| PacketSocket::open(device))
    }
}

struct Stop(AtomicBool);

/// Ends the link however a test ends.
struct Stopper<'a>(&'a Stop);

impl Drop for Stopper<'_> {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

pub(crate) struct PacketSocket(OwnedFd);

impl PacketSocket {
    fn open(device: &str) -> Self {
        let protocol = SockProtocol::EthAll;
        let socket = socket(AddressFamily::Packet, SockType::Raw, SockFlag::empty(), protocol).unwrap();
        let address = getifaddrs().unwrap().find_map(|it| {
            let link = it.address?.as_link_addr().copied()?;
            (it.interface_name == device).then_some(link)
        });
        bind(socket.as_raw_fd(), &address.unwrap()).unwrap();
        setsockopt(&socket, sockopt::ReceiveTimeout, &TimeVal::new(TIMEOUT, 0)).unwrap();
        // Of all that a test sends, nothing is dropped here.
        setsockopt(&socket, sockopt::RcvBufForce, &(4 << 20)).unwrap();
        Self(socket)
    }

    pub(crate) fn send(&self, frame: &[u8]) {
        assert_eq!(send(self.0.as_raw_fd(), frame, MsgFlags::empty()).unwrap(), frame.len());
    }

    /// The next frame, without its outermost tag.
    pub(crate) fn receive(&self) -> Vec<u8> {
        let mut buffer = vec![0; 10_000];
        loop {
            match recv(self.0.as_raw_fd(), &mut buffer, MsgFlags::empty()) {
                // A process that was stopped and goes on has this from a socket with a timeout.
                Err(Errno::EINTR) => {}
                received => {
                    buffer.truncate(received.unwrap());
                    return buffer;
                }
            }
        }
    }
}
