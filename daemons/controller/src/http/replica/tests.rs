//! The replica: shared copies, rests between copies, bounded age, and an engine that has ended.

use braid_api::SwitchRole;
use braid_control::view::{HostView, SwitchView};
use braid_types::{DatapathId, MacAddr, PortNo, SwitchPort, Time};
use tokio::runtime::Builder;
use tokio::task::JoinSet;

use super::*;
use crate::state_copy::{ConnectedSwitch, Items, List, StateCopy};
use crate::switch_metadata::SwitchMetadata;

const HOSTS: Lists = Lists::of(&[List::Hosts]);

fn host(number: u64) -> HostView {
    let at = SwitchPort::new(DatapathId(1), PortNo(1));
    HostView { mac: MacAddr::from_u64(number), at, addresses: Vec::new(), last_seen: Time::ZERO }
}

/// Runs it on a clock of its own, which goes on when everybody waits.
fn run(test: impl Future<Output = ()>) {
    let runtime = Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.expect("a runtime").block_on(test);
}

/// The engine's end of a replica that is renewed.
fn renewed() -> (Replica, mpsc::Receiver<CopyRequest>) {
    let (copies, asked) = mpsc::channel(1);
    let (replica, renewal) = Replica::new(copies);
    tokio::spawn(renewal.run());
    (replica, asked)
}

/// Answers with so many hosts.
fn answer(request: CopyRequest, hosts: u64, took: Duration) {
    let CopyRequest { lists, answer } = request;
    let items = Items { hosts: (0..hosts).map(host).collect(), ..Items::default() };
    answer.send(StateCopy { lists, items, took, ..StateCopy::default() }).expect("somebody waits");
}

fn count(replica: &Replica) -> usize {
    replica.read(|tables| tables.hosts.items().count())
}

#[test]
fn all_who_wait_share_a_copy_and_those_who_come_later_the_next() {
    run(async {
        let (replica, mut asked) = renewed();
        let mut readers = JoinSet::new();
        let mut read = || {
            let replica = replica.clone();
            readers.spawn(async move { replica.refresh(HOSTS).await.map(|()| count(&replica)) });
        };
        (0..64).for_each(|_| read());
        let first = asked.recv().await.expect("a request");
        assert_eq!(first.lists, HOSTS);
        // What this one has seen happen may not be in the copy that is under way.
        read();
        tokio::task::yield_now().await;
        answer(first, 1, Duration::ZERO);
        answer(asked.recv().await.expect("a request"), 2, Duration::ZERO);
        let mut counts: Vec<_> = readers.join_all().await.into_iter().flatten().collect();
        counts.sort_unstable();
        assert_eq!((counts.len(), counts.last()), (65, Some(&2)));
        assert!(asked.try_recv().is_err(), "nobody waits any more");
    });
}

#[test]
fn a_copy_that_occupied_the_engine_is_followed_by_a_rest() {
    run(async {
        let (replica, mut asked) = renewed();
        let mut rest_after = async |took: Duration| {
            let reader = replica.clone();
            let read = tokio::spawn(async move { reader.refresh(HOSTS).await });
            answer(asked.recv().await.expect("a request"), 0, took);
            read.await.expect("a reader").expect("a copy");
            let (start, reader) = (Instant::now(), replica.clone());
            tokio::spawn(async move { reader.refresh(HOSTS).await });
            answer(asked.recv().await.expect("a request"), 0, Duration::ZERO);
            let rest = start.elapsed();
            tokio::time::sleep(Duration::from_secs(1)).await;
            rest
        };
        let [short, long, longest] =
            [Duration::from_micros(20), Duration::from_millis(5), Duration::MAX / 100];
        assert_eq!(rest_after(short).await, Duration::ZERO);
        let rest = rest_after(long).await;
        assert!((long * REST..long * REST + SAVED).contains(&rest), "{rest:?}");
        let rest = rest_after(longest).await;
        assert!((MAX_REST..MAX_REST + SAVED).contains(&rest), "{rest:?}");
    });
}

#[test]
fn those_who_read_on_wait_only_where_the_list_is_old() {
    run(async {
        let (replica, mut asked) = renewed();
        let age = Duration::from_secs(1);
        let engine = tokio::spawn(async move {
            for copies in 1.. {
                let Some(request) = asked.recv().await else { break };
                answer(request, copies, Duration::ZERO);
            }
        });
        for (pause, expected) in [(0, 1), (900, 1), (200, 2), (0, 2)] {
            tokio::time::sleep(Duration::from_millis(pause)).await;
            replica.refresh_if_older::<HostView>(age).await.expect("a copy");
            assert_eq!(count(&replica), expected);
        }
        engine.abort();
    });
}

#[test]
fn a_long_list_is_forgotten_while_nobody_reads_it_and_copied_for_the_next_reader() {
    const SWITCHES: Lists = Lists::of(&[List::Switches]);
    run(async {
        let (replica, mut asked) = renewed();
        let engine = tokio::spawn(async move {
            while let Some(CopyRequest { lists, answer }) = asked.recv().await {
                let switch = SwitchView { dpid: DatapathId(1), ports: Vec::new() };
                let (role, address, metadata) = (SwitchRole::Master, None, SwitchMetadata::default());
                let mut copy = StateCopy { lists, ..StateCopy::default() };
                copy.items.switches.extend(lists.has(List::Switches).then_some(ConnectedSwitch {
                    switch,
                    role,
                    address,
                    via: None,
                    metadata,
                }));
                answer.send(copy).expect("somebody waits");
            }
        });
        let mut counts = Vec::new();
        for (lists, pause) in [(SWITCHES, 59), (HOSTS, 2), (HOSTS, 0), (SWITCHES, 0)] {
            replica.refresh(lists).await.expect("a copy");
            counts.push(replica.read(|tables| tables.switches.len()));
            tokio::time::sleep(Duration::from_secs(pause)).await;
        }
        assert_eq!(counts, [1, 1, 0, 1]);
        engine.abort();
    });
}

#[test]
fn readers_are_told_when_the_engine_has_gone() {
    run(async {
        let (replica, asked) = renewed();
        drop(asked);
        assert!(replica.refresh(HOSTS).await.is_err());
        assert!(replica.refresh(HOSTS).await.is_err(), "and told again");
    });
}
