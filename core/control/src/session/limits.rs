//! Bounds on ports, rules, answers and handshake time, so that one switch cannot exhaust the controller.

use std::time::Duration;

use braid_openflow::MultipartType;

/// Bytes that one port, group or meter takes in an answer, at one a message.
const ITEM_BYTES: usize = 256;
/// Bytes that one rule takes: with addresses of IPv6 about 200.
const RULE_BYTES: usize = 512;
/// The length of a message has 16 bits.
const MESSAGE_BYTES: usize = 1 << 16;
/// The telemetry of 4,096 groups of an edge with 64 paths each.
const TELEMETRY_BYTES: usize = 16 << 20;

/// What a switch may say, so that one connection cannot take the controller's memory or its time from all others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionLimits {
    /// Ports; a switch with more is disconnected. Each gets a discovery frame every second.
    pub ports: usize,
    /// Rules, groups and meters of an earlier controller that are taken up; of a switch with more they are removed and
    /// written anew.
    pub found: usize,
    /// Bytes that these take while they are read, likewise.
    pub found_bytes: usize,
    /// Multipart requests that wait for their answers; with one more, the oldest is not waited for any longer.
    pub requests: usize,
    /// From the connection to the MASTER role and the end of what is read then; a switch that takes longer is
    /// disconnected.
    pub handshake: Duration,
}

impl SessionLimits {
    /// The limits of every switch.
    ///
    /// Chassis have hundreds of ports, and hosts with a virtual machine a port some thousands. Of rules, a switch at the
    /// network's edge can have one for each of 100,000 streams
    /// ([`braid_steering::Limits`]), and as many as it has neighbours and routes.
    pub const DEFAULT: Self = Self {
        ports: 4_096,
        found: 131_072,
        found_bytes: 8 << 20,
        requests: 16,
        handshake: Duration::from_secs(8),
    };

    /// Bytes of all messages of one answer; a switch that goes on is disconnected.
    pub(super) const fn answer_bytes(&self, kind: MultipartType) -> usize {
        let bytes = match kind {
            MultipartType::PortDesc | MultipartType::Port | MultipartType::MeterConfig => {
                self.ports.saturating_mul(ITEM_BYTES)
            }
            MultipartType::Flow => self.found.saturating_mul(RULE_BYTES),
            MultipartType::GroupDesc => self.found.saturating_mul(ITEM_BYTES),
            MultipartType::Experimenter => TELEMETRY_BYTES,
            _ => 0,
        };
        // The last message may be as long as any.
        bytes.saturating_add(MESSAGE_BYTES)
    }
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
