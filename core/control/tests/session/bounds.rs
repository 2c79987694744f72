//! Bounds of a session: a switch that exceeds them is refused, and its data is not kept.

use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use braid_control::pipeline::{Exit, FLOOD_GROUP, Hop, Rule};
use braid_control::{
    Command, Commands, Cookie as RuleCookie, DiscardReason, Encoder, Event, Label, SessionError,
    SessionEvent, SessionLimits, SwitchPorts,
};
use braid_openflow::{
    ControllerRole, Cookie, FlowModFlags, FlowRemovedReason, FlowStats, GroupDesc, GroupId, GroupType, List,
    Match, Message, MeterBand, MeterConfig, MeterFlags, MeterId, MultipartFlags, MultipartReply,
    MultipartType, Port, PortReason, PortState, PortStats, PortStatus, ReplyBody, Seconds, Xid,
};
use braid_steering::StreamId;
use braid_types::{DatapathId, FiveTuple, PortNo, Time};

use crate::channel::{
    Channel, Result, features, flow, nothing_found, part, port, ports, removed, reply, role,
};
use crate::counting::in_use;

const OURS: u64 = 0xb7 << 56;
const SMALL: SessionLimits =
    SessionLimits { ports: 4, installed_rules: 8, installed_bytes: 2_048, ..SessionLimits::DEFAULT };

fn live(numbers: impl Iterator<Item = u32>) -> Vec<Port<'static>> {
    numbers.map(|number| port(number, PortState::LIVE)).collect()
}

fn changed(number: u32, reason: PortReason) -> Message<'static> {
    Message::PortStatus(PortStatus { reason, desc: port(number, PortState::LIVE) })
}

/// A session that only lacks the replies about groups and flows.
fn all_but_flows_and_groups(limits: SessionLimits) -> Channel {
    let mut channel = Channel::greeted_with(limits);
    let before = [features(254, 0), ports(&[], MultipartFlags::NONE), role(ControllerRole::Master)];
    before.iter().for_each(|message| assert_eq!(channel.tell(message), Ok(None)));
    channel
}

fn all_but_flows(limits: SessionLimits) -> Channel {
    let mut channel = all_but_flows_and_groups(limits);
    let [_, groups] = nothing_found();
    assert_eq!(channel.tell(&groups), Ok(None));
    channel
}

fn up(told: Result<'static>) -> SwitchPorts {
    match told {
        Ok(Some(SessionEvent::Up(switch))) => switch,
        other => panic!("the handshake is not done: {other:?}"),
    }
}

/// A stream's rule, and the message that installs it.
fn stream(id: u64) -> (Rule, Vec<u8>) {
    let ip = |host| IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, host));
    let tuple = FiveTuple { src: ip(1), dst: ip(2), src_port: 7, dst_port: 7 };
    let hop = Hop { label: Label(7), port: PortNo(1), exit: Exit::Plain };
    let rule = Rule::Stream { id: StreamId(id), reverse: false, tuple, hop };
    let (add, mut bytes) = (Command::Add { dpid: DatapathId(7), rule }, Vec::new());
    let encoder = Encoder::new(Duration::from_secs(60));
    encoder.encode(&add, &Commands::default(), Xid(1), &mut bytes).expect("a short message");
    (rule, bytes)
}

/// The description of a rule by the switch that installed it.
fn described(written: &[u8]) -> FlowStats<'_> {
    let Ok((_, Message::FlowMod(written))) = Message::decode(written) else { panic!("not a rule") };
    FlowStats {
        table_id: written.table_id,
        priority: written.priority,
        idle_timeout: Seconds(60),
        flags: FlowModFlags::SEND_FLOW_REM,
        cookie: written.cookie,
        matching: written.matching,
        instructions: written.instructions,
        ..flow(0, 0)
    }
}

#[test]
fn a_switch_may_announce_its_ports_up_to_the_limit_and_no_more() {
    let mut channel = Channel::greeted_with(SMALL);
    for what in ["as many as there may be", "the same again"] {
        assert_eq!(channel.tell(&ports(&live(1..=4), MultipartFlags::MORE)), Ok(None), "{what}");
    }
    let refused = channel.tell(&ports(&live(5..=6), MultipartFlags::NONE)).expect_err("too many");
    assert_eq!(refused, SessionError::TooManyPorts { ports: 5, limit: 4 });
    assert_eq!(refused.to_string(), "the switch has 5 ports or more; the limit is 4");
}

#[test]
fn ports_that_are_added_later_count_and_those_that_go_do_not() {
    for mut channel in [Channel::greeted_with(SMALL), Channel::joined_with(SMALL)] {
        for number in 1..=100 {
            channel.tell(&changed(number, PortReason::Add)).expect("one port at a time");
            channel.tell(&changed(number, PortReason::Modify)).expect("the same port");
            channel.tell(&changed(number, PortReason::Delete)).expect("none");
        }
        for number in 1..=4 {
            channel.tell(&changed(number, PortReason::Modify)).expect("as many as there may be");
        }
        let refused = channel.tell(&changed(5, PortReason::Modify));
        assert_eq!(refused, Err(SessionError::TooManyPorts { ports: 5, limit: 4 }));
    }
}

#[test]
fn ports_of_the_handshake_count_after_it() {
    let mut channel = Channel::greeted_with(SMALL);
    let before = [features(254, 0), role(ControllerRole::Master)];
    before.iter().chain(&nothing_found()).for_each(|message| assert_eq!(channel.tell(message), Ok(None)));
    assert_eq!(up(channel.tell(&ports(&live(1..=4), MultipartFlags::NONE))).ports.len(), 4);
    let refused = channel.tell(&changed(5, PortReason::Add));
    assert_eq!(refused, Err(SessionError::TooManyPorts { ports: 5, limit: 4 }));
}

#[test]
fn answers_of_other_transactions_and_those_after_the_last_part_are_passed_over() {
    let mut channel = Channel::greeted_with(SMALL);
    let all = live(1..=3);
    let body = ReplyBody::PortDesc(List::new(&all));
    let asked = channel.xid_of(MultipartType::PortDesc).expect("asked for ports");
    assert_eq!(channel.tell_as(Xid(asked.0 + 1), &reply(body)), Ok(None));
    assert_eq!(channel.tell_as(asked, &reply(ReplyBody::PortDesc(List::new(&all[..1])))), Ok(None));
    assert_eq!(channel.tell_as(asked, &reply(body)), Ok(None));
    let rest = [features(254, 0), role(ControllerRole::Master)];
    rest.iter().for_each(|message| assert_eq!(channel.tell(message), Ok(None)));
    let [flows, groups] = nothing_found();
    assert_eq!(channel.tell(&groups), Ok(None));
    let joined = up(channel.tell(&flows));
    assert_eq!(joined.ports.iter().map(|port| port.port.0).collect::<Vec<_>>(), [1], "as it was asked for");
}

/// Sends parts of a reply until the session refuses it, within this much memory.
fn refused_at_last(channel: &mut Channel, message: &Message<'_>, bytes_held: isize) -> SessionError {
    let Message::MultipartReply(reply) = message else { panic!("no answer") };
    let xid = channel.xid_of(reply.body.multipart_type()).expect("asked for it");
    let mut bytes = Vec::new();
    message.encode(xid, &mut bytes).expect("it fits");
    let (mut out, before) = (Vec::new(), in_use());
    for _ in 0..100_000 {
        if let Err(refused) = channel.session.handle_message(Time::ZERO, &bytes, &mut out) {
            return refused;
        }
        assert!(in_use() - before < bytes_held, "{} bytes are held", in_use() - before);
    }
    panic!("it goes on and on");
}

#[test]
fn answers_that_do_not_end_are_refused_by_their_kind_and_nothing_of_them_is_kept() {
    let (same, rules) = (live([1].into_iter().cycle().take(1_000)), vec![flow(OURS | 0x77 << 48, 1); 1_000]);
    let group = GroupDesc { group_type: GroupType::Select, group_id: GroupId(0x100), buckets: List::EMPTY };
    let bands = [MeterBand::Drop { rate: 5, burst_size: 5 }];
    let flags = MeterFlags(MeterFlags::PKTPS.0 | MeterFlags::BURST.0);
    let meter = MeterConfig { flags, meter_id: MeterId(3), bands: List::new(&bands) };
    let (groups, meters) = (vec![group; 1_000], vec![meter; 1_000]);
    let bodies = [
        ReplyBody::PortDesc(List::new(&same)),
        ReplyBody::Flow(List::new(&rules)),
        ReplyBody::GroupDesc(List::new(&groups)),
        ReplyBody::MeterConfig(List::new(&meters)),
    ];
    for body in bodies {
        let mut channel = Channel::greeted_with(SMALL);
        channel.tell(&role(ControllerRole::Master)).expect("fine");
        let refused = refused_at_last(&mut channel, &part(body), 8 << 10);
        let SessionError::LongAnswer { kind, bytes, limit } = refused else { panic!("{refused:?}") };
        assert_eq!(kind, body.multipart_type());
        assert!(bytes > limit && bytes <= limit + (1 << 16) && limit < 128 << 10, "{bytes} of {limit}");
        let words = format!("the {kind:?} answer goes on after {bytes} bytes; the limit is {limit}");
        assert_eq!(refused.to_string(), words);
    }
}

#[test]
fn a_switch_with_more_rules_than_can_be_taken_up_is_set_up_anew() {
    let unknown_rules: Vec<_> = (0..9).map(|number| flow(OURS | number, 5)).collect();
    let join = |limits, count| {
        let mut channel = all_but_flows(limits);
        let found = up(channel.tell(&reply(ReplyBody::Flow(List::new(&unknown_rules[..count]))))).installed;
        (found.is_some(), channel.session.unusable())
    };
    assert_eq!(join(SMALL, 8), (true, None));
    let (is_taken_up, why) = join(SMALL, 9);
    let Some(why @ DiscardReason::TooMuch { count: 9, bytes, .. }) = why else { panic!("{why:?}") };
    assert!(!is_taken_up && bytes < SMALL.installed_bytes);
    let words =
        format!("it has 9 rules, groups and meters of {bytes} bytes or more; the limits are 8 and 2048");
    assert_eq!(why.to_string(), words);
    let tight = SessionLimits { installed_bytes: 256, ..SMALL };
    let (is_taken_up, why) = join(tight, 8);
    assert!(!is_taken_up);
    assert!(
        matches!(why, Some(DiscardReason::TooMuch { bytes: 257.., limits, .. }) if limits == tight),
        "{why:?}"
    );
}

#[test]
fn a_switch_with_a_group_that_is_not_as_we_write_it_is_set_up_anew() {
    let mut channel = all_but_flows_and_groups(SMALL);
    let flood = GroupDesc { group_type: GroupType::Select, group_id: FLOOD_GROUP, buckets: List::EMPTY };
    assert_eq!(channel.tell(&reply(ReplyBody::GroupDesc(List::new(&[flood])))), Ok(None));
    assert_eq!(up(channel.tell(&reply(ReplyBody::Flow(List::EMPTY)))).installed, None);
    assert_eq!(channel.session.unusable(), Some(DiscardReason::Foreign));
}

#[test]
fn as_many_rules_are_taken_up_as_there_may_be_streams() {
    const A_MESSAGE: usize = 250;
    let streams = braid_steering::Limits::default().streams;
    let written: Vec<_> = (1..=A_MESSAGE as u64).map(|id| stream(id).1).collect();
    let rules: Vec<_> = written.iter().map(|bytes| described(bytes)).collect();
    let mut channel = all_but_flows(SessionLimits::DEFAULT);
    for _ in 0..streams / A_MESSAGE {
        assert_eq!(channel.tell(&part(ReplyBody::Flow(List::new(&rules)))), Ok(None));
    }
    let found = up(channel.tell(&reply(ReplyBody::Flow(List::EMPTY)))).installed.expect("what was found");
    assert_eq!((found.rules.len(), found.unknown_rules.len()), (streams, 0));
}

#[test]
fn rules_that_end_while_they_are_read_are_left_out() {
    let mut channel = all_but_flows(SessionLimits::DEFAULT);
    let [(kept, first), (gone, second)] = [stream(1), stream(2)];
    let rules = [described(&first), described(&second)];
    assert_eq!(channel.tell(&part(ReplyBody::Flow(List::new(&rules)))), Ok(None));
    let Message::FlowRemoved(ended) = removed(FlowRemovedReason::IdleTimeout) else { panic!("no end") };
    let cookie = Cookie(RuleCookie::new(gone.purpose()).0);
    assert_eq!(
        channel.tell(&Message::FlowRemoved(braid_openflow::FlowRemoved { cookie, ..ended })),
        Ok(None)
    );
    let found = up(channel.tell(&reply(ReplyBody::Flow(List::EMPTY)))).installed.expect("what was found");
    assert_eq!(found.rules, [kept]);
}

#[test]
fn a_handshake_ends_in_time_or_is_ended() {
    let limits = SessionLimits { handshake: Duration::from_secs(3), ..SMALL };
    let mut channel = Channel::greeted_with(limits);
    let mut after = |seconds| {
        let (now, mut out) = (Time::ZERO + Duration::from_secs(seconds), Vec::new());
        channel.session.handle_timeout(now, &mut out)
    };
    assert_eq!(after(3), Ok(()));
    let slow = SessionError::SlowHandshake { took: Duration::from_secs(4), limit: limits.handshake };
    assert_eq!(after(4), Err(slow.clone()));
    assert_eq!(slow.to_string(), "the handshake is not done after 4 s; the limit is 3 s");
}

fn counted(port: u32) -> PortStats {
    PortStats {
        port_no: PortNo(port),
        rx_packets: 1,
        tx_packets: 1,
        rx_bytes: 1,
        tx_bytes: 1,
        rx_dropped: 0,
        tx_dropped: 0,
        rx_errors: 0,
        tx_errors: 0,
        rx_frame_err: 0,
        rx_over_err: 0,
        rx_crc_err: 0,
        collisions: 0,
        duration_sec: 1,
        duration_nsec: 0,
    }
}

#[test]
fn counters_are_taken_as_often_as_they_were_asked_for() {
    let mut channel = Channel::joined();
    let (stats, rules) = ([counted(1)], [flow(OURS, 1)]);
    let (ports, flows) = (ReplyBody::Port(List::new(&stats)), ReplyBody::Flow(List::new(&rules)));
    assert_eq!(channel.tell_as(Xid(5), &reply(ports)), Ok(None), "nobody has asked");
    channel.session.expect(Xid(5), MultipartType::Port);
    channel.session.expect(Xid(6), MultipartType::Flow);
    assert_eq!(channel.tell_as(Xid(5), &reply(flows)), Ok(None), "asked for something else");
    let is_news = |told: Result<'static>| matches!(told, Ok(Some(SessionEvent::Other(_))));
    assert!(is_news(channel.tell_as(Xid(5), &part(ports))));
    assert!(is_news(channel.tell_as(Xid(6), &reply(flows))), "answers may come in any order");
    assert!(is_news(channel.tell_as(Xid(5), &reply(ports))));
    assert_eq!(channel.tell_as(Xid(5), &reply(ports)), Ok(None), "the answer is over");
}

/// What is reported of rules that somebody wants to see: how many rules are in this part, and whether it is the last.
fn rules_read(told: Result<'static>) -> Option<(Xid, usize, bool)> {
    match told.expect("fine")? {
        SessionEvent::Rules { dpid: DatapathId(7), xid, part, is_last } => match Message::decode(part) {
            Ok((_, Message::MultipartReply(MultipartReply { body: ReplyBody::Flow(flows), .. }))) => {
                Some((xid, flows.iter().count(), is_last))
            }
            other => panic!("no rules: {other:?}"),
        },
        other => panic!("not for an observer: {other:?}"),
    }
}

#[test]
fn rules_that_somebody_wants_to_see_come_part_by_part_and_do_not_concern_the_brain() {
    let mut channel = Channel::joined();
    let (ours, all) = ([flow(OURS, 1)], [flow(OURS, 1), flow(0, 2)]);
    let [ours, all] = [&ours[..], &all].map(|rules| ReplyBody::Flow(List::new(rules)));
    assert_eq!(channel.tell_as(Xid(5), &part(all)), Ok(None), "nobody has asked");
    channel.session.expect_rules(Xid(5));
    channel.session.expect(Xid(6), MultipartType::Flow);
    assert_eq!(rules_read(channel.tell_as(Xid(5), &part(all))), Some((Xid(5), 2, false)));
    let counters = channel.tell_as(Xid(6), &reply(ours));
    assert!(matches!(counters, Ok(Some(SessionEvent::Other(Event::StreamCounters { .. })))));
    assert_eq!(rules_read(channel.tell_as(Xid(5), &reply(ours))), Some((Xid(5), 1, true)));
    assert_eq!(channel.tell_as(Xid(5), &reply(ours)), Ok(None), "the answer is over");
}

#[test]
fn rules_without_end_are_ignored_and_the_switch_stays() {
    let rules: Vec<_> = (0..500).map(|number| flow(0, number)).collect();
    let endless = part(ReplyBody::Flow(List::new(&rules)));
    let mut channel = Channel::joined_with(SMALL);
    channel.session.expect_rules(Xid(5));
    let told: Vec<_> = (0..10).map(|_| rules_read(channel.tell_as(Xid(5), &endless)).is_some()).collect();
    assert!(told[0] && !told[9], "{told:?}");
    assert_eq!(channel.tell_as(Xid(5), &reply(ReplyBody::Flow(List::EMPTY))), Ok(None), "it is forgotten");
}

#[test]
fn counters_that_do_not_end_are_refused() {
    let stats: Vec<_> = (1..=500).map(counted).collect();
    let endless = Message::MultipartReply(MultipartReply {
        flags: MultipartFlags::MORE,
        body: ReplyBody::Port(List::new(&stats)),
    });
    let mut channel = Channel::joined_with(SMALL);
    channel.session.expect(Xid(5), MultipartType::Port);
    let refused = (0..10).find_map(|_| channel.tell_as(Xid(5), &endless).err()).expect("too long");
    assert!(matches!(refused, SessionError::LongAnswer { kind: MultipartType::Port, .. }), "{refused:?}");
}

#[test]
fn requests_that_are_never_answered_are_not_waited_for_without_end() {
    let mut channel = Channel::joined_with(SessionLimits { requests: 8, ..SMALL });
    let before = in_use();
    (1..=1_000).for_each(|number| channel.session.expect(Xid(number), MultipartType::Flow));
    assert!(in_use() - before < 1_024, "{} bytes", in_use() - before);
    let told = |channel: &mut Channel, number| {
        channel.tell_as(Xid(number), &reply(ReplyBody::Flow(List::EMPTY))).expect("fine").is_some()
    };
    assert_eq!([992, 993, 1_000].map(|number| told(&mut channel, number)), [false, true, true]);
    let unasked = channel.tell(&reply(ReplyBody::Flow(List::EMPTY)));
    assert!(!matches!(unasked, Ok(Some(SessionEvent::Other(Event::StreamCounters { .. })))));
}

#[test]
fn matches_as_long_as_a_message_count_by_their_bytes() {
    let long = [braid_openflow::OxmField::InPort(PortNo(1)); 7_000];
    let rules = [FlowStats { matching: Match::new(&long), ..flow(OURS, 1) }];
    let limits = SessionLimits { installed_bytes: 256 << 10, ..SessionLimits::DEFAULT };
    let mut channel = Channel::greeted_with(limits);
    channel.tell(&role(ControllerRole::Master)).expect("fine");
    refused_at_last(&mut channel, &part(ReplyBody::Flow(List::new(&rules))), 2 * (256 << 10));
}
