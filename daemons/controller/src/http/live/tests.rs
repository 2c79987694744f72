//! Live data while nobody watches, and what the first watcher gets.

use braid_control::view::{HostView, LinkView};
use braid_types::{DatapathId, MacAddr, PortNo, SwitchPort, Time};
use serde_json::Value;
use tokio::runtime::Builder;
use tokio::sync::mpsc;

use super::*;
use crate::state_copy::{CopyRequest, StateCopy};

fn port(dpid: u64) -> SwitchPort {
    SwitchPort::new(DatapathId(dpid), PortNo(1))
}

fn host(number: u64) -> HostView {
    HostView { mac: MacAddr::from_u64(number), at: port(1), addresses: Vec::new(), last_seen: Time::ZERO }
}

/// The only link of a network of two switches.
fn link() -> LinkView {
    LinkView {
        src: port(1),
        dst: port(2),
        capacity_bps: 7,
        measured_capacity_bps: None,
        measured_capacity_at: None,
        delay_us: None,
        delay_at: None,
        load_bps: None,
        available_bps: None,
        load_at: None,
        loss: None,
        loss_at: None,
        degraded: None,
        counters: Default::default(),
    }
}

/// The engine's end: answers a request with as many hosts as seconds have passed, and with the link until the fifth.
fn answer(request: CopyRequest, second: u64) -> Lists {
    let CopyRequest { lists, answer } = request;
    let mut copy = StateCopy { now: Time::from_millis(second * 1_000), lists, ..StateCopy::default() };
    if lists.has(List::Hosts) {
        copy.hosts = (1..=second).map(host).collect();
    }
    copy.first_links.extend((second < 5).then(link));
    answer.send(copy).expect("somebody waits");
    lists
}

/// Samples a network on a clock of its own; `test` answers for the engine.
fn run<F: Future<Output = ()>>(test: impl FnOnce(Live, Replica, mpsc::Receiver<CopyRequest>) -> F) {
    let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().expect("a runtime");
    runtime.block_on(async {
        let (copies, asked) = mpsc::channel(1);
        let (replica, renewal) = Replica::new(copies, mpsc::channel(1).0);
        tokio::spawn(renewal.run());
        let live = Live::new(1);
        tokio::spawn(live.clone().sample(replica.clone()));
        test(live, replica, asked).await;
    });
}

fn snapshot(live: &Live) -> Value {
    let snapshot = live.inner().state.snapshot(&Vec::<u8>::new());
    serde_json::from_str(&snapshot).expect("JSON")
}

#[test]
fn nothing_is_copied_for_watchers_while_nobody_watches() {
    run(async |live, _, mut asked| {
        let mut next = async |second| answer(asked.recv().await.expect("a request"), second);
        assert_eq!((next(1).await, next(2).await), (KEPT, KEPT));
        let watcher = live.inner().all.watch();
        // The sample that had begun before is the last without watchers.
        next(3).await;
        assert_eq!(next(4).await, WATCHED);
        drop(watcher);
        next(5).await;
        assert_eq!(next(6).await, KEPT);
    });
}

#[test]
fn the_first_watcher_gets_the_state_as_it_is_and_the_links_that_were_lost_before() {
    run(async |live, replica, mut asked| {
        for second in 1..=5 {
            answer(asked.recv().await.expect("a request"), second);
        }
        let woken = tokio::spawn({
            let live = live.clone();
            async move { live.wake(&replica).await }
        });
        tokio::task::yield_now().await;
        assert_eq!(answer(asked.recv().await.expect("a request"), 6), WATCHED);
        woken.await.expect("a watcher").expect("a copy");
        let shown = snapshot(&live);
        assert_eq!(shown["now"], 6_000_000_000_u64);
        assert_eq!(shown["hosts"].as_array().map(Vec::len), Some(6));
        assert_eq!(shown["links"].as_array().map(Vec::len), Some(0));
        assert_eq!(live.inner().state.lost.between(|_| true).len(), 1);
    });
}

#[test]
fn who_joins_others_waits_for_nothing() {
    run(async |live, replica, mut asked| {
        answer(asked.recv().await.expect("a request"), 1);
        let _watcher = live.inner().all.watch();
        live.wake(&replica).await.expect("at once");
        assert!(asked.try_recv().is_err());
    });
}
