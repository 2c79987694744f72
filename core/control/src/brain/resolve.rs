//! Who has which address: ARP and neighbour discovery, answered here as far as the answer is known.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};

use braid_packet::arp::{Arp, ArpOp};
use braid_packet::nd::{Endpoint, NdMessage, NeighborAdvertisement, NeighborSolicitation};
use braid_packet::{Frame, Ip};
use braid_types::{MacAddr, SwitchPort, Time};

use super::{Brain, context};
use crate::command::{Commands, Target};

/// The IPv6 addresses whose owners have advertised them, and whether as routers.
///
/// Only these are answered for: an answer that denies a router its role would make hosts drop it.
#[derive(Debug, Default)]
pub(super) struct Advertised(BTreeMap<Ipv6Addr, bool>);

impl Advertised {
    /// The address has another owner, or none.
    pub(super) fn forget(&mut self, address: IpAddr) {
        if let IpAddr::V6(address) = address {
            self.0.remove(&address);
        }
    }
}

impl Brain {
    pub(super) fn on_arp(&mut self, now: Time, at: SwitchPort, arp: &Arp, bytes: &[u8], out: &mut Commands) {
        if !self.learn(now, arp.sender_mac, IpAddr::V4(arp.sender_ip), at, out) {
            return;
        }
        if arp.op == ArpOp::Reply {
            return self.deliver_to(arp.target_mac, bytes, out);
        }
        // An announcement is for everyone's caches; every other question has one right answer.
        match self.topology.host_with_address(IpAddr::V4(arp.target_ip)).map(|host| host.mac) {
            _ if arp.is_announcement() => self.tell_hosts(now, at, bytes, out),
            Some(mac) if mac == arp.sender_mac => {}
            // Whether an address is taken is for its owner to say: it may be gone.
            Some(mac) if arp.is_probe() => self.deliver_to(mac, bytes, out),
            Some(mac) => out.send(at.dpid, Target::Port(at.port), &arp.reply(mac).frame()),
            None => self.tell_hosts(now, at, bytes, out),
        }
    }

    /// Takes note of what one host tells another.
    pub(super) fn overhear_arp(&mut self, now: Time, at: SwitchPort, arp: &Arp, out: &mut Commands) {
        self.learn(now, arp.sender_mac, IpAddr::V4(arp.sender_ip), at, out);
    }

    /// Takes note of what one host, which was believed already, tells another.
    pub(super) fn overhear_nd(
        &mut self,
        now: Time,
        at: SwitchPort,
        sender: MacAddr,
        message: &NdMessage,
        out: &mut Commands,
    ) {
        if let NdMessage::Advertisement(answer) = message {
            self.on_advertisement(now, at, sender, answer, out);
        }
    }

    pub(super) fn on_nd(
        &mut self,
        now: Time,
        at: SwitchPort,
        (frame, ip): (&Frame<'_>, &Ip<'_>),
        message: &NdMessage,
        bytes: &[u8],
        out: &mut Commands,
    ) {
        let IpAddr::V6(src) = ip.src else { return };
        match message {
            NdMessage::Solicitation(question) => {
                let asker = Endpoint { mac: frame.src, ip: src };
                self.on_solicitation(now, at, asker, question, bytes, out);
            }
            NdMessage::Advertisement(answer) => {
                if !self.on_advertisement(now, at, frame.src, answer, out) {
                    return;
                }
                if frame.dst.is_multicast() {
                    self.tell_hosts(now, at, bytes, out);
                } else {
                    self.deliver_to(frame.dst, bytes, out);
                }
            }
        }
    }

    fn on_advertisement(
        &mut self,
        now: Time,
        at: SwitchPort,
        sender: MacAddr,
        answer: &NeighborAdvertisement,
        out: &mut Commands,
    ) -> bool {
        let (mac, target) = (answer.target_mac.unwrap_or(sender), IpAddr::V6(answer.target));
        let believed = self.learn(now, mac, target, at, out);
        if believed && self.topology.host_with_address(target).is_some_and(|host| host.mac == mac) {
            self.advertised.0.insert(answer.target, answer.router);
        }
        believed
    }

    fn on_solicitation(
        &mut self,
        now: Time,
        at: SwitchPort,
        asker: Endpoint,
        question: &NeighborSolicitation,
        bytes: &[u8],
        out: &mut Commands,
    ) {
        let owner = self.topology.host_with_address(IpAddr::V6(question.target)).map(|host| host.mac);
        match owner {
            Some(mac) if mac == asker.mac => {}
            Some(mac) => match self.advertised.0.get(&question.target) {
                Some(router) if !asker.ip.is_unspecified() => {
                    out.send(at.dpid, Target::Port(at.port), &question.answer(asker, mac, *router));
                }
                // Whether an address is taken is for its owner to say: it may be gone.
                _ => self.deliver_to(mac, bytes, out),
            },
            None => self.tell_hosts(now, at, bytes, out),
        }
    }

    /// Asks every host whether it has `target`.
    pub(super) fn ask_hosts(&self, target: IpAddr, out: &mut Commands) {
        for at in self.ports.hosts() {
            self.ask_at(at, target, out);
        }
    }

    /// Asks the hosts at one port whether one of them has `target`.
    pub(super) fn ask_at(&self, at: SwitchPort, target: IpAddr, out: &mut Commands) {
        let Some(mac) = self.topology.port(at).map(|port| port.mac) else { return };
        let question = match target {
            IpAddr::V4(ip) => Arp::probe(mac, ip).frame(),
            IpAddr::V6(ip) => solicit(mac, ip),
        };
        out.send(at.dpid, Target::Port(at.port), &question);
    }

    /// A DHCP server answers a client that may not have its address yet.
    pub(super) fn offer(&mut self, now: Time, at: SwitchPort, dst: IpAddr, bytes: &[u8], out: &mut Commands) {
        match self.topology.host_with_address(dst) {
            Some(_) => self.forward_or_search(now, at.dpid, dst, bytes, out),
            None => self.tell_hosts(now, at, bytes, out),
        }
    }

    /// Passes a packet on to every port of hosts, which costs so much that a port may do so at its limit only.
    fn tell_hosts(&mut self, now: Time, from: SwitchPort, bytes: &[u8], out: &mut Commands) {
        if !self.admission.admit_address(&mut context!(self, now, out), from) {
            return;
        }
        for at in self.ports.hosts().filter(|at| *at != from) {
            out.send(at.dpid, Target::Port(at.port), bytes);
        }
    }

    fn deliver_to(&self, mac: MacAddr, bytes: &[u8], out: &mut Commands) {
        if let Some(host) = self.topology.host(mac) {
            out.send(host.at.dpid, Target::Port(host.at.port), bytes);
        }
    }
}

/// A question from the port's own link-local address, so that the answer comes back to that port.
fn solicit(mac: MacAddr, target: Ipv6Addr) -> Vec<u8> {
    let [a, b, c, d, e, f] = mac.octets();
    let pair = |high, low| u16::from_be_bytes([high, low]);
    // The modified EUI-64 of the address. RFC 4291 appendix A.
    let ip = Ipv6Addr::new(0xfe80, 0, 0, 0, pair(a ^ 2, b), pair(c, 0xff), pair(0xfe, d), pair(e, f));
    NeighborSolicitation { target, source_mac: Some(mac) }.frame(Endpoint { mac, ip })
}
