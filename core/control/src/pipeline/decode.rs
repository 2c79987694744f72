//! Rules as switches describe them: the inverse of [`encode`](super::encode).

// Whatever arrives, reading it cannot panic.
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::net::{IpAddr, Ipv4Addr};

use braid_openflow::{
    Action, FlowModFlags, FlowStats, Instruction, List, MaxLen, OxmField, Seconds, TableId,
};
use braid_types::{FiveTuple, MacAddr, PortNo};

use super::flow;
use super::group_ids::{EcmpGroup, EdgeGroup, protected_ports_of};
use super::hop::{Exit, Hop};
use super::punt_class::{NeighborTraffic, PuntClass};
use super::rule::{BASE, Rule};
use crate::cookie::{Cookie, Purpose};
use crate::label::Label;

/// The rule that a switch describes; `None` if it differs from Braid's form of that rule in any respect.
///
/// Only the idle timeout is not compared: its setting may have changed since.
pub fn decode(flow: &FlowStats<'_>) -> Option<Rule> {
    let purpose = Cookie(flow.cookie.0).purpose()?;
    if purpose == Purpose::Base {
        return base_rules(flow).find(|rule| is_as_written(rule, flow));
    }
    rule_from_cookie(purpose, flow).filter(|rule| is_as_written(rule, flow))
}

fn base_rules(flow: &FlowStats<'_>) -> impl Iterator<Item = Rule> {
    let of_port =
        flow.matching.in_port().map(|port| {
            let metered = PuntClass::ALL.map(|class| Rule::Metered { port, class });
            [false, true]
                .map(|ipv6| [Rule::SynAck { ipv6, port }, Rule::Reset { ipv6, port }])
                .into_iter()
                .flatten()
                .chain([Rule::FromLink { port }, Rule::FromBypass { port }, Rule::FromHost { port }])
                .chain(metered)
                .chain(source(flow).map(|src| Rule::SourceFilter { port, src }))
                .chain(five_tuple(flow).map(|tuple| Rule::AdvisedHandshake { port, tuple }))
                .chain(five_tuple(flow).into_iter().flat_map(move |tuple| {
                    [false, true].map(|reset| Rule::TeardownCopy { port, tuple, reset })
                }))
                .chain(NeighborTraffic::ALL.map(|traffic| Rule::NeighborCopy { port, traffic }))
        });
    BASE.into_iter().chain(of_port.into_iter().flatten())
}

/// The rule, if it is Braid's: the cookie gives its purpose, the match and actions the rest.
fn rule_from_cookie(purpose: Purpose, flow: &FlowStats<'_>) -> Option<Rule> {
    Some(match purpose {
        Purpose::Base => return None,
        Purpose::Stream { id, reverse } => {
            Rule::Stream { id, reverse, tuple: five_tuple(flow)?, hop: hop(flow)? }
        }
        Purpose::Resequence { id, reverse } => {
            Rule::Resequence { id, reverse, tuple: five_tuple(flow)?, group: edge_group(flow)? }
        }
        Purpose::Route => match (destination(flow), hop(flow)) {
            (Some(dst), Some(hop)) => Rule::Route { dst, hop },
            (Some(dst), None) => Rule::LocalRoute { dst },
            (None, Some(hop)) => Rule::ArpRoute { dst: arp_target(flow)?, hop },
            (None, None) => Rule::ArpLocalRoute { dst: arp_target(flow)? },
        },
        Purpose::Fabric(label) => match (flow.matching.in_port(), exit(flow)) {
            (Some(port), Some((PortNo::IN_PORT, _)) | None) => Rule::Hairpin { label, port },
            (_, Some((port, exit))) => Rule::Transit(Hop { label, port, exit }),
            (None, None) => Rule::Egress { label },
        },
        Purpose::Bypass(label) => match output(flow) {
            Some(port) => Rule::Bypass { label, port },
            None => Rule::BypassEnd { label },
        },
        Purpose::Deliver => {
            let (mac, port) = (new_eth_dst(flow)?, output(flow)?);
            match destination(flow) {
                Some(dst) => Rule::Deliver { dst, mac, port },
                None => Rule::ArpDeliver { dst: arp_target(flow)?, mac, port },
            }
        }
    })
}

fn is_as_written(rule: &Rule, flow: &FlowStats<'_>) -> bool {
    let applied = flow::applied(rule);
    let (idles, flags) = match rule {
        Rule::Stream { .. } => (true, FlowModFlags::SEND_FLOW_REM),
        Rule::AdvisedHandshake { .. } | Rule::TeardownCopy { .. } => (true, FlowModFlags::NONE),
        _ => (false, FlowModFlags::NONE),
    };
    flow.table_id == TableId(rule.table() as u8)
        && flow.priority == rule.priority()
        && flow.cookie.0 == Cookie::new(rule.purpose()).0
        && flow.flags == flags
        && flow.hard_timeout == Seconds::PERMANENT
        && (flow.idle_timeout != Seconds::PERMANENT) == idles
        && same_fields(flow::matching(rule).as_slice(), flow)
        && same_instructions(flow::instructions(rule, &applied).as_slice(), flow)
}

/// Switches may report fields in another order.
fn same_fields(wanted: &[OxmField<'_>], flow: &FlowStats<'_>) -> bool {
    let found = || flow.matching.fields.iter();
    found().count() == wanted.len() && wanted.iter().all(|field| found().any(|other| other == *field))
}

fn same_instructions(wanted: &[Instruction<'_>], flow: &FlowStats<'_>) -> bool {
    let found = || flow.instructions.iter();
    found().count() == wanted.len() && wanted.iter().zip(found()).all(|(wanted, found)| same(wanted, &found))
}

fn same(wanted: &Instruction<'_>, found: &Instruction<'_>) -> bool {
    match (wanted, found) {
        (Instruction::ApplyActions(wanted), Instruction::ApplyActions(found)) => {
            wanted.iter().map(normal).eq(found.iter().map(normal))
        }
        _ => wanted == found,
    }
}

/// `max_len` only counts for packets to the controller.
fn normal(action: Action<'_>) -> Action<'_> {
    match action {
        Action::Output { port, .. } if port.is_physical() => {
            Action::Output { port, max_len: MaxLen::NO_BUFFER }
        }
        other => other,
    }
}

fn actions<'a>(flow: &FlowStats<'a>) -> impl Iterator<Item = Action<'a>> + use<'a> {
    let applied = flow.instructions.iter().find_map(|instruction| match instruction {
        Instruction::ApplyActions(actions) => Some(actions),
        _ => None,
    });
    applied.unwrap_or(List::EMPTY).iter()
}

fn output(flow: &FlowStats<'_>) -> Option<PortNo> {
    actions(flow).find_map(|action| match action {
        Action::Output { port, .. } => Some(port),
        _ => None,
    })
}

fn new_eth_dst(flow: &FlowStats<'_>) -> Option<MacAddr> {
    actions(flow).find_map(|action| match action {
        Action::SetField(OxmField::EthDst(mac)) => Some(mac.value),
        _ => None,
    })
}

fn hop(flow: &FlowStats<'_>) -> Option<Hop> {
    if let Some(group) = edge_group(flow) {
        return Some(Hop::sprayed(group));
    }
    if let Some(group) = ecmp_group(flow) {
        return Some(Hop::balanced(group));
    }
    let (port, exit) = exit(flow)?;
    Some(Hop { label: Label::from_mac(new_eth_dst(flow)?)?, port, exit })
}

/// The edge's group that packets are sent to.
fn edge_group(flow: &FlowStats<'_>) -> Option<EdgeGroup> {
    actions(flow).find_map(|action| match action {
        Action::Group(id) => EdgeGroup::of(id),
        _ => None,
    })
}

/// The group over equal-cost paths that packets are sent to.
fn ecmp_group(flow: &FlowStats<'_>) -> Option<EcmpGroup> {
    actions(flow).find_map(|action| match action {
        Action::Group(id) => EcmpGroup::of(id),
        _ => None,
    })
}

/// The port of a hop, and the kind of exit.
fn exit(flow: &FlowStats<'_>) -> Option<(PortNo, Exit)> {
    actions(flow).find_map(|action| match action {
        Action::Output { port, .. } => Some((port, Exit::Plain)),
        Action::Group(id) => protected_ports_of(id).map(|(port, from)| (port, Exit::Protected { from })),
        _ => None,
    })
}

fn destination(flow: &FlowStats<'_>) -> Option<IpAddr> {
    flow.matching.fields.iter().find_map(|field| match field {
        OxmField::Ipv4Dst(ip) => Some(IpAddr::V4(ip.value)),
        OxmField::Ipv6Dst(ip) => Some(IpAddr::V6(ip.value)),
        _ => None,
    })
}

fn source(flow: &FlowStats<'_>) -> Option<IpAddr> {
    flow.matching.fields.iter().find_map(|field| match field {
        OxmField::Ipv4Src(ip) => Some(IpAddr::V4(ip.value)),
        OxmField::Ipv6Src(ip) => Some(IpAddr::V6(ip.value)),
        _ => None,
    })
}

fn arp_target(flow: &FlowStats<'_>) -> Option<Ipv4Addr> {
    flow.matching.fields.iter().find_map(|field| match field {
        OxmField::ArpTpa(ip) => Some(ip.value),
        _ => None,
    })
}

fn five_tuple(flow: &FlowStats<'_>) -> Option<FiveTuple> {
    let fields = || flow.matching.fields.iter();
    let src = source(flow)?;
    let src_port = fields().find_map(|field| match field {
        OxmField::TcpSrc(port) => Some(port.value),
        _ => None,
    })?;
    let dst_port = fields().find_map(|field| match field {
        OxmField::TcpDst(port) => Some(port.value),
        _ => None,
    })?;
    Some(FiveTuple { src, dst: destination(flow)?, src_port, dst_port })
}

#[cfg(test)]
mod tests;
