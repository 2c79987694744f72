//! An edge without interfaces, and `ovs-ofctl` as its client.

use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::{JoinHandle, spawn};

use braid_edge::{ControllerOption, Edge, Options};
use braid_types::DatapathId;

/// An edge without interfaces, which needs no rights, until it is dropped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub(crate) fn start(controllers: Vec<SocketAddr>) -> Self {
        let listen = vec![SocketAddr::from(([127, 0, 0, 1], 0))];
        let (ports, uplinks, tunnels) = (Vec::new(), Vec::new(), Vec::new());
        let controllers = controllers.into_iter().map(|address| ControllerOption { address, tls: false });
        Self::start_with(Options {
            dpid: DatapathId(0x2a),
            ports,
            uplinks,
            tunnels,
            rewrite: false,
            listen,
            controllers: controllers.collect(),
            credentials: None,
        })
    }

    pub(crate) fn start_with(options: Options) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let (ready, address) = channel();
        let thread = spawn(move || {
            let mut edge = Edge::new(&options).expect("an edge");
            ready.send(edge.addresses()[0]).expect("somebody waits");
            edge.run_while(|| !flag.load(Ordering::Relaxed)).expect("an edge that runs");
        });
        let address = address.recv().expect("an address");
        Self { address, stop, thread: Some(thread) }
    }

    /// What `ovs-ofctl` prints, and whether it was content.
    pub(crate) fn ofctl(&self, command: &str, arguments: &[&str]) -> (bool, String) {
        let target = format!("tcp:{}", self.address);
        let words = ["-O", "OpenFlow13", command, &target];
        let output = Command::new("ovs-ofctl").args(words).args(arguments).output().expect("ovs-ofctl");
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).into_owned())
    }

    /// What `ovs-ofctl` prints when it must be content.
    pub(crate) fn done(&self, command: &str, arguments: &[&str]) -> String {
        let (content, text) = self.ofctl(command, arguments);
        assert!(content, "{command} {arguments:?}: {text}");
        text
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the edge panicked");
        }
    }
}

/// Whether Open vSwitch's tools are there; says so if not.
pub(crate) fn has_ofctl() -> bool {
    let found = Command::new("ovs-ofctl").arg("--version").output().is_ok();
    if !found {
        println!("skipped: ovs-ofctl is not installed");
    }
    found
}
