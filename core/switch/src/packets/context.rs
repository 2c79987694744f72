//! A packet on its way through the tables: its parsed key, original form and metadata.

use braid_openflow::{Cookie, PacketInReason, TableId};
use braid_types::{MacAddr, PortNo};

use crate::action::{Act, ActionSet, SetField};
use crate::key::{self, Key, Layout};
use crate::packet::Packet;
use crate::tunnel::decapsulate;

/// A packet on its way.
pub(super) struct Journey {
    pub(super) in_port: PortNo,
    pub(super) packet: Packet,
    pub(super) key: Key,
    pub(super) layout: Layout,
    /// The addresses with which it came.
    pub(super) label: MacAddr,
    pub(super) src: MacAddr,
    /// Whether nothing but those has changed since its sender had it, and it goes one way, so that its sender may be told of that.
    pub(super) is_original: bool,
    /// How much longer this edge has made it, to encapsulate it.
    pub(super) added: usize,
    pub(super) set: ActionSet,
    pub(super) table: TableId,
    pub(super) cookie: Cookie,
    pub(super) reason: PacketInReason,
    pub(super) depth: u8,
    /// Whether nothing is done with the packet after what is done now, so that it need not be copied.
    pub(super) last: bool,
    /// Whether it is a probe of this edge's, which says what left before it.
    pub(super) is_probe: bool,
    /// Whether it answers a probe: the other edge takes it before it counts what came.
    pub(super) is_answer: bool,
}

impl Journey {
    pub(super) fn new(in_port: PortNo, packet: Packet) -> Self {
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
            is_answer: false,
        }
    }

    /// Knows the packet as `change` has made it.
    pub(super) fn follow(&mut self, change: &Act) {
        match change {
            Act::Set(SetField::EthDst(mac)) => self.key.set(key::ETH_DST, mac.to_u64()),
            Act::Set(SetField::EthSrc(mac)) => self.key.set(key::ETH_SRC, mac.to_u64()),
            _ => {
                self.is_original = false;
                self.reread();
            }
        }
    }

    pub(super) fn reread(&mut self) {
        let metadata = self.key.get(key::METADATA);
        (self.key, self.layout) = key::read(self.in_port, &self.packet.data);
        self.key.set(key::METADATA, metadata);
    }

    /// How long its IP packet is, or each that will be cut from it.
    pub(super) fn length(&self) -> usize {
        self.packet.longest_part().saturating_sub(self.layout.network.unwrap_or_default())
    }

    /// The packet as its sender had it, if [`Self::is_original`].
    pub(super) fn original(&self) -> Option<Packet> {
        let mut packet = self.packet.clone();
        if self.added > 0 {
            decapsulate(&mut packet, &self.key, &self.layout)?;
        }
        packet.put_addresses(self.label, self.src);
        Some(packet)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.packet.data.len() as u64
    }

    /// The packet, for somebody to keep.
    pub(super) fn give(&mut self) -> Packet {
        if self.last { std::mem::take(&mut self.packet) } else { self.packet.clone() }
    }
}
