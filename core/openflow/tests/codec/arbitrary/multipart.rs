//! Random multipart requests and replies.

use braid_openflow::{
    ActionId, Experimenter, FlowStats, FlowStatsRequest, GroupDesc, GroupStats, InstructionId, MeterConfig,
    MeterStats, MultipartFlags, MultipartReply, MultipartRequest, OxmClass, OxmHeader, OxmId, ReplyBody,
    RequestBody, TableFeatureProperty, TableFeatures,
};
use proptest::collection::vec;
use proptest::prelude::*;

use super::flow::{bucket, instructions, matching};
use super::message::meter_band;
use super::{bytes, fixed, list, read};

pub(super) fn request() -> impl Strategy<Value = MultipartRequest<'static>> {
    let body = prop_oneof![
        Just(RequestBody::Desc),
        flow_stats_request().prop_map(RequestBody::Flow),
        flow_stats_request().prop_map(RequestBody::Aggregate),
        Just(RequestBody::Table),
        fixed(8).prop_map(RequestBody::Port),
        fixed(8).prop_map(RequestBody::Queue),
        fixed(8).prop_map(RequestBody::Group),
        Just(RequestBody::GroupDesc),
        Just(RequestBody::GroupFeatures),
        fixed(8).prop_map(RequestBody::Meter),
        fixed(8).prop_map(RequestBody::MeterConfig),
        Just(RequestBody::MeterFeatures),
        list(table_features()).prop_map(RequestBody::TableFeatures),
        Just(RequestBody::PortDesc),
        experimenter().prop_map(RequestBody::Experimenter),
        (14_u16..0xffff, bytes())
            .prop_map(|(multipart_type, body)| RequestBody::Unknown { multipart_type, body }),
    ];
    (any::<u16>(), body).prop_map(|(flags, body)| MultipartRequest { flags: MultipartFlags(flags), body })
}

pub(super) fn reply() -> impl Strategy<Value = MultipartReply<'static>> {
    let body = prop_oneof![
        fixed(1056).prop_map(ReplyBody::Desc),
        list(flow_stats()).prop_map(ReplyBody::Flow),
        fixed(24).prop_map(ReplyBody::Aggregate),
        list(fixed(24)).prop_map(ReplyBody::Table),
        list(fixed(112)).prop_map(ReplyBody::Port),
        list(fixed(40)).prop_map(ReplyBody::Queue),
        list(group_stats()).prop_map(ReplyBody::Group),
        list(group_desc()).prop_map(ReplyBody::GroupDesc),
        fixed(40).prop_map(ReplyBody::GroupFeatures),
        list(meter_stats()).prop_map(ReplyBody::Meter),
        list(meter_config()).prop_map(ReplyBody::MeterConfig),
        fixed(16).prop_map(ReplyBody::MeterFeatures),
        list(table_features()).prop_map(ReplyBody::TableFeatures),
        list(fixed(64)).prop_map(ReplyBody::PortDesc),
        experimenter().prop_map(ReplyBody::Experimenter),
        (14_u16..0xffff, bytes())
            .prop_map(|(multipart_type, body)| ReplyBody::Unknown { multipart_type, body }),
    ];
    (any::<u16>(), body).prop_map(|(flags, body)| MultipartReply { flags: MultipartFlags(flags), body })
}

/// A structure without its lists: a length, and bytes of which every combination is a value.
fn entry<T: braid_openflow::Wire<'static> + std::fmt::Debug + 'static>(
    size: usize,
    length_at: usize,
) -> impl Strategy<Value = T> {
    vec(any::<u8>(), size).prop_map(move |mut bytes| {
        let length = u16::try_from(size).expect("small");
        bytes[length_at..length_at + 2].copy_from_slice(&length.to_be_bytes());
        read(bytes.leak())
    })
}

fn flow_stats_request() -> impl Strategy<Value = FlowStatsRequest<'static>> {
    let plain = vec(any::<u8>(), 32).prop_map(|mut bytes| {
        bytes.extend([0, 1, 0, 4, 0, 0, 0, 0]);
        read::<FlowStatsRequest<'static>>(bytes.leak())
    });
    (plain, matching()).prop_map(|(plain, matching)| FlowStatsRequest { matching, ..plain })
}

fn flow_stats() -> impl Strategy<Value = FlowStats<'static>> {
    let plain = vec(any::<u8>(), 48).prop_map(|mut bytes| {
        bytes[..2].copy_from_slice(&[0, 56]);
        bytes.extend([0, 1, 0, 4, 0, 0, 0, 0]);
        read::<FlowStats<'static>>(bytes.leak())
    });
    (plain, matching(), instructions()).prop_map(|(plain, matching, instructions)| FlowStats {
        matching,
        instructions,
        ..plain
    })
}

fn group_stats() -> impl Strategy<Value = GroupStats<'static>> {
    (entry::<GroupStats<'static>>(40, 0), list(fixed(16)))
        .prop_map(|(plain, bucket_stats)| GroupStats { bucket_stats, ..plain })
}

fn group_desc() -> impl Strategy<Value = GroupDesc<'static>> {
    (entry::<GroupDesc<'static>>(8, 0), list(bucket()))
        .prop_map(|(plain, buckets)| GroupDesc { buckets, ..plain })
}

fn meter_stats() -> impl Strategy<Value = MeterStats<'static>> {
    (entry::<MeterStats<'static>>(40, 4), list(fixed(16)))
        .prop_map(|(plain, band_stats)| MeterStats { band_stats, ..plain })
}

fn meter_config() -> impl Strategy<Value = MeterConfig<'static>> {
    (entry::<MeterConfig<'static>>(8, 0), list(meter_band()))
        .prop_map(|(plain, bands)| MeterConfig { bands, ..plain })
}

fn table_features() -> impl Strategy<Value = TableFeatures<'static>> {
    (entry::<TableFeatures<'static>>(64, 0), list(property()))
        .prop_map(|(plain, properties)| TableFeatures { properties, ..plain })
}

pub(super) fn experimenter() -> impl Strategy<Value = Experimenter<'static>> {
    (fixed(8), bytes()).prop_map(|(plain, data): (Experimenter<'static>, _)| Experimenter { data, ..plain })
}

fn instruction_id() -> impl Strategy<Value = InstructionId<'static>> {
    (any::<u16>(), bytes()).prop_map(|(kind, body)| InstructionId { kind: kind.into(), body })
}

fn action_id() -> impl Strategy<Value = ActionId<'static>> {
    (any::<u16>(), bytes()).prop_map(|(kind, body)| ActionId { kind: kind.into(), body })
}

fn oxm_id() -> impl Strategy<Value = OxmId> {
    (fixed::<OxmHeader>(4), any::<bool>(), fixed(4)).prop_map(|(header, foreign, experimenter)| match foreign
    {
        true => OxmId {
            header: OxmHeader { class: OxmClass::EXPERIMENTER, ..header },
            experimenter: Some(experimenter),
        },
        false => {
            OxmId { header: OxmHeader { class: OxmClass::OPENFLOW_BASIC, ..header }, experimenter: None }
        }
    })
}

fn property() -> impl Strategy<Value = TableFeatureProperty<'static>> {
    use TableFeatureProperty as Property;
    prop_oneof![
        list(instruction_id()).prop_map(Property::Instructions),
        list(instruction_id()).prop_map(Property::InstructionsMiss),
        list(fixed(1)).prop_map(Property::NextTables),
        list(fixed(1)).prop_map(Property::NextTablesMiss),
        list(action_id()).prop_map(Property::WriteActions),
        list(action_id()).prop_map(Property::WriteActionsMiss),
        list(action_id()).prop_map(Property::ApplyActions),
        list(action_id()).prop_map(Property::ApplyActionsMiss),
        list(oxm_id()).prop_map(Property::Match),
        list(oxm_id()).prop_map(Property::Wildcards),
        list(oxm_id()).prop_map(Property::WriteSetfield),
        list(oxm_id()).prop_map(Property::WriteSetfieldMiss),
        list(oxm_id()).prop_map(Property::ApplySetfield),
        list(oxm_id()).prop_map(Property::ApplySetfieldMiss),
        experimenter().prop_map(Property::Experimenter),
        experimenter().prop_map(Property::ExperimenterMiss),
        (16_u16..0xfffe, bytes()).prop_map(|(property_type, body)| Property::Unknown { property_type, body }),
    ]
}
