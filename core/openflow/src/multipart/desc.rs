//! The description of a switch: manufacturer, hardware, software, serial number. OpenFlow 1.3.5 §7.3.5.1.

use crate::wire::{Text, wire_struct};

wire_struct! {
    /// The description of a switch. OpenFlow 1.3.5 §7.3.5.1.
    pub struct Desc<'a> {
        /// The manufacturer.
        pub mfr_desc: Text<'a, 256>,
        /// The hardware.
        pub hw_desc: Text<'a, 256>,
        /// The software.
        pub sw_desc: Text<'a, 256>,
        /// The serial number.
        pub serial_num: Text<'a, 32>,
        /// The switch, in words.
        pub dp_desc: Text<'a, 256>,
    }
}
