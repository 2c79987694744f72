//! Segments that a path may have swallowed, sent again by the others.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_openflow::{Action, Bucket, GroupModCommand, GroupType, Message, OxmField};
use braid_types::MacAddr;

use crate::bench::{Bench, group_mod, output, tcp_v4};
use crate::probes::{GROUP, LABELS, bench, run, sprays};

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
