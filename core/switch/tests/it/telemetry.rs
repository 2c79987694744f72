//! Telemetry of groups, as a controller gets it.

use std::time::Duration;

use braid_edge_protocol::extension::{BRAID, Extension, PathUpdate};
use braid_edge_protocol::telemetry::{PathState, Report, ResequenceReport, SprayReport, TELEMETRY, decode};
use braid_openflow::{
    Action, Bucket, Bytes, Experimenter, GroupId, GroupType, Message, MultipartFlags, MultipartRequest,
    OxmField, ReplyBody, RequestBody, Xid, frames,
};
use braid_spray::{HoldTime, Policy, Settings};
use braid_types::{MacAddr, PortNo};

use crate::bench::{Bench, CONTROLLER, output, tcp_v4};

const LABEL: u64 = 0x02b7_0000_0001;

fn question(exp_type: u32, data: &[u8]) -> Message<'_> {
    let request = Experimenter { experimenter: BRAID, exp_type, data: Bytes(data) };
    let body = RequestBody::Experimenter(request);
    Message::MultipartRequest(MultipartRequest { flags: MultipartFlags::NONE, body })
}

/// The telemetry, and its number of parts.
pub(crate) fn told(bench: &mut Bench) -> (Vec<(GroupId, Report)>, usize) {
    let mut bytes = Vec::new();
    question(TELEMETRY, &[]).encode(Xid(9), &mut bytes).unwrap();
    bench.switch.handle_message(bench.now, CONTROLLER, &bytes);
    let bytes = std::mem::take(bench.switch.poll_bytes(CONTROLLER).unwrap());
    let (mut reports, mut parts) = (Vec::new(), 0);
    for frame in frames(&bytes) {
        match frame.unwrap().decode().unwrap().1 {
            Message::MultipartReply(reply) => match reply.body {
                ReplyBody::Experimenter(message) => reports.extend(decode(&message).unwrap()),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
        parts += 1;
    }
    (reports, parts)
}

fn sprays(bench: &mut Bench, group: u32) {
    let set = Action::SetField(OxmField::EthDst(MacAddr::from_u64(LABEL).into()));
    let (two, three) = ([set, output(2)], [output(3)]);
    let bucket = |port, actions| Bucket { weight: 1, watch_port: PortNo(port), ..Bucket::new(actions) };
    bench.group(group, GroupType::Select, &[bucket(2, &two), bucket(3, &three)]);
    bench.extend(&Extension::SetSpray { group: GroupId(group), policy: Policy::Weighted { burst: 0 } });
}

fn orders(bench: &mut Bench, group: u32) {
    bench.group(group, GroupType::Indirect, &[Bucket::new(&[output(4)])]);
    let settings =
        Settings { hold: HoldTime::Fixed(Duration::from_millis(20)), bytes: 1 << 16, ..Settings::default() };
    bench.extend(&Extension::SetResequence { group: GroupId(group), settings: Some(settings) });
}

fn spray(report: &Report) -> &SprayReport {
    let Report::Spray(spray) = report else { panic!("{report:?}") };
    spray
}

fn order(report: &Report) -> &ResequenceReport {
    let Report::Resequence(order) = report else { panic!("{report:?}") };
    order
}

#[test]
fn a_group_that_sprays_tells_of_each_path_what_it_carried_and_how_it_is() {
    let mut bench = Bench::new();
    sprays(&mut bench, 1);
    bench.all_do(&[Action::Group(GroupId(1))]);
    let update = |bucket, weight| PathUpdate { bucket, weight, rate: None, delay: Duration::ZERO };
    bench.extend(&Extension::SetPaths { group: GroupId(1), paths: vec![update(0, 3), update(1, 1)] });
    let frame = tcp_v4(0);
    (0..8).for_each(|seq| drop(bench.passes(1, &tcp_v4(seq * 100))));
    bench.port(3, false);
    bench.heard();
    let (reports, parts) = told(&mut bench);
    assert_eq!((reports.len(), parts, reports[0].0), (1, 1, GroupId(1)));
    let paths = &spray(&reports[0].1).paths;
    let seen: Vec<_> = paths.iter().map(|it| (it.label.to_u64(), it.state, it.weight, it.packets)).collect();
    assert_eq!(seen, [(LABEL, PathState::Active, 3, 6), (0, PathState::Down, 1, 2)]);
    assert_eq!(paths[0].bytes, 6 * frame.len() as u64);
    assert_eq!(paths[0].round_trip, None, "nobody probes");
}

#[test]
fn a_group_that_puts_in_order_tells_what_it_holds_and_how_long_it_held_the_others() {
    let mut bench = Bench::new();
    orders(&mut bench, 2);
    bench.all_do(&[Action::Group(GroupId(2))]);
    [0, 200].into_iter().for_each(|seq| drop(bench.passes(1, &tcp_v4(seq))));
    bench.now = bench.now + Duration::from_millis(3);
    bench.passes(2, &tcp_v4(100));
    bench.passes(2, &tcp_v4(500));
    let (reports, _) = told(&mut bench);
    let report = order(&reports[0].1);
    let counters = report.counters;
    assert_eq!((counters.forwarded, counters.held, counters.gaps_filled), (2, 2, 1));
    assert_eq!((report.gauge.flows, report.gauge.packets), (1, 1));
    assert_eq!((report.limits.bytes, report.hold_time), (1 << 16, Duration::from_millis(20)));
    assert_eq!((report.waits.total(), report.waits.quantile(0.5)), (1, Some(Duration::from_micros(3_072))));
}

#[test]
fn many_groups_are_told_in_parts_and_other_groups_are_not() {
    let mut bench = Bench::new();
    bench.group(1, GroupType::Indirect, &[Bucket::new(&[output(4)])]);
    assert_eq!(told(&mut bench), (Vec::new(), 1));
    (100..400).for_each(|group| sprays(&mut bench, group));
    (400..600).for_each(|group| orders(&mut bench, group));
    let (reports, parts) = told(&mut bench);
    let groups: Vec<_> = reports.iter().map(|(group, _)| group.0).collect();
    assert_eq!(groups, (100..600).collect::<Vec<_>>());
    assert!((2..10).contains(&parts), "{parts}");
}

#[test]
fn questions_that_are_none_are_refused() {
    let mut bench = Bench::new();
    assert_eq!(bench.say(&question(9, &[]))[0]["error"]["bad_request"], "bad_exp_type");
    assert_eq!(bench.say(&question(TELEMETRY, &[0; 4]))[0]["error"]["bad_request"], "bad_len");
    let stranger =
        Experimenter { experimenter: braid_openflow::ExperimenterId(5), exp_type: 1, data: Bytes(&[]) };
    let body = RequestBody::Experimenter(stranger);
    let heard = bench.say(&Message::MultipartRequest(MultipartRequest { flags: MultipartFlags::NONE, body }));
    assert_eq!(heard[0]["error"]["bad_request"], "bad_experimenter");
}
