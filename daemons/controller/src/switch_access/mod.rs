//! Which switches may join: those that are listed, as many as their address and network may have.

mod allowed;
mod known;
mod roster;

use std::net::SocketAddr;

pub use allowed::{AllowedSwitch, AllowedSwitchError};
pub(crate) use roster::{Roster, RosterError};

/// Switches from one address, if nothing else is said: as many bridges as a large machine has.
pub const SWITCHES_PER_ADDRESS: usize = 256;

/// Access of switches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwitchAccess {
    /// Only these may join; with none, any may.
    pub allowed: Vec<AllowedSwitch>,
    /// Every machine that can reach the OpenFlow port is trusted to be the switch that it says.
    pub trusted: bool,
    /// Switches from one address of another machine.
    pub per_address: usize,
}

impl SwitchAccess {
    /// Whether other machines can connect to this address though nobody said that they are trusted.
    pub(crate) fn is_open(&self, address: SocketAddr) -> bool {
        !self.trusted && !address.ip().to_canonical().is_loopback()
    }
}

impl Default for SwitchAccess {
    fn default() -> Self {
        Self { allowed: Vec::new(), trusted: false, per_address: SWITCHES_PER_ADDRESS }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_other_machines_need_the_word() {
        let is_open = |text: &str, trusted| {
            let access = SwitchAccess { trusted, ..SwitchAccess::default() };
            access.is_open(text.parse().expect("an address"))
        };
        for text in ["127.0.0.1:6653", "[::1]:6653", "[::ffff:127.0.0.1]:6653"] {
            assert!(!is_open(text, false), "{text}");
        }
        for text in ["0.0.0.0:6653", "[::]:6653", "10.0.0.1:6653"] {
            assert!(is_open(text, false) && !is_open(text, true), "{text}");
        }
    }
}
