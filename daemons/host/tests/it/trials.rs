//! Counters and backup flags of subflows, on a real kernel.

use std::net::{Ipv4Addr, SocketAddr};
use std::thread;
use std::time::{Duration, Instant};

use braid_api::SubflowEnds;
use braid_host::KernelMode;
use braid_host::diag::{Diag, SubflowInfo};
use braid_host::pm::{Endpoint, EndpointFlag, Limits, PathManager};
use braid_host::trials::{EndpointError, Order, SuspendedEndpoints};
use braid_subflows::Change;
use socket2::Protocol;

use crate::managed::with_agent;
use crate::namespace::{ip, namespace};
use crate::traffic::{Pair, TIMEOUT, connect};

const MIB: usize = 1 << 20;

fn connected(remote: [u8; 4]) -> Pair {
    let [local, remote] = [[10, 0, 0, 1], remote].map(|it| SocketAddr::from((Ipv4Addr::from(it), 0)));
    let mut pair = connect(Protocol::MPTCP, local, remote);
    pair.transfer(1_000);
    pair
}

/// The client's subflows, once there are `count` whose remote end is the pair's.
fn subflows(diag: &mut Diag, pair: &Pair, count: usize) -> Vec<SubflowInfo> {
    let until = Instant::now() + TIMEOUT;
    while Instant::now() < until {
        let mut found = diag.subflows().unwrap();
        found.retain(|it| it.ends.remote == pair.remote());
        if found.len() == count {
            return found;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("no {count} subflows in time");
}

fn of(diag: &mut Diag, ends: SubflowEnds) -> SubflowInfo {
    diag.subflows().unwrap().into_iter().find(|it| it.ends == ends).unwrap()
}

#[test]
fn suspended_subflow_carries_nothing_whichever_it_is() {
    let Some(namespace) = namespace() else { return };
    namespace.inside(|| {
        with_agent(2, None, |_| {
            let mut pair = connected([10, 0, 0, 2]);
            let (mut diag, mut kernel) = (Diag::open().unwrap(), PathManager::open().unwrap());
            for subflow in subflows(&mut diag, &pair, 2) {
                kernel.set_backup(subflow.token, subflow.ends, true).unwrap();
                let before = of(&mut diag, subflow.ends);
                pair.transfer(4 * MIB);
                let after = of(&mut diag, subflow.ends);
                assert!(after.is_backup && after.sent == before.sent, "{before:?} {after:?}");
                kernel.set_backup(subflow.token, subflow.ends, false).unwrap();
                assert!(!of(&mut diag, subflow.ends).is_backup);
            }
        });
    });
}

#[test]
fn bytes_of_a_connection_are_counted_once() {
    let Some(namespace) = namespace() else { return };
    namespace.inside(|| {
        with_agent(3, None, |_| {
            let mut pair = connected([10, 0, 0, 2]);
            let mut diag = Diag::open().unwrap();
            let subflows = subflows(&mut diag, &pair, 3);
            pair.transfer(8 * MIB);
            let token = subflows[0].token;
            assert!(subflows.iter().all(|it| it.token == token && !it.is_backup));
            let until = Instant::now() + TIMEOUT;
            while Instant::now() < until {
                let all = diag.connections().unwrap();
                let it = all.into_iter().find(|it| it.token == token).unwrap();
                if (it.acknowledged, it.unsent) == (8 * MIB as u64 + 1_000, 0) {
                    return;
                }
                thread::sleep(Duration::from_millis(20));
            }
            panic!("{:?}", diag.connections());
        });
    });
}

#[test]
fn endpoint_is_suspended_while_its_subflows_lead_to_one_peer() {
    let Some(namespace) = namespace() else { return };
    namespace.inside(|| {
        (1..=4).for_each(|number| ip(&format!("address add 10.0.0.{number}/32 dev lo")));
        let endpoint = Endpoint {
            id: 0,
            address: [10, 0, 0, 3].into(),
            port: None,
            flags: [EndpointFlag::Subflow].into_iter().collect(),
            interface: 0,
        };
        let _mode = KernelMode::set(Limits { subflows: 4, accepted_addresses: 4 }, &[endpoint]).unwrap();
        let (mut diag, mut endpoints) = (Diag::open().unwrap(), SuspendedEndpoints::open().unwrap());
        let pair = connected([10, 0, 0, 2]);
        let subflows_of_pair = subflows(&mut diag, &pair, 2);
        let order = |it: &SubflowInfo, change: fn(SubflowEnds) -> Change<SubflowEnds>| Order {
            token: it.token,
            change: change(it.ends),
        };
        let is_first = |it: &&SubflowInfo| it.ends.local.ip() == Ipv4Addr::new(10, 0, 0, 1);
        let first = subflows_of_pair.iter().find(is_first).unwrap();
        let more = subflows_of_pair.iter().find(|it| !is_first(it)).unwrap();
        let refused = endpoints.carry_out(order(first, Change::Suspend));
        assert!(matches!(refused, Err(EndpointError::None(_))), "{refused:?}");
        endpoints.carry_out(order(more, Change::Suspend)).unwrap();
        assert!(of(&mut diag, more.ends).is_backup && endpoints.resume_shared().unwrap().is_empty());
        endpoints.carry_out(order(more, Change::Resume)).unwrap();
        assert!(!of(&mut diag, more.ends).is_backup);
        endpoints.carry_out(order(more, Change::Suspend)).unwrap();
        let other = connected([10, 0, 0, 4]);
        subflows(&mut diag, &other, 2);
        assert_eq!(endpoints.resume_shared().unwrap(), [order(more, Change::Suspend)]);
        assert!(!of(&mut diag, more.ends).is_backup);
        let refused = endpoints.carry_out(order(more, Change::Suspend));
        assert!(matches!(refused, Err(EndpointError::Shared(_))), "{refused:?}");
    });
}
