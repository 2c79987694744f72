//! Instructions of flows. OpenFlow 1.3.5 §7.2.4.

use serde::Serialize;

use crate::action::Action;
use crate::error::{DecodeError, EncodeError, Part};
use crate::id::{ExperimenterId, Metadata, MeterId, TableId};
use crate::wire::{Bytes, List, Prefixed, Reader, Wire, wire_enum, zeros};

wire_enum! {
    /// The type of an instruction. OpenFlow 1.3.5 §7.2.4.
    pub enum InstructionType(u16) {
        /// Go on in another table.
        GotoTable = 1,
        /// Note something for later tables.
        WriteMetadata = 2,
        /// Add to the action set.
        WriteActions = 3,
        /// Act at once.
        ApplyActions = 4,
        /// Empty the action set.
        ClearActions = 5,
        /// Apply a meter.
        Meter = 6,
        /// Defined by an experimenter.
        Experimenter = 0xffff,
    }
}

/// An instruction for packets that match a flow. OpenFlow 1.3.5 §7.2.4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Instruction<'a> {
    /// Go on in a later table.
    GotoTable(TableId),
    /// Note something for later tables.
    WriteMetadata {
        /// The value.
        metadata: Metadata,
        /// The bits of it that are written.
        metadata_mask: Metadata,
    },
    /// Add these to the action set, which is done at the end.
    WriteActions(List<'a, Action<'a>>),
    /// Do these now, in order.
    ApplyActions(List<'a, Action<'a>>),
    /// Empty the action set.
    ClearActions,
    /// Apply a meter first.
    Meter(MeterId),
    /// An experimenter extension.
    Experimenter {
        /// The experimenter's id.
        experimenter: ExperimenterId,
        /// The rest with padding; padded to a multiple of 8 bytes when sent.
        data: Bytes<'a>,
    },
    /// Any other instruction, kept as it is.
    Unknown {
        /// Its type.
        instruction_type: u16,
        /// The body after the length; padded to four bytes more than a multiple of 8 when sent.
        body: Bytes<'a>,
    },
}

impl Instruction<'_> {
    /// The number of its kind.
    pub const fn instruction_type(&self) -> InstructionType {
        match self {
            Self::GotoTable(_) => InstructionType::GotoTable,
            Self::WriteMetadata { .. } => InstructionType::WriteMetadata,
            Self::WriteActions(_) => InstructionType::WriteActions,
            Self::ApplyActions(_) => InstructionType::ApplyActions,
            Self::ClearActions => InstructionType::ClearActions,
            Self::Meter(_) => InstructionType::Meter,
            Self::Experimenter { .. } => InstructionType::Experimenter,
            Self::Unknown { instruction_type, .. } => InstructionType::Unknown(*instruction_type),
        }
    }
}

impl<'a> Wire<'a> for Instruction<'a> {
    #[inline]
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let (tag, mut body) = reader.tlv_of_8(Part::Instruction)?;
        let instruction = read_body(tag, &mut body)?;
        body.finish()?;
        Ok(instruction)
    }

    #[inline]
    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let instruction = Prefixed::tlv(out, Part::Instruction, self.instruction_type().into());
        self.write_body(out)?;
        instruction.end_padded(out)
    }
}

fn read_body<'a>(tag: u16, body: &mut Reader<'a>) -> Result<Instruction<'a>, DecodeError> {
    Ok(match InstructionType::from(tag) {
        InstructionType::GotoTable => {
            let table = body.read()?;
            body.skip(3)?;
            Instruction::GotoTable(table)
        }
        InstructionType::WriteMetadata => {
            body.skip(4)?;
            Instruction::WriteMetadata { metadata: body.read()?, metadata_mask: body.read()? }
        }
        InstructionType::WriteActions => Instruction::WriteActions(read_actions(body)?),
        InstructionType::ApplyActions => Instruction::ApplyActions(read_actions(body)?),
        // An old specification let this one carry actions; there is nothing that they could mean.
        InstructionType::ClearActions => {
            body.skip(4)?;
            Instruction::ClearActions
        }
        InstructionType::Meter => Instruction::Meter(body.read()?),
        InstructionType::Experimenter => {
            Instruction::Experimenter { experimenter: body.read()?, data: body.read()? }
        }
        InstructionType::Unknown(instruction_type) => {
            Instruction::Unknown { instruction_type, body: body.read()? }
        }
    })
}

fn read_actions<'a>(body: &mut Reader<'a>) -> Result<List<'a, Action<'a>>, DecodeError> {
    body.skip(4)?;
    body.read()
}

impl Instruction<'_> {
    fn write_body(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        match self {
            Self::GotoTable(table) => table.write(out),
            Self::WriteMetadata { metadata, metadata_mask } => {
                zeros(out, 4);
                metadata.write(out)?;
                metadata_mask.write(out)
            }
            Self::WriteActions(actions) | Self::ApplyActions(actions) => {
                zeros(out, 4);
                actions.write(out)
            }
            Self::ClearActions => {
                zeros(out, 4);
                Ok(())
            }
            Self::Meter(meter) => meter.write(out),
            Self::Experimenter { experimenter, data } => {
                experimenter.write(out)?;
                data.write(out)
            }
            Self::Unknown { body, .. } => body.write(out),
        }
    }
}
