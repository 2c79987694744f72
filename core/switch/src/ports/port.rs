//! Ports of the switch: description, state and counters.

use braid_openflow::{Kbps, Port, PortConfig, PortFeatures, PortState, PortStats, Text};
use braid_types::{MacAddr, PortNo, RateLimit, Time};

use super::watch::Watch;

/// The length of the Ethernet addresses and the type.
const ETHERNET: usize = 14;

/// The machine's description of an interface.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PortDescription {
    /// Its name, of at most 15 bytes.
    pub name: String,
    /// Its Ethernet address.
    pub mac: MacAddr,
    /// Whether frames can leave by it.
    pub up: bool,
    /// Its capacity in kbit/s; 0 if unknown.
    pub kbps: u32,
    /// The MTU, in bytes after the Ethernet header; 0 if unknown.
    pub mtu: u32,
    /// The same for segments of TCP; 0 if they are no exception.
    pub segment_mtu: u32,
    /// Whether VLAN tags count as a part of the packet, as they do in a tunnel.
    pub is_tunnel: bool,
}

impl PortDescription {
    /// Whether both have the same OpenFlow description.
    pub(super) fn is_told_like(&self, other: &Self) -> bool {
        (&self.name, self.mac, self.up, self.kbps) == (&other.name, other.mac, other.up, other.kbps)
    }
}

/// A port of the switch.
#[derive(Clone, Debug)]
pub(super) struct SwitchPort {
    pub(super) number: PortNo,
    pub(super) description: PortDescription,
    pub(super) config: PortConfig,
    pub(super) counters: PortCounters,
    /// The rate limit of ICMP messages to the hosts behind it.
    pub(super) icmp_limit: RateLimit,
    pub(super) created: Time,
    /// BFD, where a controller wants it.
    pub(super) watch: Option<Watch>,
}

/// The counters of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PortCounters {
    /// Received frames.
    pub rx_packets: u64,
    /// Their bytes.
    pub rx_bytes: u64,
    /// Received frames dropped for want of room.
    pub rx_dropped: u64,
    /// Sent frames.
    pub tx_packets: u64,
    /// Their bytes.
    pub tx_bytes: u64,
    /// Frames that the port refused.
    pub tx_dropped: u64,
}

impl PortCounters {
    /// Counts a departing frame.
    pub(super) const fn count_sent(&mut self, bytes: u64) {
        self.tx_packets += 1;
        self.tx_bytes += bytes;
    }

    /// Corrects the counters for a frame that did not leave.
    pub(super) const fn count_refused(&mut self, bytes: u64) {
        self.tx_packets = self.tx_packets.saturating_sub(1);
        self.tx_bytes = self.tx_bytes.saturating_sub(bytes);
        self.tx_dropped += 1;
    }
}

impl SwitchPort {
    /// Whether frames can leave by it.
    pub(super) const fn is_open(&self) -> bool {
        self.description.up && !self.config.contains(PortConfig::PORT_DOWN)
    }

    /// Whether groups may use it: frames can leave, and nothing is known to be lost on the link.
    pub(super) fn is_live(&self) -> bool {
        self.is_open() && !self.watch.as_ref().is_some_and(Watch::is_dark)
    }

    fn state(&self) -> PortState {
        match (self.is_open(), self.is_live()) {
            (false, _) => PortState::LINK_DOWN,
            (true, false) => PortState::NONE,
            (true, true) => PortState::LIVE,
        }
    }

    /// The greatest length of a packet with its IP header at `network`, and of a segment of TCP; `None` without a limit.
    pub(super) fn mtu(&self, network: usize, is_segment: bool) -> Option<usize> {
        let PortDescription { mtu, segment_mtu, is_tunnel, .. } = self.description;
        let mtu = if is_segment { mtu.max(segment_mtu) } else { mtu };
        let tags = if is_tunnel { network.saturating_sub(ETHERNET) } else { 0 };
        (mtu > 0).then(|| (mtu as usize).saturating_sub(tags))
    }

    /// Its OpenFlow description.
    pub(super) fn describe(&self) -> Port<'_> {
        let speed = Kbps(self.description.kbps);
        let features = features(self.description.kbps);
        Port {
            port_no: self.number,
            hw_addr: self.description.mac,
            name: Text::new(&self.description.name).unwrap_or_default(),
            config: self.config,
            state: self.state(),
            curr: features,
            advertised: PortFeatures::NONE,
            supported: PortFeatures::NONE,
            peer: PortFeatures::NONE,
            curr_speed: speed,
            max_speed: speed,
        }
    }

    pub(super) fn stats(&self, now: Time) -> PortStats {
        let age = now.since(self.created);
        let PortCounters { rx_packets, rx_bytes, rx_dropped, tx_packets, tx_bytes, tx_dropped } =
            self.counters;
        // The value of counters that this switch does not have.
        const UNKNOWN: u64 = u64::MAX;
        PortStats {
            port_no: self.number,
            rx_packets,
            tx_packets,
            rx_bytes,
            tx_bytes,
            rx_dropped,
            tx_dropped,
            rx_errors: UNKNOWN,
            tx_errors: UNKNOWN,
            rx_frame_err: UNKNOWN,
            rx_over_err: UNKNOWN,
            rx_crc_err: UNKNOWN,
            collisions: UNKNOWN,
            duration_sec: age.as_secs() as u32,
            duration_nsec: age.subsec_nanos(),
        }
    }
}

const fn features(kbps: u32) -> PortFeatures {
    match kbps {
        10_000 => PortFeatures::TEN_MB_FD,
        100_000 => PortFeatures::HUNDRED_MB_FD,
        1_000_000 => PortFeatures::ONE_GB_FD,
        10_000_000 => PortFeatures::TEN_GB_FD,
        40_000_000 => PortFeatures::FORTY_GB_FD,
        100_000_000 => PortFeatures::HUNDRED_GB_FD,
        0 => PortFeatures::NONE,
        _ => PortFeatures::OTHER,
    }
}
