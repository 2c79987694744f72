//! Segments that a path may have swallowed, sent again by the others.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_edge_protocol::extension::Extension;
use braid_edge_protocol::telemetry::{PathState, Report};
use braid_openflow::{Action, Bucket, GroupModCommand, GroupType, Message, OxmField};
use braid_spray::Policy;
use braid_types::{MacAddr, PortNo};

use crate::bench::{Bench, group_mod, output, tcp_v4};
use crate::probes::{GROUP, LABELS, bench, probing, run, sprays};
use crate::telemetry::told;
use crate::tunnels::datagram;

type Frames = Vec<(u32, Vec<u8>)>;

/// What they carry, without their Ethernet headers.
fn packets(frames: &Frames) -> Vec<Vec<u8>> {
    frames.iter().map(|(_, frame)| frame[14..].to_vec()).collect()
}

/// Sends a segment each millisecond, while only the first path answers: the frames that the second swallows, and those
/// that leave when an answer arrives.
fn send_while_one_answers(near: &mut Bench, far: &mut Bench) -> (Frames, Frames) {
    let (mut swallowed, mut again) = (Vec::new(), Vec::new());
    for step in 0..100 {
        let sent = near.passes(1, &tcp_v4(step * 100));
        swallowed.extend(sent.into_iter().filter(|(port, _)| *port == 3));
        near.now = near.now + Duration::from_millis(1);
        far.now = near.now;
        near.switch.handle_timeout(near.now);
        for (_, probe) in near.leaves().into_iter().filter(|(port, _)| *port == 2) {
            for (_, answer) in far.passes(2, &probe) {
                again.extend(near.passes(2, &answer));
            }
        }
    }
    (swallowed, again)
}

#[test]
fn segments_that_a_silent_path_has_swallowed_are_sent_again_by_the_other_in_their_order() {
    let (mut near, mut far) = (sprays(), bench(8));
    run(&mut near, &mut far, 2_000, |_| true);
    let (swallowed, again) = send_while_one_answers(&mut near, &mut far);
    assert!((20..40).contains(&again.len()), "until the path was known to be silent: {}", again.len());
    let label = MacAddr::from_u64(LABELS[0]).octets();
    assert!(again.iter().all(|(port, frame)| *port == 2 && frame[..6] == label));
    assert_eq!(packets(&again), packets(&swallowed));
}

#[test]
fn nothing_is_sent_again_that_left_by_a_path_while_it_was_known_to_be_silent() {
    let (mut near, mut far) = (sprays(), bench(8));
    run(&mut near, &mut far, 2_000, |_| true);
    run(&mut near, &mut far, 500, |_| false);
    let (swallowed, again) = send_while_one_answers(&mut near, &mut far);
    assert!(!swallowed.is_empty() && again.is_empty(), "{} of {}", again.len(), swallowed.len());
}

/// A millisecond in which one path answers: the segments that leave.
fn answered_by_one(near: &mut Bench, far: &mut Bench, answering: u32) -> Frames {
    near.now = near.now + Duration::from_millis(1);
    far.now = near.now;
    near.switch.handle_timeout(near.now);
    let is_data = |(_, frame): &(u32, Vec<u8>)| frame[12..14] == [0x08, 0x00];
    let (mut data, probes): (Frames, Frames) = near.leaves().into_iter().partition(is_data);
    for (_, probe) in probes.into_iter().filter(|(port, _)| *port == answering) {
        for (_, answer) in far.passes(answering, &probe) {
            data.extend(near.passes(answering, &answer));
        }
    }
    data
}

#[test]
fn a_copy_is_not_sent_again_though_paths_fall_silent_in_turn() {
    let (mut near, mut far) = (sprays(), bench(8));
    run(&mut near, &mut far, 2_000, |_| true);
    (0..20).for_each(|seq| drop(near.passes(1, &tcp_v4(seq * 100))));
    let (mut answering, mut copies) = (2, BTreeMap::<_, usize>::new());
    for _ in 0..2_000 {
        let left = answered_by_one(&mut near, &mut far, answering);
        if !left.is_empty() {
            answering = 5 - answering;
        }
        packets(&left).into_iter().for_each(|packet| *copies.entry(packet).or_default() += 1);
    }
    assert!(!copies.is_empty());
    assert!(copies.values().all(|times| *times == 1), "{:?}", copies.values());
}

#[test]
fn what_a_path_may_have_swallowed_leaves_by_the_others_when_a_change_takes_it_out() {
    let (mut near, mut far) = (sprays(), bench(8));
    run(&mut near, &mut far, 2_000, |_| true);
    let sent: Frames = (0..20).flat_map(|seq| near.passes(1, &tcp_v4(seq * 100))).collect();
    let (kept, taken_out): (Frames, Frames) = sent.into_iter().partition(|(port, _)| *port == 2);
    assert!(!kept.is_empty() && !taken_out.is_empty());
    let acts = [Action::SetField(OxmField::EthDst(MacAddr::from_u64(LABELS[0]).into())), output(2)];
    let buckets = [Bucket { weight: 1, ..Bucket::new(&acts) }];
    let mut message = group_mod(GROUP.0, GroupType::Select, &buckets);
    if let Message::GroupMod(change) = &mut message {
        change.command = GroupModCommand::Modify;
    }
    near.tell(&message);
    let again = near.leaves();
    assert!(again.iter().all(|(port, _)| *port == 2));
    assert_eq!(packets(&again), packets(&taken_out));
    near.tell(&message);
    assert_eq!(near.leaves(), []);
}

/// The state of each path, and how often it was silent.
fn states(near: &mut Bench) -> Vec<(PathState, u32)> {
    match told(near).0.remove(0).1 {
        Report::Spray(spray) => spray.paths.iter().map(|path| (path.state, path.silences)).collect(),
        Report::Resequence(_) => panic!("it sprays"),
    }
}

/// Sends segments, after which no path answers for so long; then the first does: what leaves again.
fn again_after_darkness(millis: u64) -> (Frames, Frames) {
    let (mut near, mut far) = (sprays(), bench(8));
    run(&mut near, &mut far, 2_000, |_| true);
    let sent: Frames = (0..20).flat_map(|seq| near.passes(1, &tcp_v4(seq * 100))).collect();
    let swallowed = sent.into_iter().filter(|(port, _)| *port == 3).collect();
    let mut again: Frames = Vec::new();
    for _ in 0..millis {
        again.extend(answered_by_one(&mut near, &mut far, 0));
    }
    assert_eq!(again, [], "while no path answers, none is better");
    assert_eq!(states(&mut near), [(PathState::Silent, 1); 2]);
    for _ in 0..100 {
        again.extend(answered_by_one(&mut near, &mut far, 2));
    }
    assert_eq!(states(&mut near), [(PathState::Active, 1), (PathState::Silent, 1)]);
    (swallowed, again)
}

#[test]
fn where_all_paths_were_dark_the_first_that_answers_carries_again_what_others_swallowed_lately() {
    let (swallowed, again) = again_after_darkness(300);
    assert!(!again.is_empty() && again.iter().all(|(port, _)| *port == 2));
    assert_eq!(packets(&again), packets(&swallowed));
    let (_, again) = again_after_darkness(600);
    assert_eq!(again, [], "their sender has sent them again");
}

#[test]
fn a_single_path_that_falls_silent_repeats_nothing() {
    let (mut near, mut far) = (bench(7), bench(8));
    let acts = [Action::SetField(OxmField::EthDst(MacAddr::from_u64(LABELS[0]).into())), output(2)];
    let bucket = Bucket { weight: 1, watch_port: PortNo(2), ..Bucket::new(&acts) };
    near.group(GROUP.0, GroupType::Select, &[bucket]);
    near.all_do(&[Action::Group(GROUP)]);
    near.extend(&Extension::SetSpray { group: GROUP, policy: Policy::Weighted { burst: 0 } });
    near.extend(&Extension::SetProbing { group: GROUP, probing: probing(1) });
    run(&mut near, &mut far, 2_000, |_| true);
    for (seq, answering) in
        [(0..200, 0), (200..300, 2)].into_iter().flat_map(|(seqs, it)| seqs.map(move |seq| (seq, it)))
    {
        assert_eq!(near.ports(1, &tcp_v4(seq * 100)), [2], "each segment leaves once");
        assert_eq!(answered_by_one(&mut near, &mut far, answering), []);
    }
    assert_eq!(states(&mut near), [(PathState::Active, 1)]);
}

#[test]
fn an_idle_path_that_falls_silent_repeats_nothing_and_is_counted() {
    let (mut near, mut far) = (sprays(), bench(8));
    run(&mut near, &mut far, 2_000, |_| true);
    for _ in 0..300 {
        assert_eq!(answered_by_one(&mut near, &mut far, 2), []);
    }
    assert_eq!(states(&mut near), [(PathState::Active, 0), (PathState::Silent, 1)]);
}

#[test]
fn datagrams_are_not_sent_again() {
    let (mut near, mut far) = (sprays(), bench(8));
    run(&mut near, &mut far, 2_000, |_| true);
    let datagram = datagram(5_000, 1, &[7; 100]);
    let left: usize = (0..20).map(|_| near.passes(1, &datagram).len()).sum();
    assert_eq!(left, 20);
    for _ in 0..300 {
        assert_eq!(answered_by_one(&mut near, &mut far, 2), []);
    }
}

#[test]
fn of_many_segments_the_last_are_sent_again() {
    let (mut near, mut far) = (sprays(), bench(8));
    run(&mut near, &mut far, 2_000, |_| true);
    let sent: Frames = (0..2_000).flat_map(|seq| near.passes(1, &tcp_v4(seq * 100))).collect();
    let swallowed: Frames = sent.into_iter().filter(|(port, _)| *port == 3).collect();
    let mut again = Vec::new();
    for _ in 0..300 {
        again.extend(answered_by_one(&mut near, &mut far, 2));
    }
    assert_eq!(again.len(), 256);
    assert_eq!(packets(&again), packets(&swallowed)[swallowed.len() - 256..]);
}
