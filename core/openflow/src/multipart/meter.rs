//! Counters, configuration and features of meters. OpenFlow 1.3.5 §7.3.5.12 to §7.3.5.14.

use std::time::Duration;

use crate::id::MeterId;
use crate::message::{MeterBand, MeterFlags};
use crate::wire::{List, wire_flags, wire_struct};

wire_struct! {
    /// Asks for a meter or its counters. OpenFlow 1.3.5 §7.3.5.12, §7.3.5.13.
    pub struct MeterRequest {
        /// The meter, or `ALL`.
        pub meter_id: MeterId; pad 4,
    }
}

wire_struct! {
    /// Counters of a meter. OpenFlow 1.3.5 §7.3.5.12.
    pub struct MeterStats<'a> [MeterStats, length at 4] {
        /// The meter.
        pub meter_id: MeterId; pad 8,
        /// Flows that use it.
        pub flow_count: u32,
        /// Packets that came to it.
        pub packet_in_count: u64,
        /// Bytes of these packets.
        pub byte_in_count: u64,
        /// Whole seconds since it was added.
        pub duration_sec: u32,
        /// Nanoseconds beyond them.
        pub duration_nsec: u32,
        /// Counters of each band.
        pub band_stats: List<'a, MeterBandStats>,
    }
}

impl MeterStats<'_> {
    /// The time since it was added.
    pub fn duration(&self) -> Duration {
        Duration::new(u64::from(self.duration_sec), self.duration_nsec)
    }
}

wire_struct! {
    /// Counters of a meter's band. OpenFlow 1.3.5 §7.3.5.12.
    pub struct MeterBandStats {
        /// Packets in the band.
        pub packet_band_count: u64,
        /// Bytes in the band.
        pub byte_band_count: u64,
    }
}

wire_struct! {
    /// A meter. OpenFlow 1.3.5 §7.3.5.13.
    pub struct MeterConfig<'a> [MeterConfig, length at 0] {
        /// Its flags.
        pub flags: MeterFlags,
        /// The meter.
        pub meter_id: MeterId,
        /// Its bands.
        pub bands: List<'a, MeterBand<'a>>,
    }
}

wire_struct! {
    /// The features of meters. OpenFlow 1.3.5 §7.3.5.14.
    pub struct MeterFeatures {
        /// The maximum number of meters.
        pub max_meter: u32,
        /// The band types that there are.
        pub band_types: BandTypes,
        /// The supported flags of meters: the bits of [`MeterFlags`].
        pub capabilities: u32,
        /// The maximum number of bands of a meter.
        pub max_bands: u8,
        /// The highest colour.
        pub max_color: u8; pad 2,
    }
}

wire_flags! {
    /// A set of band types: bit `n` is type `n`.
    pub struct BandTypes(u32) {
        /// Drops packets.
        DROP = 1 << 1,
        /// Lowers the precedence of packets.
        DSCP_REMARK = 1 << 2,
    }
}
