//! Decoding of rules: every rule decodes as it was encoded, and altered rules are not recognised.

use braid_openflow::{
    FlowMod, FlowModCommand, List, Match, Message, MultipartFlags, MultipartReply, ReplyBody, Xid,
};
use braid_steering::StreamId;
use proptest::prelude::*;

use super::*;
use crate::pipeline::{TABLES, encode_rule};

fn ip() -> impl Strategy<Value = IpAddr> {
    prop_oneof![any::<[u8; 4]>().prop_map(IpAddr::from), any::<[u8; 16]>().prop_map(IpAddr::from)]
}

fn port() -> impl Strategy<Value = PortNo> {
    (1..=PortNo::MAX.0).prop_map(PortNo)
}

fn any_hop() -> impl Strategy<Value = Hop> {
    let protected = (any::<u32>(), 1..=0xfeff_u32, 0..=0xffff_u32).prop_map(|(label, port, from)| Hop {
        label: Label(label),
        port: PortNo(port),
        exit: Exit::Protected { from: PortNo(from) },
    });
    let plain =
        (any::<u32>(), port()).prop_map(|(label, port)| Hop { label: Label(label), port, exit: Exit::Plain });
    prop_oneof![plain, protected]
}

fn tuple() -> impl Strategy<Value = FiveTuple> {
    let of = |src: IpAddr, dst: IpAddr, (src_port, dst_port)| FiveTuple { src, dst, src_port, dst_port };
    prop_oneof![
        (any::<[u8; 4]>(), any::<[u8; 4]>(), any::<(u16, u16)>()).prop_map(move |(src, dst, ports)| of(
            src.into(),
            dst.into(),
            ports
        )),
        (any::<[u8; 16]>(), any::<[u8; 16]>(), any::<(u16, u16)>()).prop_map(move |(src, dst, ports)| of(
            src.into(),
            dst.into(),
            ports
        )),
    ]
}

fn rule() -> impl Strategy<Value = Rule> {
    prop_oneof![
        (0..BASE.len()).prop_map(|index| BASE[index]),
        port().prop_map(|port| Rule::FromLink { port }),
        port().prop_map(|port| Rule::FromHost { port }),
        port().prop_map(|port| Rule::FromBypass { port }),
        (any::<u32>(), port()).prop_map(|(label, port)| Rule::Bypass { label: Label(label), port }),
        any::<u32>().prop_map(|label| Rule::BypassEnd { label: Label(label) }),
        (any::<bool>(), port()).prop_map(|(ipv6, port)| Rule::SynAck { ipv6, port }),
        (any::<bool>(), port()).prop_map(|(ipv6, port)| Rule::Reset { ipv6, port }),
        (0..1_u64 << 47, any::<bool>(), tuple(), any_hop())
            .prop_map(|(id, reverse, tuple, hop)| { Rule::Stream { id: StreamId(id), reverse, tuple, hop } }),
        (port(), ip()).prop_map(|(port, src)| Rule::SourceFilter { port, src }),
        (port(), tuple()).prop_map(|(port, tuple)| Rule::AdvisedHandshake { port, tuple }),
        (port(), 0..PuntClass::ALL.len())
            .prop_map(|(port, which)| Rule::Metered { port, class: PuntClass::ALL[which] }),
        (port(), 0..NeighborTraffic::ALL.len())
            .prop_map(|(port, which)| Rule::NeighborCopy { port, traffic: NeighborTraffic::ALL[which] }),
        (any::<[u8; 4]>(), any_hop()).prop_map(|(dst, hop)| Rule::ArpRoute { dst: dst.into(), hop }),
        any::<[u8; 4]>().prop_map(|dst| Rule::ArpLocalRoute { dst: dst.into() }),
        (any::<[u8; 4]>(), any::<[u8; 6]>(), port()).prop_map(|(dst, mac, port)| Rule::ArpDeliver {
            dst: dst.into(),
            mac: MacAddr::new(mac),
            port
        }),
        (ip(), any_hop()).prop_map(|(dst, hop)| Rule::Route { dst, hop }),
        ip().prop_map(|dst| Rule::LocalRoute { dst }),
        any_hop().prop_map(Rule::Transit),
        (any::<u32>(), port()).prop_map(|(label, port)| Rule::Hairpin { label: Label(label), port }),
        any::<u32>().prop_map(|label| Rule::Egress { label: Label(label) }),
        (ip(), any::<[u8; 6]>(), port()).prop_map(|(dst, mac, port)| Rule::Deliver {
            dst,
            mac: MacAddr::new(mac),
            port
        }),
    ]
}

fn encoded(rule: &Rule) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_rule(FlowModCommand::Add, rule, Seconds(60), Xid(1), &mut bytes).expect("a short message");
    bytes
}

fn flow_mod(bytes: &[u8]) -> FlowMod<'_> {
    match Message::decode(bytes) {
        Ok((_, Message::FlowMod(flow))) => flow,
        other => panic!("not a flow: {other:?}"),
    }
}

/// The description of the flow by a switch that has it.
fn stats<'a>(flow: &FlowMod<'a>) -> FlowStats<'a> {
    FlowStats {
        table_id: flow.table_id,
        duration_sec: 5,
        duration_nsec: 6,
        priority: flow.priority,
        idle_timeout: flow.idle_timeout,
        hard_timeout: flow.hard_timeout,
        flags: flow.flags,
        cookie: flow.cookie,
        packet_count: 7,
        byte_count: 8,
        matching: flow.matching,
        instructions: flow.instructions,
    }
}

fn over_the_wire(flow: FlowStats<'_>, check: impl FnOnce(&FlowStats<'_>)) {
    let (flags, flows) = (MultipartFlags::NONE, [flow]);
    let body = ReplyBody::Flow(List::new(&flows));
    let mut bytes = Vec::new();
    let reply = Message::MultipartReply(MultipartReply { flags, body });
    reply.encode(Xid(1), &mut bytes).expect("a short message");
    let Ok((_, Message::MultipartReply(MultipartReply { body: ReplyBody::Flow(flows), .. }))) =
        Message::decode(&bytes)
    else {
        panic!("not flows");
    };
    check(&flows.iter().next().expect("a flow"));
}

proptest! {
    #[test]
    fn every_rule_reads_back_from_the_switch_as_what_it_was(rule in rule()) {
        let bytes = encoded(&rule);
        over_the_wire(stats(&flow_mod(&bytes)), |flow| assert_eq!(decode(flow), Some(rule)));
    }

    #[test]
    fn a_rule_that_differs_in_anything_is_not_taken_for_ours(rule in rule(), what in 0..5) {
        let bytes = encoded(&rule);
        let mut flow = stats(&flow_mod(&bytes));
        match what {
            0 => flow.priority += 1,
            1 => flow.hard_timeout = Seconds(1),
            2 => flow.table_id = TableId(flow.table_id.0 + TABLES),
            // A rule that drops packets has no instructions.
            3 if !flow.instructions.is_empty() => flow.instructions = List::EMPTY,
            _ => flow.flags = FlowModFlags::CHECK_OVERLAP,
        }
        prop_assert_eq!(decode(&flow), None);
    }

    #[test]
    fn two_rules_with_one_match_have_one_slot_and_others_do_not(one in rule(), two in rule()) {
        let key = |rule: &Rule| {
            let bytes = encoded(rule);
            let flow = flow_mod(&bytes);
            (flow.table_id, flow.priority, format!("{:?}", flow.matching))
        };
        prop_assert_eq!(one.match_key() == two.match_key(), key(&one) == key(&two));
    }
}

#[test]
fn the_order_of_fields_and_the_length_sent_to_a_port_do_not_count() {
    let rule = Rule::Route {
        dst: IpAddr::from([10, 0, 0, 1]),
        hop: Hop { label: Label(7), port: PortNo(3), exit: Exit::Plain },
    };
    let bytes = encoded(&rule);
    let flow = flow_mod(&bytes);
    let mut fields: Vec<_> = flow.matching.fields.iter().collect();
    fields.reverse();
    let actions: Vec<_> = actions(&stats(&flow))
        .map(|action| match action {
            Action::Output { port, .. } => Action::Output { port, max_len: MaxLen(0) },
            other => other,
        })
        .collect();
    let instructions = [Instruction::ApplyActions(List::new(&actions))];
    let seen =
        FlowStats { matching: Match::new(&fields), instructions: List::new(&instructions), ..stats(&flow) };
    assert_eq!(decode(&seen), Some(rule));
}
