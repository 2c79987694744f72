//! Features of tables and queues.

use braid_openflow::{
    ActionId, ActionType, Bytes, Experimenter, ExperimenterId, InstructionId, InstructionType, Message,
    Metadata, MultipartFlags, MultipartRequest, OxmClass, OxmHeader, OxmId, PacketQueue, QueueGetConfigReply,
    QueueGetConfigRequest, QueueId, QueueProperty, QueueRate, ReplyBody, RequestBody, TableFeatureProperty,
    TableFeatures, TableId, Text,
};
use braid_types::PortNo;

use super::means;
use crate::support::build::list;
use crate::support::golden;

const ONF: ExperimenterId = ExperimenterId::ONF;
const ONF_ID: Bytes<'_> = Bytes(b"ONF\0");

const fn oxm(field: u8, has_mask: bool, length: u8) -> OxmId {
    let header = OxmHeader { class: OxmClass::OPENFLOW_BASIC, field, has_mask, length };
    OxmId { header, experimenter: None }
}

#[test]
fn every_property_of_a_table() {
    use TableFeatureProperty as Property;
    let tcp_flags = OxmHeader { class: OxmClass::EXPERIMENTER, field: 42, has_mask: true, length: 8 };
    let properties = list([
        Property::Instructions(list([
            InstructionType::GotoTable.into(),
            InstructionType::ApplyActions.into(),
            InstructionId { kind: InstructionType::Experimenter, body: ONF_ID },
        ])),
        Property::InstructionsMiss(list([InstructionType::ApplyActions.into()])),
        Property::NextTables(list([TableId(1), TableId(2), TableId(3)])),
        Property::NextTablesMiss(list([])),
        Property::ApplyActions(list([
            ActionType::Output.into(),
            ActionType::SetField.into(),
            ActionId { kind: ActionType::Experimenter, body: ONF_ID },
            ActionType::Unknown(28).into(),
        ])),
        Property::ApplyActionsMiss(list([ActionType::Output.into()])),
        Property::WriteActionsMiss(list([])),
        Property::Match(list([
            oxm(0, false, 4),
            oxm(3, true, 6),
            OxmId { header: tcp_flags, experimenter: Some(ONF) },
        ])),
        Property::Wildcards(list([oxm(0, false, 4)])),
        Property::WriteSetfieldMiss(list([])),
        Property::ApplySetfieldMiss(list([oxm(3, false, 6)])),
        Property::Unknown { property_type: 17, body: Bytes(&[0xab, 0xcd]) },
        Property::Experimenter(Experimenter { experimenter: ONF, exp_type: 5, data: Bytes(&[0xaa]) }),
        Property::ExperimenterMiss(Experimenter { experimenter: ONF, exp_type: 6, data: Bytes(&[]) }),
    ]);
    let table = TableFeatures {
        table_id: TableId(5),
        name: Text::new("stream").expect("short"),
        metadata_match: Metadata(0xff),
        metadata_write: Metadata(0x0f),
        config: 0,
        max_entries: 4096,
        properties,
    };
    let body = RequestBody::TableFeatures(list([table]));
    let request = MultipartRequest { flags: MultipartFlags::MORE, body };
    means("by_hand.table_features_request", 14, Message::MultipartRequest(request));
}

#[test]
fn the_first_table_of_open_vswitch() {
    let bytes = golden::bytes("table_features.multipart_reply");
    let (_, message) = Message::decode(&bytes).expect("decodes");
    let Message::MultipartReply(reply) = message else { panic!("{message:?}") };
    let ReplyBody::TableFeatures(tables) = reply.body else { panic!("{reply:?}") };
    let table = tables.iter().next().expect("one table");
    assert_eq!((table.max_entries, reply.flags), (1_000_000, MultipartFlags::MORE));
    let tcp_flags = table.properties.iter().any(|property| match property {
        TableFeatureProperty::Match(fields) => fields.iter().any(|field| field.experimenter == Some(ONF)),
        _ => false,
    });
    assert!(tcp_flags, "Open vSwitch matches tcp_flags as a field of the ONF");
}

#[test]
fn queues_and_their_properties() {
    let request = QueueGetConfigRequest { port: PortNo(1) };
    means("queues_config.queue_get_config_request", 2, Message::QueueGetConfigRequest(request));
    let data = Bytes(&[0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef]);
    let properties = list([
        QueueProperty::MinRate(QueueRate(100)),
        QueueProperty::MaxRate(QueueRate::UNCFG),
        QueueProperty::Experimenter { experimenter: ONF, data },
        QueueProperty::Unknown { property: 9, body: Bytes(&[0xca, 0xfe, 0xba, 0xbe]) },
    ]);
    let queues = list([
        PacketQueue { queue_id: QueueId(7), port: PortNo(1), properties },
        PacketQueue { queue_id: QueueId(8), port: PortNo(1), properties: list([]) },
    ]);
    let reply = QueueGetConfigReply { port: PortNo(1), queues };
    means("by_hand.queue_get_config_reply", 13, Message::QueueGetConfigReply(reply));
}
