//! Ports come, go and change; what the controller may set of them.

use braid_openflow::{
    ErrorCode, Message, PortConfig, PortMod, PortModFailedCode, PortReason, PortReasons, PortStatus,
};
use braid_types::{PortNo, RateLimit, Time};

use super::Switch;
use super::connections::Unasked;
use crate::port::{PortCounters, PortDescription, SwitchPort};

/// What can be set.
const SETTABLE: PortConfig = PortConfig(
    PortConfig::PORT_DOWN.0 | PortConfig::NO_RECV.0 | PortConfig::NO_FWD.0 | PortConfig::NO_PACKET_IN.0,
);

impl Switch {
    /// An interface is there, or has changed; controllers are told.
    pub fn set_port(&mut self, now: Time, number: PortNo, description: PortDescription) {
        let known = self.ports.get_mut(&number);
        let reason = if known.is_some() { PortReason::Modify } else { PortReason::Add };
        match known {
            Some(port) => {
                let before = std::mem::replace(&mut port.description, description);
                if before.is_told_like(&port.description) {
                    return;
                }
            }
            None => {
                let (config, counters) = (PortConfig::NONE, PortCounters::default());
                let icmp_limit = RateLimit::default();
                let port = SwitchPort { number, description, config, counters, icmp_limit, created: now };
                self.ports.insert(number, port);
            }
        }
        self.tell_port(number, reason);
    }

    /// An interface has gone.
    pub fn remove_port(&mut self, number: PortNo) {
        self.tell_port(number, PortReason::Delete);
        self.ports.remove(&number);
    }

    /// Frames came that there was no room for, before this switch saw them.
    pub fn count_missed(&mut self, number: PortNo, frames: u64) {
        if let Some(port) = self.ports.get_mut(&number) {
            port.counters.rx_dropped += frames;
        }
    }

    /// A frame of [`Self::poll_packets`] was not taken by its interface.
    pub fn count_refused(&mut self, number: PortNo, bytes: u64) {
        if let Some(PortCounters { tx_packets, tx_bytes, tx_dropped, .. }) =
            self.ports.get_mut(&number).map(|port| &mut port.counters)
        {
            *tx_packets = tx_packets.saturating_sub(1);
            *tx_bytes = tx_bytes.saturating_sub(bytes);
            *tx_dropped += 1;
        }
    }

    /// What passed a port.
    pub fn port_counters(&self, number: PortNo) -> Option<PortCounters> {
        self.ports.get(&number).map(|port| port.counters)
    }

    pub(super) fn port_mod(&mut self, port_mod: &PortMod) -> Result<(), ErrorCode> {
        let failed = |code| Err(ErrorCode::PortModFailed(code));
        let Some(port) = self.ports.get_mut(&port_mod.port_no) else {
            return failed(PortModFailedCode::BadPort);
        };
        if port.description.mac != port_mod.hw_addr {
            return failed(PortModFailedCode::BadHwAddr);
        }
        if !SETTABLE.contains(port_mod.mask) {
            return failed(PortModFailedCode::BadConfig);
        }
        let config = PortConfig(port.config.0 & !port_mod.mask.0 | port_mod.config.0 & port_mod.mask.0);
        if std::mem::replace(&mut port.config, config) != config {
            self.tell_port(port_mod.port_no, PortReason::Modify);
        }
        Ok(())
    }

    fn tell_port(&mut self, number: PortNo, reason: PortReason) {
        let Some(port) = self.ports.get(&number) else { return };
        let bit = match reason {
            PortReason::Add => PortReasons::ADD,
            PortReason::Delete => PortReasons::DELETE,
            _ => PortReasons::MODIFY,
        };
        let message = Message::PortStatus(PortStatus { reason, desc: port.describe() });
        self.connections.tell(&Unasked::PortStatus(bit), &message);
    }
}
