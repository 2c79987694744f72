//! Matches, actions and instructions as text, in the words that `ovs-ofctl` reads.

use std::fmt;

use crate::action::Action;
use crate::instruction::Instruction;
use crate::oxm::{EthType, Match, OxmField};
use crate::wire::{List, Wire};

const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;
const SCTP: u8 = 132;

/// `in_port=3,tcp,ip_dst=10.0.0.2`: the protocol has one word for its EtherType and number. `any` for every packet.
impl fmt::Display for Match<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.fields.is_empty() {
            return f.write_str("any");
        }
        let protocol = Protocol::of(self);
        let parts = self.fields.iter().filter_map(|field| match field {
            OxmField::EthType(_) if protocol.ether_type.is_some() => protocol.word().map(Word::Protocol),
            OxmField::IpProto(_) if protocol.number.is_some() => None,
            field => Some(Word::Field(field)),
        });
        separated(f, parts)
    }
}

/// A part of a match.
enum Word<'a> {
    Protocol(&'static str),
    Field(OxmField<'a>),
}

impl fmt::Display for Word<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Protocol(word) => f.write_str(word),
            Self::Field(field) => field.fmt(f),
        }
    }
}

/// What of a match has a word of its own.
#[derive(Clone, Copy)]
struct Protocol {
    ether_type: Option<&'static str>,
    number: Option<&'static str>,
}

impl Protocol {
    fn of(matching: &Match<'_>) -> Self {
        let find = |read: fn(OxmField<'_>) -> Option<u16>| matching.fields.iter().find_map(read);
        let ether_type = find(|field| match field {
            OxmField::EthType(kind) => Some(kind.0),
            _ => None,
        });
        let number = find(|field| match field {
            OxmField::IpProto(number) => Some(number.into()),
            _ => None,
        });
        let ether_type = ether_type.map(EthType);
        let number = number.and_then(|number| transport(ether_type?, u8::try_from(number).ok()?));
        Self { ether_type: ether_type.and_then(network), number }
    }

    const fn word(self) -> Option<&'static str> {
        if self.number.is_some() { self.number } else { self.ether_type }
    }
}

const fn network(kind: EthType) -> Option<&'static str> {
    match kind {
        EthType::IPV4 => Some("ip"),
        EthType::IPV6 => Some("ipv6"),
        EthType::ARP => Some("arp"),
        _ => None,
    }
}

const fn transport(kind: EthType, number: u8) -> Option<&'static str> {
    match (kind, number) {
        (EthType::IPV4, TCP) => Some("tcp"),
        (EthType::IPV4, UDP) => Some("udp"),
        (EthType::IPV4, ICMP) => Some("icmp"),
        (EthType::IPV4, SCTP) => Some("sctp"),
        (EthType::IPV6, TCP) => Some("tcp6"),
        (EthType::IPV6, UDP) => Some("udp6"),
        (EthType::IPV6, ICMPV6) => Some("icmp6"),
        (EthType::IPV6, SCTP) => Some("sctp6"),
        _ => None,
    }
}

/// Such as `output:3`, `group:7` and `set_field:02:00:00:00:00:07->eth_dst`.
impl fmt::Display for Action<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Output { port, .. } => write!(f, "output:{port}"),
            Self::CopyTtlOut => f.write_str("copy_ttl_out"),
            Self::CopyTtlIn => f.write_str("copy_ttl_in"),
            Self::SetMplsTtl(ttl) => write!(f, "set_mpls_ttl:{ttl}"),
            Self::DecMplsTtl => f.write_str("dec_mpls_ttl"),
            Self::PushVlan(kind) => write!(f, "push_vlan:{kind}"),
            Self::PopVlan => f.write_str("pop_vlan"),
            Self::PushMpls(kind) => write!(f, "push_mpls:{kind}"),
            Self::PopMpls(kind) => write!(f, "pop_mpls:{kind}"),
            Self::SetQueue(queue) => write!(f, "set_queue:{queue}"),
            Self::Group(group) => write!(f, "group:{group}"),
            Self::SetNwTtl(ttl) => write!(f, "mod_nw_ttl:{ttl}"),
            Self::DecNwTtl => f.write_str("dec_ttl"),
            Self::SetField(field) => set_field(field, f),
            Self::PushPbb(kind) => write!(f, "push_pbb:{kind}"),
            Self::PopPbb => f.write_str("pop_pbb"),
            Self::Experimenter { experimenter, data } => write!(f, "experimenter:{experimenter}:{data}"),
            Self::Unknown { action_type, body } => write!(f, "unknown:{action_type}:{body}"),
        }
    }
}

fn set_field(field: &OxmField<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let text = field.to_string();
    let (name, value) = text.split_once('=').unwrap_or((&text, ""));
    write!(f, "set_field:{value}->{name}")
}

/// Such as `goto_table:4`; actions that are applied stand for themselves.
impl fmt::Display for Instruction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GotoTable(table) => write!(f, "goto_table:{table}"),
            Self::WriteMetadata { metadata, metadata_mask } => {
                write!(f, "write_metadata:{metadata}/{metadata_mask}")
            }
            Self::WriteActions(actions) => write!(f, "write_actions({actions})"),
            Self::ApplyActions(actions) => actions.fmt(f),
            Self::ClearActions => f.write_str("clear_actions"),
            Self::Meter(meter) => write!(f, "meter:{meter}"),
            Self::Experimenter { experimenter, data } => write!(f, "experimenter:{experimenter}:{data}"),
            Self::Unknown { instruction_type, body } => write!(f, "unknown:{instruction_type}:{body}"),
        }
    }
}

/// The items, separated by commas; `drop` for none, which is what a switch does then.
impl<'a, T: Wire<'a> + fmt::Display> fmt::Display for List<'a, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() { f.write_str("drop") } else { separated(f, self.iter()) }
    }
}

fn separated(f: &mut fmt::Formatter<'_>, items: impl Iterator<Item = impl fmt::Display>) -> fmt::Result {
    for (index, item) in items.enumerate() {
        if index > 0 {
            f.write_str(",")?;
        }
        item.fmt(f)?;
    }
    Ok(())
}
