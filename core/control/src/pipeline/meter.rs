//! Meters: the switch's limit on packets a second that a host port may punt.
//!
//! A meter's id is its port number, so it can be identified after a restart.

use braid_openflow::{
    BandTypes, EncodeError, List, Message, MeterBand, MeterConfig, MeterFeatures, MeterFlags, MeterId,
    MeterMod, MeterModCommand, Xid,
};
use braid_types::PortNo;

const FLAGS: MeterFlags = MeterFlags(MeterFlags::PKTPS.0 | MeterFlags::BURST.0);

pub(super) const fn id(port: PortNo) -> MeterId {
    MeterId(port.0)
}

/// Adds, changes or deletes the meter of a port. `rate` is in packets a second, with an equal burst.
pub(crate) fn set(
    command: MeterModCommand,
    port: PortNo,
    rate: u32,
    xid: Xid,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let bands = [MeterBand::Drop { rate, burst_size: rate }];
    let bands = if command == MeterModCommand::Delete { &[] } else { bands.as_slice() };
    let meter = MeterMod { command, flags: FLAGS, meter_id: id(port), bands: List::new(bands) };
    Message::MeterMod(meter).encode(xid, out)
}

/// The highest meter id, if meters can count packets and drop them; else 0.
pub(crate) fn highest(features: &MeterFeatures) -> u32 {
    let drops = features.band_types.contains(BandTypes::DROP);
    let counts = features.capabilities & u32::from(FLAGS.0) == u32::from(FLAGS.0);
    if drops && counts { features.max_meter } else { 0 }
}

/// The port of a meter and its rate; `None` if it does not have Braid's form.
pub(crate) fn decode(meter: &MeterConfig<'_>) -> Option<(PortNo, u32)> {
    let mut bands = meter.bands.iter();
    match (bands.next(), bands.next()) {
        (Some(MeterBand::Drop { rate, burst_size }), None) if rate == burst_size && meter.flags == FLAGS => {
            Some((PortNo(meter.meter_id.0), rate))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_read() {
        let bands = [MeterBand::Drop { rate: 9, burst_size: 9 }];
        let ours = MeterConfig { flags: FLAGS, meter_id: MeterId(3), bands: List::new(&bands) };
        assert_eq!(decode(&ours), Some((PortNo(3), 9)));
        assert_eq!(decode(&MeterConfig { flags: MeterFlags::KBPS, ..ours }), None);
        assert_eq!(decode(&MeterConfig { bands: List::EMPTY, ..ours }), None);
    }

    #[test]
    fn switches_that_cannot_count_packets_have_no_meters_of_use() {
        let able = MeterFeatures {
            max_meter: 10,
            band_types: BandTypes::DROP,
            capabilities: 0xf,
            max_bands: 1,
            max_color: 0,
        };
        assert_eq!(highest(&able), 10);
        assert_eq!(highest(&MeterFeatures { capabilities: 1, ..able }), 0);
        assert_eq!(highest(&MeterFeatures { band_types: BandTypes::NONE, ..able }), 0);
    }
}
