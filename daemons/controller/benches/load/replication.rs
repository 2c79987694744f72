//! New MPTCP connections at a controller that is alone, and at one whose standby is told of all of them, in turns.

use std::collections::VecDeque;
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use braid_controller::{ClusterConfig, StoreAccess};
use braid_load::Network;
use tempfile::TempDir;

use crate::fat_tree::{self, Opening};
use crate::process::{Member, Process, Setup};
use crate::report;

/// How often each is measured; they take turns, as the machine's speed changes.
const ROUNDS: usize = 3;
const TIME: Duration = Duration::from_secs(5);
/// Connections a second: as many as the reach is stated for.
const RATE: f64 = 50_000.0;
/// Streams at a time; of more, the oldest end.
const STREAMS: usize = 20_000;
/// A packet is answered long before.
const ANSWER_AFTER: Duration = Duration::from_millis(5);
/// A packet that was not sent on by then is lost.
const SETTLES_WITHIN: Duration = Duration::from_secs(2);
/// Within this time a leader tells its standby what it knows.
const FOLLOWS_WITHIN: Duration = Duration::from_secs(30);

/// An etcd in a folder of its own; it ends with this.
struct Etcd {
    url: String,
    process: Child,
    _folder: TempDir,
}

/// What connections cost the controller.
#[derive(Clone, Copy, Default)]
struct Cost {
    connections: u64,
    lost: u64,
    took: Duration,
    busy: Duration,
}

pub(crate) fn run() {
    let etcd = Etcd::start();
    let (mut alone, mut followed) = (Cost::default(), Cost::default());
    for round in 1..=ROUNDS {
        let controller = Process::start("controller");
        let (mut network, hosts) = fat_tree::deploy(&controller);
        alone.add("alone", &open(&mut network, &controller, &mut Opening::of(&hosts)));
        drop((network, controller));

        let cluster = format!("round-{round}");
        let member = |name| {
            let member = Member { store: &etcd.url, cluster: &cluster, name };
            Setup { member: Some(member), ..Setup::default() }
        };
        let leader = Process::start_with("controller", member("leader"));
        let (mut network, hosts) = fat_tree::deploy(&leader);
        let standby = Process::start_with("standby", member("standby"));
        wait_until_followed(&mut network, &leader);
        followed.add("with a standby that follows", &open(&mut network, &leader, &mut Opening::of(&hosts)));
        let facts =
            |of: &Process| report::totals(of.http).and_then(|it| it.get("braid_cluster_facts").copied());
        println!(
            "  {:30} {:?} facts at the leader, {:?} at the standby",
            "",
            facts(&leader),
            facts(&standby)
        );
    }
    let more = followed.per_connection() / alone.per_connection() - 1.0;
    println!("Replication: {:.1} % more of a core for each connection at {RATE} a second", 100.0 * more);
}

/// Opens connections and has them answered, at the rate.
fn open(network: &mut Network, controller: &Process, opening: &mut Opening) -> Cost {
    // Paths are confirmed for the first time.
    pace(network, opening, Duration::from_secs(1));
    let busy = controller.time_on_core();
    let (connections, lost) = pace(network, opening, TIME);
    Cost { connections, lost, took: TIME, busy: controller.time_on_core() - busy }
}

/// Returns how many were opened, and how many first packets were not sent on. Answers have been forwarded by the switch itself.
fn pace(network: &mut Network, opening: &mut Opening, time: Duration) -> (u64, u64) {
    let (start, mut begun, mut packets) = (Instant::now(), 0, 0_u64);
    let mut unanswered = VecDeque::new();
    while start.elapsed() < time || !unanswered.is_empty() {
        while start.elapsed() < time && (begun as f64) < RATE * start.elapsed().as_secs_f64() {
            let [syn, answer] = opening.next();
            network.send(syn.0, &syn.1);
            unanswered.push_back((Instant::now(), answer));
            begun += 1;
        }
        while let Some((_, (at, answer))) =
            unanswered.pop_front_if(|(sent, _)| sent.elapsed() >= ANSWER_AFTER)
        {
            network.send(at, &answer);
        }
        network.flush().expect("a controller that reads");
        network.serve(|_, received| packets += received.packets).expect("a controller that answers");
        network.end_streams(STREAMS);
    }
    let settled = Instant::now() + SETTLES_WITHIN;
    while packets < begun && Instant::now() < settled {
        network.serve(|_, received| packets += received.packets).expect("a controller that answers");
        network.flush().expect("a controller that reads");
    }
    (begun, begun - packets)
}

fn wait_until_followed(network: &mut Network, leader: &Process) {
    let start = Instant::now();
    let followers = || report::totals(leader.http).and_then(|it| it.get("braid_cluster_followers").copied());
    while followers() != Some(1) {
        assert!(start.elapsed() < FOLLOWS_WITHIN, "no standby follows");
        network.serve_for(Duration::from_millis(100)).expect("a controller that answers");
    }
}

impl Cost {
    fn add(&mut self, what: &str, more: &Self) {
        self.connections += more.connections;
        self.lost += more.lost;
        self.took += more.took;
        self.busy += more.busy;
        println!(
            "  {what:30} {:10.0} a second, {} lost; {:.2} of a core, {:.2} µs each",
            more.connections as f64 / more.took.as_secs_f64(),
            more.lost,
            more.busy.as_secs_f64() / more.took.as_secs_f64(),
            more.per_connection(),
        );
    }

    /// Microseconds on a core.
    fn per_connection(&self) -> f64 {
        self.busy.as_secs_f64() * 1e6 / self.connections as f64
    }
}

impl Etcd {
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|it| it.local_addr());
        let url = format!("http://{}", free.expect("a port"));
        let process = Command::new("etcd")
            .arg(format!("--data-dir={}", folder.path().join("data").display()))
            .args([format!("--listen-client-urls={url}"), format!("--advertise-client-urls={url}")])
            .arg("--listen-peer-urls=http://127.0.0.1:0")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("etcd");
        Self { url: url.replace("http://", "etcd://"), process, _folder: folder }
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The place in a cluster that a process was started with.
pub(crate) fn member(arguments: &[String]) -> Option<ClusterConfig> {
    let after = |option: &str| arguments.iter().skip_while(|argument| *argument != option).nth(1).cloned();
    Some(ClusterConfig {
        store: after(Member::STORE)?.parse().expect("a store"),
        access: StoreAccess::default(),
        name: after(Member::CLUSTER)?,
        member: after(Member::NAME)?,
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        advertise: None,
        trusted: false,
        tls: None,
        api_trust: None,
    })
}
