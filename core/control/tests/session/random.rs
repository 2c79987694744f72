//! Random messages in random order: the memory of a session is bounded.

use braid_control::{Session, SessionLimits};
use braid_openflow::{
    ControllerRole, Cookie, Desc, FlowRemoved, FlowRemovedReason, GroupDesc, GroupId, GroupType, Hello, List,
    Message, MeterBand, MeterConfig, MeterFlags, MeterId, MultipartFlags, MultipartReply, MultipartType,
    Port, PortReason, PortState, PortStatus, ReplyBody, Text, Xid,
};
use braid_types::{Term, Time};
use proptest::prelude::*;

use crate::channel::{features, flow, port, removed, role};
use crate::counting::in_use;

const OURS: u64 = 0xb7 << 56;
const LIMITS: SessionLimits = SessionLimits {
    ports: 16,
    installed_rules: 64,
    installed_bytes: 4 << 10,
    requests: 8,
    ..SessionLimits::DEFAULT
};
/// Lists have up to twice the room that they need; a port takes an entry with a name in a tree that may be
/// half empty.
const BOUND: isize = 2 * LIMITS.installed_bytes as isize + 512 * LIMITS.ports as isize + (8 << 10);

/// The transaction id of the session's request of this type.
fn xid_of(kind: MultipartType) -> u32 {
    match kind {
        MultipartType::Desc => 3,
        MultipartType::PortDesc => 4,
        MultipartType::MeterConfig => 8,
        MultipartType::Flow => 9,
        _ => 10,
    }
}

/// A message of a switch, or a request to it.
#[derive(Clone, Debug)]
enum Said {
    Features,
    Master,
    Port { number: u32, reason: PortReason },
    Ended { cookie: u64 },
    Answer { kind: MultipartType, xid: u32, first: u32, count: usize, more: bool },
    Asked { kind: MultipartType, xid: u32 },
}

fn kind() -> impl Strategy<Value = MultipartType> {
    prop::sample::select(vec![
        MultipartType::Desc,
        MultipartType::PortDesc,
        MultipartType::Flow,
        MultipartType::GroupDesc,
        MultipartType::MeterConfig,
    ])
}

fn said() -> impl Strategy<Value = Said> {
    let reason = prop::sample::select(vec![PortReason::Add, PortReason::Modify, PortReason::Delete]);
    prop_oneof![
        1 => Just(Said::Features),
        1 => Just(Said::Master),
        4 => (0..50_000_u32, reason).prop_map(|(number, reason)| Said::Port { number, reason }),
        4 => (0..100_u64).prop_map(|number| Said::Ended { cookie: OURS | 1 << 48 | number << 1 }),
        20 => part(),
        1 => (kind(), 0..12_u32).prop_map(|(kind, xid)| Said::Asked { kind, xid }),
    ]
}

/// Mostly a part of a requested reply that continues.
fn part() -> impl Strategy<Value = Said> {
    let xid = prop_oneof![9 => Just(None), 1 => (0..12_u32).prop_map(Some)];
    let more = prop::bool::weighted(0.98);
    (kind(), xid, 0..50_000_u32, 0..60_usize, more).prop_map(|(kind, xid, first, count, more)| Said::Answer {
        kind,
        xid: xid.unwrap_or_else(|| xid_of(kind)),
        first,
        count,
        more,
    })
}

/// The bytes of a message; empty if a request is only expected.
fn bytes(said: &Said, session: &mut Session) -> Vec<u8> {
    match said {
        Said::Features => encode(0, &features(254, 0)),
        Said::Master => encode(0, &role(ControllerRole::Master)),
        Said::Port { number, reason } => {
            let desc = port(*number, PortState::LIVE);
            encode(0, &Message::PortStatus(PortStatus { reason: *reason, desc }))
        }
        Said::Ended { cookie } => match removed(FlowRemovedReason::IdleTimeout) {
            Message::FlowRemoved(ended) => {
                encode(0, &Message::FlowRemoved(FlowRemoved { cookie: Cookie(*cookie), ..ended }))
            }
            _ => Vec::new(),
        },
        Said::Answer { kind, xid, first, count, more } => answer(*kind, *xid, *first, *count, *more),
        Said::Asked { kind, xid } => {
            session.expect(Xid(*xid), *kind);
            Vec::new()
        }
    }
}

fn answer(kind: MultipartType, xid: u32, first: u32, count: usize, more: bool) -> Vec<u8> {
    let flags = if more { MultipartFlags::MORE } else { MultipartFlags::NONE };
    let say = |body| encode(xid, &Message::MultipartReply(MultipartReply { flags, body }));
    let numbers = (first..).take(count);
    match kind {
        MultipartType::PortDesc => {
            let ports: Vec<Port<'_>> = numbers.map(|number| port(number, PortState::LIVE)).collect();
            say(ReplyBody::PortDesc(List::new(&ports)))
        }
        MultipartType::Flow => {
            let rules: Vec<_> = numbers.map(|number| flow(OURS | u64::from(number), 5)).collect();
            say(ReplyBody::Flow(List::new(&rules)))
        }
        MultipartType::GroupDesc => {
            let group = |number| GroupDesc {
                group_type: GroupType::Select,
                group_id: GroupId(0x100 + number),
                buckets: List::EMPTY,
            };
            say(ReplyBody::GroupDesc(List::new(&numbers.map(group).collect::<Vec<_>>())))
        }
        MultipartType::MeterConfig => {
            let (bands, flags) = (
                [MeterBand::Drop { rate: 5, burst_size: 5 }],
                MeterFlags(MeterFlags::PKTPS.0 | MeterFlags::BURST.0),
            );
            let meter = |number| MeterConfig { flags, meter_id: MeterId(number), bands: List::new(&bands) };
            say(ReplyBody::MeterConfig(List::new(&numbers.map(meter).collect::<Vec<_>>())))
        }
        _ => {
            let name = || Text::new("a switch").expect("a short text");
            let (mfr_desc, hw_desc, sw_desc, dp_desc) = (name(), name(), name(), name());
            say(ReplyBody::Desc(Desc { mfr_desc, hw_desc, sw_desc, serial_num: Text::default(), dp_desc }))
        }
    }
}

fn encode(xid: u32, message: &Message<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode(Xid(xid), &mut bytes).expect("a short message");
    bytes
}

proptest! {
    #[test]
    fn whatever_is_said_no_session_holds_more_than_it_may(said in prop::collection::vec(said(), 0..150)) {
        let mut out = Vec::with_capacity(4 << 10);
        let before = in_use();
        let mut session = Session::open(Time::ZERO, Some(Term(1)), LIMITS, &mut out);
        let hello = encode(0, &Message::Hello(Hello::V1_3));
        session.handle_message(Time::ZERO, &hello, &mut out).expect("a greeting");
        drop(hello);
        for one in &said {
            out.clear();
            let bytes = bytes(one, &mut session);
            let is_refused = !bytes.is_empty() && session.handle_message(Time::ZERO, &bytes, &mut out).is_err();
            drop(bytes);
            let held = in_use() - before;
            prop_assert!(held <= BOUND, "{held} bytes after {one:?}, of {BOUND}");
            if is_refused {
                break;
            }
        }
        drop(session);
        prop_assert_eq!(in_use(), before);
    }
}
