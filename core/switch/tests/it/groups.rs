//! Groups: select, spraying, resequencing, fast failover and all; loops are refused.

use std::time::Duration;

use braid_edge_protocol::extension::{Extension, PathUpdate};
use braid_edge_protocol::telemetry::{ArrivalReport, Report, SprayReport};
use braid_openflow::{Action, Bucket, GroupId, GroupType, MaxLen, OxmField};
use braid_spray::{HoldTime, Policy, Settings};
use braid_types::{MacAddr, PortNo};

use crate::bench::{Bench, group_mod, output, tcp_v4};
use crate::telemetry::told;

fn bucket<'a>(weight: u16, port: u32, actions: &'a [Action<'a>]) -> Bucket<'a> {
    Bucket { weight, watch_port: PortNo(port), ..Bucket::new(actions) }
}

/// Ports 2 and 3 by weights, decided for each packet.
fn sprays(weights: [u16; 2]) -> Bench {
    let mut bench = Bench::new();
    let (two, three) = ([output(2)], [output(3)]);
    bench.group(1, GroupType::Select, &[bucket(weights[0], 2, &two), bucket(weights[1], 3, &three)]);
    bench.all_do(&[Action::Group(GroupId(1))]);
    bench.extend(&Extension::SetSpray { group: GroupId(1), policy: Policy::Weighted { burst: 0 } });
    bench
}

fn shares(bench: &mut Bench, count: u32) -> [usize; 2] {
    let ports: Vec<_> = (0..count).flat_map(|seq| bench.ports(1, &tcp_v4(seq * 100))).collect();
    [2, 3].map(|port| ports.iter().filter(|it| **it == port).count())
}

#[test]
fn a_select_group_keeps_a_flow_on_one_path() {
    let mut bench = Bench::new();
    let (two, three) = ([output(2)], [output(3)]);
    bench.group(1, GroupType::Select, &[bucket(1, 2, &two), bucket(1, 3, &three)]);
    bench.all_do(&[Action::Group(GroupId(1))]);
    let shares = shares(&mut bench, 50);
    assert!(shares == [50, 0] || shares == [0, 50], "{shares:?}");
}

#[test]
fn a_group_that_sprays_shares_a_flow_by_weights_that_change() {
    let mut bench = sprays([1, 3]);
    assert_eq!(shares(&mut bench, 400), [100, 300]);
    let update = |bucket, weight| PathUpdate { bucket, weight, rate: None, delay: Duration::ZERO };
    bench.extend(&Extension::SetPaths { group: GroupId(1), paths: vec![update(0, 1), update(1, 1)] });
    assert_eq!(shares(&mut bench, 400), [200, 200]);
    bench.extend(&Extension::SetPaths { group: GroupId(1), paths: vec![update(1, 0)] });
    assert_eq!(shares(&mut bench, 100), [100, 0]);
}

#[test]
fn a_group_that_sprays_leaves_a_path_that_is_down() {
    let mut bench = sprays([1, 1]);
    bench.port(3, false);
    bench.heard();
    assert_eq!(shares(&mut bench, 100), [100, 0]);
}

#[test]
fn packets_of_a_group_that_puts_in_order_leave_in_order() {
    let mut bench = Bench::new();
    let deliver = [Action::SetField(OxmField::EthDst(MacAddr::from_u64(0x0200_0000_00aa).into())), output(4)];
    bench.group(1, GroupType::Indirect, &[Bucket::new(&deliver)]);
    bench.all_do(&[Action::Group(GroupId(1))]);
    let hold = HoldTime::Fixed(Duration::from_millis(20));
    let settings = Settings { hold, paths: 2, ..Settings::default() };
    bench.extend(&Extension::SetResequence { group: GroupId(1), settings: Some(settings) });

    assert_eq!(bench.ports(1, &tcp_v4(0)), [4]);
    assert_eq!(bench.ports(2, &tcp_v4(200)), [0; 0]);
    let out = bench.passes(1, &tcp_v4(100));
    let seqs: Vec<_> = out.iter().map(|(_, frame)| u16::from_be_bytes([frame[40], frame[41]])).collect();
    assert_eq!(seqs, [100, 200]);
    assert!(out.iter().all(|(port, frame)| *port == 4 && frame[..6] == [2, 0, 0, 0, 0, 0xaa]));

    // The next is lost, and nothing else comes: time releases what waits.
    assert_eq!(bench.ports(2, &tcp_v4(400)), [0; 0]);
    let due = bench.now + Duration::from_millis(20);
    assert_eq!(bench.switch.poll_timeout(), due);
    bench.switch.handle_timeout(due);
    assert_eq!(bench.leaves().len(), 1);

    let ways = ways(&mut bench);
    let carried: Vec<_> = ways.iter().map(|way| (way.port.0, way.packets, way.late)).collect();
    assert_eq!(carried, [(1, 2, 1), (2, 2, 0)]);
    assert_eq!(ways[0].bytes, ways[1].bytes);
}

#[test]
fn ways_that_are_told_apart_anew_are_counted_anew() {
    let mut bench = Bench::new();
    bench.group(1, GroupType::Indirect, &[Bucket::new(&[output(4)])]);
    bench.all_do(&[Action::Group(GroupId(1))]);
    let order = Extension::SetResequence { group: GroupId(1), settings: Some(Settings::default()) };
    bench.extend(&order);
    for way in 0..8 {
        let mut frame = tcp_v4(u32::from(way) * 100);
        frame[5] = way;
        bench.passes(1, &frame);
    }
    assert_eq!(ways(&mut bench).len(), 8);
    bench.extend(&order);
    bench.passes(2, &tcp_v4(800));
    let carried: Vec<_> = ways(&mut bench).iter().map(|way| (way.port.0, way.packets)).collect();
    assert_eq!(carried, [(2, 1)]);
}

#[test]
fn buckets_of_a_group_that_sprays_say_what_they_carry() {
    let mut bench = sprays([3, 1]);
    shares(&mut bench, 8);
    let Report::Spray(SprayReport { paths }) = report(&mut bench) else { panic!("it sprays") };
    let carried: Vec<_> = paths.iter().map(|path| (path.packets, path.weight)).collect();
    assert_eq!(carried, [(6, 3), (2, 1)]);
    assert_eq!(paths[0].bytes, 6 * tcp_v4(0).len() as u64);
}

fn report(bench: &mut Bench) -> Report {
    told(bench).0.remove(0).1
}

fn ways(bench: &mut Bench) -> Vec<ArrivalReport> {
    let Report::Resequence(order) = report(bench) else { panic!("it resequences") };
    order.arrivals
}

#[test]
fn a_group_that_goes_lets_go_what_it_holds_and_takes_its_flows_along() {
    let mut bench = Bench::new();
    let deliver = [output(4)];
    bench.group(1, GroupType::Indirect, &[Bucket::new(&deliver)]);
    bench.all_do(&[Action::Group(GroupId(1))]);
    bench.extend(&Extension::SetResequence { group: GroupId(1), settings: Some(Settings::default()) });
    bench.passes(1, &tcp_v4(0));
    assert_eq!(bench.ports(1, &tcp_v4(200)), [0; 0]);
    let delete = braid_openflow::GroupMod {
        command: braid_openflow::GroupModCommand::Delete,
        group_type: GroupType::Indirect,
        group_id: GroupId(1),
        buckets: braid_openflow::List::EMPTY,
    };
    bench.tell(&braid_openflow::Message::GroupMod(delete));
    assert_eq!(bench.leaves().len(), 1);
    assert_eq!(bench.ports(1, &tcp_v4(100)), [0; 0], "the flow went with the group");
}

#[test]
fn fast_failover_takes_the_first_that_is_live() {
    let mut bench = Bench::new();
    let (two, three) = ([output(2)], [output(3)]);
    bench.group(1, GroupType::Ff, &[bucket(0, 2, &two), bucket(0, 3, &three)]);
    bench.all_do(&[Action::Group(GroupId(1))]);
    assert_eq!(bench.ports(1, &tcp_v4(0)), [2]);
    bench.port(2, false);
    bench.heard();
    assert_eq!(bench.ports(1, &tcp_v4(0)), [3]);
}

#[test]
fn all_buckets_of_an_all_group_have_the_packet_as_it_came() {
    let mut bench = Bench::new();
    let changed = [Action::SetField(OxmField::EthDst(MacAddr::from_u64(0x02b7_0000_0007).into())), output(2)];
    let plain = [output(3), Action::Output { port: PortNo(4), max_len: MaxLen::NO_BUFFER }];
    bench.group(1, GroupType::All, &[Bucket::new(&changed), Bucket::new(&plain)]);
    bench.all_do(&[Action::Group(GroupId(1))]);
    let frame = tcp_v4(0);
    let out = bench.passes(1, &frame);
    assert_eq!(out.len(), 3);
    assert_ne!(out[0].1, frame);
    assert_eq!((&out[1].1, &out[2].1), (&frame, &frame));
}

#[test]
fn loops_of_groups_and_groups_that_are_not_there_are_refused() {
    let mut bench = Bench::new();
    let two = [output(2)];
    bench.group(1, GroupType::Indirect, &[Bucket::new(&two)]);
    let to_one = [Action::Group(GroupId(1))];
    bench.group(2, GroupType::Indirect, &[Bucket::new(&to_one)]);
    let to_two = [Action::Group(GroupId(2))];
    let mut back = group_mod(1, GroupType::Indirect, &[]);
    let buckets = [Bucket::new(&to_two)];
    if let braid_openflow::Message::GroupMod(group_mod) = &mut back {
        group_mod.command = braid_openflow::GroupModCommand::Modify;
        group_mod.buckets = braid_openflow::List::from(&buckets);
    }
    assert_eq!(bench.say(&back)[0]["error"]["group_mod_failed"], "loop");
    let to_nowhere = [Action::Group(GroupId(99))];
    let heard = bench.say(&group_mod(3, GroupType::Indirect, &[Bucket::new(&to_nowhere)]));
    assert_eq!(heard[0]["error"]["bad_action"], "bad_out_group");
}
