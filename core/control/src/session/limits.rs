//! Bounds on ports, rules, answers and handshake time, so that one switch cannot exhaust the controller.

use std::time::Duration;

use braid_openflow::MultipartType;

/// Bytes of one port, group or meter in a reply, at one in each message.
const ITEM_BYTES: usize = 256;
/// Bytes of one rule; about 200 with IPv6 addresses.
const RULE_BYTES: usize = 512;
/// Message lengths have 16 bits.
const MESSAGE_BYTES: usize = 1 << 16;
/// The telemetry of an edge with 4,096 groups of 64 paths.
const TELEMETRY_BYTES: usize = 16 << 20;

/// Limits on what one switch may use of the controller's memory and time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionLimits {
    /// Ports. A switch with more is disconnected. Each port gets a discovery frame every second.
    pub ports: usize,
    /// Installed rules, groups and meters that are reconciled. With more, a switch is cleared and set up anew.
    pub installed_rules: usize,
    /// Bytes of these while they are read. With more, a switch is cleared too.
    pub installed_bytes: usize,
    /// Open multipart requests. One more drops the oldest.
    pub requests: usize,
    /// Time from the connection to the MASTER role and the end of reading installed state. A slower switch is
    /// disconnected.
    pub handshake: Duration,
}

impl SessionLimits {
    /// The limits of every switch.
    ///
    /// Chassis have hundreds of ports, and hosts with one port for each virtual machine some thousands. An
    /// edge switch can have a rule for each of 100,000 streams ([`braid_steering::Limits`]), and one for each
    /// neighbour and route.
    pub const DEFAULT: Self = Self {
        ports: 4_096,
        installed_rules: 131_072,
        installed_bytes: 8 << 20,
        requests: 16,
        handshake: Duration::from_secs(8),
    };

    /// Bytes of all messages of one reply. A switch that sends more is disconnected.
    pub(super) const fn answer_bytes(&self, kind: MultipartType) -> usize {
        let bytes = match kind {
            MultipartType::PortDesc | MultipartType::Port | MultipartType::MeterConfig => {
                self.ports.saturating_mul(ITEM_BYTES)
            }
            MultipartType::Flow => self.installed_rules.saturating_mul(RULE_BYTES),
            MultipartType::GroupDesc => self.installed_rules.saturating_mul(ITEM_BYTES),
            MultipartType::Experimenter => TELEMETRY_BYTES,
            _ => 0,
        };
        // The last message may have any length.
        bytes.saturating_add(MESSAGE_BYTES)
    }
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
