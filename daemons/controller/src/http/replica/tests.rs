//! The replica: shared copies, rests between copies, bounded age, and an engine that has ended.

use braid_api::SwitchRole;
use braid_control::view::{HostView, SwitchView};
use braid_types::{DatapathId, MacAddr, PortNo, SwitchPort, Time};
use tokio::runtime::Builder;
use tokio::task::JoinSet;

use super::pace::{MAX_REST, SAVED};
use super::*;
use crate::clock::Clock;
use crate::engine::Engine;
use crate::state_copy::{ConnectedSwitch, Copied, List, StateCopy};
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
    let (replica, renewal) = Replica::new(copies, mpsc::channel(1).0);
    tokio::spawn(renewal.run());
    (replica, asked)
}

/// Answers with so many hosts.
fn answer(request: CopyRequest, hosts: u64, took: Duration) {
    let CopyRequest { lists, answer } = request;
    let hosts = (0..hosts).map(host).collect();
    answer.send(StateCopy { lists, hosts, took, ..StateCopy::default() }).expect("somebody waits");
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
fn a_long_list_is_forgotten_while_nobody_reads_it_and_copied_for_the_next_reader() {
    const SWITCHES: Lists = Lists::of(&[List::Switches]);
    run(async {
        let (replica, mut asked) = renewed();
        let engine = tokio::spawn(async move {
            while let Some(CopyRequest { lists, answer }) = asked.recv().await {
                let switch = SwitchView { dpid: DatapathId(1), ports: Vec::new() };
                let (role, address, metadata) = (SwitchRole::Master, None, SwitchMetadata::default());
                let mut copy = StateCopy { lists, ..StateCopy::default() };
                copy.switches.extend(lists.has(List::Switches).then_some(ConnectedSwitch {
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

/// An engine with so many switches, a replica, and where parts are requested.
fn parted(switches: u64) -> (Engine, Replica, mpsc::Receiver<PartRequest>) {
    let mut engine = Engine::new(Clock::start(), braid_control::Settings::default(), None);
    (1..=switches).for_each(|dpid| engine.join_blank(DatapathId(dpid)));
    let (parts, asked) = mpsc::channel(1);
    (engine, Replica::new(mpsc::channel(1).0, parts).0, asked)
}

/// Copies a part, as if that took so long.
fn copy(engine: &mut Engine, request: PartRequest, took: Duration) {
    let mut part = request(engine);
    while !part.step(engine) {}
    part.finish(took);
}

/// Begins to read switches after a key since then.
fn read_part(readers: &mut JoinSet<bool>, replica: &Replica, after: Option<u64>, since: Instant) {
    let (replica, after) = (replica.clone(), after.map(DatapathId));
    readers.spawn(async move { replica.renew_part::<ConnectedSwitch>(after, since).await.is_ok() });
}

#[test]
fn all_who_wait_for_a_part_share_it_and_those_who_come_later_do_not() {
    run(async {
        let (mut engine, replica, mut asked) = parted(3);
        let mut readers = JoinSet::new();
        (0..64).for_each(|_| read_part(&mut readers, &replica, None, Instant::now()));
        let first = asked.recv().await.expect("a request");
        tokio::time::advance(Duration::from_millis(1)).await;
        read_part(&mut readers, &replica, None, Instant::now());
        copy(&mut engine, first, Duration::ZERO);
        copy(&mut engine, asked.recv().await.expect("a request"), Duration::ZERO);
        assert!(readers.join_all().await.into_iter().all(|is_copied| is_copied));
        assert!(asked.try_recv().is_err(), "nobody waits any more");
    });
}

#[test]
fn parts_are_copied_where_they_are_read_and_again_when_they_are_old() {
    const PART: u64 = ConnectedSwitch::PART as u64;
    run(async {
        let (mut engine, replica, mut asked) = parted(2 * PART);
        let start = Instant::now();
        let mut read = async |after, since| {
            let mut readers = JoinSet::new();
            read_part(&mut readers, &replica, after, since);
            tokio::select! {
                Some(request) = asked.recv() => copy(&mut engine, request, Duration::ZERO),
                _ = readers.join_next() => return "known",
            }
            assert_eq!(readers.join_next().await.and_then(Result::ok), Some(true));
            "copied"
        };
        assert_eq!((read(None, start).await, read(None, start).await), ("copied", "known"));
        assert_eq!(read(Some(PART / 2), start).await, "known", "between");
        assert_eq!(read(Some(PART), start).await, "copied", "beyond");
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(read(Some(PART), Instant::now()).await, "copied", "too old");
        assert_eq!(read(Some(2 * PART), start).await, "copied", "nothing more");
        assert_eq!(read(Some(3 * PART), start).await, "known", "nothing more");
        assert_eq!(replica.read(|tables| tables.switches.len() as u64), 2 * PART);
    });
}

#[test]
fn who_reads_a_few_parts_waits_for_no_rest_and_who_reads_many_does() {
    run(async {
        let (mut engine, replica, mut asked) = parted(1);
        let mut readers = JoinSet::new();
        let (start, took) = (Instant::now(), Duration::from_millis(1));
        for number in 0..100 {
            // None has what the next one needs.
            read_part(&mut readers, &replica, None, Instant::now() + Duration::from_secs(60 + number));
            copy(&mut engine, asked.recv().await.expect("a request"), took);
            readers.join_next().await;
            assert!(number > 5 || start.elapsed().is_zero(), "{number}");
        }
        let rested = start.elapsed().as_secs_f64() / (took * parts::REST * 100).as_secs_f64();
        assert!((0.7..=1.0).contains(&rested), "{rested}");
    });
}

#[test]
fn readers_of_parts_are_told_when_the_engine_has_gone() {
    run(async {
        let (_, replica, asked) = parted(0);
        drop(asked);
        assert!(replica.renew_part::<ConnectedSwitch>(None, Instant::now()).await.is_err());
    });
}
