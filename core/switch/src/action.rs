//! Actions in the form that the switch executes, and the ordered action set. OpenFlow 1.3.5 §5.10.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use braid_openflow::{
    Action, BadActionCode, BadInstructionCode, ErrorCode, EthType, GroupId, Instruction, List, Masked,
    MaxLen, OxmField, TableId,
};
use braid_types::{MacAddr, PortNo};

/// An action that this switch supports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Act {
    Output { port: PortNo, max_len: MaxLen },
    Group(GroupId),
    PushVlan(u16),
    PopVlan,
    DecTtl,
    Set(SetField),
}

/// A field that is written, and its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SetField {
    EthDst(MacAddr),
    EthSrc(MacAddr),
    VlanVid(u16),
    VlanPcp(u8),
    Ipv4Src(Ipv4Addr),
    Ipv4Dst(Ipv4Addr),
    Ipv6Src(Ipv6Addr),
    Ipv6Dst(Ipv6Addr),
    TcpSrc(u16),
    TcpDst(u16),
    UdpSrc(u16),
    UdpDst(u16),
}

/// The instructions of a flow.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Program {
    pub(crate) apply: Arc<[Act]>,
    pub(crate) clear: bool,
    pub(crate) write: Arc<[Act]>,
    /// Value and mask.
    pub(crate) metadata: Option<(u64, u64)>,
    pub(crate) goto: Option<TableId>,
}

/// The action set, in the execution order of OpenFlow 1.3.5 §5.10.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActionSet {
    acts: Vec<Act>,
}

impl Program {
    /// The `instructions` of a flow in `table`; `tables` is the number of tables.
    pub(crate) fn new(
        instructions: List<'_, Instruction<'_>>,
        table: TableId,
        tables: u8,
    ) -> Result<Self, ErrorCode> {
        let mut program = Self::default();
        for instruction in instructions {
            match instruction {
                Instruction::GotoTable(next) if next > table && next.0 < tables => program.goto = Some(next),
                Instruction::GotoTable(_) => {
                    return Err(ErrorCode::BadInstruction(BadInstructionCode::BadTableId));
                }
                Instruction::WriteMetadata { metadata, metadata_mask } => {
                    program.metadata = Some((metadata.0, metadata_mask.0));
                }
                Instruction::WriteActions(actions) => program.write = acts(actions)?,
                Instruction::ApplyActions(actions) => program.apply = acts(actions)?,
                Instruction::ClearActions => program.clear = true,
                _ => return Err(ErrorCode::BadInstruction(BadInstructionCode::UnsupInst)),
            }
        }
        Ok(program)
    }

    /// All its actions.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Act> {
        self.apply.iter().chain(self.write.iter())
    }
}

/// The actions of a message, if this switch supports all of them.
pub(crate) fn acts(actions: List<'_, Action<'_>>) -> Result<Arc<[Act]>, ErrorCode> {
    actions.iter().map(|action| act(&action)).collect()
}

const fn bad(code: BadActionCode) -> ErrorCode {
    ErrorCode::BadAction(code)
}

fn act(action: &Action<'_>) -> Result<Act, ErrorCode> {
    Ok(match *action {
        Action::Output { port, max_len } => Act::Output { port: sendable(port)?, max_len },
        Action::Group(group) => Act::Group(group),
        Action::PushVlan(kind @ (EthType::VLAN | EthType::QINQ)) => Act::PushVlan(kind.0),
        Action::PushVlan(_) => return Err(bad(BadActionCode::BadArgument)),
        Action::PopVlan => Act::PopVlan,
        Action::DecNwTtl => Act::DecTtl,
        Action::SetField(field) => Act::Set(set_field(&field)?),
        Action::Experimenter { .. } => return Err(bad(BadActionCode::BadExperimenter)),
        _ => return Err(bad(BadActionCode::BadType)),
    })
}

const fn sendable(port: PortNo) -> Result<PortNo, ErrorCode> {
    match port {
        PortNo::IN_PORT | PortNo::TABLE | PortNo::FLOOD | PortNo::ALL | PortNo::CONTROLLER => Ok(port),
        port if port.is_physical() => Ok(port),
        _ => Err(bad(BadActionCode::BadOutPort)),
    }
}

fn set_field(field: &OxmField<'_>) -> Result<SetField, ErrorCode> {
    Ok(match field {
        OxmField::EthDst(mac) => SetField::EthDst(whole(mac)?),
        OxmField::EthSrc(mac) => SetField::EthSrc(whole(mac)?),
        OxmField::VlanVid(vid) => SetField::VlanVid(whole(vid)?.0 & 0xfff),
        OxmField::VlanPcp(pcp @ 0..8) => SetField::VlanPcp(*pcp),
        OxmField::VlanPcp(_) => return Err(bad(BadActionCode::BadSetArgument)),
        OxmField::Ipv4Src(address) => SetField::Ipv4Src(whole(address)?),
        OxmField::Ipv4Dst(address) => SetField::Ipv4Dst(whole(address)?),
        OxmField::Ipv6Src(address) => SetField::Ipv6Src(whole(address)?),
        OxmField::Ipv6Dst(address) => SetField::Ipv6Dst(whole(address)?),
        OxmField::TcpSrc(port) => SetField::TcpSrc(whole(port)?),
        OxmField::TcpDst(port) => SetField::TcpDst(whole(port)?),
        OxmField::UdpSrc(port) => SetField::UdpSrc(whole(port)?),
        OxmField::UdpDst(port) => SetField::UdpDst(whole(port)?),
        _ => return Err(bad(BadActionCode::BadSetType)),
    })
}

fn whole<T: Copy>(value: &Masked<T>) -> Result<T, ErrorCode> {
    match value.mask {
        None => Ok(value.value),
        Some(_) => Err(bad(BadActionCode::BadSetType)),
    }
}

impl ActionSet {
    pub(crate) fn clear(&mut self) {
        self.acts.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.acts.is_empty()
    }

    /// Writes `acts` to the set; each replaces the one of its kind.
    pub(crate) fn write(&mut self, acts: &[Act]) {
        for act in acts {
            self.acts.retain(|old| kind(old) != kind(act));
            self.acts.push(*act);
        }
        self.acts.sort_by_key(kind);
    }

    /// The actions to execute: a group suppresses an output.
    pub(crate) fn acts(&self) -> impl Iterator<Item = Act> {
        let group = self.acts.iter().any(|act| matches!(act, Act::Group(_)));
        let acts = self.acts.clone().into_iter();
        acts.filter(move |act| !(group && matches!(act, Act::Output { .. })))
    }
}

/// The kind of an action: one of a kind replaces another; kinds execute in this order.
fn kind(act: &Act) -> u8 {
    match act {
        Act::PopVlan => 0,
        Act::PushVlan(_) => 1,
        Act::DecTtl => 2,
        Act::Set(SetField::EthDst(_)) => 3,
        Act::Set(SetField::EthSrc(_)) => 4,
        Act::Set(SetField::VlanVid(_)) => 5,
        Act::Set(SetField::VlanPcp(_)) => 6,
        Act::Set(SetField::Ipv4Src(_) | SetField::Ipv6Src(_)) => 7,
        Act::Set(SetField::Ipv4Dst(_) | SetField::Ipv6Dst(_)) => 8,
        Act::Set(SetField::TcpSrc(_) | SetField::UdpSrc(_)) => 9,
        Act::Set(SetField::TcpDst(_) | SetField::UdpDst(_)) => 10,
        Act::Group(_) => 11,
        Act::Output { .. } => 12,
    }
}
