//! Meter-mod messages with their flags and bands. OpenFlow 1.3.5 §7.3.4.4.

use serde::Serialize;

use crate::error::{DecodeError, EncodeError, Part};
use crate::id::{ExperimenterId, MeterId};
use crate::message::MeterModFailedCode;
use crate::wire::{Bytes, List, Prefixed, Reader, Wire, wire_enum, wire_flags, wire_struct, zeros};

wire_struct! {
    /// Adds, changes or deletes a meter. OpenFlow 1.3.5 §7.3.4.4.
    pub struct MeterMod<'a> {
        /// The command.
        pub command: MeterModCommand,
        /// Its flags.
        pub flags: MeterFlags,
        /// The meter.
        pub meter_id: MeterId,
        /// Its bands.
        pub bands: List<'a, MeterBand<'a>>,
    }
}

impl MeterMod<'_> {
    /// Why a switch must refuse it whatever meters it has: the command or a band is unknown, or its rates are in two units.
    /// OpenFlow 1.3.5 §7.3.4.4.
    ///
    /// Decoding takes such a message, as it takes all that can be read.
    pub fn refusal(&self) -> Option<MeterModFailedCode> {
        const UNITS: MeterFlags = MeterFlags(MeterFlags::KBPS.0 | MeterFlags::PKTPS.0);
        let is_known = |band: MeterBand<'_>| !matches!(band, MeterBand::Unknown { .. });
        match self.command {
            MeterModCommand::Unknown(_) => Some(MeterModFailedCode::BadCommand),
            MeterModCommand::Delete => None,
            _ if self.flags.contains(UNITS) => Some(MeterModFailedCode::BadFlags),
            _ => (!self.bands.iter().all(is_known)).then_some(MeterModFailedCode::BadBand),
        }
    }
}

wire_enum! {
    /// The command of a meter-mod. OpenFlow 1.3.5 §7.3.4.4.
    pub enum MeterModCommand(u16) {
        /// Add it.
        Add = 0,
        /// Change it.
        Modify = 1,
        /// Delete it.
        Delete = 2,
    }
}

wire_flags! {
    /// The flags of a meter. OpenFlow 1.3.5 §7.3.4.4.
    pub struct MeterFlags(u16) {
        /// Rates are in kb/s.
        KBPS = 1 << 0,
        /// Rates are in packets a second.
        PKTPS = 1 << 1,
        /// Burst sizes count.
        BURST = 1 << 2,
        /// Its counters count.
        STATS = 1 << 3,
    }
}

const DROP: u16 = 1;
const DSCP_REMARK: u16 = 2;
const EXPERIMENTER: u16 = 0xffff;

/// A band of a meter: its action above a rate. OpenFlow 1.3.5 §7.3.4.4.
///
/// Rates are in kb/s, or in packets a second with `PKTPS`; burst sizes in kilobits, or in packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MeterBand<'a> {
    /// Drop packets.
    Drop {
        /// Above this rate.
        rate: u32,
        /// After a burst of this size.
        burst_size: u32,
    },
    /// Lower the precedence of packets.
    DscpRemark {
        /// Above this rate.
        rate: u32,
        /// After a burst of this size.
        burst_size: u32,
        /// By so many levels of drop precedence.
        prec_level: u8,
    },
    /// An experimenter extension.
    Experimenter {
        /// Above this rate.
        rate: u32,
        /// After a burst of this size.
        burst_size: u32,
        /// The experimenter's id.
        experimenter: ExperimenterId,
        /// The body.
        data: Bytes<'a>,
    },
    /// Any other band, kept as it is.
    Unknown {
        /// Its type.
        band_type: u16,
        /// The body after the length.
        body: Bytes<'a>,
    },
}

impl<'a> Wire<'a> for MeterBand<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let (band_type, mut body) = reader.tlv(Part::MeterBand)?;
        let band = match band_type {
            DROP => {
                let (rate, burst_size) = (body.read()?, body.read()?);
                body.skip(4)?;
                Self::Drop { rate, burst_size }
            }
            DSCP_REMARK => {
                let (rate, burst_size, prec_level) = (body.read()?, body.read()?, body.read()?);
                body.skip(3)?;
                Self::DscpRemark { rate, burst_size, prec_level }
            }
            EXPERIMENTER => Self::Experimenter {
                rate: body.read()?,
                burst_size: body.read()?,
                experimenter: body.read()?,
                data: body.read()?,
            },
            band_type => Self::Unknown { band_type, body: body.read()? },
        };
        body.finish()?;
        Ok(band)
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let band = Prefixed::tlv(out, Part::MeterBand, self.band_type());
        match self {
            Self::Drop { rate, burst_size } => {
                [*rate, *burst_size].write(out)?;
                zeros(out, 4);
            }
            Self::DscpRemark { rate, burst_size, prec_level } => {
                [*rate, *burst_size].write(out)?;
                prec_level.write(out)?;
                zeros(out, 3);
            }
            Self::Experimenter { rate, burst_size, experimenter, data } => {
                [*rate, *burst_size, experimenter.0].iter().try_for_each(|number| number.write(out))?;
                data.write(out)?;
            }
            Self::Unknown { body, .. } => body.write(out)?,
        }
        band.end(out)
    }
}

impl MeterBand<'_> {
    const fn band_type(&self) -> u16 {
        match self {
            Self::Drop { .. } => DROP,
            Self::DscpRemark { .. } => DSCP_REMARK,
            Self::Experimenter { .. } => EXPERIMENTER,
            Self::Unknown { band_type, .. } => *band_type,
        }
    }
}
