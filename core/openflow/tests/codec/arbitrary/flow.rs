//! Random match fields, actions, instructions, and the messages of flows and packets.

use braid_openflow::{
    Action, Bucket, BufferId, ExperimenterId, FlowMod, FlowRemoved, Instruction, Masked, Match, Metadata,
    MeterId, OxmClass, OxmField, PacketIn, PacketOut, RawOxm, TableId, TcpFlags,
};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{bytes, bytes_of_8, fixed, list, read};

/// Bytes of each field's value, by its number. OpenFlow 1.3.5 §7.2.3.7, table 12.
const SIZES: [u8; 40] = [
    4, 4, 8, 6, 6, 2, 2, 1, 1, 1, 1, 4, 4, 2, 2, 2, 2, 2, 2, 1, 1, 2, 4, 4, 6, 6, 16, 16, 4, 1, 1, 16, 6, 6,
    4, 1, 1, 3, 8, 2,
];

pub(super) fn oxm_field() -> impl Strategy<Value = OxmField<'static>> {
    prop_oneof![
        8 => (0_u8..40, any::<bool>()).prop_flat_map(|(code, has_mask)| basic(code, has_mask)),
        1 => (any::<u16>(), any::<Option<u16>>()).prop_map(|(value, mask)| {
            OxmField::TcpFlags(Masked { value: TcpFlags(value), mask: mask.map(TcpFlags) })
        }),
        1 => (0_u16..4, 0_u8..128, any::<bool>(), bytes()).prop_map(|(class, field, has_mask, body)| {
            OxmField::Unknown(RawOxm { class: OxmClass(class), field, has_mask, body })
        }),
    ]
}

fn basic(code: u8, has_mask: bool) -> impl Strategy<Value = OxmField<'static>> {
    let length = SIZES[usize::from(code)] * (1 + u8::from(has_mask));
    vec(any::<u8>(), usize::from(length)).prop_map(move |value| {
        let header = [0x80, 0x00, code << 1 | u8::from(has_mask), length];
        read([header.as_slice(), &value].concat().leak())
    })
}

pub(super) fn matching() -> impl Strategy<Value = Match<'static>> {
    list(oxm_field()).prop_map(|fields| Match { fields })
}

pub(super) fn action() -> impl Strategy<Value = Action<'static>> {
    prop_oneof![
        3 => oxm_field().prop_map(Action::SetField),
        3 => (any::<u32>(), any::<u16>()).prop_map(|(port, max_len)| Action::Output {
            port: braid_types::PortNo(port),
            max_len: braid_openflow::MaxLen(max_len),
        }),
        1 => (any::<u32>(), bytes_of_8(0)).prop_map(|(id, data)| Action::Experimenter {
            experimenter: ExperimenterId(id),
            data,
        }),
        1 => (28_u16..0xffff, bytes_of_8(4))
            .prop_map(|(action_type, body)| Action::Unknown { action_type, body }),
        4 => simple_action(),
    ]
}

fn simple_action() -> impl Strategy<Value = Action<'static>> {
    let kinds = vec![11_u16, 12, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 26, 27];
    (prop::sample::select(kinds), any::<u32>()).prop_map(|(kind, value)| {
        let [a, b] = kind.to_be_bytes();
        let [c, d, e, f] = value.to_be_bytes();
        read(vec![a, b, 0, 8, c, d, e, f].leak())
    })
}

fn instruction() -> impl Strategy<Value = Instruction<'static>> {
    prop_oneof![
        any::<u8>().prop_map(|table| Instruction::GotoTable(TableId(table))),
        any::<(u64, u64)>().prop_map(|(metadata, mask)| Instruction::WriteMetadata {
            metadata: Metadata(metadata),
            metadata_mask: Metadata(mask),
        }),
        list(action()).prop_map(Instruction::WriteActions),
        list(action()).prop_map(Instruction::ApplyActions),
        Just(Instruction::ClearActions),
        any::<u32>().prop_map(|meter| Instruction::Meter(MeterId(meter))),
        (any::<u32>(), bytes_of_8(0))
            .prop_map(|(id, data)| Instruction::Experimenter { experimenter: ExperimenterId(id), data }),
        (7_u16..0xffff, bytes_of_8(4))
            .prop_map(|(instruction_type, body)| Instruction::Unknown { instruction_type, body }),
    ]
}

pub(super) fn instructions() -> impl Strategy<Value = braid_openflow::List<'static, Instruction<'static>>> {
    list(instruction())
}

pub(super) fn bucket() -> impl Strategy<Value = Bucket<'static>> {
    (any::<u16>(), fixed(4), fixed(4), list(action())).prop_map(
        |(weight, watch_port, watch_group, actions)| Bucket { weight, watch_port, watch_group, actions },
    )
}

pub(super) fn flow_mod() -> impl Strategy<Value = FlowMod<'static>> {
    // The 40 bytes before the match, and an empty match.
    let plain = vec(any::<u8>(), 40).prop_map(|mut bytes| {
        bytes.extend([0, 1, 0, 4, 0, 0, 0, 0]);
        read::<FlowMod<'static>>(bytes.leak())
    });
    (plain, matching(), instructions()).prop_map(|(plain, matching, instructions)| FlowMod {
        matching,
        instructions,
        ..plain
    })
}

pub(super) fn flow_removed() -> impl Strategy<Value = FlowRemoved<'static>> {
    let plain = vec(any::<u8>(), 40).prop_map(|mut bytes| {
        bytes.extend([0, 1, 0, 4, 0, 0, 0, 0]);
        read::<FlowRemoved<'static>>(bytes.leak())
    });
    (plain, matching()).prop_map(|(plain, matching)| FlowRemoved { matching, ..plain })
}

pub(super) fn packet_in() -> impl Strategy<Value = PacketIn<'static>> {
    let plain = vec(any::<u8>(), 16).prop_map(|mut bytes| {
        bytes.extend([0, 1, 0, 4, 0, 0, 0, 0, 0, 0]);
        read::<PacketIn<'static>>(bytes.leak())
    });
    (plain, matching(), bytes()).prop_map(|(plain, matching, data)| PacketIn { matching, data, ..plain })
}

pub(super) fn packet_out() -> impl Strategy<Value = PacketOut<'static>> {
    (any::<u32>(), fixed(4), list(action()), bytes()).prop_map(|(buffer, in_port, actions, data)| PacketOut {
        buffer_id: BufferId(buffer),
        in_port,
        actions,
        data,
    })
}
