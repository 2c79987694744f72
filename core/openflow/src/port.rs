//! Port descriptions: configuration, state and features. OpenFlow 1.3.5 §7.2.1.

use braid_types::{MacAddr, PortNo};

use crate::id::Kbps;
use crate::wire::{Text, wire_flags, wire_struct};

wire_struct! {
    /// A port of a switch. OpenFlow 1.3.5 §7.2.1.
    pub struct Port<'a> {
        /// Its number.
        pub port_no: PortNo; pad 4,
        /// Its own Ethernet address.
        pub hw_addr: MacAddr; pad 2,
        /// Its name.
        pub name: Text<'a, 16>,
        /// The administrative configuration.
        pub config: PortConfig,
        /// The current state.
        pub state: PortState,
        /// The current features.
        pub curr: PortFeatures,
        /// The advertised features.
        pub advertised: PortFeatures,
        /// The supported features.
        pub supported: PortFeatures,
        /// The features advertised by the peer.
        pub peer: PortFeatures,
        /// Its rate now; means something only if `curr` names no rate.
        pub curr_speed: Kbps,
        /// Its highest rate.
        pub max_speed: Kbps,
    }
}

wire_flags! {
    /// The administrative configuration of a port. OpenFlow 1.3.5 §7.2.1.
    pub struct PortConfig(u32) {
        /// It is down.
        PORT_DOWN = 1 << 0,
        /// It drops what it receives.
        NO_RECV = 1 << 2,
        /// It drops what it should send.
        NO_FWD = 1 << 5,
        /// It sends nothing to the controller.
        NO_PACKET_IN = 1 << 6,
    }
}

wire_flags! {
    /// The current state of a port. OpenFlow 1.3.5 §7.2.1.
    pub struct PortState(u32) {
        /// No link: the other end does not answer.
        LINK_DOWN = 1 << 0,
        /// A protocol of the switch blocks it.
        BLOCKED = 1 << 1,
        /// Fast failover groups may use it.
        LIVE = 1 << 2,
    }
}

wire_flags! {
    /// Rates and kinds of a port. OpenFlow 1.3.5 §7.2.1.
    pub struct PortFeatures(u32) {
        /// 10 Mb/s, half duplex.
        TEN_MB_HD = 1 << 0,
        /// 10 Mb/s, full duplex.
        TEN_MB_FD = 1 << 1,
        /// 100 Mb/s, half duplex.
        HUNDRED_MB_HD = 1 << 2,
        /// 100 Mb/s, full duplex.
        HUNDRED_MB_FD = 1 << 3,
        /// 1 Gb/s, half duplex.
        ONE_GB_HD = 1 << 4,
        /// 1 Gb/s, full duplex.
        ONE_GB_FD = 1 << 5,
        /// 10 Gb/s, full duplex.
        TEN_GB_FD = 1 << 6,
        /// 40 Gb/s, full duplex.
        FORTY_GB_FD = 1 << 7,
        /// 100 Gb/s, full duplex.
        HUNDRED_GB_FD = 1 << 8,
        /// 1 Tb/s, full duplex.
        ONE_TB_FD = 1 << 9,
        /// Another rate.
        OTHER = 1 << 10,
        /// Copper.
        COPPER = 1 << 11,
        /// Fibre.
        FIBER = 1 << 12,
        /// Negotiates by itself.
        AUTONEG = 1 << 13,
        /// Pauses.
        PAUSE = 1 << 14,
        /// Pauses in one direction.
        PAUSE_ASYM = 1 << 15,
    }
}
