//! Standbys that follow, are slow, or cannot read what they are told; leaders that are none.

use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use braid_cluster::{MemberId, RunId};
use braid_control::{Fact, FactChange, FactKey, HostFact};
use braid_types::{DatapathId, MacAddr, PortNo, SwitchPort};
use tokio::sync::mpsc::channel;

use super::publication::Update;
use super::*;
use crate::cluster::peers::{self, Hello, Local, Refusals, Services};

fn local(member: &str, run: u64) -> Local {
    Local { hello: Hello::new("c", &MemberId::new(member), RunId(run)), tls: None }
}

fn host(number: u8) -> Fact {
    let ip = IpAddr::from([10, 0, 0, number]);
    let (mac, at) = (MacAddr::from_u64(number.into()), SwitchPort::new(DatapathId(1), PortNo(number.into())));
    Fact::Host(HostFact { ip, mac, at })
}

/// A leader: what it publishes, and where.
struct Leader {
    publication: Publication,
    updates: SyncSender<Update>,
    address: SocketAddr,
}

impl Leader {
    fn start() -> Self {
        let (publication, (updates, queue)) = (Publication::default(), sync_channel(4));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let services = Services { publication: publication.clone(), admission: None };
        peers::accept(listener, local("a", 1), channel(64).0, services);
        let kept = publication.clone();
        thread::spawn(move || kept.keep(&queue));
        Self { publication, updates, address }
    }

    fn lead(&self) {
        self.publication.set_leads(true);
    }

    fn tell(&self, epoch: u64, changes: impl IntoIterator<Item = FactChange>) {
        let (changes, taken) = (changes.into_iter().collect(), Instant::now());
        self.updates.send(Update { epoch, changes, taken, is_whole: true }).expect("a publisher");
    }
}

/// A standby that follows whoever is at this address.
fn follow(address: SocketAddr) -> Following {
    let following = Following::start(local("b", 2), Refusals::new(channel(64).0));
    following.set_leader(Some(Leading { member: MemberId::new("a"), address: address.to_string() }));
    following
}

fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_standby_has_what_was_known_before_and_what_changes_after() {
    let leader = Leader::start();
    leader.lead();
    leader.tell(1, (1..=200).map(|number| FactChange::Known(host(number))));
    let standby = follow(leader.address);
    wait_for("the snapshot", || standby.view().facts == 200);
    let gone = FactChange::Gone(host(7).key());
    leader.tell(1, [gone, FactChange::Known(host(201)), FactChange::Known(host(202))]);
    wait_for("the changes", || standby.view().facts == 201 && standby.view().age.is_some());
    let lag = || leader.publication.progress().get(&MemberId::new("b")).and_then(|it| it.lag());
    wait_for("all is confirmed", || lag() == Some(Duration::ZERO));
    let mut expected: Vec<_> = (1..=202).filter(|number| *number != 7).map(host).collect();
    expected.sort_by_key(Fact::key);
    assert_eq!(standby.take(), expected);
    assert_eq!(standby.take(), [], "once");
}

#[test]
fn who_does_not_lead_or_has_not_everything_yet_is_not_followed() {
    let leader = Leader::start();
    let standby = follow(leader.address);
    assert!(leader.publication.refusal().is_some());
    leader.lead();
    assert!(leader.publication.refusal().is_some(), "nothing was told yet");
    leader.tell(1, [FactChange::Known(host(1))]);
    wait_for("the snapshot", || standby.view().facts == 1);
    leader.publication.set_leads(false);
    wait_for("the end", || leader.publication.progress().is_empty());
    assert_eq!(standby.take(), [host(1)], "it keeps what it has");
}

#[test]
fn a_new_leadership_begins_without_the_facts_of_the_one_before() {
    let leader = Leader::start();
    leader.lead();
    leader.tell(1, [FactChange::Known(host(1))]);
    leader.tell(2, [FactChange::Known(host(2))]);
    let standby = follow(leader.address);
    wait_for("the snapshot", || standby.view().facts == 1);
    assert_eq!(standby.take(), [host(2)]);
}

#[test]
fn a_standby_that_takes_nothing_is_dropped_and_delays_nobody() {
    let leader = Leader::start();
    leader.lead();
    leader.tell(1, []);
    wait_for("the leader is ready", || leader.publication.refusal().is_none());
    let slow = leader.publication.subscribe(&MemberId::new("slow"));
    let standby = follow(leader.address);
    for round in 0..200 {
        leader.tell(1, [FactChange::Known(host(round))]);
    }
    wait_for("the other one has everything", || standby.view().facts == 200);
    assert!(slow.queue.iter().count() < 200, "its queue is bounded, and closed");
    let again = leader.publication.subscribe(&MemberId::new("slow"));
    assert_eq!(again.snapshot.len(), 200);
}

/// A leader that greets, says these lines, and confirms nothing.
fn pretend(lines: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        let streams: Vec<TcpStream> =
            listener.incoming().flatten().map(|stream| greet(stream, lines)).collect();
        drop(streams);
    });
    address
}

fn greet(mut stream: TcpStream, lines: &str) -> TcpStream {
    let mut hello = String::new();
    BufReader::new(&stream).read_line(&mut hello).expect("a hello");
    let own = serde_json::to_string(&local("a", 1).hello).expect("JSON");
    writeln!(stream, r#"{{"hello":{own},"refused":null}}"#).expect("room");
    stream.write_all(lines.as_bytes()).expect("room");
    stream
}

#[test]
fn a_standby_that_cannot_read_the_leaders_facts_says_so() {
    let standby = follow(pretend("{\"facts\":99}\n"));
    wait_for("a problem", || standby.view().problem.is_some());
    let problem = standby.view().problem.expect("a problem");
    assert!(problem.contains("version 99") && problem.contains("upgrade"), "{problem}");
    assert_eq!((standby.view().age, standby.take()), (None, Vec::new()));
}

#[test]
fn kinds_of_facts_that_a_standby_does_not_know_are_passed_over() {
    let known = serde_json::to_string(&FactChange::Known(host(1))).expect("JSON");
    let lines = format!(
        "{{\"facts\":1,\"new\":1}}\n{{\"number\":1,\"more\":false,\"changes\":[{{\"known\":{{\"weather\":3}}}},\
         {{\"gone\":{{\"moon\":1}}}},7,{known}]}}\n"
    );
    let standby = follow(pretend(lines.leak()));
    wait_for("the fact", || standby.view().facts == 1);
    assert_eq!(standby.view().problem, None);
}

#[test]
fn half_a_snapshot_replaces_nothing() {
    let leader = Leader::start();
    leader.lead();
    leader.tell(1, [FactChange::Known(host(1))]);
    let standby = follow(leader.address);
    wait_for("the snapshot", || standby.view().facts == 1);
    let half = pretend("{\"facts\":1}\n{\"number\":1,\"more\":true,\"changes\":[]}\n");
    standby.set_leader(Some(Leading { member: MemberId::new("a"), address: half.to_string() }));
    thread::sleep(Duration::from_millis(500));
    assert_eq!(standby.take(), [host(1)]);
}

#[test]
fn long_lists_are_sent_in_batches_of_a_bounded_length() {
    let change: std::sync::Arc<str> = "x".repeat(1_000).into();
    let changes = vec![change; 1_000];
    let batches: Vec<_> = wire::batches(&changes).collect();
    assert_eq!(batches.iter().map(|batch| batch.len()).sum::<usize>(), 1_000);
    assert!(batches.iter().all(|batch| batch.len() <= wire::MAX_BATCH / 1_000 + 1));
    assert!(wire::batches(&[]).next().is_none());
    assert_eq!(FactKey::Host([10, 0, 0, 1].into()), host(1).key());
}
