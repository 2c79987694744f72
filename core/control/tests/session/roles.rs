//! The role of master: claimed, refused, lost and claimed again.

use braid_control::{Event, SessionEvent};
use braid_openflow::{
    BadRequestCode, BufferId, Bytes, ControllerRole, Cookie, ErrorCode, ErrorMsg, Experimenter,
    ExperimenterId, FlowRemovedReason, Hello, Match, Message, MultipartFlags, MultipartType, OxmField,
    PacketIn, PacketInReason, Role, RoleRequestFailedCode, TableId, frames,
};
use braid_types::{DatapathId, PortNo, Term, Time};

use crate::channel::{Channel, features, nothing_found, ports, removed, role};

const DPID: DatapathId = DatapathId(7);
const IS_SLAVE: ErrorCode = ErrorCode::BadRequest(BadRequestCode::IsSlave);
const STALE: ErrorCode = ErrorCode::RoleRequestFailed(RoleRequestFailedCode::Stale);

fn error(error: ErrorCode) -> Message<'static> {
    Message::Error(ErrorMsg { error, data: Bytes(&[]) })
}

/// A packet from port 1.
fn packet_in(frame: &[u8]) -> Message<'_> {
    const IN_PORT: &[OxmField] = &[OxmField::InPort(PortNo(1))];
    Message::PacketIn(PacketIn {
        buffer_id: BufferId::NO_BUFFER,
        total_len: 60,
        reason: PacketInReason::Action,
        table_id: TableId(0),
        cookie: Cookie(0),
        matching: Match::new(IN_PORT),
        data: Bytes(frame),
    })
}

fn told(role: ControllerRole, generation_id: u64) -> Message<'static> {
    Message::RoleReply(Role { role, generation_id })
}

/// The roles that were asked for, each with its term; takes what was sent.
fn asked(channel: &mut Channel) -> Vec<(ControllerRole, u64)> {
    let sent = std::mem::take(&mut channel.sent);
    let decoded = frames(&sent).map(|frame| frame.and_then(|frame| frame.decode()).expect("valid message").1);
    let roles = decoded.filter_map(|message| match message {
        Message::RoleRequest(role) => Some((role.role, role.generation_id)),
        _ => None,
    });
    roles.collect()
}

const fn lost(newest: Option<u64>) -> SessionEvent<'static> {
    let newest = match newest {
        Some(newest) => Some(Term(newest)),
        None => None,
    };
    SessionEvent::RoleLost { dpid: DPID, newest }
}

#[test]
fn a_switch_with_a_newer_term_is_asked_for_it_and_left_to_its_master() {
    let mut channel = Channel::greeted();
    assert_eq!(asked(&mut channel), [(ControllerRole::Master, 1)]);
    channel.tell(&features(254, 0)).expect("fine");
    assert_eq!(channel.tell(&error(STALE)), Ok(None));
    assert_eq!(asked(&mut channel), [(ControllerRole::Nochange, 0)]);
    assert_eq!(channel.tell(&told(ControllerRole::Equal, 9)), Ok(Some(lost(Some(9)))));
    assert_eq!(asked(&mut channel), [(ControllerRole::Slave, 9)], "never EQUAL");
    assert_eq!(channel.session.dpid(), Some(DPID));
}

#[test]
fn the_loss_is_reported_once_the_switch_has_said_which_it_is() {
    let mut channel = Channel::greeted();
    assert_eq!(channel.tell(&told(ControllerRole::Slave, 9)), Ok(None));
    assert_eq!(channel.tell(&features(254, 0)), Ok(Some(lost(Some(9)))));
}

#[test]
fn every_sign_of_another_master_takes_the_role() {
    let status = |role: ControllerRole, generation_id: u64| {
        let role = u32::from(role).to_be_bytes();
        let data = [&role[..], &[0; 4], &generation_id.to_be_bytes()].concat();
        let data = Bytes(data.leak());
        let experimenter = ExperimenterId(0x4f4e_4600);
        Message::Experimenter(Experimenter { experimenter, exp_type: 1911, data })
    };
    let signs = [
        (error(IS_SLAVE), None),
        (error(STALE), None),
        (told(ControllerRole::Slave, 9), Some(9)),
        (status(ControllerRole::Slave, 0), None),
        (status(ControllerRole::Slave, 9), Some(9)),
    ];
    for (sign, newest) in signs {
        let mut channel = Channel::joined();
        assert_eq!(channel.tell(&sign), Ok(Some(lost(newest))), "{sign:?}");
    }
    let mut channel = Channel::joined();
    assert_eq!(channel.tell(&status(ControllerRole::Master, 9)), Ok(None));
    assert_eq!(channel.tell(&told(ControllerRole::Master, 1)), Ok(None));
}

#[test]
fn a_session_that_lost_the_role_learns_the_newest_term_and_passes_nothing_on() {
    let mut channel = Channel::joined();
    channel.tell(&error(IS_SLAVE)).expect("fine");
    assert_eq!(asked(&mut channel), [(ControllerRole::Nochange, 0)]);
    assert_eq!(channel.tell(&error(IS_SLAVE)), Ok(None), "of what was under way");
    assert_eq!(channel.tell(&told(ControllerRole::Slave, 9)), Ok(Some(lost(Some(9)))));
    assert_eq!(channel.tell(&removed(FlowRemovedReason::IdleTimeout)), Ok(None));
    assert_eq!(asked(&mut channel), []);
}

#[test]
fn a_session_that_lost_the_role_keeps_the_connection_alive() {
    let mut channel = Channel::joined();
    channel.tell(&told(ControllerRole::Slave, 9)).expect("fine");
    channel.session.handle_timeout(Time::from_millis(1_000), &mut channel.sent).expect("alive");
    assert_eq!(channel.names_sent(), ["EchoRequest"]);
}

#[test]
fn the_role_that_was_lost_is_claimed_again_and_everything_is_read_anew() {
    let mut channel = Channel::joined();
    channel.tell(&told(ControllerRole::Slave, 9)).expect("fine");
    channel.session.claim(Time::from_millis(60_000), Term(10), &mut channel.sent).expect("room");
    assert_eq!(channel.session.term(), Some(Term(10)));
    assert_eq!(channel.names_sent().first().map(String::as_str), Some("FeaturesRequest"));
    assert_eq!(asked(&mut channel), [(ControllerRole::Master, 10)]);
    channel.session.handle_timeout(Time::from_millis(60_000), &mut channel.sent).expect_err("silent so long");
    for message in [features(254, 0), role(ControllerRole::Master), ports(&[], MultipartFlags::NONE)] {
        assert_eq!(channel.tell(&message), Ok(None));
    }
    let [flows, groups] = nothing_found();
    assert_eq!(channel.tell(&flows), Ok(None));
    assert!(matches!(channel.tell(&groups), Ok(Some(SessionEvent::Up(switch))) if switch.dpid == DPID));
}

#[test]
fn rules_are_asked_for_behind_the_role_and_count_once_the_role_is_granted() {
    let mut channel = Channel::greeted();
    let sent = channel.names_sent();
    let at = |name: &str| sent.iter().position(|it| it == name).expect("it is sent");
    assert!(at("RoleRequest") < at("BarrierRequest"));
    assert!(
        channel.xid_of(MultipartType::Flow).is_some() && channel.xid_of(MultipartType::GroupDesc).is_some()
    );
    for message in [features(254, 0), ports(&[], MultipartFlags::NONE)].into_iter().chain(nothing_found()) {
        assert_eq!(channel.tell(&message), Ok(None));
    }
    assert!(matches!(channel.tell(&role(ControllerRole::Master)), Ok(Some(SessionEvent::Up(_)))));
}

#[test]
fn what_was_asked_for_behind_a_claim_that_is_refused_is_read_again_with_the_role() {
    let mut channel = Channel::greeted();
    for message in [ports(&[], MultipartFlags::NONE), error(STALE)].into_iter().chain(nothing_found()) {
        assert_eq!(channel.tell(&message), Ok(None));
    }
    channel.sent.clear();
    channel.session.claim(Time::ZERO, Term(10), &mut channel.sent).expect("room");
    assert_eq!(channel.tell(&features(254, 0)), Ok(None));
    assert_eq!(channel.tell(&role(ControllerRole::Master)), Ok(None), "nothing of before counts");
    let [flows, groups] = nothing_found();
    assert_eq!(channel.tell(&flows), Ok(None));
    assert!(matches!(channel.tell(&groups), Ok(Some(SessionEvent::Up(_)))));
}

#[test]
fn packets_of_hosts_wait_for_the_end_of_the_handshake_and_discovery_frames_do_not() {
    let mut channel = Channel::greeted();
    for ether_type in [[0x08, 0x00], [0x88, 0xcc], [0x08, 0x06]] {
        let frame = [&[0; 12][..], &ether_type, &[0; 46]].concat();
        assert_eq!(channel.tell(&packet_in(&frame)), Ok(None));
    }
    let rest = [features(254, 0), ports(&[], MultipartFlags::NONE), role(ControllerRole::Master)];
    for message in rest.into_iter().chain(nothing_found()) {
        channel.tell(&message).expect("fine");
    }
    let held = channel.session.take_held();
    let packets = held
        .iter()
        .filter_map(|bytes| channel.session.handle_message(Time::ZERO, bytes, &mut channel.sent).ok()?);
    let types = packets.filter_map(|event| match event {
        SessionEvent::Other(Event::PacketIn { data, .. }) => Some([data[12], data[13]]),
        _ => None,
    });
    assert_eq!(types.collect::<Vec<_>>(), [[0x08, 0x00], [0x08, 0x06]]);
    assert!(channel.session.take_held().is_empty());
}

#[test]
fn a_standby_holds_no_packets_and_one_that_gives_the_role_up_forgets_them() {
    let frame = [0; 60];
    let mut channel = Channel::open_as(None);
    channel.tell(&Message::Hello(Hello::V1_3)).expect("fine");
    channel.tell(&packet_in(&frame)).expect("fine");
    channel.session.claim(Time::ZERO, Term(10), &mut channel.sent).expect("room");
    channel.tell(&packet_in(&frame)).expect("fine");
    channel.session.release(Term(11), &mut channel.sent).expect("room");
    channel.session.claim(Time::ZERO, Term(12), &mut channel.sent).expect("room");
    let rest = [features(254, 0), ports(&[], MultipartFlags::NONE), role(ControllerRole::Master)];
    for message in rest.into_iter().chain(nothing_found()) {
        channel.tell(&message).expect("fine");
    }
    assert!(channel.session.take_held().is_empty());
}

#[test]
fn a_newer_term_is_claimed_without_reading_anything_while_the_role_is_held() {
    let mut channel = Channel::joined();
    channel.session.claim(Time::ZERO, Term(2), &mut channel.sent).expect("room");
    assert_eq!(channel.names_sent(), ["RoleRequest"]);
    assert_eq!(asked(&mut channel), [(ControllerRole::Master, 2)]);
}

#[test]
fn the_role_is_checked_where_nothing_is_written() {
    let mut channel = Channel::joined();
    for second in 1..=3 {
        channel.session.handle_timeout(Time::from_millis(second * 1_000), &mut channel.sent).expect("alive");
    }
    assert_eq!(asked(&mut channel), [(ControllerRole::Nochange, 0)]);
}

#[test]
fn a_standby_becomes_slave_and_never_master() {
    let mut channel = Channel::open_as(None);
    channel.tell(&Message::Hello(Hello::V1_3)).expect("fine");
    assert_eq!(asked(&mut channel), [(ControllerRole::Nochange, 0)]);
    channel.tell(&features(254, 0)).expect("fine");
    assert_eq!(channel.tell(&told(ControllerRole::Equal, 9)), Ok(Some(lost(Some(9)))));
    assert_eq!(asked(&mut channel), [(ControllerRole::Slave, 9)]);
}

#[test]
fn a_role_that_is_given_up_is_given_up_in_the_leaders_term() {
    let mut channel = Channel::joined();
    channel.session.release(Term(9), &mut channel.sent).expect("room");
    assert_eq!(asked(&mut channel), [(ControllerRole::Slave, 9)]);
    assert_eq!(channel.tell(&removed(FlowRemovedReason::IdleTimeout)), Ok(None));
}
