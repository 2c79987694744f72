//! An uplink interface with addresses, which answers ARP and neighbour discovery.

use std::net::IpAddr;

use braid_packet::arp::{Arp, ArpOp};
use braid_packet::nd::{Endpoint, NdMessage};
use braid_packet::{Frame, Payload, Transport};
use braid_types::MacAddr;

use super::neighbours::Neighbours;
use super::settings::{UplinkAddress, UplinkSettings};

const ARP: [u8; 2] = [0x08, 0x06];
const IPV6: [u8; 2] = [0x86, 0xdd];
const ICMPV6: u8 = 58;
const ND: std::ops::RangeInclusive<u8> = 135..=136;

/// An interface with addresses.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) addresses: Vec<UplinkAddress>,
    pub(super) neighbours: Neighbours,
    pub(super) mac: MacAddr,
    pub(super) mtu: u32,
    pub(super) is_up: bool,
}

impl Device {
    pub(super) fn new(settings: &UplinkSettings) -> Self {
        let addresses = settings.addresses.clone();
        let mut neighbours = Neighbours::default();
        for own in &addresses {
            own.gateway().iter().for_each(|gateway| _ = neighbours.watch(*gateway, own.address()));
        }
        Self { addresses, neighbours, mac: MacAddr::ZERO, mtu: 0, is_up: false }
    }

    pub(super) fn address(&self, own: IpAddr) -> Option<UplinkAddress> {
        self.addresses.iter().find(|it| it.address() == own).copied()
    }

    /// Whether it is ARP, or looks like ND.
    pub(super) fn is_for_neighbours(&self, frame: &[u8]) -> bool {
        match frame.get(12..14) {
            Some(kind) if kind == ARP => true,
            Some(kind) if kind == IPV6 => {
                frame.get(20) == Some(&ICMPV6) && frame.get(54).is_some_and(|kind| ND.contains(kind))
            }
            _ => false,
        }
    }

    /// Hears who asks and answers; whether it is about one of these addresses, and what there is to say.
    pub(super) fn hear(&mut self, frame: &[u8]) -> (bool, Option<Vec<u8>>) {
        let Ok(frame) = Frame::parse(frame) else { return (false, None) };
        match &frame.payload {
            Payload::Arp(arp) => self.hear_arp(arp),
            Payload::Ip(ip) => match (&ip.transport, ip.src) {
                (Transport::Icmpv6(message), IpAddr::V6(src)) => {
                    self.hear_nd(*message, Endpoint { mac: frame.src, ip: src })
                }
                _ => (false, None),
            },
            _ => (false, None),
        }
    }

    fn hear_arp(&mut self, arp: &Arp) -> (bool, Option<Vec<u8>>) {
        self.neighbours.learn(arp.sender_ip.into(), arp.sender_mac);
        let is_ours = self.address(arp.target_ip.into()).is_some();
        let asks = is_ours && arp.op == ArpOp::Request;
        (is_ours, asks.then(|| arp.reply(self.mac).frame()))
    }

    fn hear_nd(&mut self, message: NdMessage, from: Endpoint) -> (bool, Option<Vec<u8>>) {
        match message {
            NdMessage::Solicitation(asked) => {
                let mac = asked.source_mac.unwrap_or(from.mac);
                self.neighbours.learn(from.ip.into(), mac);
                let is_ours = self.address(asked.target.into()).is_some();
                (is_ours, is_ours.then(|| asked.answer(Endpoint { mac, ..from }, self.mac, false)))
            }
            NdMessage::Advertisement(told) => {
                let mac = told.target_mac.unwrap_or(from.mac);
                self.neighbours.learn(told.target.into(), mac);
                (self.neighbours.mac_of(told.target.into()).is_some(), None)
            }
        }
    }
}
