//! Reports of a real edge over an OpenFlow connection, as events, and read back from a recording.

use std::time::Duration;

use braid_control::{Event, GroupReport, Recorded, Session, SessionEvent, SessionLimits};
use braid_edge_protocol::extension::{BRAID, Extension};
use braid_edge_protocol::telemetry::{Report, TELEMETRY};
use braid_openflow::{
    Action, Bucket, Bytes, Experimenter, GroupId, GroupMod, GroupModCommand, GroupType, List, Message,
    MultipartType, RequestBody, Xid, frames,
};
use braid_spray::{Policy, Settings};
use braid_switch::{ConnectionId, Identity, PortDescription, Switch};
use braid_types::{DatapathId, MacAddr, PortNo, Term, Time};

const CONTROLLER: ConnectionId = ConnectionId(1);
const EDGE: DatapathId = DatapathId(7);

/// An OpenFlow connection to an edge.
struct Channel {
    session: Session,
    edge: Switch,
    to_edge: Vec<u8>,
}

impl Channel {
    /// A connection after the handshake.
    fn up() -> Self {
        let identity = Identity { dpid: EDGE, name: "edge".into(), version: "1".into(), seed: 1 };
        let mut edge = Switch::new(identity);
        let mac = MacAddr::from_u64(0x0200_0000_0001);
        let port = PortDescription { name: "p1".into(), mac, up: true, kbps: 1, ..Default::default() };
        edge.set_port(Time::ZERO, PortNo(1), port);
        edge.connect(CONTROLLER);
        let mut to_edge = Vec::new();
        let session = Session::open(Time::ZERO, Some(Term(1)), SessionLimits::DEFAULT, &mut to_edge);
        let mut channel = Self { session, edge, to_edge };
        let is_up =
            channel.exchange().iter().any(|event| matches!(event, SessionEvent::Up(it) if it.is_edge()));
        assert!(is_up, "an edge joins");
        channel
    }

    fn say(&mut self, message: &Message<'_>) {
        message.encode(Xid(9), &mut self.to_edge).expect("a short message");
    }

    fn extend(&mut self, extension: &Extension) {
        let body = extension.body();
        self.say(&Message::Experimenter(extension.message(&body)));
    }

    /// Exchanges messages until neither side has any.
    fn exchange(&mut self) -> Vec<SessionEvent<'static>> {
        let mut events = Vec::new();
        loop {
            for frame in frames(&std::mem::take(&mut self.to_edge)) {
                self.edge.handle_message(Time::ZERO, CONTROLLER, frame.expect("a message").bytes);
            }
            let said = self.edge.poll_bytes(CONTROLLER).map(std::mem::take).unwrap_or_default();
            if said.is_empty() {
                return events;
            }
            for frame in frames(said.leak()) {
                let bytes = frame.expect("a message").bytes;
                events.extend(
                    self.session.handle_message(Time::ZERO, bytes, &mut self.to_edge).expect("its part"),
                );
            }
        }
    }
}

fn group<'a>(id: u32, group_type: GroupType, buckets: &'a [Bucket<'a>]) -> Message<'a> {
    let (command, buckets) = (GroupModCommand::Add, List::new(buckets));
    Message::GroupMod(GroupMod { command, group_type, group_id: GroupId(id), buckets })
}

#[test]
fn what_an_edge_tells_of_its_groups_is_an_event_that_can_be_recorded() {
    let mut channel = Channel::up();
    let actions = [Action::output(PortNo(1))];
    // The third is not one of the controller's.
    channel.say(&group(0x100, GroupType::Select, &[Bucket { weight: 1, ..Bucket::new(&actions) }]));
    channel.say(&group(0x101, GroupType::Indirect, &[Bucket::new(&actions)]));
    channel.say(&group(7, GroupType::Indirect, &[Bucket::new(&actions)]));
    channel.extend(&Extension::SetSpray { group: GroupId(0x100), policy: Policy::default() });
    for id in [0x101, 7] {
        let settings = Settings { bytes: 1 << 20, ..Settings::default() };
        channel.extend(&Extension::SetResequence { group: GroupId(id), settings: Some(settings) });
    }
    let question = Experimenter { experimenter: BRAID, exp_type: TELEMETRY, data: Bytes(&[]) };
    channel.say(&Message::MultipartRequest(RequestBody::Experimenter(question).into()));
    channel.session.expect(Xid(9), MultipartType::Experimenter);
    let events = channel.exchange();
    let [SessionEvent::Other(event @ Event::EdgeReports { dpid, reports })] = &events[..] else {
        panic!("{events:?}");
    };
    let [
        GroupReport { report: Report::Spray(spray), .. },
        GroupReport { report: Report::Resequence(resequencer), .. },
    ] = &reports[..]
    else {
        panic!("{reports:?}")
    };
    assert_eq!((*dpid, spray.paths.len(), resequencer.limits.bytes), (EDGE, 1, 1 << 20));
    assert_eq!(resequencer.hold_time, Duration::from_millis(100));
    let line = serde_json::to_string(&Recorded { at: Time::ZERO, event: event.clone() }).expect("JSON");
    assert_eq!(serde_json::from_str::<Recorded<'_>>(&line).expect("an event").event, *event);
}

#[test]
fn an_answer_that_is_cut_off_or_of_somebody_else_is_none() {
    let mut channel = Channel::up();
    for (experimenter, data) in [(BRAID, &[0, 0, 0, 99, 0][..]), (braid_openflow::ExperimenterId(5), &[][..])]
    {
        let answer = Experimenter { experimenter, exp_type: TELEMETRY, data: Bytes(data) };
        let mut bytes = Vec::new();
        let body = braid_openflow::ReplyBody::Experimenter(answer);
        Message::MultipartReply(body.into()).encode(Xid(9), &mut bytes).expect("a short message");
        channel.session.expect(Xid(9), MultipartType::Experimenter);
        assert_eq!(channel.session.handle_message(Time::ZERO, &bytes, &mut Vec::new()), Ok(None));
    }
}
