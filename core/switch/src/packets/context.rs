//! The context of a packet in the pipeline: the parsed key, the original addresses, the action set.

use braid_openflow::{Cookie, PacketInReason, TableId};
use braid_types::{MacAddr, PortNo};

use super::Packet;
use super::key::{self, Key, Layout};
use crate::action::{Act, ActionSet, SetField};
use crate::tunnel::decapsulate;

/// A packet in the pipeline, with its state for tables and groups.
pub(crate) struct PacketContext {
    pub(crate) in_port: PortNo,
    pub(crate) packet: Packet,
    pub(crate) key: Key,
    pub(crate) layout: Layout,
    /// The original Ethernet addresses.
    pub(crate) label: MacAddr,
    pub(crate) src: MacAddr,
    /// Whether only the Ethernet addresses have changed and the packet leaves once, so that its sender may learn of
    /// its loss by ICMP.
    pub(crate) is_original: bool,
    /// The bytes that encapsulation at this edge has added.
    pub(crate) added: usize,
    pub(crate) set: ActionSet,
    pub(crate) table: TableId,
    pub(crate) cookie: Cookie,
    pub(crate) reason: PacketInReason,
    pub(crate) depth: u8,
    /// Whether the present action is the last one for the packet, so that it need not be copied.
    pub(crate) last: bool,
    /// Whether it is a probe of this edge, which contains the number of packets sent before it.
    pub(crate) is_probe: bool,
    /// Whether it has left once already, by a path that may have lost it.
    pub(crate) is_repeated: bool,
    /// Whether it answers a probe: the other edge handles it before it counts arrivals.
    pub(crate) is_answer: bool,
}

/// A packet with its parsed form, kept to be restored.
pub(crate) struct Saved {
    packet: Packet,
    key: Key,
    layout: Layout,
}

impl PacketContext {
    pub(crate) fn new(in_port: PortNo, packet: Packet) -> Self {
        let (key, layout) = key::read(in_port, &packet.data);
        Self {
            in_port,
            label: MacAddr::from_u64(key.get(key::ETH_DST)),
            src: MacAddr::from_u64(key.get(key::ETH_SRC)),
            is_original: true,
            added: 0,
            packet,
            key,
            layout,
            set: ActionSet::default(),
            table: TableId(0),
            cookie: Cookie(u64::MAX),
            reason: PacketInReason::Action,
            depth: 0,
            last: true,
            is_probe: false,
            is_repeated: false,
            is_answer: false,
        }
    }

    /// Updates the key after an action has changed the packet.
    pub(crate) fn update(&mut self, change: &Act) {
        match change {
            Act::Set(SetField::EthDst(mac)) => self.key.set(key::ETH_DST, mac.to_u64()),
            Act::Set(SetField::EthSrc(mac)) => self.key.set(key::ETH_SRC, mac.to_u64()),
            _ => {
                self.is_original = false;
                self.reread();
            }
        }
    }

    /// Parses the packet again.
    pub(crate) fn reread(&mut self) {
        let metadata = self.key.get(key::METADATA);
        (self.key, self.layout) = key::read(self.in_port, &self.packet.data);
        self.key.set(key::METADATA, metadata);
    }

    pub(crate) fn save(&self) -> Saved {
        Saved { packet: self.packet.clone(), key: self.key, layout: self.layout }
    }

    pub(crate) fn restore(&mut self, saved: Saved) {
        (self.packet, self.key, self.layout) = (saved.packet, saved.key, saved.layout);
    }

    /// The length of its IP packet, or of the longest part after segmentation.
    pub(crate) fn length(&self) -> usize {
        self.packet.longest_part().saturating_sub(self.layout.network.unwrap_or_default())
    }

    /// The packet as its sender had it, if [`Self::is_original`].
    pub(crate) fn original(&self) -> Option<Packet> {
        let mut packet = self.packet.clone();
        if self.added > 0 {
            decapsulate(&mut packet, &self.key, &self.layout)?;
        }
        packet.put_addresses(self.label, self.src);
        Some(packet)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.packet.data.len() as u64
    }

    /// The packet itself if the present action is its last, else a copy.
    pub(crate) fn take_packet(&mut self) -> Packet {
        if self.last { std::mem::take(&mut self.packet) } else { self.packet.clone() }
    }
}
