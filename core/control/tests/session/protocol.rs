//! The handshake and the messages after it.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_control::{Event, InstalledMeters, PortCounters, SessionError, SessionEvent, SessionLimits};
use braid_openflow::{
    ActionTypes, BadRequestCode, BandTypes, Bytes, ControllerRole, Echo, ErrorCode, ErrorMsg,
    FlowRemovedReason, GroupCapabilities, GroupFeatures, GroupTypes, HelloFailedCode, List, Message,
    MeterBand, MeterConfig, MeterFeatures, MeterFlags, MeterId, MultipartFlags, MultipartReply,
    MultipartType, PortReason, PortState, PortStats, PortStatus, ReplyBody, Xid, frames,
};
use braid_types::{DatapathId, PortNo, Time};

use crate::channel::{Channel, features, flow, nothing_found, port, ports, removed, reply, role};

#[test]
fn the_handshake_asks_for_everything_and_for_the_role_of_master() {
    let channel = Channel::greeted();
    let asked = ["MultipartRequest"; 4];
    let [first, behind] =
        [&["Hello", "FeaturesRequest", "SetConfig"][..], &["RoleRequest", "BarrierRequest"]];
    assert_eq!(channel.names_sent(), [first, &asked[..3], behind, &asked].concat());
}

#[test]
fn the_greeting_has_no_byte_that_stops_mininet() {
    let channel = Channel::open_with(SessionLimits::DEFAULT);
    assert_eq!(channel.sent, [4, 0, 0, 8, 0, 0, 0, 0], "OpenFlow 1.3, and none of Mininet's marks");
}

/// The fast-failover groups and select groups of a switch with these group types and capabilities, or of one that does
/// not know the request.
fn groups(features: Option<(GroupTypes, GroupCapabilities)>) -> [u32; 2] {
    let mut channel = Channel::greeted();
    channel.tell(&crate::channel::features(254, 0)).expect("fine");
    channel.tell(&ports(&[], MultipartFlags::NONE)).expect("fine");
    match features {
        Some((types, capabilities)) => {
            let (max_groups, actions) = ([1, 2, 3, 4], [ActionTypes::NONE; 4]);
            let body = ReplyBody::GroupFeatures(GroupFeatures { types, capabilities, max_groups, actions });
            let reply = MultipartReply { flags: MultipartFlags::NONE, body };
            channel.tell(&Message::MultipartReply(reply)).expect("fine");
        }
        None => {
            let refusal = ErrorCode::BadRequest(BadRequestCode::BadMultipart);
            let error = Message::Error(ErrorMsg { error: refusal, data: Bytes(&[]) });
            channel.tell_as(Xid(5), &error).expect("a switch may not know it");
        }
    }
    channel.tell(&role(ControllerRole::Master)).expect("fine");
    let [flows, groups] = nothing_found();
    channel.tell(&groups).expect("fine");
    match channel.tell(&flows) {
        Ok(Some(SessionEvent::Up(switch))) => [switch.failover_groups, switch.select_groups],
        other => panic!("the handshake is not done: {other:?}"),
    }
}

#[test]
fn a_switch_need_not_have_groups_for_fast_failover_nor_know_what_they_are() {
    let none = GroupCapabilities::NONE;
    assert_eq!(groups(Some((GroupTypes::FF, none))), [4, 0]);
    assert_eq!(groups(Some((GroupTypes::ALL, none))), [0, 0]);
    assert_eq!(groups(None), [0, 0]);
}

#[test]
fn select_groups_count_where_groups_may_use_groups() {
    assert_eq!(groups(Some((GroupTypes::SELECT, GroupCapabilities::CHAINING))), [0, 2]);
    assert_eq!(groups(Some((GroupTypes::SELECT, GroupCapabilities::SELECT_WEIGHT))), [0, 0]);
}

#[test]
fn answers_may_come_in_any_order_and_ports_in_parts() {
    let mut channel = Channel::greeted();
    let (one, two) = ([port(1, PortState::LIVE)], [port(2, PortState::LINK_DOWN)]);
    assert_eq!(channel.tell(&role(ControllerRole::Master)), Ok(None));
    assert_eq!(channel.tell(&ports(&one, MultipartFlags::MORE)), Ok(None));
    assert_eq!(channel.tell(&features(254, 0)), Ok(None));
    for found in nothing_found() {
        assert_eq!(channel.tell(&found), Ok(None));
    }
    let Ok(Some(SessionEvent::Up(switch))) = channel.tell(&ports(&two, MultipartFlags::NONE)) else {
        panic!("the handshake is not done");
    };
    assert_eq!(switch.dpid, DatapathId(7));
    let up: Vec<_> = switch.ports.iter().map(|port| (port.port.0, port.up)).collect();
    assert_eq!(up, [(1, true), (2, false)]);
    assert_eq!(switch.ports[0].speed.0, 1_000_000);
}

#[test]
fn a_port_that_changes_during_the_handshake_counts_as_it_is_last() {
    let mut channel = Channel::greeted();
    let both = [port(1, PortState::LIVE), port(2, PortState::LIVE)];
    channel.tell(&ports(&both, MultipartFlags::NONE)).expect("fine");
    let gone = PortStatus { reason: PortReason::Delete, desc: port(1, PortState::LIVE) };
    channel.tell(&Message::PortStatus(gone)).expect("fine");
    channel.tell(&features(254, 0)).expect("fine");
    let [flows, groups] = nothing_found();
    channel.tell(&role(ControllerRole::Master)).expect("fine");
    channel.tell(&groups).expect("fine");
    let Ok(Some(SessionEvent::Up(switch))) = channel.tell(&flows) else {
        panic!("the handshake is not done");
    };
    assert_eq!(switch.ports.iter().map(|port| port.port.0).collect::<Vec<_>>(), [2]);
}

#[test]
fn the_rules_of_an_earlier_controller_are_read_behind_the_role() {
    let mut channel = Channel::greeted();
    channel.tell(&features(254, 0)).expect("fine");
    channel.tell(&ports(&[], MultipartFlags::NONE)).expect("fine");
    channel.sent.clear();
    assert_eq!(channel.tell(&role(ControllerRole::Master)), Ok(None));
    assert_eq!(channel.names_sent(), [""; 0]);
    let [_, groups] = nothing_found();
    channel.tell(&groups).expect("fine");
    let (ours, foreign) = (flow(0xb700_0000_0000_0000, 5), flow(0x1200_0000_0000_0000, 5));
    let parts = [([ours, foreign], MultipartFlags::MORE), ([ours, foreign], MultipartFlags::NONE)];
    let answers = parts.map(|(flows, flags)| {
        let body = ReplyBody::Flow(List::new(&flows));
        channel.tell(&Message::MultipartReply(MultipartReply { flags, body })).expect("fine")
    });
    let [None, Some(SessionEvent::Up(switch))] = answers else { panic!("the handshake is not done") };
    let found = switch.installed.expect("what was found");
    assert_eq!((found.rules.len(), found.unknown_rules.len(), found.flood), (0, 2, None));
}

/// The meters of a switch that gives these replies.
fn meters_after(answers: &[Message<'_>]) -> InstalledMeters {
    let mut channel = Channel::greeted();
    for message in [features(254, 0), ports(&[], MultipartFlags::NONE), role(ControllerRole::Master)] {
        channel.tell(&message).expect("fine");
    }
    for answer in answers {
        let told = match answer {
            Message::Error(_) => {
                let refused = channel.xid_of(MultipartType::MeterFeatures).expect("asked for meters");
                channel.tell_as(refused, answer)
            }
            answer => channel.tell(answer),
        };
        assert_eq!(told, Ok(None));
    }
    let [flows, groups] = nothing_found();
    channel.tell(&flows).expect("fine");
    match channel.tell(&groups) {
        Ok(Some(SessionEvent::Up(switch))) => switch.installed.expect("what was found").meters,
        other => panic!("the handshake is not done: {other:?}"),
    }
}

#[test]
fn a_switch_without_meters_is_served_without() {
    let error = ErrorCode::BadRequest(BadRequestCode::BadMultipart);
    let refusal = Message::Error(ErrorMsg { error, data: Bytes(b"") });
    assert_eq!(meters_after(&[refusal, refusal]), InstalledMeters::default());
    assert_eq!(meters_after(&[]), InstalledMeters::default());
}

#[test]
fn the_meters_of_an_earlier_controller_are_read() {
    let (band_types, capabilities) = (BandTypes::DROP, 0xf);
    let able = MeterFeatures { max_meter: 100, band_types, capabilities, max_bands: 1, max_color: 0 };
    let bands = [MeterBand::Drop { rate: 5, burst_size: 5 }];
    let flags = MeterFlags(MeterFlags::PKTPS.0 | MeterFlags::BURST.0);
    let ours = MeterConfig { flags, meter_id: MeterId(3), bands: List::new(&bands) };
    let foreign = MeterConfig { flags: MeterFlags::KBPS, meter_id: MeterId(4), ..ours };
    let meters = [ours, foreign];
    let answers = [ReplyBody::MeterFeatures(able), ReplyBody::MeterConfig(List::new(&meters))].map(reply);
    let found = InstalledMeters { highest: 100, rates: BTreeMap::from([(PortNo(3), 5)]) };
    assert_eq!(meters_after(&answers), found);
}

#[test]
fn switches_that_cannot_be_served_are_told_apart() {
    let refused = |message| Channel::greeted().tell(&message).expect_err("refused");
    assert_eq!(refused(features(4, 0)), SessionError::Tables { have: 4 });
    assert_eq!(refused(features(254, 1)), SessionError::Auxiliary(1));
    let error = ErrorMsg { error: ErrorCode::HelloFailed(HelloFailedCode::Eperm), data: Bytes(&[]) };
    assert!(matches!(refused(Message::Error(error)), SessionError::Refused(_)));
}

#[test]
fn what_is_not_a_hello_is_refused_before_it_is_complete() {
    let channel = Channel::open();
    let refused = channel.session.message_length(b"GE").expect_err("refused");
    assert!(matches!(refused, SessionError::NotHello { .. }));
}

#[test]
fn only_rules_that_timed_out_are_news() {
    let mut channel = Channel::greeted();
    let answers = [features(254, 0), ports(&[], MultipartFlags::NONE), role(ControllerRole::Master)];
    for message in answers.into_iter().chain(nothing_found()) {
        channel.tell(&message).expect("fine");
    }
    assert_eq!(channel.tell(&removed(FlowRemovedReason::Delete)), Ok(None));
    let news = channel.tell(&removed(FlowRemovedReason::IdleTimeout));
    assert!(matches!(news, Ok(Some(SessionEvent::Other(Event::FlowRemoved { bytes: 99, .. })))));
}

fn echo(millis: u64) -> Message<'static> {
    let data = Time::from_millis(millis).as_nanos().to_be_bytes();
    Message::EchoReply(Echo { data: Bytes(Box::leak(Box::new(data))) })
}

#[test]
fn echoes_come_back_with_the_time_at_which_they_were_sent() {
    let mut channel = Channel::joined();
    channel.session.handle_timeout(Time::from_millis(1_000), &mut channel.sent).expect("alive");
    let [frame] = frames(&channel.sent).collect::<Vec<_>>().try_into().expect("one message");
    let request = frame.and_then(|frame| frame.decode()).expect("valid message").1;
    let Message::EchoRequest(request) = request else { panic!("not an echo: {request:?}") };
    assert_eq!(channel.session.dpid(), Some(DatapathId(7)));
    let back = Message::EchoReply(Echo { data: Bytes(request.data.0.to_vec().leak()) });
    let event = SessionEvent::Other(Event::Echo { dpid: DatapathId(7), sent_at: Time::from_millis(1_000) });
    assert_eq!(channel.tell(&back), Ok(Some(event)));
    assert_eq!(channel.tell(&back), Ok(None), "a second answer is none");
}

#[test]
fn echoes_that_were_not_asked_for_measure_nothing() {
    let mut channel = Channel::joined();
    assert_eq!(channel.tell(&echo(0)), Ok(None));
    channel.session.handle_timeout(Time::from_millis(1_000), &mut channel.sent).expect("alive");
    assert_eq!(channel.tell(&echo(999)), Ok(None));
    let empty = Message::EchoReply(Echo { data: Bytes(&[]) });
    assert_eq!(channel.tell(&empty), Ok(None));
    assert!(matches!(channel.tell(&echo(1_000)), Ok(Some(_))));
}

#[test]
fn one_echo_is_under_way_at_a_time() {
    let mut channel = Channel::joined();
    for second in 1..=4 {
        channel.session.handle_timeout(Time::from_millis(second * 1_000), &mut channel.sent).expect("alive");
    }
    let echoes = |channel: &Channel| channel.names_sent().iter().filter(|it| *it == "EchoRequest").count();
    assert_eq!(echoes(&channel), 1);
    channel.session.handle_timeout(Time::from_millis(5_000), &mut channel.sent).expect("alive");
    assert_eq!(echoes(&channel), 2, "the first one is not waited for any more");
    assert_eq!(channel.tell(&echo(1_000)), Ok(None));
    assert!(matches!(channel.tell(&echo(5_000)), Ok(Some(_))));
}

#[test]
fn counters_of_ports_are_passed_on_and_those_that_are_not_kept_left_out() {
    let (rx_packets, tx_packets, tx_bytes, none) = (1, 2, 3, u64::MAX);
    let stats = PortStats {
        port_no: PortNo(4),
        rx_packets,
        tx_packets,
        rx_bytes: 9,
        tx_bytes,
        rx_dropped: none,
        tx_dropped: 5,
        rx_errors: none,
        tx_errors: 6,
        rx_frame_err: 0,
        rx_over_err: 0,
        rx_crc_err: 8,
        collisions: 0,
        duration_sec: 7,
        duration_nsec: 0,
    };
    let stats = [stats];
    let reply = MultipartReply { flags: MultipartFlags::MORE, body: ReplyBody::Port(List::new(&stats)) };
    let expected = PortCounters {
        port: PortNo(4),
        counting: Duration::from_secs(7),
        packets_in: Some(1),
        packets_out: Some(2),
        bytes_in: Some(9),
        bytes_out: Some(3),
        dropped_in: None,
        dropped_out: Some(5),
        errors: Some(6),
        damaged_in: Some(8),
    };
    let event = Event::PortCounters { dpid: DatapathId(7), ports: vec![expected] };
    let mut channel = Channel::joined();
    channel.session.expect(Xid(5), MultipartType::Port);
    let told = channel.tell_as(Xid(5), &Message::MultipartReply(reply));
    assert_eq!(told, Ok(Some(SessionEvent::Other(event))));
}

#[test]
fn silence_is_asked_and_then_ends_the_channel() {
    let mut channel = Channel::greeted();
    let after = |seconds| Time::ZERO + Duration::from_secs(seconds);
    channel.sent.clear();
    channel.session.handle_timeout(after(1), &mut channel.sent).expect("alive");
    assert!(channel.sent.is_empty());
    channel.session.handle_timeout(after(5), &mut channel.sent).expect("alive");
    channel.session.handle_timeout(after(6), &mut channel.sent).expect("alive");
    assert_eq!(channel.names_sent(), ["EchoRequest"]);
    let ended = channel.session.handle_timeout(after(9), &mut channel.sent);
    assert_eq!(ended, Err(SessionError::Silent(Duration::from_secs(9))));
}

/// Whether the ports of a switch are up that describes them like this, after a port-status of the first like that.
fn up_after(described: &[PortState], then: PortState) -> Vec<bool> {
    let mut channel = Channel::greeted();
    channel.tell(&features(254, 0)).expect("fine");
    let described: Vec<_> = (1..).zip(described).map(|(number, state)| port(number, *state)).collect();
    channel.tell(&ports(&described, MultipartFlags::NONE)).expect("fine");
    channel.tell(&role(ControllerRole::Master)).expect("fine");
    let [flows, groups] = nothing_found();
    channel.tell(&groups).expect("fine");
    let Ok(Some(SessionEvent::Up(switch))) = channel.tell(&flows) else {
        panic!("the handshake is not done")
    };
    let mut up: Vec<_> = switch.ports.iter().map(|port| port.up).collect();
    let changed = PortStatus { reason: PortReason::Modify, desc: port(1, then) };
    match channel.tell(&Message::PortStatus(changed)) {
        Ok(Some(SessionEvent::Other(Event::PortUp { port, .. }))) => up.push(port.up),
        other => panic!("no event: {other:?}"),
    }
    up
}

#[test]
fn a_port_that_is_not_live_is_down_where_the_switch_says_which_are() {
    let (live, silent, down) = (PortState::LIVE, PortState::NONE, PortState::LINK_DOWN);
    assert_eq!(up_after(&[live, live], silent), [true, true, false], "BFD has lost the other end");
    assert_eq!(up_after(&[silent, live], live), [false, true, true], "and finds it again");
    assert_eq!(up_after(&[silent, silent], silent), [true; 3], "the switch knows no liveness");
    assert_eq!(up_after(&[silent, down], down), [true, false, false]);
}
