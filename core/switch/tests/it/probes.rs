//! Two edges that probe the paths between them.

use std::time::Duration;

use braid_edge_protocol::extension::{Extension, Probing};
use braid_edge_protocol::telemetry::{PathState, Report};
use braid_openflow::{Action, Bucket, GroupId, GroupType, OxmField};
use braid_spray::{HoldTime, Policy, Settings};
use braid_switch::{Identity, Switch};
use braid_types::{DatapathId, MacAddr, PortNo};

use crate::bench::{Bench, output, tcp_v4};
use crate::telemetry::told;

pub(crate) const GROUP: GroupId = GroupId(1);
pub(crate) const LABELS: [u64; 2] = [0x02b7_0000_0001, 0x02b7_0000_0002];
const BACKS: [u64; 2] = [0x02b7_0000_0011, 0x02b7_0000_0012];

pub(crate) fn bench(dpid: u64) -> Bench {
    let mut bench = Bench::new();
    let identity = Identity { dpid: DatapathId(dpid), name: "edge".into(), version: "0".into(), seed: dpid };
    bench.switch = Switch::new(identity);
    (1..=4).for_each(|number| bench.port(number, true));
    bench.switch.connect(crate::bench::CONTROLLER);
    bench.heard();
    bench
}

/// Sprays by ports 2 and 3, each with a label of its own, and probes.
pub(crate) fn sprays() -> Bench {
    sprays_as(7)
}

fn sprays_as(dpid: u64) -> Bench {
    let mut bench = bench(dpid);
    let act =
        |label, port| [Action::SetField(OxmField::EthDst(MacAddr::from_u64(label).into())), output(port)];
    let acts = [act(LABELS[0], 2), act(LABELS[1], 3)];
    let buckets = [2, 3].map(|port| Bucket {
        weight: 1,
        watch_port: PortNo(port),
        ..Bucket::new(&acts[port as usize - 2])
    });
    bench.group(GROUP.0, GroupType::Select, &buckets);
    bench.all_do(&[Action::Group(GROUP)]);
    bench.extend(&Extension::SetSpray { group: GROUP, policy: Policy::Weighted { burst: 0 } });
    bench.extend(&Extension::SetProbing { group: GROUP, probing: probing(2) });
    bench
}

pub(crate) fn probing(paths: usize) -> Probing {
    let backs = BACKS.iter().take(paths).map(|back| MacAddr::from_u64(*back)).collect();
    let [interval, patience] = [20, 120].map(Duration::from_millis);
    Probing { interval, patience, peer: DatapathId(8), backs }
}

/// For so long, what leaves by each path reaches the other edge, and its answers come back, if `passes` says so.
pub(crate) fn run(near: &mut Bench, far: &mut Bench, millis: u64, passes: impl Fn(u32) -> bool) {
    for _ in 0..millis {
        near.now = near.now + Duration::from_millis(1);
        far.now = near.now;
        near.switch.handle_timeout(near.now);
        for (port, frame) in near.leaves() {
            assert_eq!(frame[..6], MacAddr::from_u64(LABELS[port as usize - 2]).octets());
            if !passes(port) {
                continue;
            }
            for (back, answer) in far.passes(port, &frame) {
                assert_eq!(back, port, "answers go back where probes come from");
                assert_eq!(answer[..6], MacAddr::from_u64(BACKS[port as usize - 2]).octets());
                // What a silent path may have lost is sent again.
                assert!(near.passes(port, &answer).iter().all(|(again, _)| passes(*again)));
            }
        }
    }
}

fn ports_of_data(near: &mut Bench) -> Vec<u32> {
    let mut ports: Vec<_> = (0..20).flat_map(|seq| near.ports(1, &tcp_v4(seq * 100))).collect();
    ports.sort_unstable();
    ports.dedup();
    ports
}

#[test]
fn a_path_that_does_not_answer_is_left_and_taken_again_when_it_does() {
    let (mut near, mut far) = (sprays(), bench(8));
    run(&mut near, &mut far, 500, |_| true);
    assert_eq!(ports_of_data(&mut near), [2, 3]);
    run(&mut near, &mut far, 200, |port| port == 2);
    assert_eq!(ports_of_data(&mut near), [2]);
    run(&mut near, &mut far, 200, |_| true);
    assert_eq!(ports_of_data(&mut near), [2, 3]);
}

#[test]
fn a_path_that_loses_what_the_other_does_not_is_left_out_and_said_to_be() {
    let (mut near, mut far) = (sprays(), bench(8));
    run(&mut near, &mut far, 200, |_| true);
    let states = |bench: &mut Bench| match told(bench).0.remove(0).1 {
        Report::Spray(spray) => [0, 1].map(|path| spray.paths[path].state),
        Report::Resequence(_) => panic!("it sprays"),
    };
    assert_eq!(states(&mut near), [PathState::Active; 2]);
    // Of four segments by port 3 one arrives; probes always do.
    let is_left = (0..300_u32).any(|step| {
        for seq in [step * 200, step * 200 + 100] {
            for (port, frame) in near.passes(1, &tcp_v4(seq)) {
                if port == 2 || step % 4 == 0 {
                    far.passes(port, &frame);
                }
            }
        }
        run(&mut near, &mut far, 1, |_| true);
        states(&mut near) == [PathState::Active, PathState::Suspended]
    });
    assert!(is_left);
    assert_eq!(ports_of_data(&mut near), [2]);
}

#[test]
fn answers_to_the_other_edge_s_probes_do_not_count_as_sent_by_the_paths_that_they_take() {
    let (mut near, mut far) = (sprays(), bench(8));
    far.group(GROUP.0, GroupType::Select, &[Bucket { weight: 1, ..Bucket::new(&[output(2)]) }]);
    far.extend(&Extension::SetSpray { group: GROUP, policy: Policy::Weighted { burst: 0 } });
    let backs = vec![MacAddr::from_u64(LABELS[0])];
    far.extend(&Extension::SetProbing {
        group: GROUP,
        probing: Probing { peer: DatapathId(7), backs, ..probing(1) },
    });
    let (mut answers, mut sent) = (0, Vec::new());
    for _ in 0..50 {
        near.now = near.now + Duration::from_millis(20);
        far.now = near.now;
        far.switch.handle_timeout(far.now);
        for (port, frame) in far.leaves() {
            answers += near.passes(port, &frame).len();
        }
        near.switch.handle_timeout(near.now);
        // What had left before, at the end of each probe.
        sent.extend(near.leaves().into_iter().map(|(_, frame)| frame[70..74].to_vec()));
    }
    assert!(answers >= 40 && sent.len() >= 80);
    assert!(sent.iter().all(|sent| *sent == [0; 4]));
}

/// Resequences what reaches it by two paths, and forwards it by port 1.
fn resequences() -> Bench {
    let mut bench = bench(8);
    bench.group(GROUP.0, GroupType::Indirect, &[Bucket::new(&[output(1)])]);
    bench.all_do(&[Action::Group(GROUP)]);
    let hold = HoldTime::Fixed(Duration::from_secs(10));
    bench.extend(&Extension::SetResequence {
        group: GROUP,
        settings: Some(Settings { hold, ..Settings::default() }),
    });
    bench
}

/// What the far edge forwards of segments with these numbers that are sprayed and not lost.
fn forwarded(near: &mut Bench, far: &mut Bench, seqs: &[u32], arrives: impl Fn(u32) -> bool) -> usize {
    let sent: Vec<_> = seqs.iter().flat_map(|seq| near.passes(1, &tcp_v4(*seq))).collect();
    let arrived = sent.into_iter().filter(|(port, _)| arrives(*port));
    arrived.map(|(port, frame)| far.passes(port, &frame).len()).sum()
}

/// What the far edge forwards within so many milliseconds because of probes that `passes` lets through.
fn released(near: &mut Bench, far: &mut Bench, millis: u64, passes: impl Fn(u32) -> bool) -> usize {
    let mut released = 0;
    for _ in 0..millis {
        near.now = near.now + Duration::from_millis(1);
        far.now = near.now;
        near.switch.handle_timeout(near.now);
        for (port, frame) in near.leaves().into_iter().filter(|(port, _)| passes(*port)) {
            let left = far.passes(port, &frame);
            released += left.iter().filter(|(port, _)| *port == 1).count();
        }
    }
    released
}

#[test]
fn a_segment_lost_on_a_path_that_carries_nothing_more_is_not_waited_for() {
    let (mut near, mut far) = (sprays(), resequences());
    assert_eq!(forwarded(&mut near, &mut far, &[0, 100], |_| true), 2);
    assert_eq!(released(&mut near, &mut far, 100, |_| true), 0);
    // By port 2, by port 3, and by port 2 again.
    assert_eq!(forwarded(&mut near, &mut far, &[200, 300, 400], |port| port == 2), 1);
    assert_eq!(released(&mut near, &mut far, 200, |port| port == 2), 0, "it may still come");
    assert_eq!(released(&mut near, &mut far, 21, |_| true), 1);
}

#[test]
fn probes_of_one_group_are_compared_and_not_with_those_of_another() {
    let (mut near, mut other, mut far) = (sprays(), sprays_as(9), resequences());
    // Its numbers are far ahead.
    run(&mut other, &mut bench(8), 10_000, |_| true);
    near.now = other.now;
    forwarded(&mut near, &mut far, &[0, 100], |_| true);
    released(&mut near, &mut far, 100, |_| true);
    assert_eq!(forwarded(&mut near, &mut far, &[200, 300, 400], |port| port == 2), 1);
    for _ in 0..20 {
        assert_eq!(released(&mut near, &mut far, 10, |port| port == 2), 0);
        assert_eq!(released(&mut other, &mut far, 10, |_| true), 0);
    }
}

#[test]
fn probes_that_are_numbered_anew_are_not_compared_with_those_before() {
    let (mut near, mut far) = (sprays(), resequences());
    forwarded(&mut near, &mut far, &[0, 100], |_| true);
    released(&mut near, &mut far, 10_000, |_| true);
    near.extend(&Extension::SetProbing { group: GROUP, probing: probing(2) });
    assert_eq!(forwarded(&mut near, &mut far, &[200, 300, 400], |port| port == 2), 1);
    // The numbers before were greater than those that come now.
    assert_eq!(released(&mut near, &mut far, 200, |port| port == 2), 0);
}

#[test]
fn where_nobody_answers_shares_stay() {
    let (mut near, mut far) = (sprays(), bench(9));
    run(&mut near, &mut far, 1_000, |_| true);
    assert_eq!(ports_of_data(&mut near), [2, 3]);
}

#[test]
fn an_answer_of_somebody_who_was_not_asked_is_none() {
    let (mut near, mut far) = (sprays(), bench(8));
    run(&mut near, &mut far, 500, |_| true);
    near.now = near.now + Duration::from_millis(20);
    near.switch.handle_timeout(near.now);
    let probes = near.leaves();
    for (port, frame) in &probes {
        let answers = far.passes(*port, frame);
        for (port, answer) in answers {
            // The secret is wrong, and then the edge.
            for place in [14 + 4 + 2 + 6 + 16, 14 + 4 + 2 + 6 + 15] {
                let mut forged = answer.clone();
                forged[place] ^= 1;
                assert_eq!(near.passes(port, &forged), []);
            }
        }
    }
    run(&mut near, &mut far, 200, |_| false);
    assert_eq!(ports_of_data(&mut near), [2, 3], "none answers, so that none is better");
}

#[test]
fn probing_that_cannot_be_is_refused_and_can_be_ended() {
    let mut near = sprays();
    for (group, probing) in [(GroupId(9), probing(2)), (GROUP, probing(1))] {
        let extension = Extension::SetProbing { group, probing };
        let body = extension.body();
        let heard = near.say(&braid_openflow::Message::Experimenter(extension.message(&body)));
        assert_eq!(heard.len(), 1, "an error");
    }
    let none = Probing { interval: Duration::ZERO, ..probing(2) };
    near.extend(&Extension::SetProbing { group: GROUP, probing: none });
    near.leaves();
    near.now = near.now + Duration::from_secs(1);
    near.switch.handle_timeout(near.now);
    assert_eq!(near.leaves(), []);
}
