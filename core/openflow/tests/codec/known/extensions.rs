//! Experimenter messages, and messages that OpenFlow 1.3 lacks or Open vSwitch does not send.

use std::net::Ipv4Addr;

use braid_openflow::{
    Action, BufferId, Bytes, Cookie, ErrorCode, ErrorMsg, EthType, Experimenter, ExperimenterId, FlowMod,
    FlowModFlags, GroupId, Hello, HelloElement, HelloFailedCode, Instruction, Match, MaxLen, Message,
    Metadata, MeterId, MultipartFlags, MultipartReply, MultipartRequest, OxmField, QueueId, ReplyBody,
    RequestBody, Seconds, TableId,
};
use braid_types::PortNo;

use super::means;
use crate::support::build::{apply, list};

const ONF: ExperimenterId = ExperimenterId::ONF;

/// A flow-mod of by_hand.hex, whose fixed part is always the same.
pub(super) fn means_in_rare_flow<const N: usize, const M: usize>(
    name: &str,
    xid: u32,
    fields: [OxmField<'static>; N],
    instructions: [Instruction<'static>; M],
) {
    let flow = FlowMod {
        cookie: Cookie(0x0102_0304_0506_0708),
        table_id: TableId(2),
        idle_timeout: Seconds(10),
        hard_timeout: Seconds(60),
        priority: 0x1234,
        buffer_id: BufferId(512),
        flags: FlowModFlags::SEND_FLOW_REM | FlowModFlags::CHECK_OVERLAP | FlowModFlags::NO_BYT_COUNTS,
        matching: Match { fields: list(fields) },
        instructions: list(instructions),
        ..FlowMod::default()
    };
    means(name, xid, Message::FlowMod(flow));
}

#[test]
fn every_action_and_instruction() {
    let actions = [
        Action::CopyTtlOut,
        Action::CopyTtlIn,
        Action::SetMplsTtl(64),
        Action::DecMplsTtl,
        Action::PushVlan(EthType::QINQ),
        Action::PopVlan,
        Action::PushMpls(EthType::MPLS),
        Action::PopMpls(EthType::IPV6),
        Action::SetQueue(QueueId(7)),
        Action::Group(GroupId(9)),
        Action::SetNwTtl(5),
        Action::DecNwTtl,
        Action::PushPbb(EthType::PBB),
        Action::PopPbb,
        Action::SetField(OxmField::Ipv4Src(Ipv4Addr::new(192, 0, 2, 1).into())),
        Action::Experimenter { experimenter: ONF, data: Bytes(&[0x0c, 0x80, 0, 0, 0, 0, 0, 1]) },
        Action::Unknown { action_type: 28, body: Bytes(&[0xde, 0xad, 0xbe, 0xef, 0, 0, 0, 0, 0, 0, 0, 1]) },
        Action::Output { port: PortNo::CONTROLLER, max_len: MaxLen::NO_BUFFER },
    ];
    let instructions = [
        Instruction::Meter(MeterId(3)),
        apply(actions),
        Instruction::WriteActions(list([])),
        Instruction::ClearActions,
        Instruction::WriteMetadata { metadata: Metadata(0xab), metadata_mask: Metadata(0xff) },
        Instruction::Experimenter { experimenter: ONF, data: Bytes(&[0, 0, 0, 0, 0, 0, 0, 1]) },
        Instruction::Unknown {
            instruction_type: 7,
            body: Bytes(&[0xde, 0xad, 0xbe, 0xef, 0, 0, 0, 0, 0, 0, 0, 2]),
        },
        Instruction::GotoTable(TableId(9)),
    ];
    means_in_rare_flow("by_hand.flow_mod_rare_actions", 9, [], instructions);
}

#[test]
fn hellos_of_other_versions() {
    let (old, new) = (Hello { version: 1, elements: list([]) }, [HelloElement::VersionBitmap(list([0x72]))]);
    means("by_hand.hello_1_0", 1, Message::Hello(old));
    means("by_hand.hello_1_5", 2, Message::Hello(Hello { version: 6, elements: list(new) }));
    let elements = list([
        HelloElement::Unknown { element_type: 7, body: Bytes(&[0xab, 0xcd]) },
        HelloElement::VersionBitmap(list([0x10])),
    ]);
    means("by_hand.hello_unknown_element", 3, Message::Hello(Hello { version: 4, elements }));
}

#[test]
fn errors() {
    let error = ErrorCode::Experimenter { exp_type: 7, experimenter: ONF };
    let data = Bytes(&[4, 14, 0, 8, 0, 0, 0, 9]);
    means("by_hand.experimenter_error", 4, Message::Error(ErrorMsg { error, data }));
    let error = ErrorCode::HelloFailed(HelloFailedCode::Incompatible);
    means("by_hand.hello_failed", 5, Message::Error(ErrorMsg { error, data: Bytes(b"OpenFlow 1.0 only") }));
}

#[test]
fn multipart_extensions() {
    let body = |data| Experimenter { experimenter: ONF, exp_type: 1, data: Bytes(data) };
    let request = RequestBody::Experimenter(body(&[0xca, 0xfe]));
    means(
        "by_hand.multipart_request_experimenter",
        15,
        Message::MultipartRequest(MultipartRequest::from(request)),
    );
    let reply = ReplyBody::Experimenter(body(&[0xf0, 0x0d]));
    means(
        "by_hand.multipart_reply_experimenter",
        16,
        Message::MultipartReply(MultipartReply { flags: MultipartFlags::MORE, body: reply }),
    );
    let unknown = ReplyBody::Unknown { multipart_type: 16, body: Bytes(&[0xf0, 0x0d]) };
    means("by_hand.multipart_reply_unknown", 17, Message::MultipartReply(unknown.into()));
}

#[test]
fn a_message_of_a_type_that_does_not_exist() {
    means("requests.unknown", 0x18, Message::Unknown { message_type: 99, body: Bytes(&[]) });
}
