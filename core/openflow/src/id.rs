//! Newtypes of OpenFlow's numbers: transaction ids, cookies, buffers, groups, tables, meters and queues.

use crate::wire::wire_number;

wire_number! {
    /// Ties a reply to its request: the reply carries the number of the request.
    pub struct Xid(u32) decimal "{}" {}
}

wire_number! {
    /// The cookie of a flow, chosen by the controller and opaque to the switch.
    pub struct Cookie(u64) hexadecimal "{:#x}" {}
}

wire_number! {
    /// A packet that waits in the switch.
    pub struct BufferId(u32) decimal "{}" {
        /// No packet waits: the message holds all of it.
        NO_BUFFER = u32::MAX,
    }
}

wire_number! {
    /// A group of the switch.
    pub struct GroupId(u32) decimal "{}" {
        /// All groups; to delete them or ask for them.
        ALL = 0xffff_fffc,
        /// Any group, or none; to select flows.
        ANY = u32::MAX,
    }
}

impl GroupId {
    /// The highest number of a group.
    pub const MAX: Self = Self(0xffff_ff00);
}

wire_number! {
    /// A flow table; packets start at 0.
    pub struct TableId(u8) decimal "{}" {
        /// All tables; to delete flows or ask for them.
        ALL = u8::MAX,
    }
}

impl TableId {
    /// The highest number of a table.
    pub const MAX: Self = Self(0xfe);
}

wire_number! {
    /// A meter of the switch, from 1.
    pub struct MeterId(u32) decimal "{}" {
        /// The packets that a switch handles in software.
        SLOWPATH = 0xffff_fffd,
        /// The packets for the controller.
        CONTROLLER = 0xffff_fffe,
        /// All meters; to delete them or ask for them.
        ALL = u32::MAX,
    }
}

impl MeterId {
    /// The highest number of a meter.
    pub const MAX: Self = Self(0xffff_0000);
}

wire_number! {
    /// A queue of a port.
    pub struct QueueId(u32) decimal "{}" {
        /// All queues; to ask for them.
        ALL = u32::MAX,
    }
}

wire_number! {
    /// The experimenter's id: an IEEE OUI, or a number assigned by the ONF.
    pub struct ExperimenterId(u32) hexadecimal "{:#010x}" {
        /// The Open Networking Foundation.
        ONF = 0x4f4e_4600,
        /// Nicira, whose extensions Open vSwitch has.
        NICIRA = 0x0000_2320,
    }
}

wire_number! {
    /// The number of bytes of a packet sent to the controller.
    pub struct MaxLen(u16) decimal "{}" {
        /// All of it; nothing waits in the switch.
        NO_BUFFER = u16::MAX,
    }
}

impl MaxLen {
    /// The highest number of bytes.
    pub const MAX: Self = Self(0xffe5);
}

wire_number! {
    /// A time in seconds after which a flow ends.
    pub struct Seconds(u16) decimal "{}" {
        /// It does not end.
        PERMANENT = 0,
    }
}

wire_number! {
    /// A rate in thousands of bits per second.
    pub struct Kbps(u32) decimal "{}" {}
}

wire_number! {
    /// Metadata that tables pass on with a packet.
    pub struct Metadata(u64) hexadecimal "{:#x}" {}
}
