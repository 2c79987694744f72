//! Port-mod messages, which change a port's configuration. OpenFlow 1.3.5 §7.3.4.3.

use braid_types::{MacAddr, PortNo};

use crate::port::{PortConfig, PortFeatures};
use crate::wire::wire_struct;

wire_struct! {
    /// Changes a port. OpenFlow 1.3.5 §7.3.4.3.
    pub struct PortMod {
        /// The port.
        pub port_no: PortNo; pad 4,
        /// Its Ethernet address, lest another port be meant.
        pub hw_addr: MacAddr; pad 2,
        /// The configuration to set.
        pub config: PortConfig,
        /// Which bits of it to set.
        pub mask: PortConfig,
        /// The features to advertise; zero leaves them unchanged.
        pub advertise: PortFeatures; pad 4,
    }
}
