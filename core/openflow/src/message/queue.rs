//! Queue configuration requests and replies, with the queues' rate properties. OpenFlow 1.3.5 §7.3.6.

use braid_types::PortNo;
use serde::Serialize;

use crate::error::{DecodeError, EncodeError, Part};
use crate::id::{ExperimenterId, QueueId};
use crate::wire::{Bytes, List, Prefixed, Reader, Wire, wire_number, wire_struct, zeros};

wire_struct! {
    /// Asks for the queues of a port. OpenFlow 1.3.5 §7.3.6.
    pub struct QueueGetConfigRequest {
        /// The port, or `ANY`.
        pub port: PortNo; pad 4,
    }
}

wire_struct! {
    /// Gives the queues of a port. OpenFlow 1.3.5 §7.3.6.
    pub struct QueueGetConfigReply<'a> {
        /// The port, or `ANY`.
        pub port: PortNo; pad 4,
        /// Its queues.
        pub queues: List<'a, PacketQueue<'a>>,
    }
}

wire_struct! {
    /// A queue of a port. OpenFlow 1.3.5 §7.2.2.
    pub struct PacketQueue<'a> [Queue, length at 8] {
        /// The queue.
        pub queue_id: QueueId,
        /// Its port.
        pub port: PortNo; pad 8,
        /// Its properties.
        pub properties: List<'a, QueueProperty<'a>>,
    }
}

wire_number! {
    /// A share of a port's rate in tenths of a percent.
    pub struct QueueRate(u16) decimal "{}" {
        /// No limit, or none that is known.
        UNCFG = 0xffff,
    }
}

const MIN_RATE: u16 = 1;
const MAX_RATE: u16 = 2;
const EXPERIMENTER: u16 = 0xffff;

/// A property of a queue. OpenFlow 1.3.5 §7.2.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueProperty<'a> {
    /// The rate that it guarantees.
    MinRate(QueueRate),
    /// The rate that it allows.
    MaxRate(QueueRate),
    /// An experimenter extension.
    Experimenter {
        /// The experimenter's id.
        experimenter: ExperimenterId,
        /// The body.
        data: Bytes<'a>,
    },
    /// Any other property, kept as it is.
    Unknown {
        /// Its type.
        property: u16,
        /// The body after the length.
        body: Bytes<'a>,
    },
}

impl<'a> Wire<'a> for QueueProperty<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let (property, mut body) = reader.tlv(Part::QueueProperty)?;
        let property = match property {
            MIN_RATE => Self::MinRate(read_rate(&mut body)?),
            MAX_RATE => Self::MaxRate(read_rate(&mut body)?),
            EXPERIMENTER => read_experimenter(&mut body)?,
            property => Self::Unknown { property, body: body.read()? },
        };
        body.finish()?;
        Ok(property)
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        match self {
            Self::MinRate(rate) => write_rate(MIN_RATE, *rate, out),
            Self::MaxRate(rate) => write_rate(MAX_RATE, *rate, out),
            Self::Experimenter { experimenter, data } => write_experimenter(*experimenter, *data, out),
            Self::Unknown { property, body } => {
                let property = Prefixed::tlv(out, Part::QueueProperty, *property);
                body.write(out)?;
                property.end(out)
            }
        }
    }
}

fn read_rate(body: &mut Reader<'_>) -> Result<QueueRate, DecodeError> {
    body.skip(4)?;
    let rate = body.read()?;
    body.skip(6)?;
    Ok(rate)
}

fn write_rate(property: u16, rate: QueueRate, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let property = Prefixed::tlv(out, Part::QueueProperty, property);
    zeros(out, 4);
    rate.write(out)?;
    zeros(out, 6);
    property.end(out)
}

fn read_experimenter<'a>(body: &mut Reader<'a>) -> Result<QueueProperty<'a>, DecodeError> {
    body.skip(4)?;
    let experimenter = body.read()?;
    body.skip(4)?;
    Ok(QueueProperty::Experimenter { experimenter, data: body.read()? })
}

fn write_experimenter(
    experimenter: ExperimenterId,
    data: Bytes<'_>,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let property = Prefixed::tlv(out, Part::QueueProperty, EXPERIMENTER);
    zeros(out, 4);
    experimenter.write(out)?;
    zeros(out, 4);
    data.write(out)?;
    property.end(out)
}
