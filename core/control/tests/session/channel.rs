//! OpenFlow connections for tests, and messages of switches.

use braid_control::{Session, SessionError, SessionEvent, SessionLimits};
use braid_openflow::{
    Capabilities, ControllerRole, Cookie, FlowModFlags, FlowRemoved, FlowRemovedReason, FlowStats, Hello,
    Kbps, List, Match, Message, MultipartFlags, MultipartReply, MultipartType, Port, PortConfig,
    PortFeatures, PortState, ReplyBody, Role, Seconds, SwitchFeatures, TableId, Text, Xid, frames,
};
use braid_types::{DatapathId, MacAddr, PortNo, Term, Time};

pub(crate) type Result<'a> = std::result::Result<Option<SessionEvent<'a>>, SessionError>;

pub(crate) struct Channel {
    pub(crate) session: Session,
    pub(crate) sent: Vec<u8>,
    /// The multipart requests so far.
    asked: Vec<(Xid, MultipartType)>,
}

impl Channel {
    pub(crate) fn open() -> Self {
        Self::open_with(SessionLimits::DEFAULT)
    }

    pub(crate) fn open_with(limits: SessionLimits) -> Self {
        let mut sent = Vec::new();
        Self { session: Session::open(Time::ZERO, Some(Term(1)), limits, &mut sent), sent, asked: Vec::new() }
    }

    /// A session that claims the role of master in this term, or none.
    pub(crate) fn open_as(term: Option<Term>) -> Self {
        let mut sent = Vec::new();
        let session = Session::open(Time::ZERO, term, SessionLimits::DEFAULT, &mut sent);
        Self { session, sent, asked: Vec::new() }
    }

    /// A session after both HELLOs.
    pub(crate) fn greeted() -> Self {
        Self::greeted_with(SessionLimits::DEFAULT)
    }

    pub(crate) fn greeted_with(limits: SessionLimits) -> Self {
        let mut channel = Self::open_with(limits);
        assert_eq!(channel.tell(&Message::Hello(Hello::V1_3)), Ok(None));
        channel
    }

    /// A session after the handshake, with nothing in `sent`.
    pub(crate) fn joined() -> Self {
        Self::joined_with(SessionLimits::DEFAULT)
    }

    pub(crate) fn joined_with(limits: SessionLimits) -> Self {
        let mut channel = Self::greeted_with(limits);
        let asked = [features(254, 0), ports(&[], MultipartFlags::NONE), role(ControllerRole::Master)];
        for message in asked.into_iter().chain(nothing_found()) {
            channel.tell(&message).expect("fine");
        }
        channel.sent.clear();
        channel
    }

    /// Handles a message. A multipart reply answers the request of its type, if there was one.
    pub(crate) fn tell(&mut self, message: &Message<'_>) -> Result<'static> {
        let xid = match message {
            Message::MultipartReply(reply) => self.xid_of(reply.body.multipart_type()),
            _ => None,
        };
        self.tell_as(xid.unwrap_or(Xid(99)), message)
    }

    pub(crate) fn tell_as(&mut self, xid: Xid, message: &Message<'_>) -> Result<'static> {
        let mut bytes = Vec::new();
        message.encode(xid, &mut bytes).expect("short message");
        let before = self.sent.len();
        let told = self.session.handle_message(Time::ZERO, bytes.leak(), &mut self.sent);
        let sent = frames(&self.sent[before..]).map(|frame| frame.and_then(|frame| frame.decode()));
        self.asked.extend(sent.flatten().filter_map(|(xid, message)| match message {
            Message::MultipartRequest(request) => Some((xid, request.body.multipart_type())),
            _ => None,
        }));
        told
    }

    /// The transaction id of the request of this type.
    pub(crate) fn xid_of(&self, kind: MultipartType) -> Option<Xid> {
        self.asked.iter().find(|(_, asked)| *asked == kind).map(|(xid, _)| *xid)
    }

    pub(crate) fn names_sent(&self) -> Vec<String> {
        let decoded = frames(&self.sent).map(|frame| frame.and_then(|frame| frame.decode()));
        decoded.map(|message| format!("{:?}", message.expect("valid message").1.message_type())).collect()
    }
}

pub(crate) fn features(n_tables: u8, auxiliary_id: u8) -> Message<'static> {
    let (datapath_id, capabilities) = (DatapathId(7), Capabilities::FLOW_STATS);
    let reply =
        SwitchFeatures { datapath_id, n_buffers: 0, n_tables, auxiliary_id, capabilities, reserved: 0 };
    Message::FeaturesReply(reply)
}

pub(crate) fn role(role: ControllerRole) -> Message<'static> {
    Message::RoleReply(Role { role, generation_id: 1 })
}

pub(crate) fn port(number: u32, state: PortState) -> Port<'static> {
    Port {
        port_no: PortNo(number),
        hw_addr: MacAddr::from_u64(number.into()),
        name: Text::new("eth").expect("short name"),
        config: PortConfig::NONE,
        state,
        curr: PortFeatures::NONE,
        advertised: PortFeatures::NONE,
        supported: PortFeatures::NONE,
        peer: PortFeatures::NONE,
        curr_speed: Kbps(1_000),
        max_speed: Kbps(0),
    }
}

pub(crate) fn ports<'a>(ports: &'a [Port<'a>], flags: MultipartFlags) -> Message<'a> {
    Message::MultipartReply(MultipartReply { flags, body: ReplyBody::PortDesc(List::new(ports)) })
}

pub(crate) fn removed(reason: FlowRemovedReason) -> Message<'static> {
    Message::FlowRemoved(FlowRemoved {
        cookie: Cookie(5),
        priority: 1,
        reason,
        table_id: TableId(1),
        duration_sec: 1,
        duration_nsec: 0,
        idle_timeout: Seconds(60),
        hard_timeout: Seconds(0),
        packet_count: 1,
        byte_count: 99,
        matching: Match::ANY,
    })
}

/// Replies without flows and groups.
pub(crate) fn nothing_found() -> [Message<'static>; 2] {
    let reply = |body| Message::MultipartReply(MultipartReply { flags: MultipartFlags::NONE, body });
    [reply(ReplyBody::Flow(List::EMPTY)), reply(ReplyBody::GroupDesc(List::EMPTY))]
}

pub(crate) fn flow(cookie: u64, priority: u16) -> FlowStats<'static> {
    FlowStats {
        table_id: TableId(3),
        duration_sec: 1,
        duration_nsec: 0,
        priority,
        idle_timeout: Seconds(0),
        hard_timeout: Seconds(0),
        flags: FlowModFlags::NONE,
        cookie: Cookie(cookie),
        packet_count: 1,
        byte_count: 99,
        matching: Match::ANY,
        instructions: List::EMPTY,
    }
}

pub(crate) fn reply(body: ReplyBody<'_>) -> Message<'_> {
    Message::MultipartReply(body.into())
}

/// A part of a reply that others follow.
pub(crate) fn part(body: ReplyBody<'_>) -> Message<'_> {
    Message::MultipartReply(MultipartReply { flags: MultipartFlags::MORE, body })
}
