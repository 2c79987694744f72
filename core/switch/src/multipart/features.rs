//! Features of tables, groups and meters: the fields, actions and instructions that this switch has.

use braid_openflow::{
    ActionId, ActionType, ActionTypes, BandTypes, ExperimenterId, GroupCapabilities, GroupFeatures,
    GroupTypes, InstructionId, InstructionType, List, Metadata, MeterFeatures, MultipartFlags, OxmClass,
    OxmHeader, OxmId, ReplyBody, TableFeatureProperty, TableFeatures, TableId, Text,
};

use super::Replies;
use crate::flows::{MAX_FLOWS, TABLES};
use crate::groups::MAX_GROUPS;

const ACTIONS: [ActionType; 6] = [
    ActionType::Output,
    ActionType::PushVlan,
    ActionType::PopVlan,
    ActionType::Group,
    ActionType::DecNwTtl,
    ActionType::SetField,
];
const INSTRUCTIONS: [InstructionType; 5] = [
    InstructionType::GotoTable,
    InstructionType::WriteMetadata,
    InstructionType::WriteActions,
    InstructionType::ApplyActions,
    InstructionType::ClearActions,
];
/// The numbers of the basic fields that are matched, and how many bytes each has.
const MATCHED: [(u8, u8); 30] = [
    (0, 4),
    (2, 8),
    (3, 6),
    (4, 6),
    (5, 2),
    (6, 2),
    (7, 1),
    (8, 1),
    (9, 1),
    (10, 1),
    (11, 4),
    (12, 4),
    (13, 2),
    (14, 2),
    (15, 2),
    (16, 2),
    (17, 2),
    (18, 2),
    (19, 1),
    (20, 1),
    (21, 2),
    (22, 4),
    (23, 4),
    (24, 6),
    (25, 6),
    (26, 16),
    (27, 16),
    (29, 1),
    (30, 1),
    (31, 16),
];
const SET: [u8; 12] = [3, 4, 6, 7, 11, 12, 13, 14, 15, 16, 26, 27];

pub(super) fn group_features() -> GroupFeatures {
    let actions = ActionTypes::OUTPUT
        | ActionTypes::PUSH_VLAN
        | ActionTypes::POP_VLAN
        | ActionTypes::GROUP
        | ActionTypes::DEC_NW_TTL
        | ActionTypes::SET_FIELD;
    GroupFeatures {
        types: GroupTypes::ALL | GroupTypes::SELECT | GroupTypes::INDIRECT | GroupTypes::FF,
        capabilities: GroupCapabilities::SELECT_WEIGHT
            | GroupCapabilities::SELECT_LIVENESS
            | GroupCapabilities::CHAINING
            | GroupCapabilities::CHAINING_CHECKS,
        max_groups: [MAX_GROUPS as u32; 4],
        actions: [actions; 4],
    }
}

pub(super) const fn no_meters() -> MeterFeatures {
    MeterFeatures { max_meter: 0, band_types: BandTypes::NONE, capabilities: 0, max_bands: 0, max_color: 0 }
}

fn oxm_ids(fields: impl Iterator<Item = u8>) -> Vec<OxmId> {
    let length = |field| MATCHED.iter().find(|(number, _)| *number == field).map_or(0, |(_, length)| *length);
    let header =
        |field| OxmHeader { class: OxmClass::OPENFLOW_BASIC, field, has_mask: false, length: length(field) };
    fields.map(|field| OxmId { header: header(field), experimenter: None }).collect()
}

// ONF extension 109: the length counts the experimenter's number, too.
const fn tcp_flags() -> OxmId {
    let header = OxmHeader { class: OxmClass::EXPERIMENTER, field: 42, has_mask: false, length: 6 };
    OxmId { header, experimenter: Some(ExperimenterId::ONF) }
}

pub(super) fn table_features(out: &mut Replies) {
    let instructions = INSTRUCTIONS.map(InstructionId::from);
    let actions = ACTIONS.map(ActionId::from);
    let mut matched = oxm_ids(MATCHED.iter().map(|(field, _)| *field));
    matched.push(tcp_flags());
    let set = oxm_ids(SET.into_iter());
    for number in 0..TABLES {
        let next: Vec<_> = (number + 1..TABLES).map(TableId).collect();
        use TableFeatureProperty as Property;
        let properties = [
            Property::Instructions(List::from(&instructions)),
            Property::NextTables(List::from(&next)),
            Property::WriteActions(List::from(&actions)),
            Property::ApplyActions(List::from(&actions)),
            Property::Match(List::from(&matched)),
            Property::Wildcards(List::from(&matched)),
            Property::WriteSetfield(List::from(&set)),
            Property::ApplySetfield(List::from(&set)),
        ];
        let features = [TableFeatures {
            table_id: TableId(number),
            name: Text::default(),
            metadata_match: Metadata(u64::MAX),
            metadata_write: Metadata(u64::MAX),
            config: 0,
            max_entries: MAX_FLOWS as u32,
            properties: List::from(&properties),
        }];
        let more = if number + 1 < TABLES { MultipartFlags::MORE } else { MultipartFlags::NONE };
        out.part(more, ReplyBody::TableFeatures(List::from(&features)));
    }
}
