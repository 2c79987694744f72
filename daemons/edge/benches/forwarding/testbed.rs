//! host - edge = edge - host, in network namespaces of their own.

use std::fs::File;
use std::os::fd::AsFd;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use braid_edge::{Edge, Options};
use braid_edge_protocol::telemetry::Report;
use braid_openflow::GroupId;
use braid_types::DatapathId;
use rustix::thread::{LinkNameSpaceType, gettid, move_into_link_name_space};

use crate::controller;

/// Where frames are no longer than Ethernet's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    Nowhere,
    /// The hosts send and take full frames.
    Hosts,
    /// And no interface between them passes on longer ones.
    Everywhere,
}

pub(crate) struct Testbed {
    names: [String; 4],
    edges: Vec<Running>,
}

struct Running {
    space: String,
    thread: Option<JoinHandle<()>>,
    task: i32,
    stop: Arc<AtomicBool>,
}

pub(crate) fn is_possible() -> bool {
    let runs = |program: &str| Command::new(program).arg("-V").output().is_ok();
    rustix::process::geteuid().is_root() && ["ip", "ethtool", "iperf3"].iter().all(|it| runs(it))
}

/// Runs a command, which has to succeed.
pub(crate) fn run(words: &str) -> String {
    let mut parts = words.split(' ');
    let output = Command::new(parts.next().unwrap_or_default()).args(parts).output();
    let output = output.unwrap_or_else(|error| panic!("{words}: {error}"));
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The calling thread is in the namespace from now on.
pub(crate) fn enter(space: &str) {
    let file = File::open(format!("/run/netns/{space}")).expect("the namespace");
    move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))
        .expect("a way into the namespace");
}

impl Testbed {
    pub(crate) fn with_edges(cut: Cut) -> Self {
        let mut testbed = Self::namespaces();
        let [left, near, far, right] = testbed.names.clone();
        cable([(&left, "hst"), (&near, "hst")]);
        cable([(&far, "hst"), (&right, "hst")]);
        ["p1", "p2"].iter().for_each(|path| cable([(&near, path), (&far, path)]));
        testbed.address();
        if cut != Cut::Nowhere {
            [&left, &right].iter().for_each(|space| keep_short(space, "hst"));
        }
        if cut == Cut::Everywhere {
            let devices = ["hst", "p1", "p2"];
            [&near, &far].iter().for_each(|space| devices.iter().for_each(|it| keep_short(space, it)));
        }
        testbed.edges = [(near, 1), (far, 2)].map(|(space, dpid)| Running::start(space, dpid)).into();
        testbed
    }

    pub(crate) fn with_a_cable() -> Self {
        let testbed = Self::namespaces();
        let [left, _, _, right] = &testbed.names;
        cable([(left, "hst"), (right, "hst")]);
        testbed.address();
        testbed
    }

    fn namespaces() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let names = ["a", "b", "c", "d"].map(|it| format!("edge-bench{}-{number}{it}", std::process::id()));
        for name in &names {
            run(&format!("ip netns add {name}"));
            run(&format!("ip -n {name} link set lo up"));
            run(&format!("ip netns exec {name} sysctl -qw net.ipv6.conf.default.disable_ipv6=1"));
        }
        Self { names, edges: Vec::new() }
    }

    fn address(&self) {
        for (host, number) in [(self.left(), 1), (self.right(), 2)] {
            run(&format!("ip -n {host} address add 10.9.0.{number}/24 dev hst"));
        }
    }

    pub(crate) fn left(&self) -> &str {
        &self.names[0]
    }

    pub(crate) fn right(&self) -> &str {
        &self.names[3]
    }

    /// How long the thread of each edge has run.
    pub(crate) fn cores(&self) -> Vec<Duration> {
        self.edges.iter().map(Running::core).collect()
    }

    /// Prints the resequencing counters of the edges where something went wrong.
    pub(crate) fn report(&self) {
        for edge in &self.edges {
            let report = controller::inside(&edge.space, |client| client.report(GroupId(2)));
            let Some(Report::Resequence(order)) = report else { continue };
            let counted = order.counters;
            let numbers = [
                ("held", counted.held),
                ("old", counted.old),
                ("spurious", counted.spurious),
                ("gaps_timed_out", counted.gaps_timed_out),
                ("gaps_over_threshold", counted.gaps_over_threshold),
                ("gaps_passed", counted.gaps_passed),
            ];
            let numbers = numbers.into_iter().filter(|(_, number)| *number > 0);
            let text: Vec<_> = numbers.map(|(name, number)| format!("{name} {number}")).collect();
            println!("  edge {}: {}", edge.space.chars().last().unwrap_or('?'), text.join(", "));
        }
    }
}

impl Drop for Testbed {
    fn drop(&mut self) {
        self.edges.clear();
        for name in &self.names {
            let _ = Command::new("ip").args(["netns", "delete", name]).status();
        }
    }
}

fn cable([(one, a), (two, b)]: [(&str, &str); 2]) {
    run(&format!("ip link add dev {a} netns {one} type veth peer name {b} netns {two}"));
    run(&format!("ip -n {one} link set {a} up"));
    run(&format!("ip -n {two} link set {b} up"));
}

fn keep_short(space: &str, device: &str) {
    run(&format!("ip netns exec {space} ethtool -K {device} tso off gso off gro off"));
}

impl Running {
    fn start(space: String, dpid: u64) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (flag, inside) = (Arc::clone(&stop), space.clone());
        let (ready, task) = channel();
        let thread = spawn(move || {
            enter(&inside);
            let ports = ["hst=1", "p1=2", "p2=3"].map(|port| port.parse().expect("a port")).into();
            let listen = vec![controller::LISTENER];
            let (uplinks, tunnels, controllers) = (Vec::new(), Vec::new(), Vec::new());
            let options = Options {
                dpid: DatapathId(dpid),
                ports,
                uplinks,
                tunnels,
                rewrite: false,
                listen,
                controllers,
                credentials: None,
            };
            let mut edge = Edge::new(&options).expect("an edge");
            ready.send(gettid().as_raw_nonzero().get()).expect("somebody waits");
            edge.run_while(|| !flag.load(Ordering::Relaxed)).expect("an edge that runs");
        });
        let task = task.recv().expect("an edge");
        controller::give_flows(&space);
        Self { space, thread: Some(thread), task, stop }
    }

    fn core(&self) -> Duration {
        let text = std::fs::read_to_string(format!("/proc/self/task/{}/schedstat", self.task));
        let nanos = text.ok().and_then(|text| text.split(' ').next()?.parse().ok());
        Duration::from_nanos(nanos.expect("how long a thread has run"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
