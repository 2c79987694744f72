//! Proxy ARP and ND: the controller answers for known addresses.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};

use braid_packet::arp::{Arp, ArpOp};
use braid_packet::nd::{Endpoint, NdMessage, NeighborAdvertisement, NeighborSolicitation};
use braid_types::{MacAddr, SwitchPort};

use super::{Binding, HostDeps, Hosts, HostsEvent};
use crate::command::Target;
use crate::context::Context;

/// The advertised IPv6 addresses, and whether each is a router's.
///
/// Only these are answered for: an answer without the router flag would make hosts drop a router.
#[derive(Debug, Default)]
pub(super) struct Advertised(BTreeMap<Ipv6Addr, bool>);

impl Advertised {
    /// The address has a new owner or none.
    pub(super) fn forget(&mut self, address: IpAddr) {
        if let IpAddr::V6(address) = address {
            self.0.remove(&address);
        }
    }
}

/// A received ARP or ND packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NeighborPacket<'a> {
    /// The port where it arrived.
    pub(crate) at: SwitchPort,
    /// The sender's MAC address.
    pub(crate) src: MacAddr,
    /// The sender's IP address.
    pub(crate) ip: IpAddr,
    /// The destination MAC address.
    pub(crate) dst: MacAddr,
    /// The whole frame.
    pub(crate) frame: &'a [u8],
    /// Whether the original is forwarded to its neighbour by the switch.
    pub(crate) is_mirrored: bool,
}

impl Hosts {
    /// Handles an ARP request or reply.
    pub(crate) fn handle_arp(&mut self, deps: &mut HostDeps<'_>, packet: NeighborPacket<'_>, arp: &Arp) {
        let NeighborPacket { at, frame, .. } = packet;
        let sender = Binding { mac: arp.sender_mac, ip: IpAddr::V4(arp.sender_ip), at };
        if !self.learn(deps, sender) || packet.is_mirrored {
            return;
        }
        if arp.op == ArpOp::Reply {
            return deliver_to(&mut deps.cx, arp.target_mac, frame);
        }
        // An announcement is for every cache. Any other request has one right answer.
        match deps.cx.topology.host_with_address(IpAddr::V4(arp.target_ip)).map(|host| host.mac) {
            _ if arp.is_announcement() => self.relay(deps, at, frame),
            Some(mac) if mac == arp.sender_mac => {}
            // The owner itself must answer a probe, as it may have left.
            Some(mac) if arp.is_probe() => deliver_to(&mut deps.cx, mac, frame),
            Some(mac) => deps.cx.out.send(at.dpid, Target::Port(at.port), &arp.reply(mac).frame()),
            None => self.relay(deps, at, frame),
        }
    }

    /// Handles ND of a host whose binding was accepted.
    pub(crate) fn handle_nd(
        &mut self,
        deps: &mut HostDeps<'_>,
        packet: NeighborPacket<'_>,
        message: &NdMessage,
    ) {
        match message {
            NdMessage::Advertisement(answer) => {
                let believed = self.handle_advertisement(deps, packet, answer);
                if !believed || packet.is_mirrored {
                } else if packet.dst.is_multicast() {
                    self.relay(deps, packet.at, packet.frame);
                } else {
                    deliver_to(&mut deps.cx, packet.dst, packet.frame);
                }
            }
            NdMessage::Solicitation(question) if !packet.is_mirrored => {
                self.handle_solicitation(deps, packet, question);
            }
            NdMessage::Solicitation(_) => {}
        }
    }

    /// Passes a packet on to all hosts. This is expensive, so it counts towards the port's address limit.
    pub(crate) fn relay(&mut self, deps: &mut HostDeps<'_>, from: SwitchPort, frame: &[u8]) {
        if deps.admission.admit_address(&mut deps.cx, from) {
            self.events.push_back(HostsEvent::ForAll { from, frame: frame.to_vec() });
        }
    }

    fn handle_advertisement(
        &mut self,
        deps: &mut HostDeps<'_>,
        packet: NeighborPacket<'_>,
        answer: &NeighborAdvertisement,
    ) -> bool {
        let (mac, ip) = (answer.target_mac.unwrap_or(packet.src), IpAddr::V6(answer.target));
        let believed = self.learn(deps, Binding { mac, ip, at: packet.at });
        if believed && deps.cx.topology.host_with_address(ip).is_some_and(|host| host.mac == mac) {
            self.advertised.0.insert(answer.target, answer.router);
        }
        believed
    }

    fn handle_solicitation(
        &mut self,
        deps: &mut HostDeps<'_>,
        packet: NeighborPacket<'_>,
        question: &NeighborSolicitation,
    ) {
        let NeighborPacket { at, src: mac, ip, frame, .. } = packet;
        let IpAddr::V6(ip) = ip else { return };
        let asker = Endpoint { mac, ip };
        let owner = deps.cx.topology.host_with_address(IpAddr::V6(question.target)).map(|host| host.mac);
        match owner {
            Some(mac) if mac == asker.mac => {}
            Some(mac) => match self.advertised.0.get(&question.target) {
                Some(router) if !asker.ip.is_unspecified() => {
                    deps.cx.out.send(at.dpid, Target::Port(at.port), &question.answer(asker, mac, *router));
                }
                // The owner itself must answer a probe, as it may have left.
                _ => deliver_to(&mut deps.cx, mac, frame),
            },
            None => self.relay(deps, at, frame),
        }
    }
}

/// Asks the hosts at one port for `target`.
pub(super) fn ask_at(cx: &mut Context<'_>, at: SwitchPort, target: IpAddr) {
    let Some(mac) = cx.topology.port(at).map(|port| port.mac) else { return };
    let question = match target {
        IpAddr::V4(ip) => Arp::probe(mac, ip).frame(),
        IpAddr::V6(ip) => solicit(mac, ip),
    };
    cx.out.send(at.dpid, Target::Port(at.port), &question);
}

fn deliver_to(cx: &mut Context<'_>, mac: MacAddr, frame: &[u8]) {
    if let Some(at) = cx.topology.host(mac).map(|host| host.at) {
        cx.out.send(at.dpid, Target::Port(at.port), frame);
    }
}

/// A solicitation from the port's link-local address, so that the answer returns to that port.
fn solicit(mac: MacAddr, target: Ipv6Addr) -> Vec<u8> {
    let [a, b, c, d, e, f] = mac.octets();
    let pair = |high, low| u16::from_be_bytes([high, low]);
    // The address in modified EUI-64 form. RFC 4291 appendix A.
    let ip = Ipv6Addr::new(0xfe80, 0, 0, 0, pair(a ^ 2, b), pair(c, 0xff), pair(0xfe, d), pair(e, f));
    NeighborSolicitation { target, source_mac: Some(mac) }.frame(Endpoint { mac, ip })
}
