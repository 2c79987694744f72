//! Which paths a packet takes: all of them, the quickest one, or two at once.
//!
//! Small and urgent packets take the quickest path by themselves; [`Traffic`] has the rules of a site that say otherwise.
//!
//! ```
//! use braid_tunnel::{PathChoice, Traffic, TrafficRule};
//!
//! let call = TrafficRule { ports: vec![5004..=5005], ..TrafficRule::new(PathChoice::Duplicate) };
//! let traffic = Traffic { rules: vec![call], ..Traffic::default() };
//! assert_eq!(traffic.paths_of(b"no packet"), PathChoice::All);
//! ```

mod fragments;
mod headers;
mod sizes;

use std::ops::RangeInclusive;

use braid_types::IpPrefix;

use fragments::Fragment;
pub(crate) use fragments::Fragments;
pub(crate) use headers::Flow;
use headers::Headers;
pub(crate) use sizes::Sizes;

/// The paths that a packet takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PathChoice {
    /// Whichever is free; packets of a flow arrive in order.
    #[default]
    All,
    /// The quickest, before all that waits; not held at the other end for packets that are late.
    Quickest,
    /// The two quickest, a copy each; the first that arrives counts.
    Duplicate,
}

/// The paths of a site's traffic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Traffic {
    /// The first that matches a packet decides.
    pub rules: Vec<TrafficRule>,
    /// The paths of packets without a rule that are urgent by themselves.
    pub urgent: PathChoice,
}

/// The paths of some traffic. A condition that is empty holds for all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TrafficRule {
    /// The IP protocol.
    pub protocol: Option<u8>,
    /// Ports, of either end. Fragments have none.
    pub ports: Vec<RangeInclusive<u16>>,
    /// Networks, of either end.
    pub networks: Vec<IpPrefix>,
    /// Differentiated services code points.
    pub dscp: Vec<u8>,
    /// The paths.
    pub paths: PathChoice,
}

/// A packet's flow and paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Class {
    pub(crate) flow: Flow,
    pub(crate) paths: PathChoice,
    /// Whether somebody waits for it, so that paths are to be found short for some time.
    pub(crate) is_interactive: bool,
    pub(crate) fragment: Option<Fragment>,
    /// Of a datagram without a rule, whether it is large.
    pub(crate) is_large: Option<bool>,
}

impl Class {
    const fn unknown(paths: PathChoice) -> Self {
        Self { flow: Flow::UNKNOWN, paths, is_interactive: false, fragment: None, is_large: None }
    }
}

impl Default for Traffic {
    fn default() -> Self {
        Self { rules: Vec::new(), urgent: PathChoice::Quickest }
    }
}

impl Traffic {
    /// The paths of a packet that begins with an IP header.
    pub fn paths_of(&self, packet: &[u8]) -> PathChoice {
        self.of_ip(packet).paths
    }

    pub(crate) fn of_ip(&self, packet: &[u8]) -> Class {
        let Some(headers) = Headers::read(packet) else {
            return Class::unknown(PathChoice::All);
        };
        let rule = self.rules.iter().find(|rule| rule.matches(&headers));
        let own = || if headers.is_urgent() { self.urgent } else { PathChoice::All };
        let paths = rule.map_or_else(own, |rule| rule.paths);
        let is_interactive = paths != PathChoice::All && (rule.is_some() || headers.is_interactive());
        let is_large = headers.is_large().filter(|_| rule.is_none());
        Class { flow: headers.flow, paths, is_interactive, fragment: headers.fragment, is_large }
    }

    /// The class of an Ethernet frame. What is not IP, as ARP, is urgent.
    pub(crate) fn of_frame(&self, frame: &[u8]) -> Class {
        let packet = match frame.get(12..14) {
            Some([0x08, 0x00] | [0x86, 0xdd]) => frame.get(14..),
            Some([0x81, 0x00]) => match frame.get(16..18) {
                Some([0x08, 0x00] | [0x86, 0xdd]) => frame.get(18..),
                _ => None,
            },
            _ => None,
        };
        packet.map_or(Class::unknown(self.urgent), |packet| self.of_ip(packet))
    }
}

impl TrafficRule {
    /// A rule for all packets.
    pub const fn new(paths: PathChoice) -> Self {
        Self { protocol: None, ports: Vec::new(), networks: Vec::new(), dscp: Vec::new(), paths }
    }

    fn matches(&self, headers: &Headers<'_>) -> bool {
        let Flow { src, dst, protocol, .. } = headers.flow;
        let is_port = || headers.ports().is_some_and(|all| all.iter().any(|port| self.has_port(*port)));
        let is_network = || self.networks.iter().any(|it| it.contains(src) || it.contains(dst));
        self.protocol.is_none_or(|it| it == protocol)
            && (self.dscp.is_empty() || self.dscp.contains(&headers.dscp))
            && (self.ports.is_empty() || is_port())
            && (self.networks.is_empty() || is_network())
    }

    fn has_port(&self, port: u16) -> bool {
        self.ports.iter().any(|range| range.contains(&port))
    }
}

#[cfg(test)]
mod tests;
