//! Random messages of every type.

use braid_openflow::{
    Echo, ErrorMsg, ExperimenterId, GroupMod, Hello, HelloElement, Message, MeterBand, MeterMod, PacketQueue,
    QueueGetConfigReply, QueueProperty, QueueRate,
};
use proptest::prelude::*;

use super::flow::{bucket, flow_mod, flow_removed, packet_in, packet_out};
use super::multipart::{experimenter, reply, request};
use super::{bytes, fixed, list};

/// Any message.
pub(crate) fn message() -> impl Strategy<Value = Message<'static>> {
    prop_oneof![session(), switch(), controller()]
}

fn session() -> impl Strategy<Value = Message<'static>> {
    prop_oneof![
        hello().prop_map(Message::Hello),
        error().prop_map(Message::Error),
        bytes().prop_map(|data| Message::EchoRequest(Echo { data })),
        bytes().prop_map(|data| Message::EchoReply(Echo { data })),
        experimenter().prop_map(Message::Experimenter),
        Just(Message::FeaturesRequest),
        Just(Message::GetConfigRequest),
        Just(Message::BarrierRequest),
        Just(Message::BarrierReply),
        Just(Message::GetAsyncRequest),
        fixed(16).prop_map(Message::RoleRequest),
        fixed(16).prop_map(Message::RoleReply),
        (30_u8.., bytes()).prop_map(|(message_type, body)| Message::Unknown { message_type, body }),
    ]
}

fn switch() -> impl Strategy<Value = Message<'static>> {
    prop_oneof![
        fixed(24).prop_map(Message::FeaturesReply),
        fixed(4).prop_map(Message::GetConfigReply),
        packet_in().prop_map(Message::PacketIn),
        flow_removed().prop_map(Message::FlowRemoved),
        fixed(72).prop_map(Message::PortStatus),
        reply().prop_map(Message::MultipartReply),
        queue_config().prop_map(Message::QueueGetConfigReply),
        fixed(24).prop_map(Message::GetAsyncReply),
    ]
}

fn controller() -> impl Strategy<Value = Message<'static>> {
    prop_oneof![
        fixed(4).prop_map(Message::SetConfig),
        packet_out().prop_map(Message::PacketOut),
        flow_mod().prop_map(Message::FlowMod),
        group_mod().prop_map(Message::GroupMod),
        fixed(32).prop_map(Message::PortMod),
        fixed(8).prop_map(Message::TableMod),
        request().prop_map(Message::MultipartRequest),
        fixed(8).prop_map(Message::QueueGetConfigRequest),
        fixed(24).prop_map(Message::SetAsync),
        meter_mod().prop_map(Message::MeterMod),
    ]
}

fn hello() -> impl Strategy<Value = Hello<'static>> {
    let element = prop_oneof![
        list(any::<u32>()).prop_map(HelloElement::VersionBitmap),
        (2_u16.., bytes()).prop_map(|(element_type, body)| HelloElement::Unknown { element_type, body }),
    ];
    (1_u8..7, list(element)).prop_map(|(version, elements)| Hello { version, elements })
}

fn error() -> impl Strategy<Value = ErrorMsg<'static>> {
    // Eight bytes are enough for an experimenter's error; of others they leave four bytes of data.
    (prop_oneof![0_u16..16, Just(0xffff)], any::<u16>(), any::<u32>(), bytes()).prop_map(
        |(error_type, code, experimenter, data)| {
            let [a, b] = error_type.to_be_bytes();
            let [c, d] = code.to_be_bytes();
            let all = [&[a, b, c, d], experimenter.to_be_bytes().as_slice(), &data].concat();
            super::read(all.leak())
        },
    )
}

fn group_mod() -> impl Strategy<Value = GroupMod<'static>> {
    (fixed(8), list(bucket()))
        .prop_map(|(plain, buckets): (GroupMod<'static>, _)| GroupMod { buckets, ..plain })
}

fn meter_mod() -> impl Strategy<Value = MeterMod<'static>> {
    (fixed(8), list(meter_band()))
        .prop_map(|(plain, bands): (MeterMod<'static>, _)| MeterMod { bands, ..plain })
}

pub(super) fn meter_band() -> impl Strategy<Value = MeterBand<'static>> {
    prop_oneof![
        any::<[u32; 2]>().prop_map(|[rate, burst_size]| MeterBand::Drop { rate, burst_size }),
        (any::<[u32; 2]>(), any::<u8>()).prop_map(|([rate, burst_size], prec_level)| {
            MeterBand::DscpRemark { rate, burst_size, prec_level }
        }),
        (any::<[u32; 3]>(), bytes()).prop_map(|([rate, burst_size, id], data)| MeterBand::Experimenter {
            rate,
            burst_size,
            experimenter: ExperimenterId(id),
            data,
        }),
        (3_u16..0xffff, bytes()).prop_map(|(band_type, body)| MeterBand::Unknown { band_type, body }),
    ]
}

fn queue_config() -> impl Strategy<Value = QueueGetConfigReply<'static>> {
    let property = prop_oneof![
        any::<u16>().prop_map(|rate| QueueProperty::MinRate(QueueRate(rate))),
        any::<u16>().prop_map(|rate| QueueProperty::MaxRate(QueueRate(rate))),
        (any::<u32>(), bytes())
            .prop_map(|(id, data)| QueueProperty::Experimenter { experimenter: ExperimenterId(id), data }),
        (3_u16..0xffff, bytes()).prop_map(|(property, body)| QueueProperty::Unknown { property, body }),
    ];
    let queue = (fixed(4), fixed(4), list(property)).prop_map(|(queue_id, port, properties)| PacketQueue {
        queue_id,
        port,
        properties,
    });
    (fixed(4), list(queue)).prop_map(|(port, queues)| QueueGetConfigReply { port, queues })
}
