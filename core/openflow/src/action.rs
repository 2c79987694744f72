//! Actions, known and experimenter ones, as typed values. OpenFlow 1.3.5 §7.2.5.

use braid_types::PortNo;
use serde::Serialize;

use crate::error::{DecodeError, EncodeError, Part};
use crate::id::{ExperimenterId, GroupId, MaxLen, QueueId};
use crate::oxm::{EthType, OxmField};
use crate::wire::{Bytes, Prefixed, Reader, Wire, wire_enum, zeros};

wire_enum! {
    /// The type of an action. OpenFlow 1.3.5 §7.2.5.
    pub enum ActionType(u16) {
        /// Send to a port.
        Output = 0,
        /// Copy the time to live outwards.
        CopyTtlOut = 11,
        /// Copy the time to live inwards.
        CopyTtlIn = 12,
        /// Set MPLS's time to live.
        SetMplsTtl = 15,
        /// Lower MPLS's time to live by one.
        DecMplsTtl = 16,
        /// Add a VLAN tag.
        PushVlan = 17,
        /// Remove the outermost VLAN tag.
        PopVlan = 18,
        /// Add an MPLS header.
        PushMpls = 19,
        /// Remove the outermost MPLS header.
        PopMpls = 20,
        /// Choose the queue.
        SetQueue = 21,
        /// Apply a group.
        Group = 22,
        /// Set IP's time to live.
        SetNwTtl = 23,
        /// Lower IP's time to live by one.
        DecNwTtl = 24,
        /// Set a field of a header.
        SetField = 25,
        /// Add a provider backbone tag.
        PushPbb = 26,
        /// Remove the provider backbone tag.
        PopPbb = 27,
        /// Defined by an experimenter.
        Experimenter = 0xffff,
    }
}

/// An action on a packet. OpenFlow 1.3.5 §7.2.5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action<'a> {
    /// Send the packet to a port.
    Output {
        /// The port.
        port: PortNo,
        /// Bytes of the packet sent to the controller, if it is the port.
        max_len: MaxLen,
    },
    /// Copy the time to live from the second outermost header that has one to the outermost.
    CopyTtlOut,
    /// Copy the time to live from the outermost header that has one to the second outermost.
    CopyTtlIn,
    /// Set MPLS's time to live.
    SetMplsTtl(u8),
    /// Lower MPLS's time to live by one.
    DecMplsTtl,
    /// Add a VLAN tag of this type.
    PushVlan(EthType),
    /// Remove the outermost VLAN tag.
    PopVlan,
    /// Add an MPLS header of this type.
    PushMpls(EthType),
    /// Remove the outermost MPLS header; what follows is of this type.
    PopMpls(EthType),
    /// Send through this queue of the port.
    SetQueue(QueueId),
    /// Do what the group says.
    Group(GroupId),
    /// Set IP's time to live.
    SetNwTtl(u8),
    /// Lower IP's time to live by one.
    DecNwTtl,
    /// Write a field of a header. It must not have a mask.
    SetField(OxmField<'a>),
    /// Add a provider backbone tag of this type.
    PushPbb(EthType),
    /// Remove the provider backbone tag.
    PopPbb,
    /// An experimenter extension.
    Experimenter {
        /// The experimenter's id.
        experimenter: ExperimenterId,
        /// The rest with padding; padded to a multiple of 8 bytes when sent.
        data: Bytes<'a>,
    },
    /// Any other action, kept as it is.
    Unknown {
        /// Its type.
        action_type: u16,
        /// The body after the length; padded to four bytes more than a multiple of 8 when sent.
        body: Bytes<'a>,
    },
}

impl Action<'_> {
    /// Send to a port; if it is the controller, the whole packet.
    pub const fn output(port: PortNo) -> Self {
        Self::Output { port, max_len: MaxLen::NO_BUFFER }
    }

    /// The number of its kind.
    pub const fn action_type(&self) -> ActionType {
        match self {
            Self::Output { .. } => ActionType::Output,
            Self::CopyTtlOut => ActionType::CopyTtlOut,
            Self::CopyTtlIn => ActionType::CopyTtlIn,
            Self::SetMplsTtl(_) => ActionType::SetMplsTtl,
            Self::DecMplsTtl => ActionType::DecMplsTtl,
            Self::PushVlan(_) => ActionType::PushVlan,
            Self::PopVlan => ActionType::PopVlan,
            Self::PushMpls(_) => ActionType::PushMpls,
            Self::PopMpls(_) => ActionType::PopMpls,
            Self::SetQueue(_) => ActionType::SetQueue,
            Self::Group(_) => ActionType::Group,
            Self::SetNwTtl(_) => ActionType::SetNwTtl,
            Self::DecNwTtl => ActionType::DecNwTtl,
            Self::SetField(_) => ActionType::SetField,
            Self::PushPbb(_) => ActionType::PushPbb,
            Self::PopPbb => ActionType::PopPbb,
            Self::Experimenter { .. } => ActionType::Experimenter,
            Self::Unknown { action_type, .. } => ActionType::Unknown(*action_type),
        }
    }
}

impl<'a> Wire<'a> for Action<'a> {
    #[inline]
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let (tag, mut body) = reader.tlv_of_8(Part::Action)?;
        let action = read_body(tag, &mut body)?;
        body.finish()?;
        Ok(action)
    }

    #[inline]
    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let action = Prefixed::tlv(out, Part::Action, self.action_type().into());
        self.write_body(out)?;
        action.end_padded(out)
    }
}

fn read_body<'a>(tag: u16, body: &mut Reader<'a>) -> Result<Action<'a>, DecodeError> {
    Ok(match ActionType::from(tag) {
        ActionType::Output => read_output(body)?,
        ActionType::CopyTtlOut => alone(body, Action::CopyTtlOut)?,
        ActionType::CopyTtlIn => alone(body, Action::CopyTtlIn)?,
        ActionType::SetMplsTtl => Action::SetMplsTtl(padded(body, 3)?),
        ActionType::DecMplsTtl => alone(body, Action::DecMplsTtl)?,
        ActionType::PushVlan => Action::PushVlan(padded(body, 2)?),
        ActionType::PopVlan => alone(body, Action::PopVlan)?,
        ActionType::PushMpls => Action::PushMpls(padded(body, 2)?),
        ActionType::PopMpls => Action::PopMpls(padded(body, 2)?),
        ActionType::SetQueue => Action::SetQueue(body.read()?),
        ActionType::Group => Action::Group(body.read()?),
        ActionType::SetNwTtl => Action::SetNwTtl(padded(body, 3)?),
        ActionType::DecNwTtl => alone(body, Action::DecNwTtl)?,
        ActionType::SetField => read_set_field(body)?,
        ActionType::PushPbb => Action::PushPbb(padded(body, 2)?),
        ActionType::PopPbb => alone(body, Action::PopPbb)?,
        ActionType::Experimenter => Action::Experimenter { experimenter: body.read()?, data: body.read()? },
        ActionType::Unknown(action_type) => Action::Unknown { action_type, body: body.read()? },
    })
}

/// An action that has nothing but padding.
fn alone<'a>(body: &mut Reader<'a>, action: Action<'a>) -> Result<Action<'a>, DecodeError> {
    body.skip(4)?;
    Ok(action)
}

/// A value before `padding` bytes.
fn padded<'a, T: Wire<'a>>(body: &mut Reader<'a>, padding: usize) -> Result<T, DecodeError> {
    let value = body.read()?;
    body.skip(padding)?;
    Ok(value)
}

fn read_output<'a>(body: &mut Reader<'a>) -> Result<Action<'a>, DecodeError> {
    Ok(Action::Output { port: body.read()?, max_len: padded(body, 6)? })
}

fn read_set_field<'a>(body: &mut Reader<'a>) -> Result<Action<'a>, DecodeError> {
    let field = body.read().map_err(|error: DecodeError| error.within(Part::SetField))?;
    // The padding is part of the action's length, so that less than 8 bytes of it can be there.
    if body.len() < 8 {
        body.rest();
    }
    Ok(Action::SetField(field))
}

impl Action<'_> {
    #[inline]
    fn write_body(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        match self {
            Self::Output { port, max_len } => {
                port.write(out)?;
                max_len.write(out)
            }
            Self::CopyTtlOut
            | Self::CopyTtlIn
            | Self::DecMplsTtl
            | Self::PopVlan
            | Self::DecNwTtl
            | Self::PopPbb => {
                zeros(out, 4);
                Ok(())
            }
            Self::SetMplsTtl(ttl) | Self::SetNwTtl(ttl) => ttl.write(out),
            Self::PushVlan(kind) | Self::PushMpls(kind) | Self::PopMpls(kind) | Self::PushPbb(kind) => {
                kind.write(out)
            }
            Self::SetQueue(queue) => queue.write(out),
            Self::Group(group) => group.write(out),
            Self::SetField(field) => field.write(out),
            Self::Experimenter { experimenter, data } => {
                experimenter.write(out)?;
                data.write(out)
            }
            Self::Unknown { body, .. } => body.write(out),
        }
    }
}
